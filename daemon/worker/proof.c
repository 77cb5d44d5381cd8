/* SPDX-License-Identifier: MIT */

/*
 * Where the run has written is computed again from the order of I/O, so no map is kept. With N_BLOCKS evenly spread
 * over all that was written, a drive of which somebody has overwritten 3 % is taken for ours once in 2000 times; one
 * that was given a file system shows its signature before.
 *
 * Of what the run may have erased since, zeros prove nothing; so blocks are looked for that it cannot have erased, and
 * only if there is none is a drive that holds nothing but zeros the run's own.
 */

#include "worker/proof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/pattern.h"
#include "engine/payload.h"
#include "spec/share.h"
#include "util/macro.h"
#include "util/time.h"
#include "worker/erased.h"

#define N_BLOCKS 256U
#define READ_BYTES (4U * KIB)

/* Reads and writes may be mixed, and writes erased: how far to look from an index for one that is left. */
#define N_INDICES_MAX 1024U

/* From how many indices, if all that was found from N_BLOCKS of them may be erased. */
#define N_PLACES_MAX (UINT64_C(1) << 14)

typedef enum Finding {
        FINDING_BLANK, /* nothing where the run may have erased: neither proof nor the contrary */
        FINDING_OWN,
        FINDING_OTHER_RUN,
        FINDING_FOREIGN,
        FINDING_UNREADABLE,
} Finding;

/* Indices [from, to) of a ring thread's share of a phase, all of which have completed. */
typedef struct Range {
        uint32_t phase, share;
        uint64_t from, to;
} Range;

typedef struct Ranges {
        Range items[2 * JOB_N_SHARES_MAX];
        size_t n;
        uint64_t n_indices;
} Ranges;

/* To be read back. */
typedef struct Block {
        uint64_t offset; /* bytes, as its length */
        size_t n_bytes;
        bool may_be_blank;
} Block;

typedef struct Proof {
        const Claim *claim;
        const Plan *plan;
        const Standing *standing;
        Erased *erased;
        Ranges settled, recent;
        Ranges trimmed;     /* settled, too */
        size_t block_bytes; /* of one read: at least a logical block */
        uint8_t *buf;
        size_t n_sure; /* of those looked at: they cannot be blank */
        size_t n_own, n_other, n_blank, n_unreadable;
        uint64_t first_other; /* offset, bytes */
        bool is_other_run;
        bool kept_power; /* for all that is known */
        bool has_trims;  /* the plan */
} Proof;

static Proof *proof_free(Proof *proof) {
        if (proof) {
                free(proof->buf);
                erased_free(proof->erased);
        }
        free(proof);
        return NULL;
}
DEFINE_CLEANUP(Proof *, proof_free)

/* --- what was written, and when --- */

static void ranges_add(Ranges *ranges, const Range *range) {
        if (range->from >= range->to)
                return;
        ranges->items[ranges->n++] = *range;
        ranges->n_indices += range->to - range->from;
}

/* is_old: the phase ended so long ago that all of it has settled. */
static void proof_collect_share(Proof *proof, const Position *p, Range range, bool is_old) {
        bool trims = rw_mode_trims(proof->plan->phases[range.phase].rw);
        Ranges *settled = trims ? &proof->trimmed : &proof->settled;
        bool within = p->settled_from >= p->first_index && p->settled_to <= p->low_index;

        range.from = p->settled_from;
        range.to = p->settled_to;
        if (!(within && is_old))
                ranges_add(settled, &range);
        range.from = p->first_index;
        range.to = p->low_index;
        if (is_old || !trims)
                ranges_add(is_old ? settled : &proof->recent, &range);
}

/* Where all writes have failed nothing of the run can be there. */
static void proof_collect(Proof *proof) {
        const Standing *standing = proof->standing;
        uint64_t end_ns = 0;

        for (uint32_t i = 0; i < standing->n_phases; i++) {
                const Positions *positions = &standing->phases[i].positions;
                RwMode rw = proof->plan->phases[i].rw;

                end_ns += standing->phases[i].elapsed_ns;
                if (!rw_mode_trims(rw) && !(rw_mode_writes(rw) && standing->n_writes > 0))
                        continue;
                bool is_old = standing->elapsed_ns > end_ns && standing->elapsed_ns - end_ns >= POSITION_SETTLED_NS;

                for (uint32_t k = 0; k < positions->n; k++)
                        proof_collect_share(proof, &positions->of[k], (Range){ .phase = i, .share = k },
                                            is_old || proof->kept_power);
        }
}

/* The n-th index of all of them. */
static const Range *ranges_at(const Ranges *ranges, uint64_t n, uint64_t *ret_index) {
        const Range *range = ranges->items;

        for (; n >= range->to - range->from; range++)
                n -= range->to - range->from;
        *ret_index = range->from + n;
        return range;
}

