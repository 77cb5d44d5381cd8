/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/from-sample.h"
#include "matrix-cells.h"
#include "output.h"
#include "phrase.h"
#include "query.h"
#include "render/table.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"
#include "verified.h"

typedef struct Shown {
        StoreRun run;
        QueryPhases phases;
        StorePhaseCpu *cpu; /* of each phase */
        Verified verified;
        char *description;   /* of the job, or NULL */
        StoreEvent *events;
        size_t n_events;
        EngineErrno *errnos;
        size_t n_errnos;
} Shown;

static void shown_clear(Shown *shown) {
        store_run_clear(&shown->run);
        query_phases_clear(&shown->phases);
        free(shown->cpu);
        verified_clear(&shown->verified);
        free(shown->description);
        store_events_free(shown->events, shown->n_events);
        free(shown->errnos);
}

static int load_cpu(Shown *shown, Store *store, Error *error) {
        shown->cpu = calloc(MAX(shown->phases.n, (size_t) 1), sizeof(*shown->cpu));
        if (!shown->cpu)
                return -ENOMEM;
        return store_get_phase_cpu(store, shown->run.id, shown->cpu, shown->phases.n, error);
}

/* Of a job that this version of plateau does not read none is known. */
static void load_description(Shown *shown) {
        const char *text = shown->run.job_text;
        _cleanup_job_ Job *job = NULL;

        if (job_parse(&job, shown->run.name, text, strlen(text), NULL) >= 0)
                shown->description = TAKE_PTR(job->description);
}

static int load(Shown *shown, const Cli *cli, const char *which, Error *error) {
        _cleanup_store_ Store *store = NULL;
        uint32_t id;

        int r = query_open_run(cli, which, &store, &id, error);
        if (r >= 0)
                r = store_get_run(store, id, &shown->run, error);
        if (r >= 0)
                r = store_get_phases(store, id, &shown->phases.items, &shown->phases.n, error);
        if (r >= 0)
                r = load_cpu(shown, store, error);
        if (r >= 0)
                r = verified_load(&shown->verified, store, id, shown->phases.n, error);
        if (r >= 0)
                load_description(shown);
        if (r >= 0)
                r = store_get_events(store, id, &shown->events, &shown->n_events, error);
        if (r >= 0)
                r = store_get_errnos(store, id, &shown->errnos, &shown->n_errnos, error);
        return r;
}

/* The size of its I/O: of writes or trims, if it has any. */
static uint64_t phase_block_bytes(const StorePhase *phase) {
        return phase->block_bytes[rw_mode_direction(phase->rw)];
}

static json_object *phase_json(const StoreRun *run, const StorePhase *phase, const StorePhaseCpu *cpu,
                               const Verified *verified) {
        json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        json_add_u64(o, "index", phase->index);
        json_add_string(o, "name", phase->name);
        json_add_string(o, "action", phase_action_name(phase->action));
        json_add_string(o, "rw", phase->action == PHASE_ACTION_IDLE ? NULL : rw_mode_name(phase->rw));
        json_add_u64_if(o, "bs", phase->action != PHASE_ACTION_IDLE, phase_block_bytes(phase));
        if (phase->numjobs > 0) {
                json_add_u64(o, "iodepth", phase->iodepth);
                json_add_u64(o, "numjobs", phase->numjobs);
                json_add_u64(o, "workers", phase->workers);
        } else { /* idle; and of what another tool did nobody knows */
                json_add_null(o, "iodepth");
                json_add_null(o, "numjobs");
                json_add_null(o, "workers");
        }
        json_add_string(o, "state", query_phase_state_name(run, phase));
        json_add_time(o, "started_at", phase->started_at_ns);
        json_add_time(o, "finished_at", phase->finished_at_ns);
        json_add_seconds(o, "elapsed_s", phase->elapsed_ns);
        json_add_seconds(o, "ramp_s", phase->ramp_elapsed_ns);
        json_add_u64(o, "ios", query_sum(phase->ios));
        json_add_u64(o, "bytes", query_sum(phase->bytes));
        json_add_u64(o, "read_ios", phase->ios[DIRECTION_READ]);
        json_add_u64(o, "write_ios", phase->ios[DIRECTION_WRITE]);
        json_add_u64(o, "trim_ios", phase->ios[DIRECTION_TRIM]);
        json_add_u64(o, "read_bytes", phase->bytes[DIRECTION_READ]);
        json_add_u64(o, "write_bytes", phase->bytes[DIRECTION_WRITE]);
        json_add_u64(o, "trim_bytes", phase->bytes[DIRECTION_TRIM]);
        json_add_double(o, "iops_mean", query_rate(query_sum(phase->counted_ios), store_phase_counted_ns(phase)));
        json_add_double(o, "bytes_per_s_mean", query_rate(query_sum(phase->counted_bytes),
                                                       store_phase_counted_ns(phase)));
        json_add_double(o, "cpu_percent", cpu->host_percent);
        json_add_double(o, "worker_cpu_percent", cpu->worker_percent);
        json_add_seconds(o, "host_limited_s", cpu->cores_limited_ns + cpu->ring_limited_ns);
        json_add_u64_if(o, "latency_mean_ns", phase->latency_mean_ns > 0, phase->latency_mean_ns);
        query_add_percentile(o, "latency_p50_ns", phase->latency, 0.5);
        query_add_percentile(o, "latency_p99_ns", phase->latency, 0.99);
        query_add_percentile(o, "latency_p999_ns", phase->latency, 0.999);
        query_add_latency_max(o, "latency_max_ns", phase->latency);
        json_add_u64_if(o, "errors", run->errors_known, phase->errors);
        json_add(o, "verify", verified_json(verified, phase->index));
        return o;
}

