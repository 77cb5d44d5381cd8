/* SPDX-License-Identifier: MIT */

/*
 * The rules are fio's, as its version 3.33 does it on a block device: percentages of size and offset are of the
 * whole target, an offset in percent goes up to the next block, a size goes down to whole
 * blocks and is cut at the end of the target, and each of numjobs does all of size by itself.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "spec/notice.h"
#include "spec/plan-verify.h"
#include "spec/plan.h"
#include "spec/share.h"
#include "util/hash.h"
#include "util/macro.h"

/* What randrepeat=1 starts from, in every run. The number is fio's. */
#define REPEATED_SEED 0x89

typedef struct Binding {
        const char *file; /* what messages call the job */
        const JobPhase *phase;
        const PlanTarget *target;
        Plan *plan;
        PhasePlan *bound;
        uint64_t block_min, block_max; /* of the directions used */
        uint64_t granule; /* what a stream does is a multiple of it, and ends at one */
} Binding;

static uint64_t saturating_add(uint64_t a, uint64_t b) {
        uint64_t sum;

        return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t saturating_mul(uint64_t a, uint64_t b) {
        uint64_t product;

        return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t percent_of(uint64_t bytes, uint64_t percent) {
        return (uint64_t) ((unsigned __int128) bytes * percent / 100);
}

static uint64_t round_up(uint64_t bytes, uint64_t block) {
        return saturating_mul(bytes / block + (bytes % block != 0), block);
}

/* Bytes of the I/Os of one direction among ten thousand, by expectation where directions or sizes mix. */
static uint64_t weight(const PhasePlan *bound, Direction d) {
        uint64_t percent = d == DIRECTION_READ ? bound->read_percent : 100 - bound->read_percent;

        if (!rw_mode_uses(bound->rw, d))
                return 0;
        return percent * block_hundred(&bound->split[d], bound->block_bytes[d]);
}

static uint64_t weight_of_all(const PhasePlan *bound) {
        uint64_t all = 0;

        for (Direction d = 0; d < N_DIRECTIONS; d++)
                all += weight(bound, d);
        return all;
}

static int refuse_block(const Binding *binding, Direction d, Error *error) {
        const JobPhase *phase = binding->phase;
        bool is_split = phase->split[d].n > 0;
        const OptionPlace *place = is_split ? &phase->split_place : &phase->bs_place;

        return error_set(error, ERROR_USAGE, EINVAL,
                         "%s:%u: phase '%s': %s=%" PRIu64 " on a target with logical blocks of %" PRIu32
                         " bytes: expected a multiple of that%s",
                         binding->file, place->line, phase->name, is_split ? "bssplit" : "bs",
                         binding->bound->block_bytes[d], binding->target->logical_block_bytes,
                         option_place_hint(place));
}

static int refuse_trims(const Binding *binding, Error *error) {
        return error_set(
                error, ERROR_USAGE, EOPNOTSUPP,
                "%s:%u: phase '%s' trims, and the target takes no trims (its discard_max_bytes is 0): expected "
                "a job without trims and action=discard",
                binding->file, binding->phase->line, binding->phase->name);
}

/* The pieces of a discard are cut where the region ends. */
static void bind_pieces(Binding *binding) {
        binding->block_min = binding->block_max = binding->target->logical_block_bytes;
}

/* The sizes of a split are multiples of its smallest one. */
static int bind_blocks(Binding *binding, Error *error) {
        const JobPhase *phase = binding->phase;
        uint32_t logical = binding->target->logical_block_bytes;

        binding->block_min = UINT64_MAX;
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                uint64_t smallest = block_smallest(&phase->split[d], phase->block_bytes[d]);

                binding->bound->block_bytes[d] = smallest;
                binding->bound->split[d] = phase->split[d];
                if (!rw_mode_uses(phase->rw, d))
                        continue;
                if (smallest < logical || smallest % logical != 0)
                        return refuse_block(binding, d, error);
                binding->block_min = MIN(binding->block_min, smallest);
                binding->block_max = MAX(binding->block_max, block_largest(&phase->split[d], smallest));
                if (weight(binding->bound, d) > 0)
                        binding->granule = gcd_u64(binding->granule, smallest);
        }
        if (rw_mode_trims(phase->rw) && !binding->target->can_discard)
                return refuse_trims(binding, error);
        if (phase->action == PHASE_ACTION_DISCARD)
                bind_pieces(binding);
        return 0;
}

static int bind_offset(Binding *binding, Error *error) {
        const PlanTarget *target = binding->target;
        const OptionPlace *place = &binding->phase->offset_place;
        const Extent *extent = &binding->phase->offset;
        uint64_t offset = 0;

        if (extent->kind == EXTENT_BYTES)
                offset = extent->value;
        else if (extent->kind == EXTENT_PERCENT)
                offset = round_up(percent_of(target->size_bytes, extent->value), binding->block_min);

        if (offset % target->logical_block_bytes != 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: phase '%s': offset=%" PRIu64 " on a target with logical blocks of %" PRIu32
                                 " bytes: expected a multiple of that%s",
                                 binding->file, place->line, binding->phase->name, offset, target->logical_block_bytes,
                                 option_place_hint(place));
        if (offset >= target->size_bytes)
                return error_set(error, ERROR_USAGE, ERANGE,
                                 "%s:%u: phase '%s': the offset of %" PRIu64 " bytes is at or beyond the end of the "
                                 "target: expected less than %" PRIu64,
                                 binding->file, place->line, binding->phase->name, offset, target->size_bytes);

        binding->bound->region_offset = offset;
        return 0;
}

/* The other streams' regions must begin on the target too. */
static int bind_stream_step(Binding *binding, Error *error) {
        const OptionPlace *place = &binding->phase->offset_increment_place;
        const Extent *extent = &binding->phase->offset_increment;
        const PlanTarget *target = binding->target;
        uint64_t step = extent->kind == EXTENT_BYTES ? extent->value : 0;

        if (extent->kind == EXTENT_PERCENT) {
                step = percent_of(target->size_bytes, extent->value);
                step = MAX(step - step % binding->block_min, binding->block_min);
        }
        if (binding->phase->numjobs == 1)
                step = 0;

        if (step % target->logical_block_bytes != 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: phase '%s': offset_increment=%" PRIu64 " on a target with logical blocks of "
                                 "%" PRIu32 " bytes: expected a multiple of that%s",
                                 binding->file, place->line, binding->phase->name, step, target->logical_block_bytes,
                                 option_place_hint(place));

        uint64_t last = saturating_mul(step, binding->phase->numjobs - 1);
        if (last >= target->size_bytes - binding->bound->region_offset)
                return error_set(error, ERROR_USAGE, ERANGE,
                                 "%s:%u: phase '%s': with offset_increment=%" PRIu64 " the last of %" PRIu32
                                 " streams begins beyond the end of the target: expected less",
                                 binding->file, place->line, binding->phase->name, step, binding->phase->numjobs);
        binding->bound->stream_step_bytes = step;
        return 0;
}

/*
 * The order of I/O goes through regions of one size, where fio has them end with the target. But an offset in percent
 * that was rounded may take a part of a block from a size that is in percent, too.
 */
static int check_last_stream(const Binding *binding, uint64_t wanted, uint64_t available, Error *error) {
        const JobPhase *phase = binding->phase;
        uint64_t rounding = phase->size.kind == EXTENT_PERCENT ? binding->block_min : 0;

        if (phase->size.kind == EXTENT_UNSET)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: phase '%s': with offset_increment all streams have regions of one size: "
                                 "expected it in size", binding->file, phase->offset_increment_place.line,
                                 phase->name);
        if (wanted <= available || wanted - available < rounding)
                return 0;
        return error_set(error, ERROR_USAGE, ERANGE,
                         "%s:%u: phase '%s': with offset_increment=%" PRIu64 " the last of %" PRIu32 " streams begins "
                         "%" PRIu64 " bytes before the target's end, and the size of %" PRIu64 " is more: expected at "
                         "most that, for all streams have regions of one size%s", binding->file,
                         phase->size_place.line, phase->name, binding->bound->stream_step_bytes, phase->numjobs,
                         available, wanted, option_place_hint(&phase->size_place));
}

