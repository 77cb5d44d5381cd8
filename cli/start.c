/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "bus-client.h"
#include "confirm.h"
#include "device/info.h"
#include "follow.h"
#include "job-file.h"
#include "output.h"
#include "probe.h"
#include "run/state.h"
#include "util/macro.h"
#include "util/text.h"

typedef struct Start {
        Job *job;
        char **devices;        /* absolute paths */
        char **typed;          /* on the terminal, or NULL */
        const char **given;    /* by --confirm */
        uint32_t *runs;
        FollowedRun *followed; /* the same, for --wait */
        size_t n_runs;
} Start;

static void start_clear(Start *start) {
        if (start->job)
                job_free(start->job);
        strv_free(start->devices);
        strv_free(start->typed);
        free(start->given);
        free(start->runs);
        free(start->followed);
}

/* The service has another working directory. Symbolic links are its to judge. */
static char *absolute_path(const char *path) {
        _cleanup_free_ char *here = NULL;
        char *result;

        if (path[0] == '/')
                return strdup(path);
        here = getcwd(NULL, 0);
        return here && asprintf(&result, "%s/%s", here, path) >= 0 ? result : NULL;
}

static int take_devices(Start *start, const Arguments *arguments, Error *error) {
        _cleanup_free_ const char **paths = arguments_values(arguments, "device");
        size_t n = 0;

        if (!paths)
                return -ENOMEM;
        while (paths[n])
                n++;
        if (n == 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "no device named: plateau start JOB --device DEV; 'plateau devices' lists them");

        start->devices = calloc(n + 1, sizeof(*start->devices));
        if (!start->devices)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                if (*paths[i] == '\0')
                        return error_set(error, ERROR_USAGE, EINVAL,
                                         "--device is empty: expected a block device, as 'plateau devices' lists them");
                int r = probe_check_name(paths[i], error);
                if (r < 0)
                        return r;
                start->devices[i] = absolute_path(paths[i]);
                if (!start->devices[i])
                        return -ENOMEM;
        }
        return 0;
}

static int take_confirmations(Start *start, const Cli *cli, const Arguments *arguments, Error *error) {
        start->given = arguments_values(arguments, "confirm");
        if (!start->given)
                return -ENOMEM;
        if (start->given[0] || cli->json || !confirm_is_possible())
                return 0;
        return confirm_ask((const char *const *) start->devices, arguments_has(arguments, "erase-existing"),
                           &start->typed, error);
}

static int request(Start *start, BusClient *client, const Arguments *arguments, const char *job_name, Error *error) {
        const BusStart message = {
                .job_name = job_name,
                .job_text = start->job->text,
                .devices = (const char *const *) start->devices,
                .confirmations = start->typed ? (const char *const *) start->typed : start->given,
                .erase_existing = arguments_has(arguments, "erase-existing"),
                .label = arguments_value(arguments, "label"),
        };

        return bus_client_start(client, &message, &start->runs, &start->n_runs, error);
}

/* After --wait also how they ended, in the same order. */
static int start_json(Cli *cli, const Start *start) {
        _cleanup_json_ json_object *document = json_object_new_object();
        json_object *runs = json_object_new_array();

        if (!document || !runs)
                return -ENOMEM;
        json_add_u64(document, "run", start->runs[0]);
        json_add(document, "runs", runs);
        for (size_t i = 0; i < start->n_runs; i++)
                json_object_array_add(runs, json_object_new_uint64(start->runs[i]));

        if (start->followed) {
                json_object *states = json_object_new_array();

                if (!states)
                        return -ENOMEM;
                json_add(document, "states", states);
                for (size_t i = 0; i < start->n_runs; i++)
                        json_append_string(states, run_state_name(start->followed[i].state));
        }
        return output_json(cli, document, true);
}

static bool has_notice(char *const *notices, const char *wanted) {
        for (; notices && *notices; notices++)
                if (strcmp(*notices, wanted) == 0)
                        return true;
        return false;
}

/* What the job gave to remark is the same for each run, and told once. */
static void print_notices(const BusRun *run, const BusRun *first) {
        for (char **notice = run->notices; notice && *notice; notice++)
                if (run == first || !has_notice(first->notices, *notice))
                        output_notice("note: %s", *notice);
}

static int print_started(uint32_t id, const BusRun *run) {
        _cleanup_free_ char *device = NULL, *model = NULL, *serial = NULL;
        char size[TEXT_SIZE_MAX];

        device = text_escape(run->device);
        model = text_escape(run->model);
        serial = text_escape(run->serial);
        if (!device || !model || !serial)
                return -ENOMEM;

        printf("run %" PRIu32 " started on %s (%s%s", id, device, model, *model ? ", " : "");
        if (*serial)
                printf("serial %s, ", serial);
        return printf("%s)\n", text_format_size(run->size_bytes, size)) < 0 || fflush(stdout) != 0 ? -EIO : 0;
}

