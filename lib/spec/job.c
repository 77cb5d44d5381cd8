/* SPDX-License-Identifier: MIT */

/*
 * Reading is one pass in file order, as fio does it: [global] changes what later sections
 * start from, each other section is a phase, and a later option wins over an earlier one. What can
 * only be judged when a section is complete is judged at its end.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "spec/job.h"
#include "spec/notice.h"
#include "spec/option.h"
#include "spec/phase-notice.h"
#include "spec/plan-verify.h"
#include "spec/stop.h"
#include "util/ini.h"
#include "util/macro.h"
#include "util/parse.h"

#define SAMPLE_INTERVAL_DEFAULT_NS NSEC_PER_SEC

/* A value in a message is cut after this many bytes. */
#define SHOWN_MAX 80

static const char *const rw_mode_names[] = {
        [RW_READ] = "read",
        [RW_WRITE] = "write",
        [RW_READWRITE] = "rw",
        [RW_TRIM] = "trim",
        [RW_RANDREAD] = "randread",
        [RW_RANDWRITE] = "randwrite",
        [RW_RANDRW] = "randrw",
        [RW_RANDTRIM] = "randtrim",
};

static const char *const phase_action_names[] = {
        [PHASE_ACTION_IO] = "io",
        [PHASE_ACTION_MATRIX] = "matrix",
        [PHASE_ACTION_IDLE] = "idle",
        [PHASE_ACTION_DISCARD] = "discard",
};

const char *rw_mode_name(RwMode mode) {
        return (unsigned) mode < N_RW_MODES ? rw_mode_names[mode] : NULL;
}

const char *phase_action_name(PhaseAction action) {
        return (unsigned) action < N_PHASE_ACTIONS ? phase_action_names[action] : NULL;
}

bool rw_mode_trims(RwMode mode) {
        return mode == RW_TRIM || mode == RW_RANDTRIM;
}

bool rw_mode_reads(RwMode mode) {
        return mode != RW_WRITE && mode != RW_RANDWRITE && !rw_mode_trims(mode);
}

bool rw_mode_writes(RwMode mode) {
        return mode != RW_READ && mode != RW_RANDREAD && !rw_mode_trims(mode);
}

Direction rw_mode_direction(RwMode mode) {
        if (rw_mode_trims(mode))
                return DIRECTION_TRIM;
        return rw_mode_writes(mode) ? DIRECTION_WRITE : DIRECTION_READ;
}

bool rw_mode_uses(RwMode mode, Direction direction) {
        return direction == rw_mode_direction(mode) || (direction == DIRECTION_READ && rw_mode_reads(mode));
}

typedef struct JobReader {
        const char *name;
        Job *job;
        PhaseDraft global; /* what the next phase starts from */
        PhaseDraft draft;  /* the open phase, if phase.name is set */
        unsigned section_line;
        size_t n_cells; /* of all phases: what the plan will have at most */
        size_t n_shares; /* ring threads of all of these */
        bool *noticed; /* for each of job_options: its notice was given */
        unsigned *said; /* for each of them: the line in the open phase's own section; 0: it is not there */
        bool noticed_map, noticed_verify;
} JobReader;

static int out_of_memory(const JobReader *reader, Error *error) {
        return error_set(error, ERROR_FAILED, ENOMEM, "%s: out of memory", reader->name);
}

#define add_notice(reader, ...) notices_add(&(reader)->job->notices, &(reader)->job->n_notices, __VA_ARGS__)

/* -- the end of a section -- */

static uint32_t effective_read_percent(const PhaseDraft *draft) {
        RwMode rw = draft->phase.rw;

        if (!rw_mode_reads(rw))
                return 0;
        return rw_mode_writes(rw) ? draft->read_percent_mix : 100;
}

const char *option_place_hint(const OptionPlace *place) {
        return place->iec_suffix ? "; as in fio, KiB, MiB, GiB are powers of 1000, and k, m, g of 1024" : "";
}

