/* SPDX-License-Identifier: MIT */

#include "snia.h"

#include <inttypes.h>
#include <math.h>

#include "matrix-cells.h"
#include "output.h"
#include "phrase.h"
#include "render/table.h"
#include "util/macro.h"
#include "util/text.h"
#include "util/time.h"

/* --- which phases are passes of the IOPS test --- */

static double seconds(uint64_t ns) {
        return (double) ns / (double) NSEC_PER_SEC;
}

static void add_pass(IopsPass *passes, size_t *n, const StorePhase *phase) {
        IopsPass pass = {
                .from_s = seconds(phase->first_elapsed_ns),
                .to_s = seconds(phase->first_elapsed_ns + phase->elapsed_ns),
                .iops = query_rate(phase->counted_ios[DIRECTION_READ] + phase->counted_ios[DIRECTION_WRITE],
                                   store_phase_counted_ns(phase)),
                .complete = phase->state == PHASE_DONE,
        };

        if (phase->elapsed_ns > 0 &&
            iops_test_point(phase->action, phase->rw, phase->read_percent, phase->block_bytes, &pass))
                passes[(*n)++] = pass;
}

/* A matrix over several depths is a test of its own. passes: room for all phases. */
static size_t collect_passes(const QueryPhases *phases, IopsPass *passes) {
        size_t n_passes = 0;

        for (size_t i = 0, n; i < phases->n; i += n) {
                const StorePhase *cells = phases->items + i;

                n = matrix_cells(cells, phases->n - i);
                bool over_depths = n > 0 && matrix_make(cells, n).depths.n > 1;
                n = MAX(n, (size_t) 1);
                for (size_t k = 0; !over_depths && k < n; k++)
                        add_pass(passes, &n_passes, &cells[k]);
        }
        return n_passes;
}

static int judge_iops_test(Snia *snia, const Judgement *j, const StoreEvent *events, size_t n_events) {
        _cleanup_free_ IopsPass *passes = calloc(MAX(j->phases.n, (size_t) 1), sizeof(*passes));
        _cleanup_free_ double *cuts_s = calloc(MAX(n_events, (size_t) 1), sizeof(*cuts_s));
        size_t n_cuts = 0;

        if (!passes || !cuts_s)
                return -ENOMEM;
        for (size_t i = 0; i < n_events; i++)
                if (event_kind_cuts(events[i].kind))
                        cuts_s[n_cuts++] = seconds(events[i].elapsed_ns);
        int r = iops_test_judge(passes, collect_passes(&j->phases, passes), cuts_s, n_cuts, &snia->iops_test);
        snia->has_iops_test = r > 0;
        return r;
}

int snia_look(Snia *ret, const Judgement *judgement, Store *store, Error *error) {
        StoreEvent *events = NULL;
        size_t n_events = 0;
        Snia snia = {};

        int r = snia_judge(&judgement->series, &snia.minutes);
        if (r >= 0)
                r = store_get_events(store, judgement->run.id, &events, &n_events, error);
        if (r >= 0)
                r = judge_iops_test(&snia, judgement, events, n_events);
        store_events_free(events, n_events);
        if (r < 0)
                return r;
        *ret = snia;
        return 0;
}

void snia_clear(Snia *snia) {
        iops_test_done(&snia->iops_test);
}

/* --- JSON --- */

/* null for a window that there was not. */
static int add_window_json(json_object *snia, const char *key, const SniaWindow *w) {
        if (w->first_round == 0) {
                json_add_null(snia, key);
                return 0;
        }

        json_object *o = json_object_new_object();
        if (!o)
                return -ENOMEM;
        json_add_u64(o, "first_round", w->first_round);
        json_add_u64(o, "last_round", w->last_round);
        json_add_double(o, "from_s", w->from_s);
        json_add_double(o, "to_s", w->to_s);
        json_add_double(o, "average_iops", w->average);
        json_add_double(o, "data_excursion_allowed_iops", w->data_excursion_allowed);
        json_add_double(o, "data_excursion_iops", w->data_excursion);
        json_add_double(o, "slope_excursion_allowed_iops", w->slope_excursion_allowed);
        json_add_double(o, "slope_excursion_iops", w->slope_excursion);
        json_add_double(o, "fit_slope_iops_per_round", w->fit_slope);
        json_add_double(o, "fit_intercept_iops", w->fit_intercept);
        json_add_bool(o, "steady", w->steady);
        json_add(snia, key, o);
        return 0;
}