static void bus_runs_free(BusRun *runs, size_t n) {
        for (size_t i = 0; runs && i < n; i++)
                bus_run_clear(&runs[i]);
        free(runs);
}

/* The runs first, so that no note stands between them where both streams go to one terminal. */
static int start_text(const Start *start, BusClient *client, Error *error) {
        BusRun *runs = calloc(start->n_runs, sizeof(*runs));
        int r = runs ? 0 : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < start->n_runs; i++) {
                r = bus_client_get_run(client, start->runs[i], &runs[i], error);
                if (r >= 0)
                        r = print_started(start->runs[i], &runs[i]);
        }
        for (size_t i = 0; r >= 0 && i < start->n_runs; i++)
                print_notices(&runs[i], &runs[0]);
        bus_runs_free(runs, start->n_runs);
        return r;
}

static int start_and_wait(Cli *cli, Start *start, BusClient *client, Error *error) {
        start->followed = calloc(start->n_runs, sizeof(*start->followed));
        if (!start->followed)
                return -ENOMEM;
        for (size_t i = 0; i < start->n_runs; i++)
                start->followed[i].id = start->runs[i];

        int status = follow_runs(cli, client, start->followed, start->n_runs, error);
        if (status < 0 || !cli->json)
                return status;
        int r = start_json(cli, start);
        return r < 0 ? r : status;
}

/* Told here, and not by the database that keeps it: a label stands in a column of `list`. */
static int check_label(const char *label, Error *error) {
        if (label && strlen(label) > RUN_LABEL_BYTES_MAX)
                return error_set(error, ERROR_USAGE, E2BIG, "--label: %zu bytes; expected at most %d", strlen(label),
                                 RUN_LABEL_BYTES_MAX);
        return 0;
}

static int start_run(Cli *cli, const Arguments *arguments, Error *error) {
        bool wait = arguments_has(arguments, "wait");
        _cleanup_(start_clear) Start start = {};
        _cleanup_bus_client_ BusClient *client = NULL;
        const char *job_name;

        int r = check_label(arguments_value(arguments, "label"), error);
        if (r >= 0)
                r = take_devices(&start, arguments, error);
        if (r >= 0)
                r = job_file_read(&start.job, arguments->words[0], &job_name, error);
        if (r >= 0)
                r = bus_client_new(&client, cli->session_bus, error);
        if (r >= 0)
                r = take_confirmations(&start, cli, arguments, error);
        if (r >= 0)
                r = bus_client_subscribe(client, error);
        if (r >= 0)
                r = request(&start, client, arguments, job_name, error);
        if (r >= 0 && !cli->json)
                r = start_text(&start, client, error);
        else if (r >= 0 && !wait)
                r = start_json(cli, &start);
        if (r < 0)
                return r;
        return wait ? start_and_wait(cli, &start, client, error) : 0;
}

const Verb verb_start = {
        .name = "start",
        .summary = "run a job on a device, overwriting it",
        .words = "JOB --device DEV... [--confirm SERIAL...] [--erase-existing] [--label TEXT] [--wait]",
        .description = "Starts a run of the job file or preset JOB (- is standard input) on each device, on all or on "
                       "none. EVERYTHING ON THE DEVICES IS OVERWRITTEN. Each must be confirmed by its serial number (a "
                       "partition: SERIAL-partN; one of several namespaces: SERIAL-nN; no serial: the kernel's name, "
                       "as in loop3), which 'plateau devices --json' tells as \"confirm\". A terminal is asked for "
                       "it; a script passes it. With --wait, the exit status is 0 if all runs are done or were "
                       "stopped, by a user or by [stop], 1 if one failed, lost its device or waits for a user, else 3 "
                       "if one was refused, and 5 if the service went away; --json prints its document at the end, "
                       "with the runs' last \"states\"; Ctrl-C leaves the runs alone (130).",
        .n_words_min = 1,
        .n_words_max = 1,
        .uses_bus = true,
        .options = (const Option[]) {
                { .name = "device", .argument = "DEV", .many = true, .help = "where to run it" },
                { .name = "confirm", .argument = "SERIAL", .many = true, .help = "that this drive is meant" },
                { .name = "erase-existing", .help = "even if it carries a file system or the like" },
                { .name = "label", .argument = "TEXT", .help = "a name for the run, as 'list' shows it" },
                { .name = "wait", .help = "until it has ended" },
                {},
        },
        .run = start_run,
};
