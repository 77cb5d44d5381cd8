/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

#include "live.h"
#include "output.h"
#include "phrase.h"
#include "render/columns.h"
#include "run/state.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

#define ERASE_LINE "\r\033[K"
#define LINE_UP "\033[A"

#define COLUMNS_DEFAULT 80U
#define ROWS_DEFAULT 24U
#define NAME_COLUMNS_MAX 24 /* of a phase */

/* In the order in which they stand. */
typedef enum LivePart {
        PART_RUN,
        PART_DEVICE,
        PART_PHASE,
        PART_TIME,
        PART_IOPS,
        PART_BANDWIDTH,
        PART_P99,
        PART_NO_ERRORS,
        PART_ERRORS,
        PART_WRONG,
        PART_IN_FLIGHT,
        PART_OLDEST,
        N_LIVE_PARTS,
} LivePart;

/* In the order in which they go where there is no room. */
static const LivePart expendable[] = {
        PART_IN_FLIGHT, PART_BANDWIDTH, PART_NO_ERRORS, PART_P99,    PART_DEVICE,
        PART_PHASE,     PART_ERRORS,    PART_OLDEST,    PART_WRONG,
};

typedef struct LiveParts {
        char *text[N_LIVE_PARTS]; /* with what separates it from the one before; NULL: left out */
        bool failed;              /* memory ran out */
} LiveParts;

static void live_parts_clear(LiveParts *parts) {
        for (size_t i = 0; i < N_LIVE_PARTS; i++)
                free(parts->text[i]);
}

static void _printf_(3, 4) add_part(LiveParts *parts, LivePart part, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&parts->text[part], format, ap) < 0) {
                parts->text[part] = NULL;
                parts->failed = true;
        }
        va_end(ap);
}

static void add_place(LiveParts *parts, const LiveStatus *s) {
        if (s->device && *s->device) {
                _cleanup_free_ char *device = text_escape(basename(s->device));
                add_part(parts, PART_DEVICE, " on %s", device ?: "");
        }
        if (s->phase && *s->phase) {
                _cleanup_free_ char *escaped = text_escape(s->phase);
                _cleanup_free_ char *phase = escaped ? text_fit(escaped, NAME_COLUMNS_MAX, !output_is_utf8()) : NULL;

                if (s->n_phases > 1)
                        add_part(parts, PART_PHASE, ", %s (%" PRIu32 " of %" PRIu32 ")", phase ?: "",
                                 s->phase_index + 1, s->n_phases);
                else
                        add_part(parts, PART_PHASE, ", %s", phase ?: "");
        }
}

static void add_figures(LiveParts *parts, const LiveStatus *s) {
        char text[TEXT_SIZE_MAX], span[TIME_SPAN_MAX], latency[OUTPUT_LATENCY_MAX];

        if (!isnan(s->iops))
                add_part(parts, PART_IOPS, ", %s IOPS", text_format_count(s->iops, text));
        if (!isnan(s->bytes_per_s))
                add_part(parts, PART_BANDWIDTH, ", %.1f MB/s", s->bytes_per_s / 1e6);
        if (s->has_p99)
                add_part(parts, PART_P99, ", p99 %s", output_format_latency(s->p99_ns, latency));
        if (s->has_errors && (s->errors > 0 || s->wrong_blocks == 0))
                add_part(parts, s->errors > 0 ? PART_ERRORS : PART_NO_ERRORS, ", %" PRIu64 " error%s", s->errors,
                         plural(s->errors));
        if (s->wrong_blocks > 0)
                add_part(parts, PART_WRONG, ", %" PRIu64 " block%s not as written", s->wrong_blocks,
                         plural(s->wrong_blocks));
        if (s->in_flight > 0)
                add_part(parts, PART_IN_FLIGHT, ", %" PRIu32 " in flight", s->in_flight);
        if (s->oldest_io_ns >= STALL_NS)
                add_part(parts, PART_OLDEST, ", the oldest I/O for %s", time_format_span(s->oldest_io_ns, span));
}