/* --- what is there --- */

/* A piece that is alike in many places does not tell its own. */
static bool is_in_place(const PayloadStamp *stamp, const Standing *standing, uint64_t sector) {
        return stamp->sector == sector ||
               (stamp->index == PAYLOAD_INDEX_SHARED && stamp->run_tag == standing->run_tag);
}

/* What was trimmed reads as zeros, from some drives as ones. */
static bool is_blank(const uint8_t *data, size_t n_bytes) {
        return (data[0] == 0 || data[0] == UINT8_MAX) && memcmp(data, data + 1, n_bytes - 1) == 0;
}

/* Of whole sectors. A part of them may have been erased. */
static Finding judge_sectors(const Standing *standing, const uint8_t *data, const Block *block) {
        Finding finding = FINDING_BLANK;

        for (size_t at = 0; at < block->n_bytes; at += PAYLOAD_SECTOR) {
                PayloadStamp stamp;

                if (block->may_be_blank && is_blank(data + at, PAYLOAD_SECTOR))
                        continue;
                payload_read_stamp(data + at, &stamp);
                if (!is_in_place(&stamp, standing, (block->offset + at) / PAYLOAD_SECTOR))
                        return FINDING_FOREIGN;
                if (stamp.run_tag != standing->run_tag)
                        return FINDING_OTHER_RUN;
                finding = FINDING_OWN;
        }
        return finding;
}

/* offset and n_bytes: multiples of the logical block. */
static bool proof_read(Proof *proof, uint64_t offset, size_t n_bytes) {
        ssize_t n;

        do
                n = pread(proof->claim->fd, proof->buf, n_bytes, (off_t) offset);
        while (n < 0 && errno == EINTR);
        return n == (ssize_t) n_bytes;
}

static void proof_look(Proof *proof, const Block *block) {
        Finding finding = FINDING_UNREADABLE;

        if (proof_read(proof, block->offset, block->n_bytes))
                finding = judge_sectors(proof->standing, proof->buf, block);
        proof->n_sure += !block->may_be_blank;
        if (finding == FINDING_BLANK)
                proof->n_blank++;
        else if (finding == FINDING_OWN)
                proof->n_own++;
        else if (finding == FINDING_UNREADABLE)
                proof->n_unreadable++;
        else {
                if (proof->n_other++ == 0 || block->offset < proof->first_other)
                        proof->first_other = block->offset;
                proof->is_other_run = proof->is_other_run || finding == FINDING_OTHER_RUN;
        }
}

/*
 * A drive need not do anything with less than its granule. False if the trim holds no whole one, or if nobody knows
 * where they begin: such a device tells an offset that cannot be.
 */
static bool trimmed_block(const Proof *proof, const PatternOp *op, Block *ret) {
        const DeviceInfo *info = proof->claim->info;
        uint64_t granule = MAX(info->discard_granularity_bytes, info->logical_block_bytes);
        uint64_t first = info->discard_alignment_bytes % granule;
        uint64_t start = (op->offset + granule - 1 - first) / granule * granule + first;

        if (op->direction != DIRECTION_TRIM || first % info->logical_block_bytes != 0 ||
            start + granule > op->offset + op->length)
                return false;
        *ret = (Block){ start, (size_t) MIN(granule, (uint64_t) proof->block_bytes), true };
        return true;
}

static bool written_block(const Proof *proof, const PatternOp *op, Block *ret) {
        size_t n_bytes = MIN((size_t) op->length, proof->block_bytes);

        if (op->direction != DIRECTION_WRITE)
                return false;
        *ret = (Block){ op->offset, n_bytes, erased_may_be(proof->erased, op->offset, n_bytes) };
        return true;
}

/* From [from, to) the first that cannot be blank; if there is none, the first. */
static bool find_block(const Proof *proof, const Pattern *pattern, uint64_t from, uint64_t to, Block *ret) {
        bool is_found = false;

        for (uint64_t index = from; index < to; index++) {
                PatternOp op = pattern_at(pattern, index);
                Block block;

                if (!trimmed_block(proof, &op, &block) && !written_block(proof, &op, &block))
                        continue;
                if (!is_found || !block.may_be_blank)
                        *ret = block;
                is_found = true;
                if (!block.may_be_blank)
                        break;
        }
        return is_found;
}

