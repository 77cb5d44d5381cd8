/* SPDX-License-Identifier: MIT */

/*
 * Without --size a job is bound to two devices, absurdly large ones: what comes out alike for both
 * holds for every device that is large enough, and what does not depends on the device.
 */

#include <inttypes.h>
#include <string.h>

#include "job-file.h"
#include "output.h"
#include "render/table.h"
#include "spec/plan.h"
#include "spec/stop.h"
#include "util/macro.h"
#include "util/parse.h"
#include "util/text.h"
#include "util/time.h"

#define LOGICAL_BLOCK_BYTES 512U
#define HUGE_DEVICE_BYTES (UINT64_C(1) << 60)

static void forget_what_differs(Plan *plan, const Plan *other) {
        for (size_t i = 0; i < plan->n_phases; i++) {
                PhasePlan *p = &plan->phases[i];
                const PhasePlan *o = &other->phases[i];

                if (p->planned_ns != o->planned_ns)
                        p->has_planned_time = false;
                if (p->planned_write_bytes != o->planned_write_bytes)
                        p->has_planned_bytes = false;
                if (p->planned_trim_bytes != o->planned_trim_bytes)
                        p->planned_trim_bytes = UINT64_MAX;
        }
        if (plan->stop_written_max != other->stop_written_max)
                plan->stop_written_max = 0;
}

static int make_plan(Plan **ret, const Job *job, const Arguments *arguments, Error *error) {
        const char *size = arguments_value(arguments, "size");
        PlanTarget target = {
                .size_bytes = HUGE_DEVICE_BYTES,
                .logical_block_bytes = LOGICAL_BLOCK_BYTES,
                .can_discard = true,
        };
        _cleanup_plan_ Plan *plan = NULL, *other = NULL;

        if (size && (parse_size(size, &target.size_bytes) < 0 || target.size_bytes == 0))
                return error_set(error, ERROR_USAGE, EINVAL, "--size %s: not a size; expected bytes, or as in 120g",
                                 size);

        int r = plan_new(&plan, job, &target, 0, error);
        if (r < 0)
                return r;
        if (!size) {
                target.size_bytes /= 2;
                r = plan_new(&other, job, &target, 0, error);
                if (r < 0)
                        return r;
                forget_what_differs(plan, other);
        }
        *ret = TAKE_PTR(plan);
        return 0;
}

static uint64_t block_bytes(const PhasePlan *phase) {
        return phase->block_bytes[rw_mode_direction(phase->rw)];
}

static uint64_t largest_bytes(const PhasePlan *phase, Direction d) {
        return block_largest(&phase->split[d], phase->block_bytes[d]);
}

#define SIZES_MAX (2 * TEXT_SIZE_MAX + 4)
#define BLOCKS_MAX (2 * SIZES_MAX + 8)

/* "4 KiB", or from the smallest to the largest: "4 KiB - 64 KiB". */
static const char *format_sizes(const PhasePlan *phase, Direction d, char buf[static SIZES_MAX]) {
        uint64_t largest = largest_bytes(phase, d);
        char low[TEXT_SIZE_MAX], high[TEXT_SIZE_MAX];

        text_format_size(phase->block_bytes[d], low);
        if (largest == phase->block_bytes[d])
                snprintf(buf, SIZES_MAX, "%s", low);
        else
                snprintf(buf, SIZES_MAX, "%s - %s", low, text_format_size(largest, high));
        return buf;
}

/* Both where reads and writes differ: "4 KiB r, 8 KiB w". */
static const char *format_blocks(const PhasePlan *phase, char buf[static BLOCKS_MAX]) {
        bool mixed = phase->read_percent > 0 && phase->read_percent < 100;
        char read[SIZES_MAX], write[SIZES_MAX];

        format_sizes(phase, DIRECTION_READ, read);
        format_sizes(phase, DIRECTION_WRITE, write);
        if (mixed && strcmp(read, write) != 0)
                snprintf(buf, BLOCKS_MAX, "%s r, %s w", read, write);
        else
                format_sizes(phase, rw_mode_direction(phase->rw), buf);
        return buf;
}

