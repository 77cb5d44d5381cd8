/* SPDX-License-Identifier: MIT */

/*
 * The model as a block device: an nbdkit plugin, see docs/ssdsim.md. The drive does one thing at a time; a request ends
 * when the drive has done it, plus, with shuffle=, a random while, so that requests which are outstanding together end
 * in another order than they came. What the host wrote and the drive's own tables live in memory, or with state= in a
 * file that outlives the process: data first, then the model. The drive's time does not: after a restart it is idle.
 */

#define NBDKIT_API_VERSION 2

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lz4.h>
#include <math.h>
#include <nbdkit-plugin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "model.h"
#include "util/hash.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL
#define NSEC UINT64_C(1000000000)
#define DRIFT_NS UINT64_C(1000000) /* how far the drive may be behind before a request really sleeps */

static int64_t size_bytes, slc_bytes, throttle_after_bytes;
static uint32_t iops = 8000, read_iops, slc_iops, throttle_iops;
static uint32_t pages_per_block = 512, erase_us, shuffle_us;
static double over_provisioning = 7; /* percent */
static int compression, fill;
static char *state_path, *log_path;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static SsdConfig config;
static Ssd *ssd;
static uint8_t *data;          /* size_bytes, as the host sees it */
static uint64_t busy_until_ns; /* monotonic: when the drive has done all that came so far */
static uint64_t n_requests;
static int log_fd = -1;
static unsigned logged; /* SsdState bits */

/* --- parameters --- */

typedef struct Parameter {
        const char *name;
        int64_t *bytes;
        uint32_t *number;
        int *flag;
        char **path;
} Parameter;

static const Parameter parameters[] = {
        { "size", .bytes = &size_bytes },
        { "pages-per-block", .number = &pages_per_block },
        { "iops", .number = &iops },
        { "read-iops", .number = &read_iops },
        { "erase-us", .number = &erase_us },
        { "slc", .bytes = &slc_bytes },
        { "slc-iops", .number = &slc_iops },
        { "throttle-after", .bytes = &throttle_after_bytes },
        { "throttle-iops", .number = &throttle_iops },
        { "compression", .flag = &compression },
        { "shuffle", .number = &shuffle_us },
        { "fill", .flag = &fill },
        { "state", .path = &state_path },
        { "log", .path = &log_path },
};

static int parameter_set(const Parameter *p, const char *value) {
        if (p->number)
                return nbdkit_parse_uint32_t(p->name, value, p->number);
        if (p->bytes)
                return (*p->bytes = nbdkit_parse_size(value)) < 0 ? -1 : 0;
        if (p->flag)
                return (*p->flag = nbdkit_parse_bool(value)) < 0 ? -1 : 0;
        free(*p->path);
        return (*p->path = nbdkit_absolute_path(value)) ? 0 : -1;
}

static int ssdsim_config(const char *key, const char *value) {
        for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
                if (strcmp(key, parameters[i].name) == 0)
                        return parameter_set(&parameters[i], value);

        if (strcmp(key, "over-provisioning") == 0) {
                char *end;
                over_provisioning = strtod(value, &end);
                if (end != value && *end == 0 && isfinite(over_provisioning))
                        return 0;
        }
        nbdkit_error("unknown parameter or bad value: %s=%s", key, value);
        return -1;
}

static uint64_t per_page_ns(uint32_t rate) {
        return rate > 0 ? NSEC / rate : 0;
}

static int ssdsim_config_complete(void) {
        config = (SsdConfig) {
                .n_pages = (uint64_t) size_bytes / SSD_PAGE,
                .pages_per_block = pages_per_block,
                .over_provisioning = over_provisioning / 100,
                .program_ns = per_page_ns(iops),
                .read_ns = per_page_ns(read_iops > 0 ? read_iops : iops),
                .erase_ns = (uint64_t) erase_us * 1000,
                .slc_pages = (uint64_t) slc_bytes / SSD_PAGE,
                .slc_program_ns = per_page_ns(slc_iops),
                .throttle_after_pages = (uint64_t) throttle_after_bytes / SSD_PAGE,
                .throttle_program_ns = per_page_ns(throttle_iops),
        };
        if (iops == 0 || (slc_bytes > 0) != (slc_iops > 0) || (throttle_after_bytes > 0) != (throttle_iops > 0)) {
                nbdkit_error("iops must not be 0, slc needs slc-iops, and throttle-after throttle-iops");
                return -1;
        }
        if (size_bytes % SSD_PAGE != 0 || ssd_bytes(&config) == 0) {
                nbdkit_error("size, pages-per-block and over-provisioning make no drive");
                return -1;
        }
        return 0;
}