/* Bytes of the region before it is cut down to whole blocks. */
static int wanted_bytes(Binding *binding, uint64_t *ret, Error *error) {
        const OptionPlace *place = &binding->phase->size_place;
        uint64_t step = binding->bound->stream_step_bytes, before_last = step * (binding->phase->numjobs - 1);
        uint64_t available = binding->target->size_bytes - binding->bound->region_offset - before_last;
        const Extent *extent = &binding->phase->size;
        uint64_t wanted = available;

        if (extent->kind == EXTENT_BYTES)
                wanted = extent->value;
        else if (extent->kind == EXTENT_PERCENT)
                wanted = percent_of(binding->target->size_bytes, extent->value);

        *ret = MIN(wanted, available);
        if (step > 0)
                return check_last_stream(binding, wanted, available, error);
        if (wanted > available &&
            notices_add(&binding->plan->notices, &binding->plan->n_notices,
                        "%s:%u: phase '%s': the size of %" PRIu64 " bytes reaches beyond the target's end: cut to "
                        "%" PRIu64, binding->file, place->line, binding->phase->name, wanted, available) < 0)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        return 0;
}

/* That of the target is told once, however many phases there are. */
static int note_tail(Binding *binding, uint64_t tail) {
        if (tail == 0 || binding->phase->size.kind == EXTENT_PERCENT)
                return 0;
        if (binding->phase->size.kind == EXTENT_UNSET)
                return notices_add(&binding->plan->notices, &binding->plan->n_notices,
                                   "%s: the target's last %" PRIu64 " bytes are left out with bs=%" PRIu64
                                   ": no multiple of it", binding->file, tail, binding->block_min);
        return notices_add(&binding->plan->notices, &binding->plan->n_notices,
                           "%s:%u: phase '%s': its last %" PRIu64 " bytes are left out: no multiple of bs=%" PRIu64,
                           binding->file, binding->phase->size_place.line, binding->phase->name, tail,
                           binding->block_min);
}