/* Evenly spread, the last of them first: what may be blank is known backwards. sure: only what cannot be. */
static void proof_look_at_ranges(Proof *proof, const Ranges *ranges, uint64_t n_places, bool sure) {
        uint64_t n = MIN(ranges->n_indices, n_places), n_looked_at = 0;
        uint64_t n_tries = n > 0 ? MIN(ranges->n_indices / n, UINT64_C(1) * N_INDICES_MAX) : 0;
        const Range *before = NULL;
        Pattern pattern;

        for (uint64_t i = n; i-- > 0 && n_looked_at < N_BLOCKS;) {
                uint64_t index, place = (uint64_t) ((unsigned __int128) ranges->n_indices * i / n);
                const Range *range = ranges_at(ranges, place, &index);
                Block block;

                if (range != before) {
                        PhasePlan share;

                        phase_plan_share(&share, &proof->plan->phases[range->phase], range->share);
                        pattern_init(&pattern, &share, range->share);
                        erased_look_from(proof->erased, range->phase);
                        before = range;
                }
                if (!find_block(proof, &pattern, index, MIN(range->to, index + n_tries), &block) ||
                    (sure && block.may_be_blank))
                        continue;
                proof_look(proof, &block);
                n_looked_at++;
        }
}

static void proof_look_for_written(Proof *proof, const Ranges *ranges) {
        proof_look_at_ranges(proof, ranges, N_BLOCKS, false);
        if (proof->n_sure == 0 && proof->n_blank > 0)
                proof_look_at_ranges(proof, ranges, N_PLACES_MAX, true);
}

/* --- what that means --- */

/*
 * Of the blocks looked at, how many may hold something else because their write failed: twice the mean. Reads that
 * failed are counted with the writes, and all errors of the run with these ranges; so no number of them excuses more
 * than a quarter.
 */
static uint64_t n_failures_allowed(const Proof *proof, const Ranges *ranges) {
        uint64_t failed = proof->standing->n_errors, n = ranges->n_indices;

        if (failed == 0 || n == 0)
                return 0;

        uint64_t share = 1 + (uint64_t) ((unsigned __int128) MIN(failed, n) * 2 * N_BLOCKS / n);
        uint64_t most = MAX((proof->n_own + proof->n_other) / 4, UINT64_C(1));

        return MIN(share, most);
}

/* A drive may forget what it was never told to flush; it keeps none of another run's data in its place. */
static const char *what_became_of_it(const Proof *proof) {
        const char *write_cache = proof->claim->info->write_cache;

        if (proof->is_other_run)
                return ", by another run of plateau; it was put to another use, and nothing is written to it";
        if (!proof->kept_power && write_cache && strcmp(write_cache, "write back") == 0)
                return "; either its write cache lost them with the power, or it was put to another use; nothing is "
                       "written to it";
        if (proof->n_own > 0)
                return ", and the others are the run's own; either something else has written to it too, or it does "
                       "not keep its data; nothing is written to it";
        return "; it was put to another use, and nothing is written to it";
}

static int refuse_contents(const Proof *proof, Refusal *ret_why, Error *error) {
        size_t n = proof->n_own + proof->n_other;

        *ret_why = REFUSAL_FINAL;
        return error_set(error, ERROR_REFUSED, EMEDIUMTYPE,
                         "%s does not carry what the run has written: of %zu blocks read back %zu hold something else, "
                         "the first at byte %" PRIu64 "%s", proof->claim->info->path, n, proof->n_other,
                         proof->first_other, what_became_of_it(proof));
}

static int refuse_trimmed(const Proof *proof, Refusal *ret_why, Error *error) {
        *ret_why = REFUSAL_FINAL;
        return error_set(error, ERROR_REFUSED, EMEDIUMTYPE,
                         "%s holds data that is not the run's where the run has trimmed it, the first at byte %" PRIu64
                         ": it was put to another use, or a trim does not clear it; nothing is written to it; if it "
                         "is free, start the run anew", proof->claim->info->path, proof->first_other);
}

static int refuse_unread(const Proof *proof, Refusal *ret_why, Error *error) {
        *ret_why = REFUSAL_BUSY;
        return error_set(error, ERROR_FAILED, EIO,
                         "%s cannot be proven to be the run's: none of %zu blocks can be read",
                         proof->claim->info->path, proof->n_unreadable);
}

static const char *what_proves_nothing(const Proof *proof) {
        if (proof->n_blank == 0)
                return "nothing";
        return proof->has_trims ? "nothing that it may not have trimmed since" : "nothing but zeros";
}

static int refuse_unproven(const Proof *proof, Refusal *ret_why, Error *error) {
        *ret_why = REFUSAL_FINAL;
        return error_set(error, ERROR_REFUSED, EMEDIUMTYPE,
                         "%s has no serial number or WWN of its own, and the run had written %s yet by which it "
                         "could be known; start it anew", proof->claim->info->path, what_proves_nothing(proof));
}