/* Without a size there is no end of the target. */
static void add_region_json(json_object *o, const PhasePlan *phase, bool has_size) {
        json_add_u64_if(o, "region_offset", has_size && phase->action != PHASE_ACTION_IDLE, phase->region_offset);
        json_add_u64_if(o, "region_bytes", has_size && phase->action != PHASE_ACTION_IDLE, phase->region_bytes);
}

static void add_rates_json(json_object *o, const PhasePlan *phase) {
        static const char *const iops[] = { "read_iops_max", "write_iops_max", "trim_iops_max" };
        static const char *const bytes[] = { "read_bytes_per_s_max", "write_bytes_per_s_max", "trim_bytes_per_s_max" };

        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                json_add_u64_if(o, iops[d], phase->rate_iops[d] > 0, phase->rate_iops[d]);
                json_add_u64_if(o, bytes[d], phase->rate_bytes[d] > 0, phase->rate_bytes[d]);
        }
}

static bool changes_by_chance(const PhasePlan *phase, Direction d) {
        return rw_mode_uses(phase->rw, d) && phase->read_percent < 100 && phase_plan_draws_amounts(phase);
}

/* A bound is rounded up. */
static const char *format_planned(uint64_t bytes, bool by_chance, char buf[static TEXT_SIZE_MAX]) {
        return by_chance ? text_format_size(bytes, buf) : text_format_size_up(bytes, buf);
}

static json_object *phase_json(const Job *job, size_t index, const PhasePlan *phase, bool has_size) {
        json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        json_add_u64(o, "index", index);
        _cleanup_free_ char *name = phase_plan_name(phase, job);
        json_add_string(o, "name", name);
        json_add_string(o, "action", phase_action_name(phase->action));
        if (phase->action != PHASE_ACTION_IDLE) {
                json_add_string(o, "rw", rw_mode_name(phase->rw));
                json_add_u64(o, "bs", block_bytes(phase));
        } else {
                json_add_null(o, "rw");
                json_add_null(o, "bs");
        }
        json_add_u64(o, "read_bs", phase->block_bytes[DIRECTION_READ]);
        json_add_u64(o, "write_bs", phase->block_bytes[DIRECTION_WRITE]);
        json_add_u64(o, "read_bs_max", largest_bytes(phase, DIRECTION_READ));
        json_add_u64(o, "write_bs_max", largest_bytes(phase, DIRECTION_WRITE));
        json_add_u64(o, "iodepth", phase->iodepth);
        json_add_u64(o, "numjobs", phase->numjobs);
        json_add_u64(o, "workers", phase->workers);
        json_add_u64(o, "read_percent", phase->read_percent);
        json_add_bool(o, "random_map", phase->random_map);
        if (phase->has_planned_time)
                json_add_seconds(o, "planned_s", phase->planned_ns);
        else
                json_add_null(o, "planned_s");
        json_add_seconds(o, "ramp_s", phase->ramp_ns);
        json_add_seconds(o, "until_steady_s", phase->steady_hold_ns);
        add_region_json(o, phase, has_size);
        add_rates_json(o, phase);
        if (phase->has_planned_bytes)
                json_add_u64(o, "planned_bytes", phase->planned_write_bytes);
        else
                json_add_null(o, "planned_bytes");
        json_add_bool(o, "planned_by_chance", changes_by_chance(phase, rw_mode_direction(phase->rw)));
        json_add_u64_if(o, "planned_trim_bytes", phase->planned_trim_bytes != UINT64_MAX, phase->planned_trim_bytes);
        return o;
}

static void append_notices(json_object *array, char **notices, size_t n) {
        for (size_t i = 0; i < n; i++)
                json_append_string(array, notices[i]);
}

static int add_expectations_json(json_object *document, const Expectations *expectations) {
        json_object *array = json_object_new_array();

        if (!array)
                return -ENOMEM;
        json_add(document, "expect", array);
        for (size_t i = 0; i < N_EXPECTATIONS; i++) {
                if (!expectations->is_set[i])
                        continue;

                json_object *o = json_object_new_object();
                if (!o)
                        return -ENOMEM;
                json_add_string(o, "criterion", expect_options[i].name);
                json_add_double(o, "expected", expectations->value[i]);
                json_add_string(o, "unit", expect_unit_name(expect_options[i].unit));
                json_object_array_add(array, o);
        }
        return 0;
}