static int add_rounds_json(json_object *snia, const SniaResult *result) {
        json_add_u64(snia, "n_rounds", result->n_rounds);
        json_add_u64(snia, "window_rounds", SNIA_N_WINDOW);
        json_add_bool(snia, "attained", result->first.first_round > 0);
        int r = add_window_json(snia, "first", &result->first);
        return r < 0 ? r : add_window_json(snia, "last", &result->last);
}

static int add_round_list_json(json_object *object, const IopsTest *test) {
        json_object *rounds = json_object_new_array();

        if (!rounds)
                return -ENOMEM;
        json_add(object, "rounds", rounds);
        for (unsigned i = 0; i < test->snia.n_rounds; i++) {
                json_object *o = json_object_new_object();

                if (!o)
                        return -ENOMEM;
                json_add_u64(o, "round", i + 1);
                json_add_double(o, "from_s", test->rounds[i].from_s);
                json_add_double(o, "to_s", test->rounds[i].to_s);
                json_add_double(o, "iops", test->rounds[i].iops);
                json_object_array_add(rounds, o);
        }
        return 0;
}

static int add_points_json(json_object *object, const IopsTest *test) {
        json_object *points = json_object_new_array();

        if (!points)
                return -ENOMEM;
        json_add(object, "points", points);
        for (size_t i = 0; i < test->n_points; i++) {
                json_object *o = json_object_new_object();

                if (!o)
                        return -ENOMEM;
                json_add_u64(o, "bs", test->points[i].block_bytes);
                json_add_u64(o, "read_percent", test->points[i].read_percent);
                json_add_double(o, "iops", test->points[i].iops);
                json_object_array_add(points, o);
        }
        return 0;
}

int snia_add_json(json_object *document, const Snia *snia) {
        json_object *object = json_object_new_object(), *iops_test = NULL;

        if (!object)
                return -ENOMEM;
        json_add(document, "snia", object);
        json_add_double(object, "round_s", SNIA_ROUND_S);
        int r = add_rounds_json(object, &snia->minutes);
        if (r < 0)
                return r;

        if (!snia->has_iops_test) {
                json_add_null(object, "iops_test");
                return 0;
        }
        iops_test = json_object_new_object();
        if (!iops_test)
                return -ENOMEM;
        json_add(object, "iops_test", iops_test);
        r = add_rounds_json(iops_test, &snia->iops_test.snia);
        if (r >= 0)
                r = add_round_list_json(iops_test, &snia->iops_test);
        return r < 0 ? r : add_points_json(iops_test, &snia->iops_test);
}

/* --- text --- */

static void print_test(const char *test, const char *rounds, const SniaResult *snia) {
        const SniaWindow *w = snia->first.first_round > 0 ? &snia->first : &snia->last;

        if (w->first_round == 0) {
                printf("%s: five rounds in a row are needed, %u were made (%s)\n", test, snia->n_rounds, rounds);
                return;
        }
        printf("%s: %s, rounds %u to %u of %u (%s): average %s IOPS, data excursion %s of %s allowed, "
               "slope excursion %s of %s allowed; fit line %.4g * round %+.6g\n",
               test, w->steady ? "steady" : "not steady", w->first_round, w->last_round, snia->n_rounds, rounds,
               count(w->average).text, count(w->data_excursion).text, count(w->data_excursion_allowed).text,
               count(w->slope_excursion).text, count(w->slope_excursion_allowed).text, w->fit_slope, w->fit_intercept);
}

