/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

#include "live.h"
#include "output.h"
#include "run/state.h"
#include "util/text.h"
#include "util/time.h"

#define ERASE_LINE "\r\033[K"

static void write_figures(FILE *f, const LiveStatus *s) {
        char text[TEXT_SIZE_MAX], span[TIME_SPAN_MAX], latency[OUTPUT_LATENCY_MAX];

        if (!isnan(s->iops))
                fprintf(f, ", %s IOPS", text_format_count(s->iops, text));
        if (!isnan(s->bytes_per_second))
                fprintf(f, ", %.1f MB/s", s->bytes_per_second / 1e6);
        if (s->has_p99)
                fprintf(f, ", p99 %s", output_format_latency(s->p99_ns, latency));
        if (s->has_errors)
                fprintf(f, ", %" PRIu64 " errors", s->errors);
        if (s->in_flight > 0)
                fprintf(f, ", %" PRIu32 " in flight", s->in_flight);
        if (s->oldest_io_ns >= STALL_NS)
                fprintf(f, ", the oldest for %s", time_format_span(s->oldest_io_ns, span));
}

char *live_format(const LiveStatus *s) {
        char *line = NULL, elapsed[TIME_SPAN_MAX], planned[TIME_SPAN_MAX];
        _cleanup_free_ char *phase = NULL;
        size_t length;

        FILE *f = open_memstream(&line, &length);
        if (!f)
                return NULL;

        fprintf(f, "run %" PRIu32 " %s", s->run, s->state);
        phase = s->phase && *s->phase ? text_escape(s->phase) : NULL;
        if (phase)
                fprintf(f, ", %s", phase);
        fprintf(f, ", %s", time_format_span(s->elapsed_ns, elapsed));
        if (s->planned_ns > 0)
                fprintf(f, " of %s", time_format_span(s->planned_ns, planned));
        write_figures(f, s);

        if (fclose(f) != 0) {
                free(line);
                return NULL;
        }
        return line;
}

/* How many bytes of the line fit: a character more than a column wide is not to be expected in it. */
static size_t fitting_bytes(const char *line, size_t columns) {
        size_t n = 0;

        for (const char *p = line; *p; p++)
                if (((unsigned char) *p & 0xc0) != 0x80 && n++ == columns)
                        return (size_t) (p - line);
        return strlen(line);
}

int live_print(FILE *f, const char *line) {
        struct winsize size = {};

        if (!isatty(fileno(f)))
                fprintf(f, "%s\n", line);
        else {
                size_t columns = ioctl(fileno(f), TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : 79;
                fprintf(f, ERASE_LINE "%.*s", (int) fitting_bytes(line, columns), line);
        }
        return fflush(f) == 0 ? 0 : -EIO;
}

void live_end(FILE *f) {
        if (isatty(fileno(f))) {
                putc('\n', f);
                fflush(f);
        }
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
