/* SPDX-License-Identifier: MIT */

#include "own-steady.h"

#include <math.h>
#include <string.h>

#include "analysis/fio-watch.h"
#include "phrase.h"

typedef struct Looker {
        const Judgement *judgement;
        OwnSteady *own;
        FioWatch *watch;
        size_t i; /* of the judgement's points, of which there is one for each sample that counts */
} Looker;

static FioSteady find_criterion(const Judgement *j) {
        _cleanup_job_ Job *job = NULL;

        if (job_parse(&job, j->run.name, j->run.job_text, strlen(j->run.job_text), NULL) < 0)
                return (FioSteady){};
        for (size_t i = 0; i < job->n_phases; i++)
                if (strcmp(job->phases[i].name, j->phase->name) == 0 && job->phases[i].fio_steady.duration_ns > 0)
                        return job->phases[i].fio_steady;
        return (FioSteady){};
}

static int on_sample(const Sample *sample, const StoreLatency *latency, void *userdata) {
        Looker *looker = userdata;
        const Judgement *j = looker->judgement;
        OwnSteady *own = looker->own;

        if (own->attained || sample->duration_ns == 0 || looker->i == j->n_points ||
            sample_ramp_holds(sample_began_ns(sample), j->phase->first_elapsed_ns, j->phase->ramp_ns))
                return 0;
        if (j->points[looker->i++].cut) {
                fio_watch_cut(looker->watch);
                return 0;
        }
        own->attained = fio_watch_add(looker->watch, sample, &own->value);
        fio_watch_get(looker->watch, &own->value, &own->mean);
        if (own->attained)
                own->attained_at_s = j->points[looker->i - 1].to_s;
        return 0;
}

int own_steady_look(OwnSteady *ret, Store *store, const Judgement *j, Error *error) {
        OwnSteady own = { .criterion = find_criterion(j), .attained_at_s = NAN, .value = NAN, .mean = NAN };
        const StoreSampleQuery query = { .run = j->run.id, .phase = j->phase->index, .to_ns = UINT64_MAX };
        _cleanup_(fio_watch_freep) FioWatch *watch = NULL;
        int r = 0;

        if (own.criterion.is_set) {
                uint64_t begin_ns = j->phase->first_elapsed_ns + j->phase->ramp_ns + own.criterion.ramp_ns;

                r = fio_watch_new(&watch, &own.criterion, j->run.sample_interval_ns, begin_ns);
                Looker looker = { .judgement = j, .own = &own, .watch = watch };
                if (r >= 0)
                        r = store_each_sample(store, &query, on_sample, &looker, error);
        }
        if (r >= 0)
                *ret = own;
        return r;
}

static const char *criterion_name(const FioSteady *c) {
        if (c->of_slope)
                return c->of_bandwidth ? "bw_slope" : "iops_slope";
        return c->of_bandwidth ? "bw" : "iops";
}

int own_steady_add_json(json_object *document, const OwnSteady *own) {
        const FioSteady *c = &own->criterion;
        json_object *fio = json_object_new_object();

        if (!fio)
                return -ENOMEM;
        json_add(document, "fio", fio);
        json_add_string(fio, "criterion", criterion_name(c));
        json_add_bool(fio, "of_job", true);
        json_add_double(fio, "limit", c->in_percent ? NAN : c->limit);
        json_add_double(fio, "limit_percent", c->in_percent ? c->limit : NAN);
        json_add_seconds(fio, "ss_dur_s", c->duration_ns);
        json_add_bool(fio, "attained", own->attained);
        json_add_double(fio, "attained_at_s", own->attained_at_s);
        json_add_double(fio, "value", c->in_percent ? NAN : own->value);
        json_add_double(fio, "value_percent", c->in_percent ? own->value : NAN);
        json_add_double(fio, "mean_iops", c->of_bandwidth ? NAN : own->mean);
        json_add_double(fio, "mean_bytes_per_s", c->of_bandwidth ? own->mean : NAN);
        return 0;
}

/* "0.25 %", or in the unit of the mean. */
static void print_amount(const FioSteady *c, double amount) {
        char size[TEXT_SIZE_MAX];

        if (c->in_percent)
                printf("%.3g %%", amount);
        else if (c->of_bandwidth)
                printf("%s/s", text_format_size((uint64_t) amount, size));
        else
                printf("%s IOPS", count(amount).text);
}

void own_steady_print(const OwnSteady *own) {
        const FioSteady *c = &own->criterion;
        double duration_s = (double) c->duration_ns / (double) NSEC_PER_SEC;

        printf("fio steadystate=%s:%.10g%s, ss_dur=%.10g, as the job has it: ", criterion_name(c), c->limit,
               c->in_percent ? "%" : "", duration_s);
        if (isnan(own->value))
                fputs("the phase is shorter than its window, or nothing was done in it", stdout);
        else if (own->attained) {
                printf("attained after %s, a %s of ", span(own->attained_at_s).text,
                       c->of_slope ? "slope" : "deviation");
                print_amount(c, own->value);
        } else {
                fputs("not attained: ", stdout);
                print_amount(c, own->value);
                fputs(" at the end", stdout);
        }
        putchar('\n');
}