static int bind_region(Binding *binding, Error *error) {
        const OptionPlace *place = &binding->phase->size_place;
        PhasePlan *bound = binding->bound;
        uint64_t wanted;

        int r = wanted_bytes(binding, &wanted, error);
        if (r < 0)
                return r;
        if (wanted < binding->block_max)
                return error_set(error, ERROR_USAGE, ERANGE,
                                 "%s:%u: phase '%s': a region of %" PRIu64 " bytes holds no block of bs=%" PRIu64 "%s",
                                 binding->file, place->line, binding->phase->name, wanted, binding->block_max,
                                 option_place_hint(place));

        uint64_t tail = wanted % binding->block_min;
        bound->region_bytes = wanted - tail;
        if (binding->phase->action == PHASE_ACTION_DISCARD)
                bound->block_bytes[DIRECTION_TRIM] = MIN(bound->block_bytes[DIRECTION_TRIM], bound->region_bytes);
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                bound->n_blocks[d] = bound->block_bytes[d] > 0 ? bound->region_bytes / bound->block_bytes[d] : 0;
        if (note_tail(binding, tail) < 0)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        return 0;
}

/* Whether each loop is io_size, where that is more than size; else it is a pass through size. As it is with fio. */
static bool loops_beyond_size(const JobPhase *phase) {
        bool mixes = rw_mode_writes(phase->rw) && phase->read_percent > 0 && phase->read_percent < 100;

        return rw_mode_is_random(phase->rw) ? !phase->random_map : mixes;
}

/*
 * What one stream reads and writes when nothing but amounts ends it, in whole blocks. Passes through size go on until
 * less than a block is missing to io_size, which ends the last one if it is the only loop's.
 */
static uint64_t stream_bytes(const Binding *binding) {
        const JobPhase *phase = binding->phase;
        uint64_t region_bytes = binding->bound->region_bytes, io_bytes = phase->io_size.value;

        if (phase->io_size.kind == EXTENT_UNSET)
                return saturating_mul(region_bytes, phase->loops);
        if (phase->io_size.kind == EXTENT_PERCENT)
                io_bytes = percent_of(region_bytes, phase->io_size.value);

        uint64_t all = round_up(saturating_mul(io_bytes, phase->loops), binding->granule);
        if (io_bytes <= region_bytes || loops_beyond_size(phase))
                return all;

        uint64_t n_passes = MAX((io_bytes - binding->block_max) / region_bytes + 1, phase->loops);
        return MIN(saturating_mul(region_bytes, n_passes), all);
}

