/* SPDX-License-Identifier: MIT */

/* What is taken for the run's own data, on a file that stands for the device. */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/pattern.h"
#include "engine/payload.h"
#include "random-phase.h"
#include "spec/share.h"
#include "unit.h"
#include "util/macro.h"
#include "util/time.h"
#include "worker/proof.h"

#define SIZE (16 * MIB)
#define BLOCK 4096
#define TAG UINT64_C(0x1122334455667788)
#define N_WRITTEN 2000

static DeviceInfo info = { .path = (char *) "/dev/fake", .size_bytes = SIZE, .logical_block_bytes = 512 };
static Claim claim;
static PhasePlan phases[3];
static Plan plan = { .n_phases = 2, .phases = phases };
static PhaseStanding standings[3];
static Standing standing;
static Refusal why;
static Error error;
static char *detail;

static void setup(void) {
        info.write_cache = NULL;
        info.discard_granularity_bytes = info.discard_alignment_bytes = 0;
        claim = (Claim){ .info = &info, .fd = memfd_create("device", MFD_CLOEXEC) };
        ck_assert_int_ge(claim.fd, 0);
        ck_assert_int_eq(ftruncate(claim.fd, SIZE), 0);
        phases[0] = random_phase(RW_RANDWRITE, 0, SIZE, BLOCK);
        phases[1] = random_phase(RW_RANDREAD, 100, SIZE, BLOCK);
        memset(standings, 0, sizeof(standings));
        standing = (Standing){ .run_tag = TAG, .n_writes = N_WRITTEN, .n_phases = 2, .phases = standings };
        standing_note_plan(&standing, &plan);
        error = ERROR_INIT;
        detail = NULL;
}

static void teardown(void) {
        fd_close(claim.fd);
        reasons_clear(&claim.signatures);
        error_clear(&error);
        free(detail);
}

/* As the run does it: the writes among the I/Os from..to of its first phase. */
static void write_indices_of(uint64_t tag, unsigned slice, uint64_t from, uint64_t to) {
        Payload *payload;
        Pattern pattern;
        static uint8_t buf[BLOCK] __attribute__((aligned(64)));

        ck_assert_int_eq(payload_new(&payload, tag), 0);
        pattern_init(&pattern, &phases[0], slice);
        for (uint64_t i = from; i < to; i++) {
                PatternOp op = pattern_at(&pattern, i);
                if (op.direction != DIRECTION_WRITE)
                        continue;
                payload_fill_for(payload, &phases[0], buf, BLOCK, op.offset, i);
                if (pwrite(claim.fd, buf, BLOCK, (off_t) op.offset) != BLOCK)
                        ck_abort_msg("cannot write");
        }
        payload_free(payload);
}

static void write_indices(uint64_t tag, uint64_t from, uint64_t to) {
        write_indices_of(tag, 0, from, to);
}

/* The same by two ring threads, each of which did so many of its own. */
static void write_shares(uint64_t n) {
        PhasePlan whole = phases[0];

        for (uint32_t i = 0; i < 2; i++) {
                phase_plan_share(&phases[0], &whole, i);
                write_indices_of(TAG, i, 0, n);
        }
        phases[0] = whole;
}

static void overwrite(uint64_t offset, size_t n_bytes) {
        static const uint8_t noise[SIZE] = { 1 };

        ck_assert_int_eq(pwrite(claim.fd, noise, n_bytes, (off_t) offset), (ssize_t) n_bytes);
}

static void stood_at(uint64_t first, uint64_t low, uint64_t settled_from, uint64_t settled_to) {
        standings[0].positions = (Positions){
                .n = 1,
                .of[0] = { .first_index = first, .low_index = low, .next_index = low, .settled_from = settled_from,
                           .settled_to = settled_to },
        };
}

/* The plan is what the run was started with. */
static int try(Likeness likeness) {
        standing_note_plan(&standing, &plan);
        free(detail);
        detail = NULL;
        return proof_try(&claim, &plan, &standing, likeness, &detail, &why, &error);
}

static void expect_refused(Likeness likeness, Refusal expected, const char *part) {
        ck_assert_int_lt(try(likeness), 0);
        ck_assert_int_eq(why, expected);
        ck_assert_msg(strstr(error_message(&error), part) != NULL, "%s", error_message(&error));
}