/* What no target can hold; the rest shows when the target is known. */
static int check_size(const JobReader *reader, const JobPhase *phase, Error *error) {
        uint64_t block_bytes = 0;

        if (phase->size.kind != EXTENT_BYTES || phase->action == PHASE_ACTION_DISCARD)
                return 0;
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                if (rw_mode_uses(phase->rw, d))
                        block_bytes = MAX(block_bytes, block_largest(&phase->split[d], phase->block_bytes[d]));
        if (phase->size.value >= block_bytes)
                return 0;
        return error_set(error, ERROR_USAGE, ERANGE,
                         "%s:%u: phase '%s': a size of %" PRIu64 " bytes holds no block of %" PRIu64
                         ": expected that much at least%s",
                         reader->name, phase->size_place.line, phase->name, phase->size.value, block_bytes,
                         option_place_hint(&phase->size_place));
}

static int check_outstanding(const JobReader *reader, const JobPhase *phase, Error *error) {
        uint64_t outstanding = (uint64_t) phase->iodepth * phase->numjobs;
        uint64_t block_bytes = 0;

        for (Direction d = 0; d < N_DIRECTIONS; d++)
                if (d != DIRECTION_TRIM && rw_mode_uses(phase->rw, d)) /* a trim has no buffer */
                        block_bytes = MAX(block_bytes, block_largest(&phase->split[d], phase->block_bytes[d]));

        if (outstanding > JOB_OUTSTANDING_MAX)
                return error_set(error, ERROR_USAGE, ERANGE,
                                 "%s:%u: phase '%s': iodepth=%" PRIu32 " of numjobs=%" PRIu32 " makes %" PRIu64
                                 " I/Os outstanding: expected at most %d",
                                 reader->name, reader->section_line, phase->name, phase->iodepth, phase->numjobs,
                                 outstanding, JOB_OUTSTANDING_MAX);
        if (outstanding * block_bytes > JOB_BUFFER_BYTES_MAX)
                return error_set(error, ERROR_USAGE, ERANGE,
                                 "%s:%u: phase '%s': %" PRIu64 " I/Os outstanding of bs=%" PRIu64
                                 " need more memory than %d GiB: expected less of iodepth, numjobs or bs",
                                 reader->name, reader->section_line, phase->name, outstanding, block_bytes,
                                 (int) (JOB_BUFFER_BYTES_MAX / GIB));
        return 0;
}

static int check_workers(const JobReader *reader, const JobPhase *phase, Error *error) {
        uint64_t outstanding = (uint64_t) phase->iodepth * phase->numjobs;

        if (phase->workers > outstanding)
                return error_set(error, ERROR_USAGE, ERANGE,
                                 "%s:%u: phase '%s': workers=%" PRIu32 " with %" PRIu64 " of iodepth * numjobs: "
                                 "expected at most that, for each ring thread needs an I/O of its own",
                                 reader->name, phase->workers_place.line, phase->name, phase->workers, outstanding);
        if (phase->workers > 1 && phase->distribution != DISTRIBUTION_RANDOM)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: phase '%s': workers=%" PRIu32 " divides the region, and random_distribution "
                                 "spans all of it: expected workers=1 with zipf or zoned",
                                 reader->name, phase->workers_place.line, phase->name, phase->workers);
        return 0;
}

/* -- the end of a section: what each action needs -- */

static int check_needed(const JobReader *reader, const JobPhase *phase, bool there, const char *what, Error *error) {
        if (there)
                return 0;
        return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: phase '%s': %s", reader->name, reader->section_line,
                         phase->name, what);
}

static uint64_t largest(const ValueList *list) {
        uint64_t max = 0;

        for (size_t i = 0; i < list->n; i++)
                max = MAX(max, list->values[i]);
        return max;
}

static bool has_split(const JobPhase *phase) {
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                if (phase->split[d].n > 0)
                        return true;
        return false;
}

