/* SPDX-License-Identifier: MIT */

/*
 * The model as a block device: an nbdkit plugin. The drive does one thing at a time; a request ends when the drive has done
 * it, plus, with shuffle=, a random while, so that requests which are outstanding together end in another order than
 * they came. Data and translation tables live in memory, or with state= in a file that survives a restart.
 *
 *   nbdkit --exit-with-parent ssdsim.so size=256M over-provisioning=7 iops=8000 [slc=32M] [slc-iops=N]
 *          [compression=yes] [throttle-after=SIZE throttle-iops=N] [shuffle=MICROSECONDS] [pages-per-block=N]
 *          [read-iops=N] [erase-us=N] [state=FILE]
 */

#define NBDKIT_API_VERSION 2

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lz4.h>
#include <nbdkit-plugin.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "model.h"
#include "util/hash.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL
#define NSEC UINT64_C(1000000000)
#define DRIFT_NS UINT64_C(1000000) /* how far the drive may be behind before a request really sleeps */

static int64_t size_bytes, slc_bytes, throttle_after_bytes;
static uint32_t iops = 8000, slc_iops = 0, throttle_iops = 0, read_iops = 0, pages_per_block = 512, erase_us = 0, shuffle_us = 0;
static double over_provisioning = 7; /* percent */
static int compression = 0;
static char *state_path;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Ssd *ssd;
static uint8_t *data;         /* size_bytes, as the host sees it */
static uint64_t busy_until_ns; /* monotonic: when the drive has done all that came so far */
static uint64_t n_requests;

static uint64_t now_ns(void) {
        struct timespec ts;
        clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * NSEC + (uint64_t) ts.tv_nsec;
}

static void sleep_until(uint64_t at_ns) {
        struct timespec ts = { .tv_sec = (time_t) (at_ns / NSEC), .tv_nsec = (long) (at_ns % NSEC) };
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
                ;
}

typedef struct Parameter {
        const char *name;
        int64_t *bytes;
        uint32_t *number;
} Parameter;

static const Parameter parameters[] = {
        { "size", &size_bytes, NULL },
        { "slc", &slc_bytes, NULL },
        { "throttle-after", &throttle_after_bytes, NULL },
        { "iops", NULL, &iops },
        { "slc-iops", NULL, &slc_iops },
        { "read-iops", NULL, &read_iops },
        { "throttle-iops", NULL, &throttle_iops },
        { "pages-per-block", NULL, &pages_per_block },
        { "erase-us", NULL, &erase_us },
        { "shuffle", NULL, &shuffle_us },
};

static int ssdsim_config(const char *key, const char *value) {
        for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
                if (strcmp(key, parameters[i].name) != 0)
                        continue;
                if (parameters[i].number)
                        return nbdkit_parse_uint32_t(key, value, parameters[i].number);
                *parameters[i].bytes = nbdkit_parse_size(value);
                return *parameters[i].bytes < 0 ? -1 : 0;
        }

        if (strcmp(key, "state") == 0)
                return (state_path = nbdkit_absolute_path(value)) ? 0 : -1;
        if (strcmp(key, "compression") == 0)
                return (compression = nbdkit_parse_bool(value)) < 0 ? -1 : 0;
        if (strcmp(key, "over-provisioning") == 0) {
                char *end;
                over_provisioning = strtod(value, &end);
                if (end != value && *end == 0)
                        return 0;
        }
        nbdkit_error("unknown parameter or bad value: %s=%s", key, value);
        return -1;
}

static uint64_t per_page_ns(uint32_t rate) {
        return rate > 0 ? NSEC / rate : 0;
}

