/* SPDX-License-Identifier: MIT */

/*
 * What thousands of random runs leave on a drive must never be called wrong; and whatever is put there in the place of
 * what is known must be found, at its offset and as what it is.
 */

#include "engine/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay-model.h"

#define N_CASES 1500

static Check *new_check(const Model *m) {
        const Replay replay = { m->plan, m->histories, m->payload, (uint32_t) m->plan->n_phases - 1 };
        Check *check;

        ck_assert_int_eq(check_new(&check, &replay), 0);
        return check;
}

static void fail_with(const Check *check, uint64_t seed, const char *what) {
        unsigned n;
        const CheckFinding *findings = check_findings(check, &n);
        char *text = n > 0 ? finding_text(&findings[0]) : NULL;

        ck_abort_msg("case %" PRIu64 ": %s: %u findings, first: %s", seed, what, n, text ?: "none");
}

START_TEST(what_a_run_leaves_is_never_called_wrong) {
        unsigned n_run = 0;
        uint64_t n_checked = 0;
        Model m;

        model_new(&m);
        for (uint64_t seed = 0; seed < N_CASES; seed++) {
                Verification result;

                if (!model_run(&m, seed))
                        continue;
                Check *check = new_check(&m);
                read_back(&m, check, 1 + draw(&m, 1500));
                check_result(check, &result);
                if (verification_errors(&result) > 0)
                        fail_with(check, seed, "a false error");
                n_checked += result.checked_bytes;
                n_run++;
                check_free(check);
                model_end(&m);
        }
        ck_assert_uint_gt(n_run, N_CASES / 2);
        ck_assert_uint_gt(n_checked, (uint64_t) n_run * DRIVE_BYTES / 8);
        model_free(&m);
}
END_TEST

/* --- faults --- */

static bool is_in_read_back(const Model *m, uint64_t sector) {
        const PhasePlan *back = &m->plan->phases[m->plan->n_phases - 1];

        return sector * 512 >= back->region_offset && sector * 512 < back->region_offset + back->region_bytes;
}

static bool is_stamped(const Model *m, uint64_t number) {
        const Content *content = &m->plan->phases[write_number_phase(number)].content;

        return !content->is_zero && content->dedupe_percent == 0;
}

/* What is made up again of all of the drive. */
static void look(const Model *m, uint64_t granules[static N_SECTORS]) {
        const Replay replay = { m->plan, m->histories, m->payload, (uint32_t) m->plan->n_phases - 1 };
        _Atomic unsigned turn = 0;

        ck_assert(replay_window(&replay, &(Window){ 0, DRIVE_BYTES / m->plan->granule_bytes, granules }, &turn, 0));
}

static bool is_sure(const Model *m, uint64_t sector) {
        return is_in_read_back(m, sector) && !m->is_doubtful[sector] && m->certain[sector] < GRANULE_UNKNOWN;
}

/* A sector whose content is known, and of a write that tells itself; UINT64_MAX if there is none. */
static uint64_t find_known(Model *m, const uint64_t *granules) {
        uint64_t start = draw(m, N_SECTORS);

        for (uint64_t i = 0; i < N_SECTORS; i++) {
                uint64_t s = (start + i) % N_SECTORS;

                if (is_sure(m, s) && is_stamped(m, m->certain[s]) &&
                    granules[s * 512 / m->plan->granule_bytes] == m->certain[s])
                        return s;
        }
        return UINT64_MAX;
}

typedef enum Fault {
        FAULT_BIT,
        FAULT_ZEROS,
        FAULT_COPY,
        FAULT_OLDER,
        N_FAULTS,
} Fault;

/* Puts a fault into one sector; which kinds may be told of it, as a mask. 0: it cannot be put there. */
static unsigned inject(Model *m, const uint64_t *granules, Fault fault, uint64_t sector) {
        uint8_t *data = m->drive + sector * 512;
        uint64_t other;

        switch (fault) {
        case FAULT_BIT:
                data[draw(m, 512)] ^= (uint8_t) (1U << draw(m, 8));
                return 1U << MISMATCH_CORRUPT;
        case FAULT_ZEROS:
                memset(data, 0, 512);
                return 1U << MISMATCH_CORRUPT;
        case FAULT_COPY:
                other = find_known(m, granules);
                if (other == sector)
                        return 0;
                memcpy(data, m->drive + other * 512, 512);
                return 1U << MISMATCH_MISPLACED;
        default:
                if (!m->has_older[sector] || memcmp(data, m->older + sector * 512, 512) == 0)
                        return 0;
                memcpy(data, m->older + sector * 512, 512);
                return 1U << MISMATCH_LOST | 1U << MISMATCH_TORN | 1U << MISMATCH_CORRUPT;
        }
}