/* Fills are bytes only of one size. */
static void add_stop_json(json_object *document, const Job *job, const Plan *plan) {
        const Extent *written = &job->stop_written_max;

        if (job->stop_errors_max != UINT64_MAX)
                json_add_u64(document, "stop_errors_max", job->stop_errors_max);
        if (plan->stop_written_max > 0)
                json_add_u64(document, "stop_written_max", plan->stop_written_max);
        if (written->kind == EXTENT_FILLS)
                json_add_double(document, "stop_written_max_fills", (double) written->value / 1000);
        if (job->stop_snia_iops_steady)
                json_add_bool(document, "stop_snia_iops_steady", true);
}

static int check_json(Cli *cli, const Job *job, const Plan *plan, bool has_size) {
        _cleanup_json_ json_object *document = json_object_new_object();
        json_object *phases = json_object_new_array(), *notices = json_object_new_array();

        if (!document || !phases || !notices)
                return -ENOMEM;
        json_add_string(document, "name", job->name);
        json_add_string(document, "description", job->description);
        json_add(document, "phases", phases);
        json_add(document, "notices", notices);
        for (size_t i = 0; i < plan->n_phases; i++) {
                json_object *o = phase_json(job, i, &plan->phases[i], has_size);

                if (!o)
                        return -ENOMEM;
                json_object_array_add(phases, o);
        }
        if (add_expectations_json(document, &job->expectations) < 0)
                return -ENOMEM;
        add_stop_json(document, job, plan);
        append_notices(notices, job->notices, job->n_notices);
        if (has_size)
                append_notices(notices, plan->notices, plan->n_notices);
        return output_json(cli, document, false);
}

/* "8", or "1-512" of the cells of a matrix. */
#define SPAN_MAX 48
static const char *format_span(uint64_t first, uint64_t last, char buf[static SPAN_MAX]) {
        if (first == last)
                snprintf(buf, SPAN_MAX, "%" PRIu64, first);
        else
                snprintf(buf, SPAN_MAX, "%" PRIu64 "-%" PRIu64, first, last);
        return buf;
}

static const char *format_cell_blocks(const PhasePlan *first, const PhasePlan *last, char buf[static BLOCKS_MAX]) {
        char from[TEXT_SIZE_MAX], to[TEXT_SIZE_MAX];

        if (block_bytes(first) == block_bytes(last))
                return format_blocks(first, buf);
        snprintf(buf, BLOCKS_MAX, "%s - %s", text_format_size(block_bytes(first), from),
                 text_format_size(block_bytes(last), to));
        return buf;
}

/* The n phases from number `index` of the plan, which are one section: more than one are the cells of a matrix. */
static int add_row(Table *table, const Job *job, const Plan *plan, size_t index, size_t n) {
        char numbers[SPAN_MAX], bs[BLOCKS_MAX], depth[SPAN_MAX], numjobs[16], time[TIME_SPAN_MAX];
        char volume[TEXT_SIZE_MAX], trimmed[TEXT_SIZE_MAX], workers[SPAN_MAX];
        _cleanup_free_ char *name = phase_plan_name(&plan->phases[index], job);
        const PhasePlan *phase = &plan->phases[index], *last = phase + n - 1;
        bool idle = phase->action == PHASE_ACTION_IDLE, named = idle || phase->action == PHASE_ACTION_DISCARD;
        bool trims = rw_mode_trims(phase->rw) && phase->planned_trim_bytes != UINT64_MAX;
        bool by_chance = changes_by_chance(phase, rw_mode_direction(phase->rw));
        uint64_t planned_ns = 0, written = 0;

        for (const PhasePlan *p = phase; p <= last; p++) {
                if (__builtin_add_overflow(planned_ns, p->planned_ns, &planned_ns))
                        planned_ns = UINT64_MAX;
                if (__builtin_add_overflow(written, p->planned_write_bytes, &written))
                        written = UINT64_MAX;
        }
        snprintf(numjobs, sizeof(numjobs), "%" PRIu32, phase->numjobs);
        const char *cells[] = {
                format_span(index, index + n - 1, numbers), name,
                named ? phase_action_name(phase->action) : rw_mode_name(phase->rw),
                idle ? NULL : format_cell_blocks(phase, last, bs),
                idle ? NULL : format_span(phase->iodepth, last->iodepth, depth), idle ? NULL : numjobs,
                last->workers > 1 ? format_span(phase->workers, last->workers, workers) : NULL,
                phase->has_planned_time ? time_format_span(planned_ns, time) : NULL,
                phase->has_planned_bytes ? format_planned(written, by_chance, volume) : NULL,
                trims ? format_planned(phase->planned_trim_bytes, by_chance, trimmed) : NULL,
        };
        return table_add_row(table, cells);
}