static size_t parts_columns(const LiveParts *parts) {
        size_t columns = 0;

        for (size_t i = 0; i < N_LIVE_PARTS; i++)
                columns += parts->text[i] ? text_columns(parts->text[i]) : 0;
        return columns;
}

static char *join_parts(const LiveParts *parts) {
        char *line = NULL;
        size_t length;

        FILE *f = open_memstream(&line, &length);
        if (!f)
                return NULL;
        for (size_t i = 0; i < N_LIVE_PARTS; i++)
                fputs(parts->text[i] ?: "", f);
        if (fclose(f) != 0) {
                free(line);
                return NULL;
        }
        return line;
}

char *live_format(const LiveStatus *s, size_t columns) {
        _cleanup_(live_parts_clear) LiveParts parts = {};
        char elapsed[TIME_SPAN_MAX], planned[TIME_SPAN_MAX];

        add_part(&parts, PART_RUN, "run %" PRIu32 " %s", s->run, s->state);
        add_place(&parts, s);
        add_part(&parts, PART_TIME, ", %s%s%s", time_format_span(s->elapsed_ns, elapsed),
                 s->planned_ns > 0 ? " of " : "", s->planned_ns > 0 ? time_format_span(s->planned_ns, planned) : "");
        add_figures(&parts, s);
        if (parts.failed)
                return NULL;

        for (size_t i = 0; i < ELEMENTSOF(expendable) && parts_columns(&parts) > columns; i++) {
                free(parts.text[expendable[i]]);
                parts.text[expendable[i]] = NULL;
        }
        return join_parts(&parts);
}

void live_clear(Live *live) {
        for (; live->n_lines > 0; live->n_lines--)
                fputs(live->n_lines > 1 ? ERASE_LINE LINE_UP : ERASE_LINE, live->f);
        fflush(live->f);
}

void live_end(Live *live) {
        if (live->n_lines > 0)
                putc('\n', live->f);
        live->n_lines = 0;
        fflush(live->f);
}

static int show_lines(Live *live, const LiveStatus *statuses, size_t n, size_t columns) {
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *line = live_format(&statuses[i], columns), *cut = NULL;

                if (!line)
                        return -ENOMEM;
                if (columns == SIZE_MAX) {
                        fprintf(live->f, "%s\n", line);
                        continue;
                }
                cut = text_fit(line, columns, !output_is_utf8());
                if (!cut)
                        return -ENOMEM;
                fprintf(live->f, "%s%s", live->n_lines++ > 0 ? "\n" : "", cut);
        }
        return 0;
}

int live_show(Live *live, const LiveStatus *statuses, size_t n) {
        struct winsize size = {};
        int r;

        if (!isatty(fileno(live->f))) {
                r = show_lines(live, statuses, n, SIZE_MAX);
                return r < 0 ? r : fflush(live->f) == 0 ? 0 : -EIO;
        }

        bool known = ioctl(fileno(live->f), TIOCGWINSZ, &size) == 0;
        size_t columns = known && size.ws_col > 1 ? size.ws_col : COLUMNS_DEFAULT;
        size_t rows = known && size.ws_row > 2 ? size.ws_row : ROWS_DEFAULT;
        size_t n_shown = n < rows ? n : rows - 2; /* the last column and the last row make some terminals scroll */

        live_clear(live);
        r = show_lines(live, statuses, n_shown, columns - 1);
        if (r >= 0 && n_shown < n) {
                fprintf(live->f, "\nand %zu more", n - n_shown);
                live->n_lines++;
        }
        return r < 0 ? r : fflush(live->f) == 0 ? 0 : -EIO;
}

int live_interrupt_fd(void) {
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
                return -errno;
        int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        return fd < 0 ? -errno : fd;
}

int live_wait(int interrupt_fd, int timeout_ms) {
        struct pollfd p = { .fd = interrupt_fd, .events = POLLIN };
        return poll(&p, 1, timeout_ms) > 0;
}