static int ssdsim_get_ready(void) {
        SsdConfig config = {
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
        size_t bytes = ssd_bytes(&config), total = bytes + (size_t) size_bytes;
        if (bytes == 0 || size_bytes % SSD_PAGE != 0) {
                nbdkit_error("size, pages-per-block and over-provisioning make no drive");
                return -1;
        }

        int fd = -1;
        if (state_path && ((fd = open(state_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)) < 0 || ftruncate(fd, (off_t) total) < 0)) {
                nbdkit_error("%s: %m", state_path);
                return -1;
        }
        data = mmap(NULL, total, PROT_READ | PROT_WRITE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, fd, 0);
        if (fd >= 0)
                close(fd);
        if (data == MAP_FAILED) {
                nbdkit_error("mmap: %m");
                return -1;
        }

        ssd = ssd_adopt(data + size_bytes, bytes, &config);
        if (!ssd)
                ssd = ssd_create(data + size_bytes, &config);
        return 0;
}

static void *ssdsim_open(int readonly) {
        return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t ssdsim_get_size(void *handle) {
        return size_bytes;
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

/* Books busy_ns of the drive's time; returns when the request ends. Called with the lock held. */
static uint64_t book(uint64_t busy_ns) {
        uint64_t now = now_ns();
        busy_until_ns = (busy_until_ns > now ? busy_until_ns : now) + busy_ns;

        uint64_t late_ns = shuffle_us > 0 ? hash_below(hash_mix64(n_requests++), (uint64_t) shuffle_us * 1000) : 0;
        return busy_until_ns + late_ns;
}

static void finish(uint64_t at_ns) {
        uint64_t now = now_ns();
        if (at_ns > now + (shuffle_us > 0 ? 0 : DRIFT_NS))
                sleep_until(at_ns);
}

static int ssdsim_pwrite(void *handle, const void *buf, uint32_t count, uint64_t offset, uint32_t flags) {
        pthread_mutex_lock(&lock);
        uint64_t now = now_ns(), idle_ns = now > busy_until_ns && busy_until_ns > 0 ? now - busy_until_ns : 0, busy_ns = 0;

        memcpy(data + offset, buf, count);
        for (uint64_t page = offset / SSD_PAGE; page * SSD_PAGE < offset + count; page++) {
                busy_ns += ssd_write(ssd, page, page_units(data + page * SSD_PAGE), idle_ns);
                idle_ns = 0;
        }
        uint64_t end_ns = book(busy_ns);
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
        uint64_t end_ns = book(busy_ns);
        pthread_mutex_unlock(&lock);

        finish(end_ns);
        return 0;
}

static int ssdsim_trim(void *handle, uint32_t count, uint64_t offset, uint32_t flags) {
        uint64_t first = (offset + SSD_PAGE - 1) / SSD_PAGE, end = (offset + count) / SSD_PAGE;

        pthread_mutex_lock(&lock);
        for (uint64_t page = first; page < end; page++)
                ssd_trim(ssd, page);
        if (end > first)
                memset(data + first * SSD_PAGE, 0, (end - first) * SSD_PAGE);
        pthread_mutex_unlock(&lock);
        return 0;
}

static int ssdsim_flush(void *handle, uint32_t flags) {
        return 0;
}

static void ssdsim_unload(void) {
        if (ssd) {
                SsdCounters c = ssd_counters(ssd);
                nbdkit_debug("host pages %" PRIu64 ", units host %" PRIu64 " flash %" PRIu64, c.host_pages, c.host_units, c.flash_units);
        }
        free(state_path);
}

static struct nbdkit_plugin plugin = {
        .name = "ssdsim",
        .longname = "a flash drive whose truth is known",
        .config = ssdsim_config,
        .config_help = "size=SIZE          (required) logical capacity\n"
                       "over-provisioning=PERCENT  iops=N  read-iops=N  pages-per-block=N  erase-us=N\n"
                       "slc=SIZE slc-iops=N  compression=BOOL  throttle-after=SIZE throttle-iops=N\n"
                       "shuffle=MICROSECONDS  state=FILE",
        .get_ready = ssdsim_get_ready,
        .open = ssdsim_open,
        .get_size = ssdsim_get_size,
        .pread = ssdsim_pread,
        .pwrite = ssdsim_pwrite,
        .trim = ssdsim_trim,
        .flush = ssdsim_flush,
        .unload = ssdsim_unload,
        .errno_is_preserved = 1,
};

NBDKIT_REGISTER_PLUGIN(plugin)