START_TEST(whatever_is_put_in_the_place_of_what_is_known_is_found) {
        unsigned n_found[N_FAULTS] = {};
        uint64_t granules[N_SECTORS];
        Model m;

        model_new(&m);
        for (uint64_t seed = 0; seed < N_CASES; seed++) {
                Verification result;
                Fault fault = seed % N_FAULTS;
                unsigned n, kinds = 0;

                if (!model_run(&m, seed))
                        continue;
                Check *check = new_check(&m);
                look(&m, granules);
                uint64_t sector = find_known(&m, granules);
                if (sector != UINT64_MAX)
                        kinds = inject(&m, granules, fault, sector);
                if (kinds > 0) {
                        read_back(&m, check, 1 + draw(&m, 1500));
                        check_result(check, &result);
                        const CheckFinding *findings = check_findings(check, &n);
                        if (verification_errors(&result) != 1 || n != 1 || findings[0].offset != sector * 512 ||
                            findings[0].bytes != 512 || !(kinds >> findings[0].kind & 1) ||
                            result.n_blocks[findings[0].kind] != 1 || findings[0].expected != m.certain[sector])
                                fail_with(check, seed, "not found as what it is");
                        n_found[fault]++;
                }
                check_free(check);
                model_end(&m);
        }
        for (unsigned i = 0; i < N_FAULTS; i++)
                ck_assert_uint_gt(n_found[i], 50);
        model_free(&m);
}
END_TEST

/* Most of what nobody but a map could have kept in doubt. */
START_TEST(little_more_is_doubted_than_has_to_be) {
        uint64_t n_sure = 0, n_known = 0, granules[N_SECTORS];
        Model m;

        model_new(&m);
        for (uint64_t seed = 0; seed < N_CASES; seed++) {
                if (!model_run(&m, seed))
                        continue;
                look(&m, granules);
                for (uint64_t s = 0; s < N_SECTORS; s++)
                        if (is_sure(&m, s)) {
                                uint64_t granule = granules[s * 512 / m.plan->granule_bytes];

                                n_sure++;
                                n_known += (granule & ~GRANULE_MAYBE_UNSTAMPED) == m.certain[s];
                        }
                model_end(&m);
        }
        model_free(&m);
        ck_assert_uint_gt(n_known, n_sure / 100 * 98);
}
END_TEST

/* --- single cases --- */

static void run_text(Model *m, const char *text) {
        Error error = ERROR_INIT;
        Job *job;

        model_new(m);
        m->random = 1;
        ck_assert_int_eq(job_parse(&job, "x.fio", text, strlen(text), &error), 0);
        ck_assert_int_eq(plan_new(&m->plan, job, &(PlanTarget){ DRIVE_BYTES, 512, true }, 1, &error), 0);
        job_free(job);
        stand(m);
        memset(m->drive, 0x55, DRIVE_BYTES);
}

/* Writes all of a phase's I/Os below n to the drive. */
static void write_all(Model *m, uint32_t phase, uint64_t n) {
        Pattern pattern;

        pattern_init(&pattern, &m->plan->phases[phase], 0);
        for (uint64_t i = 0; i < n; i++) {
                PatternOp op = pattern_at(&pattern, i);
                put(m, &m->plan->phases[phase], &op, write_number(phase, 0, i), 0, op.length);
        }
        histories_at(m->histories, phase, 0)->end = n;
}

static CheckFinding only_finding(Model *m, Check *check, Mismatch kind, uint64_t n_blocks) {
        Verification result;
        unsigned n;

        read_back(m, check, 2048);
        check_result(check, &result);
        const CheckFinding *findings = check_findings(check, &n);
        if (n != 1 || verification_errors(&result) != n_blocks || result.n_blocks[kind] != n_blocks)
                fail_with(check, 0, "not the only one");
        return findings[0];
}

START_TEST(half_a_block_of_an_older_write_is_torn) {
        Model m;

        run_text(&m, "[w]\nrw=write\nbs=4k\nloops=2\nverify=md5\n");
        write_all(&m, 0, DRIVE_BYTES / 4096);
        memcpy(m.older, m.drive, DRIVE_BYTES);
        write_all(&m, 0, 2 * DRIVE_BYTES / 4096);
        memcpy(m.drive + 8192, m.older + 8192, 2048);
        Check *check = new_check(&m);
        CheckFinding f = only_finding(&m, check, MISMATCH_TORN, 1);
        ck_assert_uint_eq(f.offset, 8192);
        ck_assert_uint_eq(f.bytes, 2048);
        ck_assert_int_eq(f.found, FOUND_WRITE);
        ck_assert_uint_eq(f.found_write, write_number(0, 0, 2));
        ck_assert_uint_eq(f.expected, write_number(0, 0, DRIVE_BYTES / 4096 + 2));
        check_free(check);
        model_end(&m);
        model_free(&m);
}
END_TEST