static int finish_matrix(const JobReader *reader, PhaseDraft *draft, Error *error) {
        JobPhase *phase = &draft->phase;

        int r = check_needed(reader, phase, phase->step_ns > 0,
                             "a matrix without step_time: expected the time that each cell takes", error);
        if (r >= 0)
                r = check_needed(reader, phase, draft->block_bytes.n > 0,
                                 "a matrix whose bs leaves a place empty: expected sizes separated by commas", error);
        if (r >= 0)
                r = check_needed(reader, phase, !has_split(phase),
                                 "a matrix with bssplit: expected one size for each cell, as a list in bs", error);
        if (r < 0)
                return r;

        phase->matrix_block_bytes = draft->block_bytes;
        phase->matrix_depths = draft->depths;
        phase->iodepth = (uint32_t) largest(&phase->matrix_depths);
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                phase->block_bytes[d] = largest(&phase->matrix_block_bytes);
        return 0;
}

static bool writes_any(const JobPhase *phase) {
        return rw_mode_writes(phase->rw) && phase->read_percent < 100;
}

static int finish_io(const JobReader *reader, const PhaseDraft *draft, Error *error) {
        const JobPhase *phase = &draft->phase;

        int r = check_needed(reader, phase, draft->block_bytes.n <= N_DIRECTIONS,
                             "more than three sizes in bs: expected read,write,trim, or action=matrix for a list",
                             error);
        if (r >= 0)
                r = check_needed(reader, phase, draft->depths.n == 1,
                                 "several numbers in iodepth: expected one, or action=matrix for a list", error);
        if (r >= 0)
                r = check_needed(reader, phase, phase->capacity_loops == 0 || writes_any(phase),
                                 "capacity_loops counts what is written, and this phase writes nothing: expected an rw "
                                 "that writes",
                                 error);
        if (r >= 0)
                r = check_needed(reader, phase,
                                 phase->steady_hold_ns == 0 || phase->runtime_ns > 0 || phase->capacity_loops > 0,
                                 "until=steady may never come true: expected runtime or capacity_loops too, for the "
                                 "end in that case", error);
        return r;
}

static bool has_two_rates(const JobPhase *phase) {
        bool bytes = false, iops = false;

        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                bytes |= phase->rate_bytes[d] > 0;
                iops |= phase->rate_iops[d] > 0;
        }
        return bytes && iops;
}

/* What is verified has to be told by what it holds. */
static int check_verify(const JobReader *reader, const JobPhase *phase, Error *error) {
        const char *why = NULL;

        if (!phase->verifies || phase->action == PHASE_ACTION_IDLE)
                return 0;
        if (phase->action == PHASE_ACTION_MATRIX)
                why = "a matrix has no read-back: expected verify=0 there, and a later phase that reads and verifies";
        else if (phase->content.is_zero && phase->read_percent < 100)
                why = "zeros do not tell which write they are of (zero_buffers, or buffer_compress_percentage=100): "
                      "expected other contents";
        if (!why)
                return 0;
        return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: phase '%s': verify: %s", reader->name,
                         phase->verify_place.line, phase->name, why);
}

/* What I/O looks like, in a matrix too. */
static int check_load(const JobReader *reader, const JobPhase *phase, Error *error) {
        int r = check_needed(reader, phase, !has_two_rates(phase),
                             "both rate and rate_iops: expected one of them (0 takes the other back)", error);

        if (r >= 0)
                r = check_needed(reader, phase, !rw_mode_is_random(phase->rw) || !phase->random_map ||
                                 phase->distribution == DISTRIBUTION_RANDOM,
                                 "random_distribution draws blocks again, and norandommap=0 none before all have "
                                 "come: expected norandommap=1", error);
        return r;
}