/* Read and written until so many bytes are written. */
static uint64_t bytes_until_written(const PhasePlan *bound, uint64_t written) {
        uint64_t write_weight = weight(bound, DIRECTION_WRITE);
        unsigned __int128 total =
                ((unsigned __int128) written * weight_of_all(bound) + write_weight - 1) / write_weight;
        return total < UINT64_MAX ? (uint64_t) total : UINT64_MAX;
}

static void bind_limits(Binding *binding) {
        const JobPhase *phase = binding->phase;
        PhasePlan *bound = binding->bound;
        bool timed = phase->time_based || phase->steady_hold_ns > 0;

        bound->ramp_ns = phase->ramp_ns;
        if (phase->runtime_ns > 0)
                bound->runtime_ns = saturating_add(phase->ramp_ns, phase->runtime_ns);
        bound->steady_hold_ns = phase->steady_hold_ns;
        bound->fio_steady = phase->fio_steady;
        bound->fio_steady.ramp_ns = saturating_add(phase->ramp_ns, phase->fio_steady.ramp_ns);
        bound->fio_steady.ramp_ns = MIN(bound->fio_steady.ramp_ns, (uint64_t) INT64_MAX);
        if (phase->capacity_loops > 0)
                bound->limit_bytes = round_up(
                        bytes_until_written(bound, saturating_mul(phase->capacity_loops, binding->target->size_bytes)),
                        binding->granule);
        else if (timed && phase->runtime_ns > 0)
                bound->limit_bytes = UINT64_MAX;
        else
                bound->limit_bytes = saturating_mul(stream_bytes(binding), phase->numjobs);

        /* fio does not heed it where time ends the phase. */
        if (!(timed && phase->runtime_ns > 0))
                bound->limit_ios = saturating_mul(saturating_mul(phase->number_ios, phase->loops), phase->numjobs);
}

static int refuse_workers(const Binding *binding, const char *why, Error *error) {
        const JobPhase *phase = binding->phase;

        return error_set(error, ERROR_USAGE, ERANGE, "%s:%u: phase '%s': workers=%" PRIu32 ": %s", binding->file,
                         phase->workers_place.line, phase->name, phase->workers, why);
}

/* Streams with regions of their own keep these whole. */
static int check_stream_regions(const Binding *binding, Error *error) {
        const PhasePlan *bound = binding->bound;

        if (bound->workers == 1 || bound->stream_step_bytes == 0)
                return 0;
        if (bound->workers > bound->numjobs)
                return refuse_workers(binding, "with offset_increment each stream is one ring thread's: expected at "
                                      "most numjobs", error);
        if (bound->region_bytes > bound->stream_step_bytes)
                return refuse_workers(binding, "the streams' regions overlap, and no two ring threads write to the "
                                      "same place: expected a size of at most offset_increment", error);
        return 0;
}

/* In a cell of a matrix there are as many ring threads as it has I/Os outstanding, if these are fewer. */
static int bind_workers(Binding *binding, Error *error) {
        PhasePlan *bound = binding->bound;

        bound->workers = (uint32_t) MIN((uint64_t) binding->phase->workers, (uint64_t) bound->iodepth * bound->numjobs);
        int r = check_stream_regions(binding, error);
        if (r < 0)
                return r;

        for (uint32_t i = 0; i < bound->workers; i++) {
                PhasePlan share;

                phase_plan_share(&share, bound, i);
                if (share.region_bytes < binding->block_max)
                        return refuse_workers(binding, "a ring thread's part of the region holds no block: expected "
                                              "fewer, or a larger size", error);
                for (Direction d = 0; d < N_DIRECTIONS; d++)
                        if ((bound->rate_bytes[d] > 0 && share.rate_bytes[d] == 0) ||
                            (bound->rate_iops[d] > 0 && share.rate_iops[d] == 0))
                                return refuse_workers(binding, "a ring thread's part of the rate is nothing: expected "
                                                      "fewer, or a higher rate", error);
        }
        return 0;
}

static uint64_t phase_seed(const JobPhase *phase, unsigned index, uint64_t random_seed) {
        if (phase->has_seed)
                return phase->seed;

        /*
         * Another order in each phase: if a second phase overwrote in the order in which the first one wrote, whole
         * erase blocks would die at once.
         */
        return hash_mix64_2(phase->random_repeat ? REPEATED_SEED : random_seed, index);
}