static json_object *event_json(const StoreEvent *event) {
        json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        json_add_time(o, "at", event->at_ns);
        json_add_seconds(o, "elapsed_s", event->elapsed_ns);
        json_add_string(o, "kind", event_kind_name(event->kind));
        json_add_string(o, "detail", event->detail);
        return o;
}

static json_object *errno_json(const EngineErrno *e) {
        json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        json_add_u64(o, "errno", (uint64_t) e->errnum);
        json_add_string(o, "name", errno_name(e->errnum));
        json_add_u64(o, "count", e->count);
        json_add_time(o, "first_at", e->first_at_ns);
        json_add_time(o, "last_at", e->last_at_ns);
        json_add_u64(o, "first_offset", e->first_offset);
        json_add_u64(o, "last_offset", e->last_offset);
        return o;
}

static void add_drive_json(json_object *device, const StoreRun *run) {
        json_add_string(device, "firmware", run->firmware);
        json_add_string(device, "transport", run->transport);
        json_add_string(device, "link", run->link);
        json_add_string(device, "host_driver", run->host_driver);
        json_add_string(device, "scheduler", run->scheduler);
        json_add_string(device, "write_cache", run->write_cache);
        json_add_u64(device, "logical_block_bytes", run->logical_block_bytes);
        json_add_u64(device, "physical_block_bytes", run->physical_block_bytes);
        json_add_u64(device, "read_ahead_kib", run->read_ahead_kib);
        json_add_u64(device, "nr_requests", run->nr_requests);
}

/* false: no memory */
static bool append(json_object *array, json_object *element) {
        return element && json_object_array_add(array, element) == 0;
}

static int show_json(Cli *cli, const Shown *shown) {
        _cleanup_json_ json_object *document = query_run_json(&shown->run);
        json_object *phases = json_object_new_array(), *events = json_object_new_array();
        json_object *errors = json_object_new_array();

        if (!document || !phases || !events || !errors)
                return -ENOMEM;
        add_drive_json(json_object_object_get(document, "device"), &shown->run);
        json_add_string(document, "description", shown->description);
        json_add_string(document, "host", shown->run.host);
        json_add_u64(document, "n_samples", shown->run.n_samples);
        json_add_seconds(document, "sample_interval_s", shown->run.sample_interval_ns);
        json_add_string(document, "job", shown->run.job_text);
        json_add(document, "phases", phases);
        json_add(document, "events", events);
        json_add(document, "errors", errors);

        for (size_t i = 0; i < shown->phases.n; i++)
                if (!append(phases,
                            phase_json(&shown->run, &shown->phases.items[i], &shown->cpu[i], &shown->verified)))
                        return -ENOMEM;
        for (size_t i = 0; i < shown->n_events; i++)
                if (!append(events, event_json(&shown->events[i])))
                        return -ENOMEM;
        for (size_t i = 0; i < shown->n_errnos; i++)
                if (!append(errors, errno_json(&shown->errnos[i])))
                        return -ENOMEM;
        return output_json(cli, document, false);
}