START_TEST(a_whole_older_block_is_lost) {
        Model m;

        run_text(&m, "[w]\nrw=write\nbs=4k\nloops=2\nverify=md5\n");
        write_all(&m, 0, DRIVE_BYTES / 4096);
        memcpy(m.older, m.drive, DRIVE_BYTES);
        write_all(&m, 0, 2 * DRIVE_BYTES / 4096);
        memcpy(m.drive + 8192, m.older + 8192, 8192);
        Check *check = new_check(&m);
        CheckFinding f = only_finding(&m, check, MISMATCH_LOST, 2);
        ck_assert_uint_eq(f.offset, 8192);
        ck_assert_uint_eq(f.bytes, 8192);
        char *text = finding_text(&f);
        ck_assert_str_eq(text, "lost at offset 8192, 8192 bytes: expected I/O 130 of phase 0 (ring thread 0), found "
                               "I/O 2 of phase 0 (ring thread 0), which belongs to offset 8192");
        free(text);
        check_free(check);
        model_end(&m);
        model_free(&m);
}
END_TEST

/* Blocks of 4 KiB are judged and counted each for itself, whatever the sizes of writes and reads. */
START_TEST(a_part_of_a_large_write_is_lost_or_torn) {
        for (unsigned n_read = 8; n_read <= 128; n_read *= 4) { /* sectors */
                Verification result;
                Model m;

                run_text(&m, "[w]\nrw=write\nbs=16k\nloops=2\nverify=md5\n");
                write_all(&m, 0, DRIVE_BYTES / 16384);
                memcpy(m.older, m.drive, DRIVE_BYTES);
                write_all(&m, 0, 2 * DRIVE_BYTES / 16384);
                memcpy(m.drive + 20480, m.older + 20480, 8192);
                memcpy(m.drive + 69632, m.older + 69632, 1024);
                memset(m.drive + 98304, 1, 16384);
                Check *check = new_check(&m);
                read_back_by(&m, check, 2048, n_read);
                check_result(check, &result);
                ck_assert_uint_eq(result.n_blocks[MISMATCH_LOST], 2);
                ck_assert_uint_eq(result.n_blocks[MISMATCH_TORN], 1);
                ck_assert_uint_eq(result.n_blocks[MISMATCH_CORRUPT], 4);
                ck_assert_uint_eq(verification_errors(&result), 7);
                check_free(check);
                model_end(&m);
                model_free(&m);
        }
}
END_TEST

START_TEST(what_another_run_left_there_is_a_lost_write) {
        Payload *other;
        Model m;

        run_text(&m, "[w]\nrw=write\nbs=4k\nverify=md5\n");
        write_all(&m, 0, DRIVE_BYTES / 4096);
        ck_assert_int_eq(payload_new(&other, TAG + 1), 0);
        payload_fill(other, m.drive + 4096, 4096, 4096, 1);
        Check *check = new_check(&m);
        ck_assert_int_eq(only_finding(&m, check, MISMATCH_LOST, 1).found, FOUND_OTHER_RUN);
        payload_free(other);
        check_free(check);
        model_end(&m);
        model_free(&m);
}
END_TEST

START_TEST(a_stamp_where_nothing_was_written_is_misplaced) {
        Model m;

        run_text(&m, "[w]\nrw=write\nbs=4k\nverify=md5\n");
        write_all(&m, 0, 4);
        memcpy(m.drive + 65536, m.drive + 4096, 4096);
        Check *check = new_check(&m);
        CheckFinding f = only_finding(&m, check, MISMATCH_MISPLACED, 1);
        ck_assert_uint_eq(f.offset, 65536);
        ck_assert_uint_eq(f.found_sector, 8);
        ck_assert_uint_eq(f.expected, GRANULE_UNWRITTEN);
        check_free(check);
        model_end(&m);
        model_free(&m);
}
END_TEST