/* Of what the job says elsewhere of I/O only the region counts: it is trimmed once, with no limit of time or rate. */
static void finish_discard(PhaseDraft *draft) {
        JobPhase *phase = &draft->phase;
        bool ends_on_error = phase->ends_on_error[DIRECTION_TRIM];

        *phase = (JobPhase){
                .name = phase->name,
                .line = phase->line,
                .description = phase->description,
                .action = PHASE_ACTION_DISCARD,
                .rw = RW_TRIM,
                .block_bytes = { [DIRECTION_TRIM] = JOB_DISCARD_BYTES },
                .split = { [DIRECTION_TRIM] = { .n = 1, .bytes = { JOB_DISCARD_BYTES }, .percent = { 100 } } },
                .iodepth = 1,
                .numjobs = 1,
                .workers = 1,
                .loops = 1,
                .size = phase->size,
                .offset = phase->offset,
                .bs_place = phase->bs_place,
                .split_place = phase->split_place,
                .size_place = phase->size_place,
                .offset_place = phase->offset_place,
                .ends_on_error = { [DIRECTION_TRIM] = ends_on_error },
        };
}

static int finish_action(const JobReader *reader, PhaseDraft *draft, Error *error) {
        switch (draft->phase.action) {
        case PHASE_ACTION_MATRIX:
                return finish_matrix(reader, draft, error);
        case PHASE_ACTION_IDLE:
                return check_needed(reader, &draft->phase, draft->phase.runtime_ns > 0,
                                    "action=idle without runtime: expected how long", error);
        case PHASE_ACTION_DISCARD:
                finish_discard(draft);
                return 0;
        default:
                return finish_io(reader, draft, error);
        }
}

static int count_cells(JobReader *reader, const JobPhase *phase, Error *error) {
        size_t n = phase->action == PHASE_ACTION_MATRIX ? phase->matrix_block_bytes.n * phase->matrix_depths.n : 1;

        if (plan_has_read_back(phase))
                n++;
        reader->n_cells += n;
        reader->n_shares += n * phase->workers;
        if (reader->n_cells > JOB_N_PHASES_MAX)
                return error_set(error, ERROR_USAGE, E2BIG,
                                 "%s:%u: expected at most %d phases, cells of a matrix and read-backs counted",
                                 reader->name, reader->section_line, JOB_N_PHASES_MAX);
        if (reader->n_shares > JOB_N_SHARES_MAX)
                return error_set(error, ERROR_USAGE, E2BIG,
                                 "%s:%u: expected at most %d ring threads in all phases together, cells of a matrix "
                                 "counted: fewer workers, or fewer phases",
                                 reader->name, reader->section_line, JOB_N_SHARES_MAX);
        return 0;
}

/* -- the end of a section: notices, and the phase itself -- */

/* What stands in [global] is for other phases, too. */
static int note_idle_options(JobReader *reader, const JobPhase *phase) {
        bool discards = phase->action == PHASE_ACTION_DISCARD, idles = phase->action == PHASE_ACTION_IDLE;
        int r = 0;

        for (size_t i = 0; r >= 0 && (discards || idles) && i < job_options_n; i++) {
                const JobOption *option = &job_options[i];

                if (reader->said[i] > 0 && !(discards ? option->in_discard : option->in_idle))
                        r = add_notice(reader, "%s:%u: phase '%s': %s has no effect with action=%s: %s", reader->name,
                                       reader->said[i], phase->name, option->name, phase_action_name(phase->action),
                                       discards ? "the region that offset and size say is trimmed once, from its start "
                                                  "to its end"
                                                : "nothing is done for runtime");
        }
        return r;
}

