/* SPDX-License-Identifier: MIT */

/*
 * Thousands of random runs on a simulated drive: jobs of every kind, writes that fail, processes that die with I/O
 * outstanding, power cuts. What lies there then must never be called wrong; and whatever is put there in the place of
 * what is known must be found, at its offset and as what it is. The model keeps a map of the drive, sector by sector.
 */

#include "engine/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/pattern.h"
#include "spec/share.h"
#include "unit.h"
#include "util/hash.h"
#include "util/macro.h"

#define TAG UINT64_C(0x1234567890abcdef)
#define DRIVE_BYTES (512U * 1024U)
#define N_SECTORS (DRIVE_BYTES / 512U)
#define N_CASES 1500
#define RESERVE 24U /* what a dead process may have submitted beyond what was known */

typedef struct Model {
        uint64_t random; /* state */
        Plan *plan;
        Payload *payload;
        Histories *histories;
        uint8_t *drive, *older; /* the older: as each sector was before its newest certain write */
        uint64_t certain[N_SECTORS]; /* newest certain write; GRANULE_UNWRITTEN, GRANULE_UNKNOWN */
        bool is_doubtful[N_SECTORS]; /* a maybe has come since */
        bool has_older[N_SECTORS];
        uint8_t *data; /* of one I/O */
} Model;

static uint64_t draw(Model *m, uint64_t n) {
        m->random = hash_mix64(m->random);
        return hash_below(m->random, n);
}

static const char *pick(Model *m, const char *const *words, size_t n) {
        return words[draw(m, n)];
}

static void print_phase(Model *m, FILE *f, unsigned i, bool last) {
        static const char *const modes[] = { "write", "randwrite", "randwrite", "rw", "randrw" };
        static const char *const sizes[] = { "bs=512", "bs=4k", "bs=1k,2k", "bs=8k", "bs=1536", "bssplit=512/30:4k/70",
                                             "bssplit=2k/50:8k/50" };
        static const char *const contents[] = { "", "", "buffer_compress_percentage=50", "dedupe_percentage=40",
                                                "zero_buffers" };
        static const char *const maps[] = { "", "", "norandommap=0", "random_distribution=zipf:1.2",
                                            "random_distribution=zoned:60/10:30/20:10/70" };
        static const char *const regions[] = { "", "size=200k", "offset=64k", "offset=3k\nsize=150k" };
        const char *content = pick(m, contents, last ? 4 : 5);

        fprintf(f, "[p%u]\nrw=%s\n%s\n%s\n%s\n%s\niodepth=8\nloops=3\nrandseed=%u\n", i,
                pick(m, modes, ELEMENTSOF(modes)), pick(m, sizes, ELEMENTSOF(sizes)), content,
                pick(m, maps, ELEMENTSOF(maps)), pick(m, regions, ELEMENTSOF(regions)), (unsigned) draw(m, 1000));
        if (draw(m, 4) == 0)
                fprintf(f, "numjobs=2\noffset_increment=160k\nsize=100k\n");
        else if (draw(m, 4) == 0)
                fprintf(f, "workers=2\nrandom_distribution=random\n");
        if (last)
                fprintf(f, "verify=crc32c\n");
}

static Plan *make_plan(Model *m) {
        char text[4096] = {};
        FILE *f = fmemopen(text, sizeof(text) - 1, "w");
        unsigned n = 1 + (unsigned) draw(m, 3);
        Error error = ERROR_INIT;
        Plan *plan;
        Job *job;

        for (unsigned i = 0; i < n; i++)
                print_phase(m, f, i, i + 1 == n);
        fclose(f);
        if (job_parse(&job, "random.fio", text, strlen(text), &error) < 0) {
                error_clear(&error); /* zipf with norandommap, say */
                return NULL;
        }
        if (plan_new(&plan, job, &(PlanTarget){ DRIVE_BYTES, 512 }, 1, &error) < 0)
                ck_abort_msg("%s\n%s", error_message(&error), text);
        job_free(job);
        return plan;
}

/* --- what the drive does --- */