#define IOS_OF_WEIGHT (SPLIT_WHOLE * 100)

static uint64_t bytes_of_ios(const PhasePlan *bound, uint64_t n_ios) {
        unsigned __int128 bytes = (unsigned __int128) n_ios * weight_of_all(bound) / IOS_OF_WEIGHT;

        return (uint64_t) MIN(bytes, (unsigned __int128) UINT64_MAX);
}

uint32_t phase_plan_outstanding(const PhasePlan *phase) {
        return rw_mode_trims(phase->rw) ? 1 : phase->iodepth * phase->numjobs;
}

bool plan_trims(const Plan *plan) {
        for (size_t i = 0; i < plan->n_phases; i++)
                if (rw_mode_trims(plan->phases[i].rw))
                        return true;
        return false;
}

uint64_t phase_plan_ios(const PhasePlan *phase, uint64_t bytes) {
        uint64_t weight_bytes = weight_of_all(phase);

        return weight_bytes > 0 ? (uint64_t) ((unsigned __int128) bytes * IOS_OF_WEIGHT / weight_bytes) : 0;
}

/* Of total bytes, those of one direction, in whole blocks. */
static uint64_t share_of(const PhasePlan *bound, Direction d, uint64_t total) {
        uint64_t bytes = (uint64_t) ((unsigned __int128) total * weight(bound, d) / weight_of_all(bound));

        return bytes < total ? round_up(bytes, bound->block_bytes[d]) : total;
}