static int note_defaults(JobReader *reader, const PhaseDraft *draft) {
        const JobPhase *phase = &draft->phase;

        int r = note_idle_options(reader, phase);
        if (r < 0 || phase->action == PHASE_ACTION_IDLE)
                return r;
        if (rw_mode_is_random(phase->rw) && !draft->has_norandommap && !reader->noticed_map) {
                reader->noticed_map = true;
                r = add_notice(reader,
                               "%s:%u: phase '%s': norandommap=1 (uniform with replacement) is the default here, "
                               "unlike in fio; norandommap=0 writes every block once before any comes again",
                               reader->name, reader->section_line, phase->name);
        }
        if (r >= 0 && phase->verifies && !reader->noticed_verify) {
                reader->noticed_verify = true;
                r = add_notice(reader,
                               "%s:%u: phase '%s': verify: whatever the method, plateau makes the contents of each "
                               "block again and compares every byte, which finds more than a checksum in the block",
                               reader->name, phase->verify_place.line, phase->name);
        }
        return r < 0 ? r : phase_note(reader->job, phase, reader->section_line);
}

/* Room for twice as many whenever there is none. */
static int append_phase(Job *job, JobPhase *phase) {
        if ((job->n_phases & (job->n_phases - 1)) == 0) {
                JobPhase *grown = reallocarray(job->phases, MAX(2 * job->n_phases, (size_t) 1), sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                job->phases = grown;
        }
        job->phases[job->n_phases++] = *phase;
        *phase = (JobPhase) {};
        return 0;
}

static void set_default_places(JobPhase *phase, unsigned line) {
        OptionPlace *const places[] = {
                &phase->bs_place, &phase->split_place, &phase->size_place, &phase->offset_place, &phase->workers_place,
                &phase->verify_place,
        };

        for (size_t i = 0; i < ELEMENTSOF(places); i++)
                if (places[i]->line == 0)
                        places[i]->line = line;
}

static int finish_phase(JobReader *reader, Error *error) {
        PhaseDraft *draft = &reader->draft;
        int r;

        if (!draft->phase.name)
                return 0;

        set_default_places(&draft->phase, reader->section_line);
        draft->phase.read_percent = effective_read_percent(draft);
        draft->phase.content.is_zero |= draft->phase.content.compress_percent == 100;
        r = finish_action(reader, draft, error);
        if (r >= 0)
                r = check_load(reader, &draft->phase, error);
        if (r >= 0)
                r = check_verify(reader, &draft->phase, error);
        if (r >= 0)
                r = check_size(reader, &draft->phase, error);
        if (r >= 0)
                r = check_outstanding(reader, &draft->phase, error);
        if (r >= 0)
                r = check_workers(reader, &draft->phase, error);
        if (r >= 0)
                r = count_cells(reader, &draft->phase, error);
        if (r < 0)
                return r;
        if (note_defaults(reader, draft) < 0 || append_phase(reader->job, &draft->phase) < 0)
                return out_of_memory(reader, error);
        return 0;
}

/* -- one entry -- */

static bool is_expect(const IniEntry *entry) {
        return strcmp(entry->section, "expect") == 0;
}

static bool is_stop(const IniEntry *entry) {
        return strcmp(entry->section, "stop") == 0;
}

static int start_section(JobReader *reader, const IniEntry *entry, Error *error) {
        int r = finish_phase(reader, error);

        if (r < 0)
                return r;

        reader->section_line = entry->line;
        if (strcmp(entry->section, "global") == 0)
                return 0;
        if (is_expect(entry) || is_stop(entry))
                return 0;
        if (strncmp(entry->section, "global", strlen("global")) == 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: [%.*s]: expected [global], or a phase whose name does not begin so: "
                                 "fio takes it for [global]",
                                 reader->name, entry->line, SHOWN_MAX, entry->section);

        if (strlen(entry->section) > JOB_NAME_MAX)
                return error_set(error, ERROR_USAGE, E2BIG, "%s:%u: [%.*s...]: expected a name of at most %d bytes, "
                                 "this has %zu", reader->name, entry->line, SHOWN_MAX, entry->section, JOB_NAME_MAX,
                                 strlen(entry->section));

        memset(reader->said, 0, job_options_n * sizeof(*reader->said));
        reader->draft = reader->global;
        reader->draft.phase.name = strdup(entry->section);
        reader->draft.phase.line = entry->line;
        return reader->draft.phase.name ? 0 : out_of_memory(reader, error);
}

/* "rw randwrite": the option whose "=" was forgotten, or NULL. *ret_value is what stands behind it. */
static const JobOption *option_without_equals(const IniEntry *entry, const char **ret_value) {
        size_t length = strcspn(entry->key, " \t");
        _cleanup_free_ char *name = strndup(entry->key, length);

        if (entry->value || entry->key[length] == '\0' || !name)
                return NULL;
        *ret_value = entry->key + length + strspn(entry->key + length, " \t");
        return job_option_find(name);
}

static int unknown_option(const JobReader *reader, const IniEntry *entry, Error *error) {
        const char *nearest = job_option_nearest(entry->key), *value;
        const JobOption *option = option_without_equals(entry, &value);

        if (option)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: '%.*s': expected %.*s=%.*s",
                                 reader->name, entry->line, SHOWN_MAX, entry->key,
                                 (int) strcspn(entry->key, " \t"), entry->key, SHOWN_MAX, value);
        if (strncmp(entry->key, "include ", strlen("include ")) == 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: '%.*s': expected an option: a job is one file, and includes no other",
                                 reader->name, entry->line, SHOWN_MAX, entry->key);
        if (job_option_is_fio_only(entry->key))
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: '%s' is an option of fio that plateau does not have: "
                                 "expected one of those in plateau-job(5)%s%s%s",
                                 reader->name, entry->line, entry->key,
                                 nearest ? ", the nearest is '" : "", nearest ?: "", nearest ? "'" : "");
        return error_set(error, ERROR_USAGE, EINVAL,
                         "%s:%u: unknown option '%.*s': expected one of those in plateau-job(5)%s%s%s",
                         reader->name, entry->line, SHOWN_MAX, entry->key,
                         nearest ? ", did you mean '" : "", nearest ?: "", nearest ? "'?" : "");
}

