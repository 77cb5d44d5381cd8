/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <math.h>

#include "export.h"
#include "util/macro.h"
#include "util/time.h"

static void put_seconds(FILE *f, uint64_t ns) {
        fprintf(f, "%" PRIu64 ".%09" PRIu64 ",", ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
}

static void put_u64_if(FILE *f, bool known, uint64_t value) {
        if (known)
                fprintf(f, "%" PRIu64, value);
        putc(',', f);
}

static void put_directions(FILE *f, const uint64_t values[static N_DIRECTIONS]) {
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                put_u64_if(f, true, values[d]);
}

static void put_means(FILE *f, const uint64_t mean_ns[static N_DIRECTIONS]) {
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                put_u64_if(f, mean_ns[d] > 0, mean_ns[d]);
}

static void put_latency(FILE *f, const StoreLatency *latency) {
        put_u64_if(f, latency->mean_ns > 0, latency->mean_ns);
        put_u64_if(f, latency->known, latency->p50_ns);
        put_u64_if(f, latency->known, latency->p99_ns);
        put_u64_if(f, latency->known, latency->max_ns);
}

static void put_double(FILE *f, double value, char end) {
        if (isfinite(value))
                fprintf(f, "%.6g", value);
        putc(end, f);
}

typedef struct CsvWriter {
        FILE *f;
        const QueryPhases *phases;
        bool errors_known;
} CsvWriter;

static int put_sample(const Sample *s, const StoreLatency *latency, void *userdata) {
        const CsvWriter *writer = userdata;
        char at[TIME_RFC3339_MAX];
        FILE *f = writer->f;

        fprintf(f, "%" PRIu64 ",%" PRIu32 ",%s,", s->seq, s->phase, time_format_rfc3339(s->at_ns, at));
        put_seconds(f, s->elapsed_ns);
        put_seconds(f, s->duration_ns);
        put_directions(f, s->ios);
        put_directions(f, s->bytes);
        put_means(f, latency->direction_mean_ns);
        put_latency(f, latency);
        put_u64_if(f, writer->errors_known, s->errors);
        fprintf(f, "%" PRIu32 ",%" PRIu64 ",", s->in_flight, s->oldest_ns);
        put_double(f, s->cpu_percent, ',');
        put_double(f, s->temperature_c, ',');
        put_double(f, s->worker_cpu_percent, ',');
        put_double(f, s->ring_cpu_percent, ',');
        put_double(f, s->held_percent, ',');
        fprintf(f, "%d\n", query_ramp_holds(writer->phases, s));
        return ferror(f) ? -EIO : 0;
}

int export_csv_write(const Export *export, FILE *f, Error *error) {
        CsvWriter writer = { .f = f, .phases = &export->phases, .errors_known = export->run.errors_known };
        StoreSampleQuery query = export->query;

        fputs("seq,phase,at,elapsed_s,duration_s,read_ios,write_ios,trim_ios,read_bytes,write_bytes,trim_bytes,"
              "read_latency_ns,write_latency_ns,trim_latency_ns,latency_mean_ns,latency_p50_ns,latency_p99_ns,"
              "latency_max_ns,errors,in_flight,oldest_io_ns,cpu_percent,temperature_c,"
              "worker_cpu_percent,ring_cpu_percent,held_percent,ramp\n", f);
        query.with_latency = true;
        return store_each_sample(export->store, &query, put_sample, &writer, error);
}