static size_t count_cells(const Plan *plan, size_t first) {
        size_t n = 1;

        while (first + n < plan->n_phases && plan->phases[first + n].index == plan->phases[first].index &&
               !plan->phases[first + n].is_read_back)
                n++;
        return n;
}

static int print_phases(const Job *job, const Plan *plan) {
        static const TableColumn columns[] = {
                { "PHASE", .right = true }, { "NAME", .truncate = true }, { "RW" }, { "BS", .right = true },
                { "IODEPTH", .right = true }, { "NUMJOBS", .right = true },
                { "WORKERS", .right = true, .may_be_empty = true }, { "AT MOST", .right = true },
                { "WRITES", .right = true }, { "TRIMS", .right = true, .may_be_empty = true },
        };
        _cleanup_(table_freep) Table *table = NULL;

        int r = table_new(&table, columns, ELEMENTSOF(columns));
        for (size_t i = 0, n; r >= 0 && i < plan->n_phases; i += n) {
                n = count_cells(plan, i);
                r = add_row(table, job, plan, i, n);
        }
        return r < 0 ? r : output_table(table);
}

/* What the table has no room for, as parts of a sentence. */
static void tell_region(FILE *f, const PhasePlan *phase) {
        char offset[TEXT_SIZE_MAX], size[TEXT_SIZE_MAX];

        fprintf(f, "; %s from ", text_format_size(phase->region_bytes, size));
        if (phase->region_offset == 0)
                fputs("the start of the device on", f);
        else
                fprintf(f, "byte %" PRIu64 " (%s) on", phase->region_offset,
                        text_format_size(phase->region_offset, offset));
        if (phase->stream_step_bytes > 0)
                fprintf(f, ", each stream %s behind the one before",
                        text_format_size(phase->stream_step_bytes, size));
}

static void tell_rates(FILE *f, const PhasePlan *phase) {
        char bytes[TEXT_SIZE_MAX];

        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                if (!rw_mode_uses(phase->rw, d))
                        continue;
                if (phase->rate_iops[d] > 0)
                        fprintf(f, "; at most %" PRIu64 " %ss a second", phase->rate_iops[d], direction_name(d));
                if (phase->rate_bytes[d] > 0)
                        fprintf(f, "; %ss at most %s a second", direction_name(d),
                                text_format_size(phase->rate_bytes[d], bytes));
        }
}

static void tell_ends(FILE *f, const PhasePlan *phase) {
        const FioSteady *steady = &phase->fio_steady;
        char span[TIME_SPAN_MAX];

        if (phase->ramp_ns > 0)
                fprintf(f, "; the first %s%s are not counted", time_format_span(phase->ramp_ns, span),
                        phase->action == PHASE_ACTION_MATRIX ? " of each cell" : "");
        if (phase->steady_hold_ns > 0)
                fprintf(f, "; ends early, when a steady state has held for %s",
                        time_format_span(phase->steady_hold_ns, span));
        if (steady->is_set && steady->duration_ns > 0)
                fprintf(f, "; ends early, when the %s of %s was below %g%s for %s",
                        steady->of_slope ? "slope" : "deviation", steady->of_bandwidth ? "bandwidth" : "IOPS",
                        steady->limit, steady->in_percent ? " %" : "", time_format_span(steady->duration_ns, span));
}

/* Newly allocated, empty if there is nothing to tell; NULL: no memory. */
static char *phase_details(const Job *job, const PhasePlan *phase, bool has_size) {
        const JobPhase *of_job = &job->phases[phase->index];
        bool has_region = of_job->size.kind != EXTENT_UNSET || of_job->offset.kind != EXTENT_UNSET;
        char *text = NULL;
        size_t length;

        FILE *f = open_memstream(&text, &length);
        if (!f)
                return NULL;
        if (phase->action == PHASE_ACTION_DISCARD)
                fprintf(f, "; discards what the region holds");
        if (phase->action != PHASE_ACTION_IDLE && has_size && (has_region || phase->stream_step_bytes > 0))
                tell_region(f, phase);
        tell_rates(f, phase);
        tell_ends(f, phase);
        if (fclose(f) == 0)
                return text;
        free(text);
        return NULL;
}

