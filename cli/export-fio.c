/* SPDX-License-Identifier: MIT */

/*
 * Whoever reads an interval log takes the distance of two rows for an interval, and one of 1.5 times the usual
 * distance for several of which all but the last were silent. So no row here may be that far from the one before:
 * longer samples are cut into pieces, all at the sample's rate.
 */

#include <inttypes.h>
#include <string.h>

#include "export.h"
#include "util/macro.h"

#define LONG_STEP 1.45 /* of the usual distance: clear of 1.5, whatever rounding does */
#define CUT_STEP 1.4   /* of the usual sample: what is longer is cut */
#define CUT_SHRINK 0.75

const char *const fio_log_names[N_FIO_LOGS] = {
        [FIO_LOG_IOPS] = "iops",
        [FIO_LOG_BW] = "bw",
        [FIO_LOG_CLAT] = "clat",
};

/* --- how to cut --- */

typedef struct Piece {
        uint64_t ns; /* length */
        uint64_t n;  /* how many like this a sample is cut into */
} Piece;

typedef struct Durations {
        uint64_t *ns;
        Piece *pieces;
        size_t n, n_allocated;
        uint64_t begin_ns; /* of the first */
} Durations;

static void durations_done(Durations *durations) {
        free(durations->ns);
        free(durations->pieces);
}

static int durations_add(const Sample *sample, const StoreLatency *latency, void *userdata) {
        Durations *durations = userdata;

        if (durations->n == durations->n_allocated) {
                size_t n = MAX(durations->n_allocated * 2, (size_t) 4096);
                uint64_t *grown = reallocarray(durations->ns, n, sizeof(uint64_t));
                if (!grown)
                        return -ENOMEM;
                durations->ns = grown;
                durations->n_allocated = n;
        }
        if (durations->n == 0)
                durations->begin_ns = sample->elapsed_ns - MIN(sample->elapsed_ns, sample->duration_ns);
        durations->ns[durations->n++] = sample->duration_ns;
        return 0;
}

static int compare_pieces(const void *a, const void *b) {
        const Piece *x = a, *y = b;
        return (x->ns > y->ns) - (x->ns < y->ns);
}

static uint64_t n_pieces(uint64_t duration_ns, uint64_t limit_ns) {
        return MAX((duration_ns + limit_ns - 1) / limit_ns, UINT64_C(1));
}

/* The usual length of the pieces if nothing may be longer than limit_ns, and the greatest. */
static uint64_t cut(Durations *durations, uint64_t limit_ns, uint64_t *ret_longest_ns) {
        Piece *pieces = durations->pieces;
        uint64_t n = 0, seen = 0;
        size_t i = 0;

        for (size_t k = 0; k < durations->n; k++) {
                pieces[k].n = n_pieces(durations->ns[k], limit_ns);
                pieces[k].ns = durations->ns[k] / pieces[k].n;
                n += pieces[k].n;
        }
        qsort(pieces, durations->n, sizeof(Piece), compare_pieces);
        while ((seen += pieces[i].n) < (n + 1) / 2)
                i++;
        *ret_longest_ns = pieces[durations->n - 1].ns;
        return pieces[i].ns;
}

/* Cutting moves what is usual, so this is repeated with smaller pieces, which at last are all alike. -ENOMEM. */
static int find_limit(Durations *durations, uint64_t *ret_ns) {
        uint64_t usual_ns, longest_ns, limit_ns = UINT64_MAX / 2;

        durations->pieces = calloc(durations->n, sizeof(Piece));
        if (!durations->pieces)
                return -ENOMEM;
        usual_ns = cut(durations, limit_ns, &longest_ns);
        if ((double) longest_ns >= LONG_STEP * (double) usual_ns)
                limit_ns = MAX((uint64_t) (CUT_STEP * (double) usual_ns), UINT64_C(1));
        while (limit_ns > 1) {
                usual_ns = cut(durations, limit_ns, &longest_ns);
                if ((double) longest_ns < LONG_STEP * (double) usual_ns)
                        break;
                limit_ns = (uint64_t) (CUT_SHRINK * (double) limit_ns);
        }
        *ret_ns = limit_ns;
        return 0;
}