static void put(Model *m, const PhasePlan *share, const PatternOp *op, uint64_t number, uint64_t from, uint64_t to) {
        payload_fill_for(m->payload, share, m->data, op->length, op->offset, number);
        memcpy(m->drive + op->offset + from, m->data + from, to - from);
}

static void do_certain(Model *m, const PhasePlan *share, const PatternOp *op, uint64_t number) {
        if (op->direction != DIRECTION_WRITE)
                return;
        for (uint64_t s = op->offset / 512; s < (op->offset + op->length) / 512; s++) {
                memcpy(m->older + s * 512, m->drive + s * 512, 512);
                m->has_older[s] = m->certain[s] != GRANULE_UNWRITTEN && !m->is_doubtful[s] && m->certain[s] != number;
                m->certain[s] = number;
                m->is_doubtful[s] = false;
        }
        put(m, share, op, number, 0, op->length);
}

/* All, nothing, or some of its sectors. */
static void do_maybe(Model *m, const PhasePlan *share, const PatternOp *op, uint64_t number) {
        if (op->direction != DIRECTION_WRITE)
                return;
        for (uint64_t s = op->offset / 512; s < (op->offset + op->length) / 512; s++)
                m->is_doubtful[s] = true;
        switch (draw(m, 3)) {
        case 0:
                put(m, share, op, number, 0, op->length);
                break;
        case 1:
                for (uint64_t at = 0; at < op->length; at += 512)
                        if (draw(m, 2) == 0)
                                put(m, share, op, number, at, at + 512);
                break;
        default:
                break;
        }
}

typedef struct Share {
        PhasePlan plan;
        Pattern pattern;
        History *history;
        uint64_t number, n_ios;
} Share;

/* The process dies at `next`: it had told of all below `low`, and may have done a little more. */
static uint64_t die(Model *m, const Share *share, uint64_t next) {
        bool jumps = rw_mode_is_random(share->plan.rw) && !share->plan.random_map;
        uint64_t beyond = next + draw(m, RESERVE);

        for (uint64_t i = next; i < beyond; i++) {
                PatternOp op = pattern_at(&share->pattern, i);
                do_maybe(m, &share->plan, &op, share->number + i);
        }
        share->history->reach = MAX(share->history->reach, next + RESERVE);
        if (!jumps)
                return next;
        history_add_maybe(share->history, next, share->history->reach);
        return share->history->reach;
}

static void run_share(Model *m, uint32_t phase, uint32_t k) {
        Share share = { .history = histories_at(m->histories, phase, k), .number = write_number(phase, k, 0) };
        uint64_t deaths = draw(m, 3), fault_percent = draw(m, 2) * 5, i = 0;

        phase_plan_share(&share.plan, &m->plan->phases[phase], k);
        pattern_init(&share.pattern, &share.plan, k);
        share.n_ios = 40 + draw(m, 1200);
        for (; i < share.n_ios; i++) {
                PatternOp op = pattern_at(&share.pattern, i);

                if (deaths > 0 && draw(m, share.n_ios / 2) == 0) {
                        deaths--;
                        i = die(m, &share, i);
                        op = pattern_at(&share.pattern, i);
                }
                if (draw(m, 100) < fault_percent) {
                        history_add_maybe(share.history, i, i + 1);
                        do_maybe(m, &share.plan, &op, share.number + i);
                } else
                        do_certain(m, &share.plan, &op, share.number + i);
        }
        share.history->end = i;
}

static bool model_run(Model *m, uint64_t seed) {
        uint32_t n_shares[16];

        m->random = hash_mix64(seed);
        m->plan = make_plan(m);
        if (!m->plan)
                return false;
        for (size_t i = 0; i < m->plan->n_phases; i++)
                n_shares[i] = m->plan->phases[i].workers;
        m->histories = histories_new(n_shares, (uint32_t) m->plan->n_phases);
        for (uint32_t i = 0; i < N_SECTORS * 64; i++)
                ((uint64_t *) m->drive)[i] = draw(m, 8) == 0 ? 0 : hash_mix64_2(seed, i);
        for (uint32_t s = 0; s < N_SECTORS; s++) {
                m->certain[s] = GRANULE_UNWRITTEN;
                m->is_doubtful[s] = m->has_older[s] = false;
        }
        for (uint32_t p = 0; p + 1 < m->plan->n_phases; p++)
                for (uint32_t k = 0; k < m->plan->phases[p].workers; k++)
                        run_share(m, p, k);
        return true;
}