/* Each round with the window that ends with it: how it came to be steady, or did not. */
static int print_rounds(const IopsTest *test) {
        static const TableColumn columns[] = {
                { "ROUND", .right = true }, { "FROM", .right = true }, { "IOPS", .right = true },
                { "AVERAGE", .right = true }, { "EXCURSION", .right = true }, { "SLOPE", .right = true }, { "STEADY" },
        };
        _cleanup_(table_freep) Table *table = NULL;

        int r = table_new(&table, columns, ELEMENTSOF(columns));
        for (size_t i = 0; r >= 0 && i < test->snia.n_rounds; i++) {
                size_t first = i + 1 - MIN(i + 1, (size_t) SNIA_N_WINDOW);
                char round[16], excursion[16], slope[16];
                SniaResult window;

                snia_judge_rounds(test->rounds + first, i + 1 - first, &window);
                const SniaWindow *w = &window.last;
                /* The last window of these may end before a pause. */
                bool any = w->last_round == SNIA_N_WINDOW;
                snprintf(round, sizeof(round), "%zu", i + 1);
                snprintf(excursion, sizeof(excursion), "%.1f %%", 100 * w->data_excursion / w->average);
                snprintf(slope, sizeof(slope), "%.1f %%", 100 * w->slope_excursion / w->average);
                const char *cells[] = { round, span(test->rounds[i].from_s).text, count(test->rounds[i].iops).text,
                                        any ? count(w->average).text : NULL, any && w->average > 0 ? excursion : NULL,
                                        any && w->average > 0 ? slope : NULL, any ? w->steady ? "yes" : "no" : NULL };
                r = table_add_row(table, cells);
        }
        return r < 0 ? r : output_table(table);
}

static const IopsPoint *find_point(const IopsTest *test, uint64_t block_bytes, unsigned percent) {
        for (size_t i = 0; i < test->n_points; i++)
                if (test->points[i].block_bytes == block_bytes && test->points[i].read_percent == percent)
                        return &test->points[i];
        return NULL;
}

/* What the specification's report calls the IOPS table: rows by block size, columns by mix. */
static int add_point_row(Table *table, const IopsTest *test, uint64_t block_bytes, const bool mixes[static 101]) {
        char size[TEXT_SIZE_MAX], texts[101][16];
        const char *cells[102] = { text_format_size(block_bytes, size) };
        size_t n = 1;

        for (unsigned percent = 101; percent-- > 0;) {
                if (!mixes[percent])
                        continue;
                const IopsPoint *point = find_point(test, block_bytes, percent);
                snprintf(texts[percent], sizeof(texts[percent]), "%.0f", point ? point->iops : NAN);
                cells[n++] = point && isfinite(point->iops) ? texts[percent] : NULL;
        }
        return table_add_row(table, cells);
}

static int print_points(const IopsTest *test) {
        TableColumn columns[102] = { { "BLOCK", .right = true } };
        _cleanup_(table_freep) Table *table = NULL;
        char headings[101][8];
        bool mixes[101] = {};
        size_t n = 1;

        for (size_t i = 0; i < test->n_points; i++)
                mixes[test->points[i].read_percent] = true;
        for (unsigned percent = 101; percent-- > 0;)
                if (mixes[percent]) {
                        snprintf(headings[percent], sizeof(headings[percent]), "%u/%u", percent, 100 - percent);
                        columns[n++] = (TableColumn){ headings[percent], .right = true };
                }

        int r = table_new(&table, columns, n);
        for (size_t i = 0; r >= 0 && i < test->n_points; i++)
                if (i == 0 || test->points[i].block_bytes != test->points[i - 1].block_bytes)
                        r = add_point_row(table, test, test->points[i].block_bytes, mixes);
        return r < 0 ? r : output_table(table);
}

static int print_iops_test(const IopsTest *test) {
        const SniaWindow *w = test->snia.first.first_round > 0 ? &test->snia.first : &test->snia.last;

        print_test("SNIA PTS IOPS test", "the phases of 4 KiB random writes", &test->snia);
        int r = print_rounds(test);
        if (r < 0 || w->first_round == 0 || test->n_points == 1)
                return r;
        printf("Its IOPS by block size and mix of reads and writes, means of rounds %u to %u%s:\n", w->first_round,
               w->last_round, w->steady ? "" : ", which were not steady");
        return print_points(test);
}

int snia_print(const Snia *snia) {
        print_test("SNIA PTS", "a minute each", &snia->minutes);
        return snia->has_iops_test ? print_iops_test(&snia->iops_test) : 0;
}