static void print_field(const char *name, const char *value) {
        _cleanup_free_ char *text = NULL;

        if (!value)
                return;
        text = text_escape(value);
        printf("%-12s %s\n", name, text ?: "");
}

static void print_drive(const StoreRun *run) {
        char size[TEXT_SIZE_MAX];

        print_field("device", run->device_path);
        print_field("model", run->model);
        print_field("serial", run->serial);
        print_field("wwn", run->wwn);
        print_field("firmware", run->firmware);
        if (run->size_bytes > 0)
                printf("%-12s %s (%" PRIu64 " bytes", "size", text_format_size(run->size_bytes, size), run->size_bytes);
        if (run->size_bytes > 0 && run->logical_block_bytes > 0)
                printf("; blocks of %" PRIu32 ", physical %" PRIu32, run->logical_block_bytes,
                       run->physical_block_bytes);
        if (run->size_bytes > 0)
                puts(")");
        print_field("transport", run->transport);
        print_field("link", run->link);
        print_field("driver", run->host_driver);
        print_field("scheduler", run->scheduler);
        print_field("write cache", run->write_cache);
        if (run->nr_requests > 0)
                printf("%-12s read-ahead %" PRIu32 " KiB, %" PRIu32 " requests\n", "queue", run->read_ahead_kib,
                       run->nr_requests);
        if (run->host[0] != '\0')
                print_field("host", run->host);
}

static void print_run(const Shown *shown) {
        const StoreRun *run = &shown->run;
        char time[OUTPUT_TIME_MAX], elapsed[TIME_SPAN_MAX], planned[TIME_SPAN_MAX];

        printf("%-12s %" PRIu32 "\n", "run", run->id);
        print_field("job", run->name);
        print_field("description", shown->description);
        print_field("label", run->label);
        print_field("state", run_state_name(run->state));
        print_field("waits for", run->waits_for);
        printf("%-12s %s\n", "started", output_format_time(run->started_at_ns, time));
        if (run->finished_at_ns != 0)
                printf("%-12s %s\n", "finished", output_format_time(run->finished_at_ns, time));
        printf("%-12s %s%s%s\n", "running time", time_format_span(run->elapsed_ns, elapsed),
               run->has_planned_time ? ", planned at most " : "",
               run->has_planned_time ? time_format_span(run->planned_ns, planned) : "");
        print_drive(run);
}

/* Of a phase of which no more of its latency is known. */
static const char *format_lone_mean(const StorePhase *phase, char *buf) {
        if (phase->latency || phase->latency_mean_ns == 0)
                return NULL;
        return output_format_latency(phase->latency_mean_ns, buf);
}

static const char *format_percentile(const StorePhase *phase, double fraction, char *buf) {
        uint64_t ns;

        if (!phase->latency || histogram_percentile(phase->latency, fraction, &ns) < 0)
                return NULL;
        return output_format_latency(ns, buf);
}

static const char *format_max(const StorePhase *phase, char *buf) {
        uint64_t ns;

        return phase->latency && histogram_max(phase->latency, &ns) == 0 ? output_format_latency(ns, buf) : NULL;
}

/* Where a phase reads and writes, both of a pair: "4 KiB r, 8 KiB w". */
#define PAIR_MAX (2 * TEXT_SIZE_MAX + 8)

static bool is_mixed(const StorePhase *phase) {
        return phase->ios[DIRECTION_READ] > 0 && phase->ios[DIRECTION_WRITE] > 0;
}

/* Of blocks of several sizes the smallest is recorded, which tells nothing of them. */
static uint64_t bytes_per_io(const StorePhase *phase, Direction d) {
        uint64_t mean = phase->ios[d] > 0 ? phase->bytes[d] / phase->ios[d] : 0;

        return MAX(mean, phase->block_bytes[d]);
}