/* It never was submitted: no drive can have it. */
START_TEST(a_write_beyond_all_that_was_submitted_is_no_maybe) {
        Model m;

        run_text(&m, "[w]\nrw=write\nbs=4k\nloops=2\nverify=md5\n");
        write_all(&m, 0, DRIVE_BYTES / 4096);
        uint64_t index = DRIVE_BYTES / 4096 + 3;
        payload_fill_for(m.payload, &m.plan->phases[0], m.drive + 12288, 4096, 12288, write_number(0, 0, index));
        Check *check = new_check(&m);
        histories_at(m.histories, 0, 0)->reach = index;
        ck_assert_int_eq(only_finding(&m, check, MISMATCH_CORRUPT, 1).found, FOUND_DAMAGED);
        histories_at(m.histories, 0, 0)->reach = index + 1;
        read_back(&m, check, 2048);
        Verification result;
        check_result(check, &result);
        ck_assert_uint_eq(verification_errors(&result), 0);
        check_free(check);
        model_end(&m);
        model_free(&m);
}
END_TEST

/* The stamp is right, and one byte behind it is not. */
START_TEST(a_stamp_alone_proves_nothing) {
        Model m;

        run_text(&m, "[w]\nrw=write\nbs=4k\nloops=2\nverify=md5\n");
        write_all(&m, 0, 2 * DRIVE_BYTES / 4096);
        m.drive[4096 + 511] ^= 1;
        Check *check = new_check(&m);
        CheckFinding f = only_finding(&m, check, MISMATCH_CORRUPT, 1);
        ck_assert_int_eq(f.found, FOUND_DAMAGED);
        ck_assert_uint_eq(f.found_write, f.expected);
        check_free(check);
        model_end(&m);
        model_free(&m);
}
END_TEST

START_TEST(more_findings_than_are_told_are_counted) {
        Verification result;
        unsigned n;
        Model m;

        run_text(&m, "[w]\nrw=write\nbs=4k\nverify=md5\n");
        write_all(&m, 0, DRIVE_BYTES / 4096);
        for (uint64_t at = 0; at < DRIVE_BYTES; at += 8192)
                m.drive[at] ^= 1;
        Check *check = new_check(&m);
        read_back(&m, check, 2048);
        check_result(check, &result);
        check_findings(check, &n);
        ck_assert_uint_eq(n, CHECK_N_FINDINGS_MAX);
        ck_assert_uint_eq(result.n_blocks[MISMATCH_CORRUPT], DRIVE_BYTES / 8192);
        ck_assert_uint_eq(result.checked_bytes, DRIVE_BYTES);
        check_free(check);
        model_end(&m);
        model_free(&m);
}
END_TEST

START_TEST(a_window_that_nobody_wants_any_more_is_given_up) {
        uint64_t granules[128];
        _Atomic unsigned turn = 1;
        Model m;

        run_text(&m, "[w]\nrw=write\nbs=4k\nverify=md5\n");
        histories_at(m.histories, 0, 0)->end = UINT64_C(1) << 40; /* days */
        const Replay replay = { m.plan, m.histories, m.payload, 1 };
        ck_assert(!replay_window(&replay, &(Window){ 0, 128, granules }, &turn, 0));
        model_end(&m);
        model_free(&m);
}
END_TEST

static uint32_t checking_phase(const Plan *plan) {
        uint32_t p = 0;

        while (!plan->phases[p].is_checked)
                p++;
        return p;
}

/* How many granules are as asked for when a process died in this phase, and may have done all below `reach`. */
static uint64_t count_after_death(const char *text, uint32_t phase, uint64_t reach,
                                  bool (*is_asked)(uint64_t granule)) {
        uint64_t granules[DRIVE_BYTES / 4096], n = 0;
        _Atomic unsigned turn = 0;
        Model m;

        run_text(&m, text);
        write_all(&m, 0, DRIVE_BYTES / 4096);
        for (uint32_t p = 0; p < phase; p++)
                histories_at(m.histories, p, 0)->resumed = UINT64_MAX;
        histories_at(m.histories, phase, 0)->reach = reach;
        const Replay replay = { m.plan, m.histories, m.payload, checking_phase(m.plan) };
        ck_assert_uint_eq(m.plan->granule_bytes, 4096);
        ck_assert(replay_window(&replay, &(Window){ 0, DRIVE_BYTES / 4096, granules }, &turn, 0));
        for (unsigned i = 0; i < DRIVE_BYTES / 4096; i++)
                if (is_asked(granules[i]))
                        n++;
                else
                        ck_assert_uint_eq(granules[i], write_number(0, 0, i));
        model_end(&m);
        model_free(&m);
        return n;
}

static bool is_unknown(uint64_t granule) {
        return granule == GRANULE_UNKNOWN;
}

static bool is_maybe_unstamped(uint64_t granule) {
        return (granule & GRANULE_MAYBE_UNSTAMPED) != 0;
}