START_TEST(own_blocks_are_known) {
        write_indices(TAG, 0, N_WRITTEN);
        stood_at(0, N_WRITTEN, 0, 1000);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        ck_assert_str_eq(detail, "256 of its blocks read back");
}
END_TEST

static void setup_two_shares(void) {
        phases[0].iodepth = phases[0].workers = 2;
        phases[0].limit_bytes = UINT64_MAX;
        standing_note_plan(&standing, &plan);
        write_shares(N_WRITTEN);
        stood_at(0, N_WRITTEN, 0, 1000);
        standings[0].positions.n = 2;
        standings[0].positions.of[1] = standings[0].positions.of[0];
}

START_TEST(blocks_of_each_ring_thread_are_known) {
        setup_two_shares();
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        ck_assert_str_eq(detail, "256 of its blocks read back");
}
END_TEST

/* Half of the device is the second one's part, and nothing else lies there. */
START_TEST(each_ring_thread_has_its_part_looked_at) {
        for (uint64_t i = 0; i < 2; i++) {
                setup_two_shares();
                overwrite(i * SIZE / 2, SIZE / 2);
                expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "of 256 blocks read back 128 hold something else");
                error_clear(&error);
        }
}
END_TEST

/* What is recorded of more or fewer ring threads than the job has tells of another order. */
START_TEST(positions_of_other_ring_threads_are_refused) {
        setup_two_shares();
        standings[0].positions.n = 3;
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "workers=2, and where it stood is known of 3");
}
END_TEST

START_TEST(each_of_a_few_is_looked_at) {
        write_indices(TAG, 0, 3);
        stood_at(0, 3, 0, 0);
        ck_assert_int_eq(try(LIKENESS_SAME), 0);
        ck_assert_str_eq(detail, "3 of its blocks read back");
}
END_TEST

/* Nine tenths are left: no signature, and most blocks are the run's own. */
START_TEST(data_over_a_part_of_it_is_noticed) {
        write_indices(TAG, 0, N_WRITTEN);
        overwrite(SIZE / 2, SIZE / 10);
        stood_at(0, N_WRITTEN, 0, N_WRITTEN);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "of 256 blocks read back");
        ck_assert_ptr_nonnull(strstr(error_message(&error), "the others are the run's own; either something else has"));
}
END_TEST

/* A block counts whole: of a write of 4 KiB over which somebody wrote 512 bytes, too. */
START_TEST(every_sector_of_a_block_counts) {
        Pattern pattern;

        write_indices(TAG, 0, 1);
        pattern_init(&pattern, &phases[0], 0);
        overwrite(pattern_at(&pattern, 0).offset + BLOCK - 512, 512);
        stood_at(0, 1, 0, 0);
        expect_refused(LIKENESS_SAME, REFUSAL_FINAL, "of 1 blocks read back 1 hold something else");
}
END_TEST

START_TEST(blocks_of_another_run_are_told_as_such) {
        write_indices(TAG + 1, 0, N_WRITTEN);
        stood_at(0, N_WRITTEN, 0, N_WRITTEN);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "by another run of plateau");
}
END_TEST

/* A copy of the drive's data elsewhere on it, or on another drive that is larger at the front, is not the run's. */
START_TEST(own_blocks_in_other_places_are_not_the_runs) {
        static uint8_t data[SIZE];

        write_indices(TAG, 0, 20 * N_WRITTEN);
        ck_assert_int_eq(pread(claim.fd, data, SIZE, 0), SIZE);
        ck_assert_int_eq(pwrite(claim.fd, data, SIZE - BLOCK, BLOCK), SIZE - BLOCK);
        stood_at(0, 20 * N_WRITTEN, 0, N_WRITTEN);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "does not carry what the run has written");
}
END_TEST

/* After a power cut the youngest may be missing, all of those that a cache held. */
START_TEST(what_had_not_settled_may_be_lost_with_the_power) {
        write_indices(TAG, 0, 1500);
        stood_at(0, N_WRITTEN, 0, 1500);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);

        /* But the device that has kept its power must have them all. */
        expect_refused(LIKENESS_SAME, REFUSAL_FINAL, "something else");
}
END_TEST

START_TEST(one_of_the_youngest_is_enough_where_nothing_has_settled) {
        write_indices(TAG, 0, N_WRITTEN / 4);
        stood_at(0, N_WRITTEN, 0, 0);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
}
END_TEST