/* Is a number in value written with an IEC suffix, as in 4KiB? */
static bool has_iec_suffix(const char *value) {
        static const char *const suffixes[] = { "kib", "mib", "gib", "tib", "pib" };

        for (size_t i = 0; i < ELEMENTSOF(suffixes); i++)
                if (strcasestr(value, suffixes[i]))
                        return true;
        return false;
}

static int note_option(JobReader *reader, const JobOption *option, const IniEntry *entry) {
        bool *noticed = &reader->noticed[option - job_options];
        const char *equals = entry->value ? "=" : "";
        const char *value = entry->value ?: "";

        if (*noticed)
                return 0;
        if (option->kind == OPTION_NO_EFFECT) {
                *noticed = true;
                return add_notice(reader, "%s:%u: %s%s%.*s has no effect: %s", reader->name, entry->line,
                                  entry->key, equals, SHOWN_MAX, value, option->text);
        }
        if (option->is_bytes && has_iec_suffix(value)) {
                *noticed = true;
                return add_notice(reader,
                                  "%s:%u: %s=%s: as in fio, KiB, MiB, GiB are powers of 1000 here, and k, m, g of 1024",
                                  reader->name, entry->line, entry->key, value);
        }
        return 0;
}

static int set_option(JobReader *reader, const JobOption *option, const IniEntry *entry, Error *error) {
        bool is_global = strcmp(entry->section, "global") == 0;
        PhaseDraft *draft = is_global ? &reader->global : &reader->draft;
        int r;

        if (option->only_global && !is_global)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %s concerns the whole job: expected in [global]",
                                 reader->name, entry->line, entry->key);
        if (!entry->value && !option->may_be_bare)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %s has no value: expected %s",
                                 reader->name, entry->line, entry->key, option->text);

        r = option->set(option, entry->value, draft, reader->job);
        if (r == -ENOMEM)
                return out_of_memory(reader, error);
        if (r < 0)
                return error_set(error, ERROR_USAGE, -r, "%s:%u: %s=%.*s: expected %s", reader->name, entry->line,
                                 entry->key, SHOWN_MAX, entry->value, option->text);

        if (option->place > 0)
                *(OptionPlace *) ((char *) draft + option->place) =
                        (OptionPlace) { .line = entry->line, .iec_suffix = has_iec_suffix(entry->value ?: "") };

        if (!is_global)
                reader->said[option - job_options] = entry->line;

        /* A description in [global] is the job's; phases do not repeat it. */
        if (is_global && draft->phase.description) {
                free(reader->job->description);
                reader->job->description = TAKE_PTR(draft->phase.description);
        }
        return 0;
}