static const char *format_bs(const StorePhase *phase, char buf[static PAIR_MAX]) {
        char read[TEXT_SIZE_MAX], write[TEXT_SIZE_MAX];

        text_format_size(bytes_per_io(phase, DIRECTION_READ), read);
        text_format_size(bytes_per_io(phase, DIRECTION_WRITE), write);
        if (!is_mixed(phase) || strcmp(read, write) == 0)
                text_format_size(bytes_per_io(phase, rw_mode_direction(phase->rw)), buf);
        else
                snprintf(buf, PAIR_MAX, "%s r, %s w", read, write);
        return buf;
}

static const char *format_moved(const StorePhase *phase, char buf[static PAIR_MAX]) {
        char read[TEXT_SIZE_MAX], write[TEXT_SIZE_MAX];

        if (!is_mixed(phase))
                return text_format_size(query_sum(phase->bytes), buf);
        snprintf(buf, PAIR_MAX, "%s r, %s w", text_format_size(phase->bytes[DIRECTION_READ], read),
                 text_format_size(phase->bytes[DIRECTION_WRITE], write));
        return buf;
}

static const char *format_iops(const StorePhase *phase, char buf[static PAIR_MAX]) {
        char read[TEXT_SIZE_MAX], write[TEXT_SIZE_MAX];
        const uint64_t *ios = phase->counted_ios;
        uint64_t ns = store_phase_counted_ns(phase);

        if (ns == 0)
                return NULL;
        if (!is_mixed(phase))
                return text_format_count(query_rate(query_sum(phase->counted_ios), ns), buf);
        snprintf(buf, PAIR_MAX, "%s r, %s w", text_format_count(query_rate(ios[DIRECTION_READ], ns), read),
                 text_format_count(query_rate(ios[DIRECTION_WRITE], ns), write));
        return buf;
}

static const char *format_megabytes(const StorePhase *phase, char buf[static TEXT_SIZE_MAX]) {
        if (store_phase_counted_ns(phase) == 0)
                return NULL;
        snprintf(buf, TEXT_SIZE_MAX, "%.1f",
                 query_rate(query_sum(phase->counted_bytes), store_phase_counted_ns(phase)) / 1e6);
        return buf;
}

static const char *format_percent(double percent, char buf[static TEXT_SIZE_MAX]) {
        if (isnan(percent))
                return NULL;
        snprintf(buf, TEXT_SIZE_MAX, "%.1f%%", percent);
        return buf;
}

static int add_phase(Table *table, const StoreRun *run, const StorePhase *phase, double cpu_percent) {
        bool idle = phase->action == PHASE_ACTION_IDLE, named = idle || phase->action == PHASE_ACTION_DISCARD;
        char megabytes[TEXT_SIZE_MAX], cpu[TEXT_SIZE_MAX];
        char index[16], bs[PAIR_MAX], outstanding[32], elapsed[TIME_SPAN_MAX], volume[PAIR_MAX];
        char iops[PAIR_MAX], mean[OUTPUT_LATENCY_MAX], p50[OUTPUT_LATENCY_MAX], p99[OUTPUT_LATENCY_MAX];
        char p999[OUTPUT_LATENCY_MAX];
        char max[OUTPUT_LATENCY_MAX], errors[24], workers[16];

        snprintf(index, sizeof(index), "%" PRIu32, phase->index);
        snprintf(outstanding, sizeof(outstanding), "%" PRIu32 "x%" PRIu32, phase->numjobs, phase->iodepth);
        snprintf(errors, sizeof(errors), "%" PRIu64, phase->errors);
        snprintf(workers, sizeof(workers), "%" PRIu32, phase->workers);
        const char *cells[] = {
                index, phase->name, named ? phase_action_name(phase->action) : rw_mode_name(phase->rw),
                idle ? NULL : format_bs(phase, bs),
                phase->numjobs > 0 ? outstanding : NULL, phase->workers > 1 ? workers : NULL,
                query_phase_state_name(run, phase), time_format_span(phase->elapsed_ns, elapsed),
                format_moved(phase, volume), format_iops(phase, iops), format_megabytes(phase, megabytes),
                format_percent(cpu_percent, cpu), format_lone_mean(phase, mean),
                format_percentile(phase, 0.5, p50),
                format_percentile(phase, 0.99, p99), format_percentile(phase, 0.999, p999), format_max(phase, max),
                run->errors_known ? errors : NULL,
        };
        return table_add_row(table, cells);
}