static uint64_t in_time(uint64_t per_second, uint64_t ns) {
        unsigned __int128 n = ((unsigned __int128) per_second * ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC;

        return (uint64_t) MIN(n, (unsigned __int128) UINT64_MAX);
}

/*
 * What a ring thread begins of a direction in so much time at the rates allowed: its first I/O waits for nothing
 * (engine/pace.h), so it does not end with the rate but with a whole block.
 */
static uint64_t paced_bytes(const PhasePlan *share, Direction d, uint64_t ns) {
        uint64_t smallest = share->block_bytes[d], largest = block_largest(&share->split[d], smallest);
        uint64_t bytes = UINT64_MAX;

        if (share->rate_bytes[d] > 0)
                bytes = saturating_add(round_up(in_time(share->rate_bytes[d], ns), smallest), largest - smallest);
        if (share->rate_iops[d] > 0) {
                unsigned __int128 by_ios = (unsigned __int128) in_time(share->rate_iops[d], ns) *
                                           block_hundred(&share->split[d], smallest) / SPLIT_WHOLE;

                bytes = (uint64_t) MIN(by_ios, (unsigned __int128) bytes);
        }
        return bytes;
}

static uint64_t paced_by_all(const PhasePlan *bound, Direction d, uint64_t ns) {
        uint64_t bytes = 0;

        for (uint32_t i = 0; i < bound->workers; i++) {
                PhasePlan share;

                phase_plan_share(&share, bound, i);
                bytes = saturating_add(bytes, paced_bytes(&share, d, ns));
        }
        return bytes;
}

/* At most so many bytes of one direction are moved, about if chance decides; UINT64_MAX: nobody knows. */
static uint64_t forecast_bytes(const PhasePlan *bound, Direction d) {
        uint64_t bytes = UINT64_MAX;

        if (!rw_mode_uses(bound->rw, d) || (d == DIRECTION_WRITE && bound->read_percent == 100))
                return 0;
        if (bound->limit_bytes != UINT64_MAX)
                bytes = share_of(bound, d, bound->limit_bytes);
        if (bound->limit_ios > 0)
                bytes = MIN(bytes, share_of(bound, d, bytes_of_ios(bound, bound->limit_ios)));
        if (bound->runtime_ns > 0)
                bytes = MIN(bytes, paced_by_all(bound, d, bound->runtime_ns));
        return bytes;
}

bool phase_plan_draws_amounts(const PhasePlan *phase) {
        Direction d = rw_mode_direction(phase->rw);

        return (phase->read_percent > 0 && phase->read_percent < 100) || block_largest(&phase->split[d], 0) >
               block_smallest(&phase->split[d], 0);
}

static void bind_forecast(PhasePlan *bound) {
        uint64_t written = forecast_bytes(bound, DIRECTION_WRITE);

        bound->has_planned_time = bound->runtime_ns > 0;
        bound->planned_ns = bound->runtime_ns;
        bound->has_planned_bytes = written != UINT64_MAX;
        bound->planned_write_bytes = bound->has_planned_bytes ? written : 0;
        bound->planned_trim_bytes = forecast_bytes(bound, DIRECTION_TRIM);
}

static int bind_io(Binding *binding, unsigned index, uint64_t random_seed, Error *error) {
        const JobPhase *phase = binding->phase;
        PhasePlan *bound = binding->bound;
        int r;

        bound->rw = phase->rw;
        bound->read_percent = phase->read_percent;
        bound->iodepth = phase->iodepth;
        bound->numjobs = phase->numjobs;
        bound->random_map = phase->random_map;
        bound->content = phase->content;
        bound->fsync_writes = phase->fsync_writes;
        bound->distribution = phase->distribution;
        bound->zipf_theta = phase->zipf_theta;
        memcpy(bound->zones, phase->zones, sizeof(bound->zones));
        bound->seed = phase_seed(phase, index, random_seed);
        memcpy(bound->ends_on_error, phase->ends_on_error, sizeof(bound->ends_on_error));
        bound->is_checked = phase->verifies && rw_mode_reads(phase->rw) && !rw_mode_writes(phase->rw);
        bound->ends_on_mismatch = phase->ends_on_mismatch;
        bound->fails_on_mismatch = !phase->forgives_mismatches;

        r = bind_blocks(binding, error);
        if (r >= 0)
                r = bind_offset(binding, error);
        if (r >= 0)
                r = bind_stream_step(binding, error);
        if (r >= 0)
                r = bind_region(binding, error);
        if (r < 0)
                return r;
        bind_limits(binding);
        for (Direction d = 0; d < N_DIRECTIONS; d++) {
                bound->rate_bytes[d] = saturating_mul(phase->rate_bytes[d], phase->numjobs);
                bound->rate_iops[d] = saturating_mul(phase->rate_iops[d], phase->numjobs);
        }
        return bind_workers(binding, error);
}

static void bind_idle(Binding *binding) {
        PhasePlan *bound = binding->bound;

        bound->rw = RW_READ;
        bound->read_percent = 100;
        bound->workers = 1;
        bound->limit_bytes = UINT64_MAX;
        bound->runtime_ns = binding->phase->runtime_ns;
}

/* Adds a phase to the plan, which has room for it: phase, as number `index` of the job. */
static int bind_phase(Plan *plan, const Job *job, const JobPhase *phase, unsigned index, const PlanTarget *target,
                      uint64_t random_seed, Error *error) {
        Binding binding = {
                .file = job->file,
                .phase = phase,
                .target = target,
                .plan = plan,
                .bound = &plan->phases[plan->n_phases],
        };
        int r = 0;

        binding.bound->index = index;
        binding.bound->action = phase->action;
        if (phase->action == PHASE_ACTION_IDLE)
                bind_idle(&binding);
        else
                r = bind_io(&binding, (unsigned) plan->n_phases, random_seed, error);
        if (r < 0)
                return r;

        bind_forecast(binding.bound);
        plan->n_phases++;
        return 0;
}

static int note_left_out(Plan *plan, const char *file, uint64_t block, const PlanTarget *target, Error *error) {
        int r = notices_add(&plan->notices, &plan->n_notices,
                            "%s: cells with bs=%" PRIu64 " are left out: the target's logical blocks have %" PRIu32
                            " bytes", file, block, target->logical_block_bytes);

        return r < 0 ? error_set(error, ERROR_FAILED, ENOMEM, "out of memory") : 0;
}

/* The cells, block size by block size, each as a phase that lasts as long as its step. */
static int bind_matrix(Plan *plan, const Job *job, unsigned index, const PlanTarget *target, uint64_t random_seed,
                       Error *error) {
        const JobPhase *phase = &job->phases[index];
        JobPhase cell = *phase;
        int r = 0;

        cell.runtime_ns = phase->step_ns;
        cell.time_based = true;
        cell.steady_hold_ns = cell.capacity_loops = 0;
        cell.fio_steady.is_set = false;
        for (size_t i = 0; r >= 0 && i < phase->matrix_block_bytes.n; i++) {
                uint64_t block = phase->matrix_block_bytes.values[i];

                if (block < target->logical_block_bytes) {
                        r = note_left_out(plan, job->file, block, target, error);
                        continue;
                }
                for (Direction d = 0; d < N_DIRECTIONS; d++)
                        cell.block_bytes[d] = block;
                for (size_t k = 0; r >= 0 && k < phase->matrix_depths.n; k++) {
                        cell.iodepth = (uint32_t) phase->matrix_depths.values[k];
                        r = bind_phase(plan, job, &cell, index, target, random_seed, error);
                }
        }
        return r;
}

/* With room for all phases that the job can have. */
static Plan *plan_allocate(const Job *job) {
        _cleanup_plan_ Plan *plan = calloc(1, sizeof(*plan));
        size_t n_max = 0;

        for (size_t i = 0; i < job->n_phases; i++) {
                const JobPhase *phase = &job->phases[i];
                bool is_matrix = phase->action == PHASE_ACTION_MATRIX;

                n_max += is_matrix ? phase->matrix_block_bytes.n * phase->matrix_depths.n : 1;
                n_max += plan_has_read_back(phase);
        }
        if (!plan)
                return NULL;
        plan->phases = calloc(n_max, sizeof(*plan->phases));
        return plan->phases ? TAKE_PTR(plan) : NULL;
}

/* A fill of next to nothing is still something. */
static uint64_t bind_written_max(const Extent *extent, const PlanTarget *target) {
        unsigned __int128 bytes = (unsigned __int128) target->size_bytes * extent->value / 1000;

        if (extent->kind != EXTENT_FILLS)
                return extent->value;
        if (bytes > UINT64_MAX)
                return UINT64_MAX;
        return bytes > 0 ? (uint64_t) bytes : 1;
}

int plan_new(Plan **ret, const Job *job, const PlanTarget *target, uint64_t random_seed, Error *error) {
        _cleanup_plan_ Plan *plan = plan_allocate(job);
        int r = 0;

        if (!plan)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        plan->stop_errors_max = job->stop_errors_max;
        plan->stop_written_max = bind_written_max(&job->stop_written_max, target);
        plan->stop_snia_iops_steady = job->stop_snia_iops_steady;

        for (unsigned i = 0; r >= 0 && i < job->n_phases; i++)
                if (job->phases[i].action == PHASE_ACTION_MATRIX)
                        r = bind_matrix(plan, job, i, target, random_seed, error);
                else {
                        r = bind_phase(plan, job, &job->phases[i], i, target, random_seed, error);
                        if (r >= 0 && plan_has_read_back(&job->phases[i]))
                                plan_add_read_back(plan, target);
                }
        if (r >= 0)
                r = plan_bind_verification(plan, job, target, error);
        if (r < 0)
                return r;
        if (plan->n_phases == 0)
                return error_set(error, ERROR_USAGE, ERANGE,
                                 "%s: no block size of the job reaches the target's logical blocks of %" PRIu32
                                 " bytes",
                                 job->file, target->logical_block_bytes);

        *ret = TAKE_PTR(plan);
        return 0;
}

Plan *plan_free(Plan *plan) {
        if (!plan)
                return NULL;

        notices_free(plan->notices, plan->n_notices);
        free(plan->phases);
        free(plan);
        return NULL;
}

bool plan_total_time(const Plan *plan, uint64_t *ret_ns) {
        uint64_t total = 0;

        for (size_t i = 0; i < plan->n_phases; i++) {
                if (!plan->phases[i].has_planned_time)
                        return false;
                total = saturating_add(total, plan->phases[i].planned_ns);
        }
        *ret_ns = total;
        return true;
}

bool plan_total_write_bytes(const Plan *plan, uint64_t *ret_bytes) {
        uint64_t total = 0, most = plan->stop_written_max;

        for (size_t i = 0; i < plan->n_phases; i++) {
                const PhasePlan *phase = &plan->phases[i];

                if (!phase->has_planned_bytes && most == 0)
                        return false;
                total = phase->has_planned_bytes ? saturating_add(total, phase->planned_write_bytes) : UINT64_MAX;
        }
        *ret_bytes = most > 0 ? MIN(total, most) : total;
        return true;
}