static int unknown_expectation(const JobReader *reader, const IniEntry *entry, Error *error) {
        const char *nearest = expectation_nearest(entry->key);

        return error_set(error, ERROR_USAGE, EINVAL,
                         "%s:%u: unknown criterion '%.*s': expected one of those of [expect] in plateau-job(5)%s%s%s",
                         reader->name, entry->line, SHOWN_MAX, entry->key,
                         nearest ? ", did you mean '" : "", nearest ?: "", nearest ? "'?" : "");
}

static int set_expectation(JobReader *reader, const IniEntry *entry, Error *error) {
        int which = expectation_from_name(entry->key);
        const char *value = entry->value ?: "";

        if (which < 0)
                return unknown_expectation(reader, entry, error);

        int r = expectation_set(&reader->job->expectations, (Expectation) which, value);
        if (r == -ENOMEM)
                return out_of_memory(reader, error);
        if (r < 0)
                return error_set(error, ERROR_USAGE, -r, "%s:%u: %s=%.*s: expected %s", reader->name, entry->line,
                                 entry->key, SHOWN_MAX, value, expect_options[which].text);
        return 0;
}

static int unknown_stop(const JobReader *reader, const IniEntry *entry, bool is_known, Error *error) {
        char names[STOP_NAMES_MAX];

        stop_option_names(names);
        if (is_known)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: %s needs the drive's telemetry, which this version does not read: "
                                 "expected %s, or no [stop]", reader->name, entry->line, entry->key, names);
        return error_set(error, ERROR_USAGE, EINVAL,
                         "%s:%u: unknown criterion '%.*s': expected %s, by which this version ends a run",
                         reader->name, entry->line, SHOWN_MAX, entry->key, names);
}

/* What ends the whole run before its phases do. */
static int set_stop(JobReader *reader, const IniEntry *entry, Error *error) {
        const StopOption *option = stop_option_find(entry->key);
        const char *value = entry->value ?: "";

        if (!option || !option->set)
                return unknown_stop(reader, entry, option != NULL, error);

        int r = option->set(reader->job, value);
        if (r < 0)
                return error_set(error, ERROR_USAGE, -r, "%s:%u: %s=%.*s: expected %s", reader->name, entry->line,
                                 entry->key, SHOWN_MAX, value, option->text);
        return 0;
}

static int read_entry(const IniEntry *entry, void *userdata, Error *error) {
        JobReader *reader = userdata;

        if (!entry->key)
                return start_section(reader, entry, error);
        if (entry->section_index == 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: option '%.*s' stands before any section: "
                                 "expected [global] or a phase's [name]",
                                 reader->name, entry->line, SHOWN_MAX, entry->key);

        if (is_expect(entry))
                return set_expectation(reader, entry, error);
        if (is_stop(entry))
                return set_stop(reader, entry, error);

        const JobOption *option = job_option_find(entry->key);
        if (!option)
                return unknown_option(reader, entry, error);
        if (option->kind == OPTION_REFUSED)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %s%s%.*s: %s",
                                 reader->name, entry->line, entry->key,
                                 entry->value ? "=" : "", SHOWN_MAX, entry->value ?: "", option->text);

        if (note_option(reader, option, entry) < 0)
                return out_of_memory(reader, error);
        return option->kind == OPTION_SETS ? set_option(reader, option, entry, error) : 0;
}