/* Once for all cells of a matrix. */
static int print_details(const Job *job, const Plan *plan, bool has_size) {
        for (size_t i = 0, n; i < plan->n_phases; i += n) {
                _cleanup_free_ char *details = phase_details(job, &plan->phases[i], has_size);
                _cleanup_free_ char *plain = phase_plan_name(&plan->phases[i], job);
                _cleanup_free_ char *name = plain ? text_escape(plain) : NULL;

                n = count_cells(plan, i);
                if (!details || !name)
                        return -ENOMEM;
                if (*details != '\0')
                        printf("phase '%s': %s\n", name, details + strlen("; "));
        }
        return 0;
}

static bool may_end_early(const PhasePlan *phase) {
        return phase->steady_hold_ns > 0 || (phase->fio_steady.is_set && phase->fio_steady.duration_ns > 0);
}

/* Of the phases that no amount of I/O ends: it takes that long in any case, if none ends the run. */
static uint64_t least_time(const Plan *plan, bool has_stop) {
        uint64_t total_ns = 0;

        for (size_t i = 0; i < plan->n_phases && !has_stop; i++) {
                const PhasePlan *phase = &plan->phases[i];

                if (phase->limit_bytes == UINT64_MAX && !may_end_early(phase) &&
                    __builtin_add_overflow(total_ns, phase->planned_ns, &total_ns))
                        return UINT64_MAX;
        }
        return total_ns;
}

/* Whether a phase writes until its time is over: no size tells then how much that will be. */
static bool writes_by_time(const Plan *plan) {
        for (size_t i = 0; i < plan->n_phases; i++)
                if (plan->phases[i].limit_bytes == UINT64_MAX && rw_mode_writes(plan->phases[i].rw) &&
                    plan->phases[i].read_percent < 100)
                        return true;
        return false;
}

static void print_volume(const char *verb, uint64_t bytes, bool by_chance) {
        char volume[TEXT_SIZE_MAX];

        printf(" It %s %s %s.", verb, by_chance ? "about" : "at most", format_planned(bytes, by_chance, volume));
}

static bool any_by_chance(const Plan *plan, Direction d) {
        for (size_t i = 0; i < plan->n_phases; i++)
                if (changes_by_chance(&plan->phases[i], d))
                        return true;
        return false;
}

/* What is trimmed is lost as well, and no write. */
static void print_trims(const Plan *plan) {
        uint64_t total = 0;

        if (!plan_trims(plan))
                return;
        for (size_t i = 0; i < plan->n_phases; i++)
                if (__builtin_add_overflow(total, plan->phases[i].planned_trim_bytes, &total))
                        total = UINT64_MAX;
        if (total != UINT64_MAX)
                print_volume("trims", total, any_by_chance(plan, DIRECTION_TRIM));
        else
                fputs(" How much it trims depends on the device.", stdout);
}

/* All that is known of a run that may end before: its phases of a given time, and the others beside. */
static void print_most_time(const Plan *plan) {
        uint64_t ns = 0;
        size_t n = 0;
        char time[TIME_SPAN_MAX];

        for (size_t i = 0; i < plan->n_phases; i++) {
                const PhasePlan *phase = &plan->phases[i];

                n += !phase->has_planned_time;
                if (phase->has_planned_time && __builtin_add_overflow(ns, phase->planned_ns, &ns))
                        ns = UINT64_MAX;
        }
        printf("\nIt takes at most %s, and beside that what the device needs for the ", time_format_span(ns, time));
        if (n == 1)
                printf("phase without a time.");
        else
                printf("%zu phases without a time.", n);
}

static void print_time(const Job *job, const Plan *plan) {
        bool has_stop = job->stop_written_max.kind != EXTENT_UNSET || job->stop_snia_iops_steady;
        uint64_t ns, least_ns = least_time(plan, has_stop);
        char time[TIME_SPAN_MAX];

        if (plan_total_time(plan, &ns))
                printf("\nIt takes at most %s.", time_format_span(ns, time));
        else if (job->stop_snia_iops_steady)
                print_most_time(plan);
        else if (least_ns > 0)
                printf("\nIt takes at least %s; how long in all depends on the speed of the device.",
                       time_format_span(least_ns, time));
        else
                printf("\nHow long it takes depends on the speed of the device.");
}

