/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/verdict.h"
#include "job-file.h"
#include "judge.h"
#include "output.h"
#include "run/status.h"
#include "spec/job.h"
#include "util/macro.h"
#include "util/text.h"
#include "verified.h"

typedef struct Judged {
        Judgement judgement;
        Verdict verdict;
        bool by_file; /* held against --expect, and not the run's own job */
        bool by_none; /* nor can that be read */
} Judged;

typedef struct JudgedRuns {
        Judged *items;
        size_t n;
} JudgedRuns;

static void judged_runs_clear(JudgedRuns *runs) {
        for (size_t i = 0; i < runs->n; i++)
                judgement_clear(&runs->items[i].judgement);
        free(runs->items);
}

/* Of the phase's section, in I/Os a second of all its streams together; 0: none. job: NULL if it cannot be read. */
static double limit_iops(const Judgement *j, const Job *job) {
        Direction d = j->direction;

        for (size_t i = 0; job && i < job->n_phases; i++) {
                const JobPhase *phase = &job->phases[i];
                double iops = (double) phase->rate_iops[d], bytes = (double) phase->rate_bytes[d];

                if (strcmp(phase->name, j->phase->name) == 0)
                        return (iops > 0 ? iops : bytes > 0 ? bytes / judgement_bytes_per_io(j) : 0) * phase->numjobs;
        }
        return 0;
}

/*
 * The text in the database is the one that was validated at the start, but by the version of that time: what this one
 * does not read may expect anything, and limits nothing. Then *ret stays NULL.
 */
static int read_job(Job **ret, const StoreRun *run) {
        _cleanup_error_ Error error = {};

        int r = job_parse(ret, run->name, run->job_text, strlen(run->job_text), &error);
        if (r >= 0 || r == -ENOMEM)
                return r;
        output_notice("run %" PRIu32 ": its job cannot be read, so nothing is known of what it expects: %s", run->id,
                      error_message(&error));
        return 0;
}

static double phase_p999_ns(const StorePhase *phase) {
        uint64_t ns;

        return phase->latency && histogram_percentile(phase->latency, 0.999, &ns) == 0 ? (double) ns : NAN;
}

static int load_verified(Store *store, const Judgement *j, VerdictInput *input, Error *error) {
        _cleanup_(verified_clear) Verified verified = {};
        Verification total;

        int r = verified_load(&verified, store, j->run.id, j->phases.n, error);
        if (r < 0)
                return r;
        input->is_verified = verified_total(&verified, &total);
        input->verified_least = verified_least(&verified);
        input->verify_errors = verification_errors(&total);
        return 0;
}

static int judge(void *item, Store *store, const Arguments *arguments, const char *which, Error *error) {
        Judged *judged = item;
        Judgement *j = &judged->judgement;
        const char *expect = arguments_value(arguments, "expect");
        _cleanup_job_ Job *job = NULL;
        Expectations expectations = {};

        int r = judge_run(j, store, arguments, which, error);
        if (r < 0)
                return r;

        r = read_job(&job, &j->run);
        if (r >= 0 && expect)
                r = job_file_read_expectations(&expectations, expect, error);
        else if (r >= 0 && job)
                expectations = job->expectations;
        judged->by_file = expect != NULL;
        judged->by_none = !expect && !job;
        if (r < 0)
                return r;

        VerdictInput input = {
                .expectations = &expectations,
                .expectations_unknown = judged->by_none,
                .analysis = j->analysis,
                .state = j->run.state,
                .end_detail = j->end_detail,
                .asked_for_none = j->phase->action == PHASE_ACTION_IDLE || !rw_mode_uses(j->phase->rw, j->direction),
                .read_only = j->read_only,
                .bytes_per_io = judgement_bytes_per_io(j),
                .limit_iops = limit_iops(j, job),
                .host_share = series_host_share(&j->series, NAN),
                .host_share_at_end = series_host_share(&j->series, j->analysis->steady_since_s),
                .iops_with_room = series_level_with_room(&j->series, j->analysis->steady_since_s),
                .fills = judgement_fills(j, (double) j->phase->bytes[j->direction]),
                .latency_p999_ns = phase_p999_ns(j->phase),
                .latency_is_mean = j->run.imported,
                .errors_unknown = !j->run.errors_known,
                .temperature_max_c = j->temperature_max_c,
        };
        for (size_t i = 0; i < j->phases.n; i++)
                input.errors += j->phases.items[i].errors;
        r = load_verified(store, j, &input, error);
        if (r < 0)
                return r;
        verdict_make(&judged->verdict, &input);
        return 0;
}

static VerdictResult worst(const JudgedRuns *runs) {
        VerdictResult result = VERDICT_PASS;

        for (size_t i = 0; i < runs->n; i++)
                result = MAX(result, runs->items[i].verdict.result);
        return result;
}

/* --- JSON --- */

static json_object *reason_json(const VerdictReason *reason) {
        json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        json_add_string(o, "criterion", reason->which < 0 ? "run" : expect_options[reason->which].name);
        json_add_double(o, "expected", reason->expected);
        json_add_double(o, "measured", reason->measured);
        json_add_string(o, "unit", reason->which < 0 ? NULL : expect_unit_name(expect_options[reason->which].unit));
        json_add_string(o, "result", verdict_result_name(reason->result));
        json_add_string(o, "reason", reason->text);
        return o;
}