/* -- the whole -- */

static char *job_name_of(const char *path) {
        static const char *const endings[] = { ".fio", ".job", ".ini" };
        const char *slash = strrchr(path, '/');
        const char *name = slash && slash[1] ? slash + 1 : path;
        size_t length = strlen(name);

        for (size_t i = 0; i < ELEMENTSOF(endings); i++) {
                size_t n = strlen(endings[i]);

                if (length > n && strcmp(name + length - n, endings[i]) == 0)
                        return strndup(name, length - n);
        }
        return strdup(name);
}

static Job *job_new(const char *name, const char *text, size_t length) {
        _cleanup_job_ Job *job = calloc(1, sizeof(*job));

        if (!job)
                return NULL;

        job->sample_interval_ns = SAMPLE_INTERVAL_DEFAULT_NS;
        job->verify_memory_bytes = JOB_VERIFY_MEMORY_DEFAULT;
        job->stop_errors_max = UINT64_MAX;
        job->name = job_name_of(name);
        job->file = strdup(name);
        job->text = malloc(length + 1);
        if (!job->name || !job->file || !job->text)
                return NULL;

        if (length > 0)
                memcpy(job->text, text, length);
        job->text[length] = '\0';
        job->text_length = length;
        return TAKE_PTR(job);
}

static void phase_clear(JobPhase *phase) {
        free(phase->name);
        free(phase->description);
}

static void job_reader_clear(JobReader *reader) {
        free(reader->noticed);
        free(reader->said);
        phase_clear(&reader->global.phase);
        phase_clear(&reader->draft.phase);
}

/* Of a file they are no longer, so only who names a job otherwise hears of it. */
static int check_name(const char *name, Error *error) {
        const char *slash = strrchr(name, '/');

        if (strlen(name) <= JOB_FILE_NAME_MAX && strlen(slash ? slash + 1 : name) <= JOB_NAME_MAX)
                return 0;
        return error_set(error, ERROR_USAGE, ENAMETOOLONG, "the job's name has %zu bytes: expected at most %d, and %d "
                         "without directories", strlen(name), JOB_FILE_NAME_MAX, JOB_NAME_MAX);
}

int job_parse(Job **ret, const char *name, const char *text, size_t length, Error *error) {
        int r = check_name(name, error);
        if (r < 0)
                return r;
        if (length > JOB_TEXT_MAX)
                return error_set(error, ERROR_USAGE, E2BIG, "%s: expected a job file of at most %d bytes, this has %zu",
                                 name, JOB_TEXT_MAX, length);

        _cleanup_job_ Job *job = job_new(name, text, length);
        _cleanup_(job_reader_clear) JobReader reader = {
                .name = name,
                .job = job,
                .global = phase_draft_default,
                .noticed = calloc(job_options_n, sizeof(bool)),
                .said = calloc(job_options_n, sizeof(unsigned)),
        };

        if (!job || !reader.noticed || !reader.said)
                return out_of_memory(&reader, error);

        r = ini_parse(name, text, length, read_entry, &reader, error);
        if (r < 0)
                return r;
        r = finish_phase(&reader, error);
        if (r < 0)
                return r;
        if (job->n_phases == 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s: no phase: expected at least one section besides [global], [expect] and [stop]",
                                 name);
        r = stop_check(job, error);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(job);
        return 0;
}

Job *job_free(Job *job) {
        if (!job)
                return NULL;

        for (size_t i = 0; i < job->n_phases; i++)
                phase_clear(&job->phases[i]);
        free(job->phases);
        notices_free(job->notices, job->n_notices);
        free(job->name);
        free(job->file);
        free(job->text);
        free(job->description);
        free(job);
        return NULL;
}