START_TEST(none_of_the_youngest_is_not_enough) {
        stood_at(0, N_WRITTEN, 0, 0);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "does not carry what the run has written");
}
END_TEST

/* The drive may only be one that forgets what it never was told to flush. */
START_TEST(a_write_cache_that_lost_its_power_is_not_accused) {
        static const char words[] = "either its write cache lost them with the power, or it was put to another use";

        info.write_cache = (char *) "write back";
        stood_at(0, N_WRITTEN, 0, N_WRITTEN);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, words);
        error_clear(&error);

        expect_refused(LIKENESS_SAME, REFUSAL_FINAL, "; it was put to another use");
        error_clear(&error);

        write_indices(TAG + 1, 0, N_WRITTEN);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "by another run of plateau; it was put to another use");
        error_clear(&error);

        info.write_cache = (char *) "write through";
        overwrite(0, SIZE);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "; it was put to another use");
}
END_TEST

/* A range from before a jump counts for itself; what was jumped over was never written. */
START_TEST(a_gap_is_not_looked_for) {
        write_indices(TAG, 0, 500);
        write_indices(TAG, PATTERN_JUMP, PATTERN_JUMP + 100);
        stood_at(PATTERN_JUMP, PATTERN_JUMP + 100, 0, 500);
        ck_assert_int_eq(try(LIKENESS_SAME), 0);
        ck_assert_str_eq(detail, "256 of its blocks read back");
}
END_TEST

/* Half a minute of the next phase later all of a phase has settled. */
START_TEST(an_earlier_phase_counts_whole) {
        write_indices(TAG, 0, 1500);
        stood_at(0, N_WRITTEN, 0, 0);
        standing.phase = 1;
        standings[0].elapsed_ns = 100 * NSEC_PER_SEC;
        standings[1].elapsed_ns = 29 * NSEC_PER_SEC;
        standing.elapsed_ns = 129 * NSEC_PER_SEC;
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        standing.elapsed_ns = 130 * NSEC_PER_SEC;
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "something else");
}
END_TEST

START_TEST(reads_in_between_prove_nothing) {
        phases[0] = random_phase(RW_RANDRW, 90, SIZE, BLOCK);
        write_indices(TAG, 0, N_WRITTEN);
        stood_at(0, N_WRITTEN, 0, N_WRITTEN);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        ck_assert_ptr_nonnull(strstr(detail, "blocks read back"));
}
END_TEST

START_TEST(a_run_that_only_read_has_nothing_to_prove) {
        phases[0] = random_phase(RW_RANDREAD, 100, SIZE, BLOCK);
        stood_at(0, N_WRITTEN, 0, N_WRITTEN);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        ck_assert_str_eq(detail, "the run had written nothing to it");

        /* Unless the drive is one of many that tell the same of themselves. */
        expect_refused(LIKENESS_WEAK, REFUSAL_FINAL, "no serial number or WWN of its own");
}
END_TEST

START_TEST(a_weak_identity_and_own_blocks_are_enough) {
        write_indices(TAG, 0, N_WRITTEN);
        stood_at(0, N_WRITTEN, 0, N_WRITTEN);
        ck_assert_int_eq(try(LIKENESS_WEAK), 0);
}
END_TEST

/* Writes that failed have left what was there, in about their share of all places. */
START_TEST(failed_writes_may_be_missing) {
        write_indices(TAG, 0, N_WRITTEN);
        overwrite(0, SIZE / 20);
        stood_at(0, N_WRITTEN, 0, N_WRITTEN);
        standing.n_errors = N_WRITTEN / 20;
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        standing.n_errors = 1;
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "something else");
}
END_TEST

/* They may have been reads, all of them. */
START_TEST(no_number_of_errors_excuses_more_than_a_quarter) {
        write_indices(TAG, 0, N_WRITTEN);
        stood_at(0, N_WRITTEN, 0, N_WRITTEN);
        standing.n_errors = UINT64_MAX;
        overwrite(0, SIZE / 5);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        overwrite(0, SIZE / 3);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "something else");
}
END_TEST

START_TEST(one_of_few_blocks_may_be_missing) {
        write_indices(TAG, 0, 2);
        stood_at(0, 3, 0, 3);
        standing.n_errors = 1;
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        stood_at(0, 4, 0, 4);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "something else");
}
END_TEST