/* How many phases from number i on are shown by `matrix` as a table, and not here. */
static size_t count_table_cells(const Shown *shown, size_t i) {
        const StorePhase *phases = shown->phases.items + i;
        size_t n = matrix_cells(phases, shown->phases.n - i);

        return matrix_is_table(phases, n) ? n : 0;
}

static void print_matrices(const Shown *shown) {
        for (size_t i = 0, n; i < shown->phases.n; i += MAX(n, (size_t) 1)) {
                const StorePhase *cells = shown->phases.items + i;
                _cleanup_free_ char *name = text_escape(cells->name);
                size_t n_done = 0;

                n = count_table_cells(shown, i);
                for (size_t k = 0; k < n; k++)
                        n_done += cells[k].state == PHASE_DONE;
                if (n > 0)
                        printf("phases %zu to %zu are the cells of '%s', %zu of which are done: 'plateau matrix "
                               "%" PRIu32 "' shows them\n",
                               i, i + n - 1, name ?: "", n_done, shown->run.id);
        }
}

/* What a user may take for the drive's doing; moments are nothing to speak of. */
static void print_host_limit(const Shown *shown) {
        char span[TIME_SPAN_MAX];
        uint64_t cores_ns = 0, ring_ns = 0;

        for (size_t i = 0; i < shown->phases.n; i++) {
                cores_ns += shown->cpu[i].cores_limited_ns;
                ring_ns += shown->cpu[i].ring_limited_ns;
        }
        if (cores_ns + ring_ns < HOST_ALARM_NS)
                return;
        printf("\nThe host, not the drive, set the pace for %s of the run:",
               time_format_span(cores_ns + ring_ns, span));
        if (cores_ns > 0)
                printf(" all of its cores were busy for %s%s", time_format_span(cores_ns, span),
                       ring_ns > 0 ? ", and" : "");
        if (ring_ns > 0)
                printf(" a ring thread never waited for the drive for %s", time_format_span(ring_ns, span));
        puts(".");
}

static int print_phases(const Shown *shown) {
        static const TableColumn columns[] = {
                { "PHASE", .right = true }, { "NAME", .truncate = true }, { "RW" },
                { "BS", .right = true, .rank = 3 }, { "JOBSxDEPTH", .right = true, .rank = 8 },
                { "WORKERS", .right = true, .may_be_empty = true, .rank = 8 }, { "STATE" },
                { "TIME", .right = true }, { "MOVED", .right = true, .rank = 6 }, { "IOPS", .right = true },
                { "MB/S", .right = true, .rank = 2 },
                { "CPU", .right = true, .may_be_empty = true, .rank = 1 },
                { "MEAN", .right = true, .may_be_empty = true },
                { "P50", .right = true, .may_be_empty = true, .rank = 7 },
                { "P99", .right = true, .may_be_empty = true, .rank = 4 },
                { "P99.9", .right = true, .may_be_empty = true, .rank = 9 },
                { "MAX", .right = true, .may_be_empty = true, .rank = 5 }, { "ERRORS", .right = true },
        };
        _cleanup_(table_freep) Table *table = NULL;

        putchar('\n');
        int r = table_new(&table, columns, ELEMENTSOF(columns));
        for (size_t i = 0; r >= 0 && i < shown->phases.n; i++) {
                size_t n = count_table_cells(shown, i);

                if (n == 0)
                        r = add_phase(table, &shown->run, &shown->phases.items[i], shown->cpu[i].host_percent);
                else
                        i += n - 1;
        }
        if (r >= 0)
                r = output_table(table);
        if (r >= 0) {
                print_matrices(shown);
                print_host_limit(shown);
        }
        return r;
}

static int print_events(const Shown *shown) {
        static const TableColumn columns[] = { { "AT" }, { "ELAPSED", .right = true }, { "EVENT" }, { "DETAIL" } };
        _cleanup_(table_freep) Table *table = NULL;

        if (shown->n_events == 0)
                return 0;
        putchar('\n');
        int r = table_new(&table, columns, ELEMENTSOF(columns));
        for (size_t i = 0; r >= 0 && i < shown->n_events; i++) {
                const StoreEvent *event = &shown->events[i];
                char at[OUTPUT_TIME_MAX], elapsed[TIME_SPAN_MAX];
                const char *cells[] = { output_format_time(event->at_ns, at),
                        time_format_span(event->elapsed_ns, elapsed),
                                        event_kind_name(event->kind), event->detail };

                r = table_add_row(table, cells);
        }
        return r < 0 ? r : output_table(table);
}