static void print_totals(const Job *job, const Plan *plan) {
        bool is_bounded = job->stop_written_max.kind != EXTENT_UNSET;
        uint64_t bytes, most = plan->stop_written_max > 0 ? plan->stop_written_max : UINT64_MAX;

        print_time(job, plan);
        if (plan_total_write_bytes(plan, &bytes))
                print_volume("writes", bytes, bytes < most && any_by_chance(plan, DIRECTION_WRITE));
        else
                printf(" How much it writes depends on the device%s.",
                       writes_by_time(plan) && !is_bounded ? "'s speed" : "; --size tells for one");
        print_trims(plan);
        putchar('\n');
}

static void print_notices(char **notices, size_t n) {
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *text = text_escape(notices[i]);
                printf("note: %s\n", text ?: "");
        }
}

static void print_expectations(const Expectations *expectations) {
        char value[EXPECT_VALUE_MAX];

        for (size_t i = 0; i < N_EXPECTATIONS; i++) {
                const ExpectOption *option = &expect_options[i];

                if (expectations->is_set[i])
                        printf("expected: %s, at %s %s\n", option->name, option->is_max ? "most" : "least",
                               expect_format(option->unit, expectations->value[i], value));
        }
}

/* "2.5 fills of the device (10 GiB)": the brackets only where its size is known. */
static void print_stop_written(const Extent *written, const Plan *plan) {
        char size[TEXT_SIZE_MAX] = "";

        if (plan->stop_written_max > 0)
                text_format_size(plan->stop_written_max, size);
        if (written->kind == EXTENT_BYTES)
                printf("stops: when %s are written\n", size);
        else
                printf("stops: when %g %s of the device%s%s%s are written\n", (double) written->value / 1000,
                       written->value == 1000 ? "fill" : "fills", *size ? " (" : "", size, *size ? ")" : "");
}

static void print_stop(const Job *job, const Plan *plan) {
        if (job->stop_errors_max != UINT64_MAX)
                printf("stops: when more than %" PRIu64 " I/Os have failed\n", job->stop_errors_max);
        if (job->stop_written_max.kind != EXTENT_UNSET)
                print_stop_written(&job->stop_written_max, plan);
        if (job->stop_snia_iops_steady)
                printf("stops: when SNIA's IOPS test is steady over %d rounds, at the end of the last of them\n",
                       STOP_SNIA_N_ROUNDS);
}

static int check_text(const Job *job, const Plan *plan, bool has_size) {
        int r = print_phases(job, plan);
        if (r < 0)
                return r;
        print_totals(job, plan);
        r = print_details(job, plan, has_size);
        if (r < 0)
                return r;
        print_expectations(&job->expectations);
        print_stop(job, plan);
        print_notices(job->notices, job->n_notices);
        if (has_size)
                print_notices(plan->notices, plan->n_notices);
        return 0;
}

static int check_job_run(Cli *cli, const Arguments *arguments, Error *error) {
        bool has_size = arguments_has(arguments, "size");
        _cleanup_job_ Job *job = NULL;
        _cleanup_plan_ Plan *plan = NULL;

        int r = job_file_read(&job, arguments->words[0], NULL, error);
        if (r >= 0)
                r = make_plan(&plan, job, arguments, error);
        if (r < 0)
                return r;
        r = cli->json ? check_json(cli, job, plan, has_size) : check_text(job, plan, has_size);
        return r < 0 ? r : 0;
}

const Verb verb_check_job = {
        .name = "check-job",
        .summary = "validate a job file; what it does, how long, how much it writes",
        .words = "JOB [--size BYTES]",
        .description = "Reads a job file or preset (- is standard input) as 'start' would, and prints its phases, the "
                       "time and "
                       "the volume planned, and what is to be noted. Nothing is started.",
        .n_words_min = 1,
        .n_words_max = 1,
        .options =
                (const Option[]){
                        { .name = "size", .argument = "BYTES", .help = "of the device; k, m, g, t are powers of 1024" },
                        {},
                },
        .run = check_job_run,
};