START_TEST(failed_writes_do_not_excuse_a_drive_without_any) {
        stood_at(0, N_WRITTEN, 0, N_WRITTEN);
        standing.n_errors = N_WRITTEN;
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "does not carry what the run has written");
}
END_TEST

START_TEST(a_drive_that_cannot_be_read_is_waited_for) {
        stood_at(0, N_WRITTEN, 0, N_WRITTEN);
        ck_assert_int_eq(ftruncate(claim.fd, 0), 0);
        expect_refused(LIKENESS_STRONG, REFUSAL_BUSY, "none of");
}
END_TEST

static void add_signature(uint64_t offset) {
        ck_assert_int_eq(reasons_add(&claim.signatures, REASON_SIGNATURE, "holds a file system (ext4) at byte 1080"),
                         0);
        claim.signatures.items[0].offset = offset;
}

START_TEST(a_signature_in_an_own_sector_is_chance) {
        write_indices(TAG, 0, 20 * N_WRITTEN); /* all of it */
        stood_at(0, 20 * N_WRITTEN, 0, 20 * N_WRITTEN);
        add_signature(1080);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
}
END_TEST

START_TEST(a_signature_elsewhere_is_somebodys) {
        write_indices(TAG, 0, 20 * N_WRITTEN);
        overwrite(1024, 512);
        stood_at(0, 20 * N_WRITTEN, 0, 20 * N_WRITTEN);
        add_signature(1080);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "it holds a file system (ext4) at byte 1080");
}
END_TEST

START_TEST(a_signature_before_the_first_write_is_somebodys) {
        stood_at(0, 0, 0, 0);
        add_signature(1080);
        expect_refused(LIKENESS_SAME, REFUSAL_FINAL, "put to another use");
}
END_TEST

START_TEST(where_all_writes_failed_nothing_is_missing) {
        static const char signature[] = "put to another use: it holds a file system";

        stood_at(0, N_WRITTEN, 0, 1000);
        standing.n_errors = N_WRITTEN;
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "does not carry what the run has written");
        error_clear(&error);

        standing.n_writes = 0;
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        ck_assert_str_eq(detail, "the run had written nothing to it");
        expect_refused(LIKENESS_WEAK, REFUSAL_FINAL, "no serial number");
        error_clear(&error);
        add_signature(1080);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, signature);
}
END_TEST

START_TEST(pieces_alike_in_many_places_are_the_runs_own) {
        phases[0].content.dedupe_percent = 100;
        write_indices(TAG, 0, N_WRITTEN);
        stood_at(0, N_WRITTEN, 0, 1000);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        ck_assert_str_eq(detail, "256 of its blocks read back");

        write_indices(TAG + 1, 0, N_WRITTEN);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
}
END_TEST

static void blank_from(uint64_t offset) {
        ck_assert_int_eq(ftruncate(claim.fd, (off_t) offset), 0);
        ck_assert_int_eq(ftruncate(claim.fd, SIZE), 0);
}

/* Indices of a random order that reach each block of the device. */
#define ALL_OVER 100000

/* Two phases that write, the second of them zeros; the first has written. */
static void setup_zeros(void) {
        phases[1] = random_phase(RW_RANDWRITE, 0, SIZE, BLOCK);
        phases[1].content.is_zero = true;
        write_indices(TAG, 0, N_WRITTEN);
        stood_at(0, N_WRITTEN, 0, 1000);
}

START_TEST(zeros_prove_nothing_where_the_run_has_written_some) {
        setup_zeros();
        standing.phase = 1;
        standings[1].positions = (Positions){ .n = 1, .of[0].next_index = ALL_OVER };
        standing.drained = true;
        blank_from(SIZE / 2);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);

        blank_from(0);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        ck_assert_str_eq(detail, "the run had written nothing but zeros to it");
        expect_refused(LIKENESS_WEAK, REFUSAL_FINAL, "no serial number");
        ck_assert_ptr_nonnull(strstr(error_message(&error), "nothing but zeros"));
}
END_TEST

