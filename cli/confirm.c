/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "confirm.h"
#include "device/find.h"
#include "output.h"
#include "probe.h"
#include "util/macro.h"
#include "util/text.h"

bool confirm_is_possible(void) {
        return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

static void show_device(const Probe *probe) {
        const DeviceInfo *info = probe->info;
        _cleanup_free_ char *path = text_escape(info->path), *model = output_text(info->model);
        _cleanup_free_ char *serial = output_text(info->serial);
        char size[TEXT_SIZE_MAX];

        fprintf(stderr, "\n%s: model %s, serial %s, %s (%" PRIu64 " bytes)\n", path ?: "", model ?: "", serial ?: "",
                text_format_size(info->size_bytes, size), info->size_bytes);
        for (size_t i = 0; i < probe->reasons.n; i++) {
                _cleanup_free_ char *text = text_escape(probe->reasons.items[i].text);
                fprintf(stderr, "  %s\n", text ?: "");
        }
        fputs("EVERYTHING ON IT WILL BE OVERWRITTEN.\n", stderr);
}

static int read_line(char **ret) {
        char *line = NULL;
        size_t size = 0;

        ssize_t n = getline(&line, &size, stdin);
        if (n < 0) {
                free(line);
                return -EIO;
        }
        if (n > 0 && line[n - 1] == '\n')
                line[n - 1] = '\0';
        *ret = line;
        return 0;
}

static int ask(const Probe *probe, char **ret, Error *error) {
        _cleanup_free_ char *expected = NULL, *twin = NULL, *shown = NULL, *line = NULL, *typed = NULL;

        int r = device_confirmation_here(probe->info, &expected, &twin, error);
        if (r < 0)
                return r;
        shown = text_escape(expected);
        show_device(probe);
        fprintf(stderr, "Type %s to go on: ", shown ?: "");
        fflush(stderr);

        if (read_line(&line) < 0)
                return error_set(error, ERROR_REFUSED, ECANCELED, "%s: not confirmed, nothing was started",
                                 probe->info->path);
        typed = text_strip(line);
        if (!typed)
                return -ENOMEM;
        if (strcmp(typed, expected) != 0)
                return error_set(error, ERROR_REFUSED, ECANCELED, "%s: '%s' is not '%s', nothing was started",
                                 probe->info->path,
                                 typed, expected);
        *ret = TAKE_PTR(typed);
        return 0;
}

/* A device that the service will refuse anyway is nothing to ask about. */
static int check_each(Probes *probes, bool erase_existing, Error *error) {
        for (size_t i = 0; i < probes->n; i++) {
                Probe *probe = &probes->items[i];
                _cleanup_free_ char *reasons = NULL;

                if (!probe->info) {
                        error_move(error, &probe->error);
                        return -ENODEV;
                }
                bool erasable = probe_is_erasable(probe);
                if (probe_is_eligible(probe) || (erasable && erase_existing))
                        continue;

                reasons = probe_reasons_text(probe);
                if (!reasons)
                        return -ENOMEM;
                return error_set(error, ERROR_REFUSED, EBUSY, "%s: %s%s", probe->info->path, reasons,
                                 erasable ? "; to wipe what it holds, start with --erase-existing" : "");
        }
        return 0;
}

static int ask_each(const Probes *probes, char **answers, Error *error) {
        for (size_t i = 0; i < probes->n; i++) {
                int r = ask(&probes->items[i], &answers[i], error);
                if (r < 0)
                        return r;
        }
        return 0;
}

int confirm_ask(const char *const *paths, bool erase_existing, char ***ret, Error *error) {
        _cleanup_probes_ Probes probes = {};

        int r = probes_new(&probes, paths, error);
        if (r >= 0)
                r = check_each(&probes, erase_existing, error);
        if (r < 0)
                return r;
        char **answers = calloc(probes.n + 1, sizeof(*answers));
        if (!answers)
                return -ENOMEM;
        r = ask_each(&probes, answers, error);
        if (r < 0) {
                strv_free(answers);
                return r;
        }
        *ret = answers;
        return 0;
}