/* Each of these would take years if it went from index to index. */
START_TEST(what_a_dead_process_may_have_done_takes_no_longer_than_its_region) {
        static const struct {
                const char *phase;
                bool (*is_asked)(uint64_t granule);
                uint64_t n;
        } cases[] = {
                { "action=discard\noffset=64k\nsize=128k", is_unknown, 32 },
                { "action=discard", is_unknown, 128 },
                { "rw=randtrim\nbs=4k\noffset=64k\nsize=64k\nnumber_ios=100", is_unknown, 16 },
                { "rw=write\nbs=4k\nzero_buffers\nnumjobs=2\nsize=32k\noffset_increment=32k", is_maybe_unstamped, 16 },
                { "rw=randwrite\nbs=4k\ndedupe_percentage=50\nsize=64k", is_maybe_unstamped, 16 },
                { "rw=randwrite\nbs=4k", is_maybe_unstamped, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[256];

                snprintf(text, sizeof(text), "[w]\nrw=write\nbs=4k\n[d]\n%s\n[c]\nrw=read\nbs=4k\nverify=md5\n",
                         cases[i].phase);
                ck_assert_uint_eq(count_after_death(text, 1, HISTORY_INDEX_MAX, cases[i].is_asked), cases[i].n);
        }
}
END_TEST

/* Less than that, and only the places that these very indices have are doubtful. */
START_TEST(what_a_dead_process_cannot_have_done_stays_known) {
        const char *text = "[w]\nrw=write\nbs=4k\n[d]\nrw=trim\nbs=4k\n[c]\nrw=read\nbs=4k\nverify=md5\n";

        ck_assert_uint_eq(count_after_death(text, 1, 5, is_unknown), 5);
        ck_assert_uint_eq(count_after_death(text, 1, 0, is_unknown), 0);
}
END_TEST

/* It died so soon after that began that nobody heard of it, and the phase that reads back goes on. */
START_TEST(what_a_later_phase_may_have_done_is_not_called_wrong) {
        const char *tracked = "[w]\nrw=write\nbs=4k\n[c]\nrw=read\nbs=4k\nverify=md5\n[d]\nrw=trim\nbs=4k\nsize=64k\n"
                              "[e]\nrw=read\nbs=4k\nverify=md5\n";
        static const char *const modes[] = { "trim", "write", "read" };
        char text[256];

        ck_assert_uint_eq(count_after_death(tracked, 2, 5, is_unknown), 5);
        ck_assert_uint_eq(count_after_death(tracked, 2, 0, is_unknown), 0);
        for (size_t i = 0; i < ELEMENTSOF(modes); i++) {
                snprintf(text, sizeof(text), "[w]\nrw=write\nbs=4k\n[c]\nrw=read\nbs=4k\nverify=md5\n"
                         "[d]\nrw=%s\nbs=4k\nsize=64k\n", modes[i]);
                ck_assert_uint_eq(count_after_death(text, 2, 5, is_unknown), i < 2 ? 16 : 0);
                ck_assert_uint_eq(count_after_death(text, 2, 0, is_unknown), 0);
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *s = suite_create("engine-replay");
        TCase *c = tcase_create("replay");

        tcase_set_timeout(c, 110);
        tcase_add_test(c, what_a_run_leaves_is_never_called_wrong);
        tcase_add_test(c, whatever_is_put_in_the_place_of_what_is_known_is_found);
        tcase_add_test(c, little_more_is_doubted_than_has_to_be);
        tcase_add_test(c, half_a_block_of_an_older_write_is_torn);
        tcase_add_test(c, a_whole_older_block_is_lost);
        tcase_add_test(c, a_part_of_a_large_write_is_lost_or_torn);
        tcase_add_test(c, what_another_run_left_there_is_a_lost_write);
        tcase_add_test(c, a_stamp_where_nothing_was_written_is_misplaced);
        tcase_add_test(c, a_write_beyond_all_that_was_submitted_is_no_maybe);
        tcase_add_test(c, a_stamp_alone_proves_nothing);
        tcase_add_test(c, more_findings_than_are_told_are_counted);
        tcase_add_test(c, a_window_that_nobody_wants_any_more_is_given_up);
        tcase_add_test(c, what_a_dead_process_may_have_done_takes_no_longer_than_its_region);
        tcase_add_test(c, what_a_dead_process_cannot_have_done_stays_known);
        tcase_add_test(c, what_a_later_phase_may_have_done_is_not_called_wrong);
        suite_add_tcase(s, c);
        return s;
}

UNIT_TEST_MAIN(make_suite)