START_TEST(what_the_run_has_trimmed_proves_nothing) {
        static const uint8_t ones[BLOCK] = { [0 ... BLOCK - 1] = UINT8_MAX };

        setup_zeros();
        phases[1] = random_phase(RW_RANDTRIM, 0, SIZE, BLOCK);
        standing.phase = 1;
        standings[1].positions = (Positions){ .n = 1, .of[0].next_index = ALL_OVER };
        standing.drained = true;
        blank_from(SIZE / 2);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);

        for (uint64_t offset = 0; offset < SIZE; offset += BLOCK)
                ck_assert_int_eq(pwrite(claim.fd, ones, BLOCK, (off_t) offset), BLOCK);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        ck_assert_str_eq(detail, "the run had written nothing that it may not have trimmed since to it");
        expect_refused(LIKENESS_WEAK, REFUSAL_FINAL, "no serial number");
}
END_TEST

START_TEST(trims_that_are_still_to_come_excuse_nothing) {
        setup_zeros();
        phases[1] = random_phase(RW_RANDTRIM, 0, SIZE, BLOCK);
        blank_from(0);
        standing.drained = true;
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
}
END_TEST

START_TEST(other_data_is_noticed_among_zeros) {
        setup_zeros();
        standing.phase = 1;
        for (uint64_t offset = 0; offset < SIZE; offset += BLOCK)
                overwrite(offset, 1);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
}
END_TEST

/* A drive that somebody has erased is no drive on which the run has written zeros. */
START_TEST(zeros_that_are_still_to_come_excuse_nothing) {
        setup_zeros();
        blank_from(0);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
}
END_TEST

/* The phase has its turn, and what it did in the seconds before the end is known only after a clean stop. */
START_TEST(zeros_may_have_come_in_the_seconds_that_are_not_known) {
        setup_zeros();
        standing.phase = 1;
        blank_from(0);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        standing.drained = true;
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
}
END_TEST

/* The phase before them may have ended since the last sample, if that is not long before its end. */
START_TEST(zeros_may_have_begun_in_the_seconds_that_are_not_known) {
        static const struct {
                uint64_t runtime_ns, limit_bytes, limit_ios; /* of the phase before */
                uint64_t elapsed_ns, done_bytes;           /* into it */
                bool may_have_ended;
                uint64_t steady_hold_ns; /* of the phase before */
                FioSteady fio_steady;
        } cases[] = {
                { 100 * NSEC_PER_SEC, UINT64_MAX, 0, 89 * NSEC_PER_SEC, MIB, false },
                { 100 * NSEC_PER_SEC, UINT64_MAX, 0, 90 * NSEC_PER_SEC, MIB, true },
                { 0, 110 * MIB, 0, 100 * NSEC_PER_SEC, 99 * MIB, false },
                { 0, 110 * MIB, 0, 100 * NSEC_PER_SEC, 100 * MIB, true },
                { 0, 110 * MIB, 0, 0, 0, true },
                { 0, UINT64_MAX, 110 * MIB / BLOCK, 100 * NSEC_PER_SEC, 99 * MIB, false },
                { 0, UINT64_MAX, 110 * MIB / BLOCK, 100 * NSEC_PER_SEC, 100 * MIB, true },
                { 0, UINT64_MAX, 0, 100 * NSEC_PER_SEC, MIB, false },
                { 0, UINT64_MAX, 0, 100 * NSEC_PER_SEC, MIB, true, NSEC_PER_SEC, {} },
                { 0, UINT64_MAX, 0, 100 * NSEC_PER_SEC, MIB, true, 0, { .is_set = true, .duration_ns = 1 } },
                { 0, UINT64_MAX, 0, 100 * NSEC_PER_SEC, MIB, false, 0, { .is_set = true } },
        };

        setup_zeros();
        blank_from(0);
        phases[0].runtime_ns = cases[_i].runtime_ns;
        phases[0].limit_bytes = cases[_i].limit_bytes;
        phases[0].limit_ios = cases[_i].limit_ios;
        phases[0].steady_hold_ns = cases[_i].steady_hold_ns;
        phases[0].fio_steady = cases[_i].fio_steady;
        standings[0].elapsed_ns = standing.elapsed_ns = cases[_i].elapsed_ns;
        standings[0].positions.of[0].done_bytes = cases[_i].done_bytes;

        if (!cases[_i].may_have_ended) {
                expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
                return;
        }
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        standing.drained = true;
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
}
END_TEST