/* --- lines --- */

typedef struct FioWriter {
        FILE *const *files;
        bool used[N_DIRECTIONS];
        uint64_t begin_ns; /* of what is exported, in the run's time */
        uint64_t limit_ns; /* a longer sample is cut */
} FioWriter;

static void put_milliseconds(FILE *f, uint64_t ns) {
        fprintf(f, "%" PRIu64, ns / NSEC_PER_MSEC);
        if (ns % NSEC_PER_MSEC != 0)
                fprintf(f, ".%06" PRIu64, ns % NSEC_PER_MSEC);
}

static void put_line(FILE *f, const Sample *s, Direction d, uint64_t to_ns, double value) {
        uint64_t block_bytes = s->ios[d] > 0 && s->bytes[d] % s->ios[d] == 0 ? s->bytes[d] / s->ios[d] : 0;

        put_milliseconds(f, to_ns);
        /* Enough digits to get the count back from the rate. */
        fprintf(f, ", %.15g, %u, %" PRIu64 "\n", value, (unsigned) d, block_bytes);
}

static void put_lines(const FioWriter *writer, const Sample *s, Direction d, uint64_t mean_ns, uint64_t to_ns) {
        double seconds = (double) s->duration_ns / (double) NSEC_PER_SEC;

        if (writer->files[FIO_LOG_IOPS])
                put_line(writer->files[FIO_LOG_IOPS], s, d, to_ns, (double) s->ios[d] / seconds);
        if (writer->files[FIO_LOG_BW])
                put_line(writer->files[FIO_LOG_BW], s, d, to_ns, (double) s->bytes[d] / (double) KIB / seconds);
        if (writer->files[FIO_LOG_CLAT] && mean_ns > 0)
                put_line(writer->files[FIO_LOG_CLAT], s, d, to_ns, (double) mean_ns);
}

static int put_sample(const Sample *s, const StoreLatency *latency, void *userdata) {
        const FioWriter *writer = userdata;
        uint64_t n = n_pieces(s->duration_ns, writer->limit_ns);
        uint64_t from_ns = s->elapsed_ns - MIN(s->elapsed_ns, s->duration_ns) - writer->begin_ns;

        /* What has no length has no rate. */
        for (uint64_t i = 1; s->duration_ns > 0 && i <= n; i++) {
                uint64_t to_ns = from_ns + s->duration_ns / n * i + s->duration_ns % n * i / n;
                for (Direction d = 0; d < N_DIRECTIONS; d++)
                        if (writer->used[d])
                                put_lines(writer, s, d, latency->direction_mean_ns[d], to_ns);
        }
        for (FioLog i = 0; i < N_FIO_LOGS; i++)
                if (writer->files[i] && ferror(writer->files[i]))
                        return -EIO;
        return 0;
}

/* Zeros are told of the directions that did something at some time; of writes, if none did. */
static void find_directions(const Export *export, bool used[static N_DIRECTIONS]) {
        bool any = false;

        for (size_t i = 0; i < export->phases.n; i++) {
                const StorePhase *phase = &export->phases.items[i];
                if (export->query.phase >= 0 && phase->index != export->query.phase)
                        continue;
                for (Direction d = 0; d < N_DIRECTIONS; d++)
                        any |= used[d] |= phase->ios[d] > 0;
        }
        used[DIRECTION_WRITE] |= !any;
}

int export_fio_write(const Export *export, FILE *const files[static N_FIO_LOGS], Error *error) {
        _cleanup_(durations_done) Durations durations = {};
        FioWriter writer = { .files = files };
        StoreSampleQuery query = export->query;

        int r = store_each_sample(export->store, &query, durations_add, &durations, error);
        if (r >= 0 && durations.n == 0)
                return error_set(error, ERROR_FAILED, ENODATA, "there is not one sample to export");
        if (r >= 0)
                r = find_limit(&durations, &writer.limit_ns);
        if (r < 0)
                return r;

        find_directions(export, writer.used);
        writer.begin_ns = durations.begin_ns;
        query.with_latency = files[FIO_LOG_CLAT] != NULL;
        return store_each_sample(export->store, &query, put_sample, &writer, error);
}