static int print_errors(const Shown *shown) {
        static const TableColumn columns[] = {
                { "ERROR" }, { "COUNT", .right = true }, { "FIRST" }, { "LAST" }, { "FIRST OFFSET", .right = true },
        };
        _cleanup_(table_freep) Table *table = NULL;

        if (shown->n_errnos == 0)
                return 0;
        putchar('\n');
        int r = table_new(&table, columns, ELEMENTSOF(columns));
        for (size_t i = 0; r >= 0 && i < shown->n_errnos; i++) {
                const EngineErrno *e = &shown->errnos[i];
                char count[24], first[OUTPUT_TIME_MAX], last[OUTPUT_TIME_MAX], offset[24];
                const char *cells[] = { errno_name(e->errnum), count, output_format_time(e->first_at_ns, first),
                                        output_format_time(e->last_at_ns, last), offset };

                snprintf(count, sizeof(count), "%" PRIu64, e->count);
                snprintf(offset, sizeof(offset), "%" PRIu64, e->first_offset);
                r = table_add_row(table, cells);
        }
        return r < 0 ? r : output_table(table);
}

/* What a person wants to know first in the morning. */
static int print_summary(const Shown *shown) {
        uint64_t ios = 0, bytes = 0, written = 0, elapsed_ns = 0, errors = 0;
        char volume[TEXT_SIZE_MAX], written_text[TEXT_SIZE_MAX], iops[TEXT_SIZE_MAX], span[TIME_SPAN_MAX];
        Verification verified;

        for (size_t i = 0; i < shown->phases.n; i++) {
                const StorePhase *phase = &shown->phases.items[i];

                ios += query_sum(phase->counted_ios);
                bytes += query_sum(phase->counted_bytes);
                written += phase->bytes[DIRECTION_WRITE];
                elapsed_ns += store_phase_counted_ns(phase);
                errors += phase->errors;
        }
        if (elapsed_ns == 0)
                return puts("\nnothing was measured yet") < 0 ? -EIO : 0;

        printf("\n%" PRIu64 " I/Os and %s in %s: %s IOPS, %.1f MB/s on average; %s written", ios,
               text_format_size(bytes, volume),
               time_format_span(elapsed_ns, span), text_format_count(query_rate(ios, elapsed_ns), iops),
               query_rate(bytes, elapsed_ns) / 1e6, text_format_size(written, written_text));
        if (shown->run.size_bytes > 0)
                printf(" (%.2f x the device)", (double) written / (double) shown->run.size_bytes);
        if (!shown->run.errors_known)
                return puts("; errors unknown") < 0 ? -EIO : 0;
        printf("; %" PRIu64 " I/O error%s", errors, plural(errors));
        if (verified_total(&shown->verified, &verified) && verification_errors(&verified) > 0)
                printf("; %" PRIu64 " block%s read back not as written", verification_errors(&verified),
                       verification_errors(&verified) == 1 ? " was" : "s were");
        return putchar('\n') < 0 ? -EIO : 0;
}

static int show_text(const Shown *shown) {
        print_run(shown);
        int r = print_phases(shown);
        if (r >= 0)
                r = verified_print(&shown->verified, shown->phases.items);
        if (r >= 0)
                r = print_events(shown);
        if (r >= 0)
                r = print_errors(shown);
        return r < 0 ? r : print_summary(shown);
}

static int show_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_(shown_clear) Shown shown = {};

        int r = load(&shown, cli, arguments->words[0], error);
        if (r < 0)
                return r;
        r = cli->json ? show_json(cli, &shown) : show_text(&shown);
        return r < 0 ? r : 0;
}

const Verb verb_show = {
        .name = "show",
        .summary = "one run: identity, phases, events, errors, summary",
        .words = "RUN",
        .description = "Shows everything about a run but its samples.",
        .n_words_min = 1,
        .n_words_max = 1,
        .uses_database = true,
        .options = (const Option[]) { {} },
        .run = show_run,
};