/* --- memory --- */

/* Memory of `bytes`, in the state file if there is one. *ret_is_new: there was no drive in it. */
static void *state_map(size_t bytes, bool *ret_is_new) {
        int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        struct stat st = {};

        if (state_path) {
                flags = MAP_SHARED;
                fd = open(state_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
                if (fd < 0 || fstat(fd, &st) < 0 || (st.st_size == 0 && ftruncate(fd, (off_t) bytes) < 0)) {
                        nbdkit_error("%s: %m", state_path);
                        if (fd >= 0)
                                close(fd);
                        return NULL;
                }
        }
        *ret_is_new = st.st_size == 0;

        void *memory = MAP_FAILED;
        if (*ret_is_new || (size_t) st.st_size == bytes)
                memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
        else
                errno = EINVAL; /* said below: it is of another drive */
        if (fd >= 0)
                close(fd);
        return memory == MAP_FAILED ? NULL : memory;
}

static int ssdsim_get_ready(void) {
        size_t bytes = ssd_bytes(&config);
        bool is_new = true;

        data = state_map((size_t) size_bytes + bytes, &is_new);
        if (data)
                ssd = is_new ? ssd_create(data + size_bytes, &config) : ssd_adopt(data + size_bytes, bytes, &config);
        if (!ssd) {
                nbdkit_error("%s: no memory, or the state of another drive", state_path ?: "state");
                return -1;
        }
        for (uint64_t page = 0; is_new && fill && page < config.n_pages; page++)
                ssd_write(ssd, page, SSD_UNITS, UINT64_MAX);
        logged = ssd_state(ssd);

        if (log_path && (log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) < 0) {
                nbdkit_error("%s: %m", log_path);
                return -1;
        }
        return 0;
}

static void ssdsim_unload(void) {
        if (data)
                munmap(data, (size_t) size_bytes + ssd_bytes(&config));
        if (log_fd >= 0)
                close(log_fd);
        free(state_path);
        free(log_path);
}

/* --- the drive's time --- */

static uint64_t clock_ns(clockid_t clock) {
        struct timespec ts;
        clock_gettime(clock, &ts);
        return (uint64_t) ts.tv_sec * NSEC + (uint64_t) ts.tv_nsec;
}

static void sleep_until(uint64_t at_ns) {
        struct timespec ts = { .tv_sec = (time_t) (at_ns / NSEC), .tv_nsec = (long) (at_ns % NSEC) };
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
                ;
}

/* Books busy_ns of the drive's time; returns when the request ends. Called with the lock held. */
static uint64_t book(uint64_t now_ns, uint64_t busy_ns) {
        busy_until_ns = (busy_until_ns > now_ns ? busy_until_ns : now_ns) + busy_ns;
        uint64_t late_ns = shuffle_us > 0 ? hash_below(hash_mix64(n_requests++), (uint64_t) shuffle_us * 1000) : 0;
        return busy_until_ns + late_ns;
}

static void finish(uint64_t at_ns) {
        if (at_ns > clock_ns(CLOCK_MONOTONIC) + (shuffle_us > 0 ? 0 : DRIFT_NS))
                sleep_until(at_ns);
}

/* The truth: wall clock in seconds when the drive gets there, pages the host has written by then, what happened. */
static void log_changes(uint64_t now_ns) {
        static const struct {
                unsigned bit;
                const char *name;
        } names[] = {
                { SSD_COLLECTING, "collecting" },
                { SSD_CACHE_FULL, "cache-full" },
                { SSD_THROTTLED, "throttled" },
        };
        unsigned state = ssd_state(ssd), fresh = state & ~logged;

        logged = state;
        for (size_t i = 0; log_fd >= 0 && i < sizeof(names) / sizeof(names[0]); i++)
                if (fresh & names[i].bit) {
                        uint64_t at_ns = clock_ns(CLOCK_REALTIME) + (busy_until_ns - now_ns);
                        dprintf(log_fd, "%" PRIu64 ".%03" PRIu64 " %" PRIu64 " %s\n", at_ns / NSEC,
                                at_ns % NSEC / 1000000, ssd_counters(ssd).host_pages, names[i].name);
                }
}

/* --- requests --- */

static void *ssdsim_open(int readonly) {
        return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t ssdsim_get_size(void *handle) {
        return size_bytes;
}

/* All connections see one drive, and a flush has nothing to wait for. */
static int ssdsim_can_multi_conn(void *handle) {
        return 1;
}

/* What a page takes after compression, as a SandForce controller would store it: whole units. */
static unsigned page_units(const uint8_t *page) {
        char scratch[LZ4_COMPRESSBOUND(SSD_PAGE)];
        if (!compression)
                return SSD_UNITS;

        int n = LZ4_compress_default((const char *) page, scratch, (int) SSD_PAGE, (int) sizeof(scratch));
        unsigned units = ((unsigned) n * SSD_UNITS + SSD_PAGE - 1) / SSD_PAGE;
        return units < 1 ? 1 : units > SSD_UNITS ? SSD_UNITS : units;
}

static int ssdsim_pwrite(void *handle, const void *buf, uint32_t count, uint64_t offset, uint32_t flags) {
        pthread_mutex_lock(&lock);
        uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), busy_ns = 0;
        uint64_t idle_ns = now_ns > busy_until_ns && busy_until_ns > 0 ? now_ns - busy_until_ns : 0;

        memcpy(data + offset, buf, count);
        for (uint64_t page = offset / SSD_PAGE; page * SSD_PAGE < offset + count; page++) {
                busy_ns += ssd_write(ssd, page, page_units(data + page * SSD_PAGE), idle_ns);
                idle_ns = 0;
        }
        uint64_t end_ns = book(now_ns, busy_ns);
        log_changes(now_ns);
        pthread_mutex_unlock(&lock);

        finish(end_ns);
        return 0;
}

static int ssdsim_pread(void *handle, void *buf, uint32_t count, uint64_t offset, uint32_t flags) {
        pthread_mutex_lock(&lock);
        uint64_t busy_ns = 0;
        memcpy(buf, data + offset, count);
        for (uint64_t page = offset / SSD_PAGE; page * SSD_PAGE < offset + count; page++)
                busy_ns += ssd_read(ssd, page);
        uint64_t end_ns = book(clock_ns(CLOCK_MONOTONIC), busy_ns);
        pthread_mutex_unlock(&lock);

        finish(end_ns);
        return 0;
}

/* What covers no whole page is only zeroed: the drive still has to keep the rest of it. */
static int ssdsim_trim(void *handle, uint32_t count, uint64_t offset, uint32_t flags) {
        uint64_t first = (offset + SSD_PAGE - 1) / SSD_PAGE, end = (offset + count) / SSD_PAGE;

        pthread_mutex_lock(&lock);
        memset(data + offset, 0, count);
        for (uint64_t page = first; page < end; page++)
                ssd_trim(ssd, page);
        pthread_mutex_unlock(&lock);
        return 0;
}

static int ssdsim_flush(void *handle, uint32_t flags) {
        return 0;
}

static struct nbdkit_plugin plugin = {
        .name = "ssdsim",
        .longname = "a flash drive whose truth is known",
        .config = ssdsim_config,
        .config_complete = ssdsim_config_complete,
        .config_help = "size=SIZE                 (required) logical capacity\n"
                       "over-provisioning=PERCENT pages-per-block=N\n"
                       "iops=N read-iops=N erase-us=N\n"
                       "slc=SIZE slc-iops=N       cache\n"
                       "throttle-after=SIZE throttle-iops=N\n"
                       "compression=BOOL fill=BOOL shuffle=MICROSECONDS\n"
                       "state=FILE log=FILE",
        .get_ready = ssdsim_get_ready,
        .open = ssdsim_open,
        .get_size = ssdsim_get_size,
        .can_multi_conn = ssdsim_can_multi_conn,
        .pread = ssdsim_pread,
        .pwrite = ssdsim_pwrite,
        .trim = ssdsim_trim,
        .flush = ssdsim_flush,
        .unload = ssdsim_unload,
        .errno_is_preserved = 1,
};

NBDKIT_REGISTER_PLUGIN(plugin)