static int add_verdict_json(json_object *document, const Judged *judged) {
        const Judgement *j = &judged->judgement;
        json_object *reasons = json_object_new_array();

        if (!reasons)
                return -ENOMEM;
        judgement_add_json(document, j);
        json_add_string(document, "verdict", verdict_result_name(judged->verdict.result));
        json_add_string(document, "expected_by", judged->verdict.is_default ? "default" :
                                                 judged->by_file ? "file" : "job");
        json_add_string(document, "steady_state", steady_state_name(j->analysis->steady));
        json_add_string(document, "collapse", collapse_verdict_name(j->analysis->collapse));
        json_add(document, "reasons", reasons);
        for (size_t i = 0; i < judged->verdict.n_reasons; i++) {
                json_object *reason = reason_json(&judged->verdict.reasons[i]);

                if (!reason)
                        return -ENOMEM;
                json_object_array_add(reasons, reason);
        }
        return 0;
}

/* One run is told at the top of the document, several in a list. */
static int verdict_json(Cli *cli, const JudgedRuns *runs) {
        _cleanup_json_ json_object *document = json_object_new_object();
        int r = 0;

        if (!document)
                return -ENOMEM;
        if (runs->n == 1)
                r = add_verdict_json(document, &runs->items[0]);
        else {
                json_object *verdicts = json_object_new_array();

                json_add_string(document, "verdict", verdict_result_name(worst(runs)));
                json_add(document, "verdicts", verdicts);
                for (size_t i = 0; r >= 0 && i < runs->n; i++) {
                        json_object *o = json_object_new_object();

                        if (!verdicts || !o)
                                return -ENOMEM;
                        json_object_array_add(verdicts, o);
                        r = add_verdict_json(o, &runs->items[i]);
                }
        }
        return r < 0 ? r : output_json(cli, document, false);
}

/* --- text --- */

static void print_reason(const VerdictReason *reason) {
        const char *result = verdict_result_name(reason->result);
        char expected[EXPECT_VALUE_MAX], measured[EXPECT_VALUE_MAX];

        if (reason->which < 0) {
                _cleanup_free_ char *text = text_escape(reason->text);
                printf("  %-12s %s\n", result, text ?: "");
                return;
        }
        const ExpectOption *option = &expect_options[reason->which];
        expect_format_apart(option->unit, reason->expected, reason->measured, expected, measured);
        printf("  %-12s %s: expected at %s %s, measured %s (%s)\n", result, option->name,
               option->is_max ? "most" : "least", expected, measured, reason->text);
}

static int print_verdict(const Judged *judged) {
        _cleanup_free_ char *title = judgement_title(&judged->judgement);

        if (!title)
                return -ENOMEM;
        printf("%s\nverdict: %s", title, verdict_result_name(judged->verdict.result));
        if (judged->verdict.is_default)
                printf(", by plateau's own standard, as the %s ([expect]):\n"
                       "  %.0f %% of the burst must last, and no I/O may fail",
                       judged->by_file ? "file expects nothing" : judged->by_none ? "job cannot be read" :
                       "job expects nothing", 100 * VERDICT_DEFAULT_FLOOR_RATIO_MIN);
        putchar('\n');
        for (size_t i = 0; i < judged->verdict.n_reasons; i++)
                print_reason(&judged->verdict.reasons[i]);
        if (!judged->judgement.run.errors_known)
                puts("  errors are not recorded in an import: nothing is known of them");
        return 0;
}

static int verdict_text(const JudgedRuns *runs) {
        for (size_t i = 0; i < runs->n; i++) {
                if (i > 0)
                        putchar('\n');
                int r = print_verdict(&runs->items[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int exit_status(VerdictResult result) {
        switch (result) {
        case VERDICT_PASS:
                return 0;
        case VERDICT_FAIL:
                return STATUS_EXIT_BAD;
        default:
                return status_exit(ERROR_INCONCLUSIVE);
        }
}

static int verdict_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_(judged_runs_clear) JudgedRuns runs = {};
        void *items = NULL;

        int r = judge_runs(cli, arguments, sizeof(*runs.items), judge, &items, &runs.n, error);
        runs.items = items;
        if (r < 0)
                return r;

        r = cli->json ? verdict_json(cli, &runs) : verdict_text(&runs);
        return r < 0 ? r : exit_status(worst(&runs));
}

const Verb verb_verdict = {
        .name = "verdict",
        .summary = "pass or fail, with reasons; the exit status says which",
        .words = "RUN... [--phase P] [--expect FILE]",
        .description = "Holds a run, or several, against the [expect] section of its job, or of the file named; "
                       "without one, against a floor of a fifth of the burst. No I/O may fail unless errors_max says "
                       "how many. Levels are those of the steady state, never the burst. Exit status 0 is pass, 1 "
                       "fail, 7 inconclusive, as when the run was too short to know; of several runs the worst.",
        .n_words_min = 1,
        .n_words_max = SIZE_MAX,
        .uses_database = true,
        .options = (const Option[]) {
                { .name = "expect", .argument = "FILE", .help = "a job file, or one with an [expect] section only" },
                { .name = "phase", .argument = "P", .help = "this phase: its name, or its number from 0" },
                {},
        },
        .run = verdict_run,
};