static void model_end(Model *m) {
        histories_free(m->histories);
        plan_free(m->plan);
}

/* Reads the region of the read-back in pieces, by windows of any size. */
static void read_back(Model *m, Check *check, uint64_t window_granules) {
        const PhasePlan *back = &m->plan->phases[m->plan->n_phases - 1];
        const Replay replay = { m->plan, m->histories, m->payload, (uint32_t) m->plan->n_phases - 1 };
        uint64_t granule_bytes = m->plan->granule_bytes, end = back->region_offset + back->region_bytes, granules[2048];
        _Atomic unsigned turn = 0;

        check_begin(check, (uint32_t) m->plan->n_phases - 1);
        for (uint64_t at = back->region_offset; at < end;) {
                Window window = { at / granule_bytes, MIN(window_granules, (uint64_t) ELEMENTSOF(granules)), granules };
                uint64_t to = MIN((window.first + window.n) * granule_bytes, end);

                ck_assert(replay_window(&replay, &window, &turn, 0));
                for (uint64_t n; at < to; at += n) {
                        n = MIN((1 + draw(m, 64)) * 512, to - at);
                        check_data(check, &window, m->drive + at, at, (uint32_t) n);
                }
        }
}

static void model_new(Model *m) {
        *m = (Model){
                .drive = aligned_alloc(64, DRIVE_BYTES), .older = aligned_alloc(64, DRIVE_BYTES),
                .data = aligned_alloc(64, MIB),
        };
        ck_assert_int_eq(payload_new(&m->payload, TAG), 0);
}

static void model_free(Model *m) {
        payload_free(m->payload);
        free(m->drive);
        free(m->older);
        free(m->data);
}

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

/* Beyond the bound of its list a history takes for maybe what lies between. */
static bool is_known(const Model *m, uint64_t number) {
        const History *history = histories_at(m->histories, write_number_phase(number), write_number_share(number));

        return !history_is_maybe(history, write_number_index(number));
}

/* A sector whose content is known, and of a write that tells itself; UINT64_MAX if there is none. */
static uint64_t find_known(Model *m) {
        uint64_t start = draw(m, N_SECTORS);

        for (uint64_t i = 0; i < N_SECTORS; i++) {
                uint64_t s = (start + i) % N_SECTORS;

                if (is_in_read_back(m, s) && !m->is_doubtful[s] && m->certain[s] < GRANULE_UNKNOWN &&
                    is_stamped(m, m->certain[s]) && is_known(m, m->certain[s]))
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
static unsigned inject(Model *m, Fault fault, uint64_t sector) {
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
                other = find_known(m);
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
        Model m;

        model_new(&m);
        for (uint64_t seed = 0; seed < N_CASES; seed++) {
                Verification result;
                Fault fault = seed % N_FAULTS;
                unsigned n, kinds = 0;

                if (!model_run(&m, seed))
                        continue;
                Check *check = new_check(&m);
                uint64_t sector = find_known(&m);
                if (sector != UINT64_MAX)
                        kinds = inject(&m, fault, sector);
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

/* --- single cases --- */

static void run_text(Model *m, const char *text) {
        Error error = ERROR_INIT;
        uint32_t n_shares[4];
        Job *job;

        model_new(m);
        m->random = 1;
        ck_assert_int_eq(job_parse(&job, "x.fio", text, strlen(text), &error), 0);
        ck_assert_int_eq(plan_new(&m->plan, job, &(PlanTarget){ DRIVE_BYTES, 512, true }, 1, &error), 0);
        job_free(job);
        for (size_t i = 0; i < m->plan->n_phases; i++)
                n_shares[i] = m->plan->phases[i].workers;
        m->histories = histories_new(n_shares, (uint32_t) m->plan->n_phases);
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
        tcase_add_test(c, half_a_block_of_an_older_write_is_torn);
        tcase_add_test(c, a_whole_older_block_is_lost);
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