static int proof_check_signatures(Proof *proof, Refusal *ret_why, Error *error) {
        const Reasons *signatures = &proof->claim->signatures;
        uint32_t block = proof->claim->info->logical_block_bytes;

        for (size_t i = 0; i < signatures->n; i++) {
                uint64_t sector = signatures->items[i].offset / PAYLOAD_SECTOR * PAYLOAD_SECTOR;
                uint64_t start = sector / block * block;

                if (proof_read(proof, start, block) &&
                    judge_sectors(proof->standing, proof->buf + (sector - start),
                                  &(Block){ .offset = sector, .n_bytes = PAYLOAD_SECTOR }) == FINDING_OWN)
                        continue;
                *ret_why = REFUSAL_FINAL;
                return error_set(error, ERROR_REFUSED, EMEDIUMTYPE,
                                 "%s was put to another use: it %s, which the run did not write; nothing is written "
                                 "to it", proof->claim->info->path, signatures->items[i].text);
        }
        return 0;
}

/*
 * Where the run has trimmed there is nothing, or what it wrote. A drive that is known by what was written to it may be
 * one of those that trims do not clear; but one that has cleared a part has cleared all.
 */
static int proof_check_trimmed(Proof *proof, Refusal *ret_why, Error *error) {
        size_t n_own = proof->n_own, n_blank = proof->n_blank;
        bool is_known = n_own > 0;

        proof->n_other = 0; /* of what was written: forgiven */
        proof_look_at_ranges(proof, &proof->trimmed, N_BLOCKS, false);
        bool is_clearing = proof->n_blank > n_blank, is_right = is_clearing || proof->n_own > n_own;
        bool is_other = proof->n_other > n_failures_allowed(proof, &proof->trimmed) ||
                        (proof->n_other > 0 && !is_right);

        if (is_other && (is_clearing || !is_known))
                return refuse_trimmed(proof, ret_why, error);
        if (is_known)
                proof->n_own = n_own; /* what was written is told */
        return 0;
}

static int proof_check_blocks(Proof *proof, Likeness likeness, Refusal *ret_why, Error *error) {
        proof_look_for_written(proof, &proof->settled);
        bool is_settled = proof->n_own + proof->n_other > 0;

        if (proof->n_other > n_failures_allowed(proof, &proof->settled) || (proof->n_other > 0 && proof->n_own == 0))
                return refuse_contents(proof, ret_why, error);
        if (!is_settled)
                proof_look_for_written(proof, &proof->recent);
        if (proof->n_own == 0 && proof->n_other > 0)
                return refuse_contents(proof, ret_why, error);
        int r = proof_check_trimmed(proof, ret_why, error);
        if (r < 0 || proof->n_own > 0)
                return r;
        if (proof->n_unreadable > 0)
                return refuse_unread(proof, ret_why, error);
        return likeness == LIKENESS_WEAK ? refuse_unproven(proof, ret_why, error) : 0;
}

static int proof_new(Proof **ret, const Claim *claim, const Plan *plan, const Standing *standing, Likeness likeness) {
        _cleanup_(proof_freep) Proof *proof = calloc(1, sizeof(*proof));

        if (!proof)
                return -ENOMEM;
        proof->claim = claim;
        proof->plan = plan;
        proof->standing = standing;
        proof->block_bytes = MAX(READ_BYTES, (size_t) claim->info->logical_block_bytes);
        proof->buf = aligned_alloc(READ_BYTES, (proof->block_bytes + READ_BYTES - 1) / READ_BYTES * READ_BYTES);
        proof->erased = erased_new(plan, standing, standing_last_begun(standing, plan), claim->info->size_bytes);
        if (!proof->buf || !proof->erased)
                return -ENOMEM;
        proof->kept_power = likeness == LIKENESS_SAME;
        proof->has_trims = plan_trims(plan);
        proof_collect(proof);
        *ret = TAKE_PTR(proof);
        return 0;
}

int proof_try(const Claim *claim, const Plan *plan, const Standing *standing, Likeness likeness, char **ret_detail,
              Refusal *ret_why, Error *error) {
        _cleanup_(proof_freep) Proof *proof = NULL;

        *ret_why = REFUSAL_BUSY;
        int r = standing_check_plan(standing, plan, error);
        if (r < 0) {
                *ret_why = REFUSAL_FINAL;
                return r;
        }
        r = proof_new(&proof, claim, plan, standing, likeness);
        if (r < 0)
                return error_set(error, ERROR_FAILED, -r, "out of memory");
        r = proof_check_signatures(proof, ret_why, error);
        if (r >= 0)
                r = proof_check_blocks(proof, likeness, ret_why, error);
        if (r < 0)
                return r;

        if (proof->n_own > 0)
                r = asprintf(ret_detail, "%zu of its blocks read back", proof->n_own);
        else
                r = asprintf(ret_detail, "the run had written %s to it", what_proves_nothing(proof));
        return r < 0 ? error_set(error, ERROR_FAILED, ENOMEM, "out of memory") : 0;
}