START_TEST(zeros_from_before_excuse_no_later_phase) {
        setup_zeros();
        phases[0].content.is_zero = true;
        phases[1].content.is_zero = false;
        standing.phase = 1;
        standings[1].positions = standings[0].positions;
        blank_from(0);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
}
END_TEST

/* As setup_zeros(), and so many I/Os of the second phase, which erases. */
static void setup_erased(RwMode rw, uint64_t n) {
        setup_zeros();
        phases[0] = random_phase(RW_WRITE, 0, SIZE, BLOCK);
        write_indices(TAG, 0, SIZE / BLOCK);
        stood_at(0, SIZE / BLOCK, 0, SIZE / BLOCK);
        phases[1] = random_phase(rw, 0, SIZE, BLOCK);
        phases[1].content.is_zero = rw_mode_writes(rw);
        standing.phase = 1;
        standing.drained = true;
        standings[1].positions = (Positions){ .n = 1, .of[0] = { .low_index = n, .next_index = n } };
}

/* As the drive does it, which the order was given to. */
static void erase_indices(uint64_t n) {
        static const uint8_t zeros[BLOCK];
        Pattern pattern;

        pattern_init(&pattern, &phases[1], 0);
        for (uint64_t i = 0; i < n; i++)
                ck_assert_int_eq(pwrite(claim.fd, zeros, BLOCK, (off_t) pattern_at(&pattern, i).offset), BLOCK);
}

static const RwMode erasing[] = { RW_TRIM, RW_RANDTRIM, RW_WRITE, RW_RANDWRITE };

/* What was not erased must be there, however much or little was erased elsewhere. */
START_TEST(zeros_are_excused_only_where_the_run_has_erased) {
        setup_erased(erasing[_i / 2], _i % 2 ? 1 : 1000);
        erase_indices(_i % 2 ? 1 : 1000);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        ck_assert_ptr_nonnull(strstr(detail, "blocks read back"));
        blank_from(0);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
}
END_TEST

/* One that was killed as it erased: no more than its region, or its limit. */
START_TEST(a_phase_that_was_killed_erases_no_more_than_it_may) {
        setup_erased(_i % 2 ? RW_TRIM : RW_RANDTRIM, 0);
        standing.drained = false;
        if (_i < 2) {
                phases[1].region_bytes = SIZE / 4;
                phases[1].n_blocks[DIRECTION_TRIM] = SIZE / 4 / BLOCK;
        } else {
                phases[1].limit_ios = 100;
                phases[1].random_map = true;
        }
        standing_note_plan(&standing, &plan);
        erase_indices(100);
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        ck_assert_ptr_nonnull(strstr(detail, "blocks read back"));
        blank_from(0);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
}
END_TEST

/* All but the last of a thousandth of the drive. */
START_TEST(what_is_left_is_looked_for) {
        setup_erased(RW_TRIM, SIZE / BLOCK - 2);
        blank_from(0);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
        error_clear(&error);

        standings[1].positions.of[0].low_index = standings[1].positions.of[0].next_index = SIZE / BLOCK;
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
}
END_TEST

/* However many I/Os there were, and wherever it lies: only the last two blocks of the drive cannot be blank. */
START_TEST(what_is_left_is_looked_for_among_millions) {
        const uint64_t n = 1024 * SIZE / BLOCK;

        setup_erased(RW_TRIM, SIZE / BLOCK - 2);
        stood_at(0, n, 0, n);
        blank_from(0);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "something else, the first at byte 16769024;");
}
END_TEST

/* Too many trims to go through, but in an order that tells how far they have come. */
START_TEST(a_long_sequential_trim_has_come_so_far) {
        const uint64_t drive = 64 * GIB, n = 20 * GIB / 512;

        for (unsigned is_beyond = 0; is_beyond < 2; is_beyond++) {
                setup_erased(RW_TRIM, n);
                phases[0].region_offset = is_beyond ? 40 * GIB : 10 * GIB;
                phases[1].block_bytes[DIRECTION_TRIM] = 512;
                phases[1].region_bytes = drive;
                phases[1].n_blocks[DIRECTION_TRIM] = drive / 512;
                standing_note_plan(&standing, &plan);
                ck_assert_int_eq(ftruncate(claim.fd, 0), 0);
                ck_assert_int_eq(ftruncate(claim.fd, (off_t) drive), 0);
                info.size_bytes = drive;
                if (is_beyond)
                        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
                else
                        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
                info.size_bytes = SIZE;
        }
}
END_TEST

/* Of a block of 4 KiB may have been erased any sector; what is there must be the run's all the same. */
START_TEST(a_block_may_be_erased_in_part) {
        static const uint8_t zeros[512];

        setup_erased(RW_TRIM, 2 * SIZE / 512);
        phases[1].block_bytes[DIRECTION_TRIM] = 512;
        phases[1].n_blocks[DIRECTION_TRIM] = SIZE / 512;
        standing_note_plan(&standing, &plan);
        for (uint64_t offset = 0; offset < SIZE; offset += BLOCK)
                ck_assert_int_eq(pwrite(claim.fd, zeros, sizeof(zeros), (off_t) offset + 512), sizeof(zeros));
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        ck_assert_str_eq(detail, "256 of its blocks read back");
        for (uint64_t offset = 0; offset < SIZE; offset += BLOCK)
                overwrite(offset, 512);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
}
END_TEST

/* A later write is not excused by what was erased before it, also if older blocks were looked at already. */
START_TEST(the_youngest_are_not_excused_by_what_was_erased_before) {
        setup_erased(RW_TRIM, SIZE / BLOCK);
        phases[2] = random_phase(RW_RANDWRITE, 0, SIZE, BLOCK);
        plan.n_phases = standing.n_phases = 3;
        standing_note_plan(&standing, &plan);
        standing.phase = 2;
        standings[2].positions = (Positions){ .n = 1, .of[0] = { .low_index = 100, .next_index = 100 } };
        blank_from(0);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "put to another use");
        plan.n_phases = 2;
}
END_TEST

/* Nothing but trims: the drive holds nothing there, or what the run has written. */
START_TEST(a_run_that_only_trimmed_leaves_no_data) {
        setup_erased(_i % 2 ? RW_RANDTRIM : RW_TRIM, 100);
        standings[0].positions = (Positions){};
        standing.n_writes = 0;
        blank_from(0);
        ck_assert_int_eq(try(LIKENESS_SAME), 0);
        ck_assert_str_eq(detail, "the run had written nothing that it may not have trimmed since to it");
        expect_refused(LIKENESS_WEAK, REFUSAL_FINAL, "no serial number");
        error_clear(&error);

        for (uint64_t offset = 0; offset < SIZE; offset += BLOCK)
                overwrite(offset, BLOCK);
        expect_refused(LIKENESS_SAME, REFUSAL_FINAL, "holds data that is not the run's where the run has trimmed it");
        error_clear(&error);

        /* A trim may be lost with the power. */
        ck_assert_int_eq(try(LIKENESS_STRONG), 0);
        standings[1].positions.of[0].settled_to = 50;
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "where the run has trimmed");
        error_clear(&error);

        /* Such a trim is too small for this drive to do anything. */
        info.discard_granularity_bytes = 2 * BLOCK;
        ck_assert_int_eq(try(LIKENESS_SAME), 0);

        /* One that is large enough may yet hold no whole piece, by where these begin; or nobody knows that. */
        info.discard_granularity_bytes = BLOCK;
        info.discard_alignment_bytes = BLOCK;
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "where the run has trimmed");
        error_clear(&error);
        info.discard_alignment_bytes = 512;
        ck_assert_int_eq(try(LIKENESS_SAME), 0);
        info.discard_granularity_bytes = 1024;
        for (uint64_t offset = 0; offset < SIZE; offset += 512)
                overwrite(offset, 512);
        expect_refused(LIKENESS_STRONG, REFUSAL_FINAL, "where the run has trimmed");
        error_clear(&error);
        info.discard_alignment_bytes = UINT32_MAX;
        ck_assert_int_eq(try(LIKENESS_SAME), 0);
}
END_TEST

/* Where the run has written nothing: beside what its trims have cleared. A drive that clears nothing tells nothing. */
START_TEST(other_data_is_noticed_where_the_run_only_trimmed) {
        setup_erased(RW_TRIM, SIZE / BLOCK / 2);
        stood_at(SIZE / BLOCK / 2, SIZE / BLOCK, 0, 0);
        for (uint64_t offset = 0; offset < SIZE / 2; offset += BLOCK)
                overwrite(offset, BLOCK);
        ck_assert_int_eq(try(LIKENESS_SAME), 0);
        ck_assert_str_eq(detail, "256 of its blocks read back");
        erase_indices(SIZE / BLOCK / 4);
        expect_refused(LIKENESS_SAME, REFUSAL_FINAL, "holds data that is not the run's where the run has trimmed it");
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("proof");
        TCase *tc = tcase_create("proof");

        tcase_add_checked_fixture(tc, setup, teardown);
        tcase_add_test(tc, own_blocks_are_known);
        tcase_add_test(tc, blocks_of_each_ring_thread_are_known);
        tcase_add_test(tc, each_ring_thread_has_its_part_looked_at);
        tcase_add_test(tc, positions_of_other_ring_threads_are_refused);
        tcase_add_test(tc, each_of_a_few_is_looked_at);
        tcase_add_test(tc, data_over_a_part_of_it_is_noticed);
        tcase_add_test(tc, every_sector_of_a_block_counts);
        tcase_add_test(tc, blocks_of_another_run_are_told_as_such);
        tcase_add_test(tc, own_blocks_in_other_places_are_not_the_runs);
        tcase_add_test(tc, what_had_not_settled_may_be_lost_with_the_power);
        tcase_add_test(tc, one_of_the_youngest_is_enough_where_nothing_has_settled);
        tcase_add_test(tc, none_of_the_youngest_is_not_enough);
        tcase_add_test(tc, a_write_cache_that_lost_its_power_is_not_accused);
        tcase_add_test(tc, a_gap_is_not_looked_for);
        tcase_add_test(tc, an_earlier_phase_counts_whole);
        tcase_add_test(tc, reads_in_between_prove_nothing);
        tcase_add_test(tc, a_run_that_only_read_has_nothing_to_prove);
        tcase_add_test(tc, a_weak_identity_and_own_blocks_are_enough);
        tcase_add_test(tc, failed_writes_may_be_missing);
        tcase_add_test(tc, no_number_of_errors_excuses_more_than_a_quarter);
        tcase_add_test(tc, one_of_few_blocks_may_be_missing);
        tcase_add_test(tc, failed_writes_do_not_excuse_a_drive_without_any);
        tcase_add_test(tc, where_all_writes_failed_nothing_is_missing);
        tcase_add_test(tc, a_drive_that_cannot_be_read_is_waited_for);
        tcase_add_test(tc, a_signature_in_an_own_sector_is_chance);
        tcase_add_test(tc, a_signature_elsewhere_is_somebodys);
        tcase_add_test(tc, a_signature_before_the_first_write_is_somebodys);
        tcase_add_test(tc, pieces_alike_in_many_places_are_the_runs_own);
        tcase_add_test(tc, other_data_is_noticed_among_zeros);
        tcase_add_test(tc, what_the_run_has_trimmed_proves_nothing);
        tcase_add_test(tc, trims_that_are_still_to_come_excuse_nothing);
        tcase_add_test(tc, zeros_prove_nothing_where_the_run_has_written_some);
        tcase_add_test(tc, zeros_that_are_still_to_come_excuse_nothing);
        tcase_add_test(tc, zeros_may_have_come_in_the_seconds_that_are_not_known);
        tcase_add_loop_test(tc, zeros_may_have_begun_in_the_seconds_that_are_not_known, 0, 11);
        tcase_add_test(tc, zeros_from_before_excuse_no_later_phase);
        tcase_add_loop_test(tc, zeros_are_excused_only_where_the_run_has_erased, 0, 2 * (int) ELEMENTSOF(erasing));
        tcase_add_loop_test(tc, a_phase_that_was_killed_erases_no_more_than_it_may, 0, 4);
        tcase_add_test(tc, what_is_left_is_looked_for);
        tcase_add_test(tc, what_is_left_is_looked_for_among_millions);
        tcase_add_test(tc, a_long_sequential_trim_has_come_so_far);
        tcase_add_test(tc, a_block_may_be_erased_in_part);
        tcase_add_test(tc, the_youngest_are_not_excused_by_what_was_erased_before);
        tcase_add_loop_test(tc, a_run_that_only_trimmed_leaves_no_data, 0, 2);
        tcase_add_test(tc, other_data_is_noticed_where_the_run_only_trimmed);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)
