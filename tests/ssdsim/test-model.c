/* SPDX-License-Identifier: MIT */

/* The simulated drive does what theory says of drives, and keeps what was written whatever happens to its process. */

#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model.h"
#include "unit.h"
#include "util/hash.h"

#define N_PAGES (UINT64_C(1) << 17)
#define N_SMALL (UINT64_C(1) << 14)

static const double provisions[] = { 0.07, 0.111, 0.25, 0.429 };
static const uint32_t large_blocks[] = { 256, 512, 1024 };
static const uint32_t small_blocks[] = { 16, 64, 256 };

/* With the least over-provisioning there can be. */
#define N_TINY (15 * 64)
static const SsdConfig tiny = {
        .n_pages = N_TINY, .pages_per_block = 16, .over_provisioning = 1.0 / 15, .read_ns = 1
};

#define N_PROVISIONS 4
#define N_BLOCKS 3

static const SsdConfig small = {
        .n_pages = N_SMALL, .pages_per_block = 64, .over_provisioning = 0.25, .program_ns = 1000
};

static Ssd *make(const SsdConfig *config) {
        size_t bytes = ssd_bytes(config);
        ck_assert_uint_gt(bytes, 0);
        void *memory = malloc(bytes);
        ck_assert_ptr_nonnull(memory);
        return ssd_create(memory, config);
}

static uint64_t any_page(uint64_t i, uint64_t n_pages) {
        return hash_below(hash_mix64(i), n_pages);
}

static void write_in_order(Ssd *s, uint64_t n_pages, unsigned units) {
        for (uint64_t i = 0; i < n_pages; i++)
                ssd_write(s, i, units, 0);
}

static uint64_t write_at_random(Ssd *s, uint64_t n_pages, uint64_t n, unsigned units) {
        uint64_t busy_ns = 0, seed = ssd_counters(s).host_pages;
        for (uint64_t i = 0; i < n; i++)
                busy_ns += ssd_write(s, any_page(seed + i, n_pages), units, 0);
        return busy_ns;
}

/* Write amplification over n random writes. */
static double amplification(Ssd *s, uint64_t n_pages, uint64_t n, unsigned units) {
        SsdCounters before = ssd_counters(s);
        write_at_random(s, n_pages, n, units);
        SsdCounters after = ssd_counters(s);
        return (double) (after.flash_units - before.flash_units) / (double) (after.host_units - before.host_units);
}

/* Of a full drive that has been overwritten until nothing of the first writing order is left. */
static double lasting_amplification(const SsdConfig *config, unsigned units) {
        Ssd *s = make(config);
        write_in_order(s, config->n_pages, units);
        write_at_random(s, config->n_pages, 3 * config->n_pages, units);
        double measured = amplification(s, config->n_pages, 2 * config->n_pages, units);
        free(s);
        return measured;
}

/* α = physical / logical, of whole erase blocks. */
static double alpha_of(const SsdConfig *c) {
        double n_blocks = floor((double) c->n_pages * (1 + c->over_provisioning) / c->pages_per_block + 0.5);
        return n_blocks * c->pages_per_block / (double) c->n_pages;
}

/* α / (α + W₀(−α·e^(−α))): −W₀/α is the share u of a victim that is still valid, the lower root of α(1 − u) + ln u. */
static double limit_of(double alpha) {
        double low = 1e-12, high = 1 / alpha;
        for (unsigned i = 0; i < 100; i++) {
                double u = (low + high) / 2;
                if (alpha * (1 - u) + log(u) < 0)
                        low = u;
                else
                        high = u;
        }
        return 1 / (1 - low);
}

/*
 * The same for blocks of b pages in a drive of endlessly many. A block loses valid pages in proportion to those it has,
 * so it stays at i of them for a time ∝ 1/i, until at k + 1 or k it is the victim: a share p of them at k, so v = k + 1
 * − p in the mean. The times add up to the life of a block: α (b − v) / b = Σ 1/i (i = k+2 .. b) + p / (k + 1).
 */
static double finite_limit_of(double alpha, unsigned b) {
        double sum = 0;
        for (unsigned i = b; i >= 1; i--) {
                /* k + 1 = i, sum = 1/(i+1) + ... + 1/b */
                double p = (sum - alpha * (b - i) / b) / (alpha / b - 1.0 / i);
                if (i < b && p >= 0 && p <= 1)
                        return b / (b - i + p);
                sum += 1.0 / i;
        }
        ck_abort_msg("no such victim");
}

START_TEST(amplification_follows_the_limit) {
        SsdConfig config = { .n_pages = N_PAGES, .pages_per_block = large_blocks[_i / N_PROVISIONS],
                             .over_provisioning = provisions[_i % N_PROVISIONS] };
        double limit = limit_of(alpha_of(&config)), measured = lasting_amplification(&config, SSD_UNITS);
        ck_assert_msg(fabs(measured / limit - 1) < 0.03, "%u pages a block, %g: %g, in the limit %g",
                      config.pages_per_block, config.over_provisioning, measured, limit);
}
END_TEST

START_TEST(amplification_of_finite_blocks_is_that_of_their_size) {
        SsdConfig config = { .n_pages = N_PAGES, .pages_per_block = small_blocks[_i / N_PROVISIONS],
                             .over_provisioning = provisions[_i % N_PROVISIONS] };
        double expected = finite_limit_of(alpha_of(&config), config.pages_per_block);
        double measured = lasting_amplification(&config, SSD_UNITS);
        ck_assert_msg(fabs(measured / expected - 1) < 0.005, "%u pages a block, %g: %g instead of %g",
                      config.pages_per_block, config.over_provisioning, measured, expected);
}
END_TEST

/* The numbers that are usually told of these over-provisionings: both formulas above are held by something else. */
START_TEST(the_formulas_give_the_known_numbers) {
        static const double known[] = { 7.82, 5.18, 2.69, 1.875 };
        for (unsigned i = 0; i < N_PROVISIONS; i++) {
                ck_assert_double_eq_tol(limit_of(1 + provisions[i]), known[i], 0.006);
                ck_assert_double_eq_tol(finite_limit_of(1 + provisions[i], 1 << 20), known[i], 0.006);
        }
}
END_TEST

START_TEST(a_new_drive_writes_without_amplification_until_it_is_full) {
        Ssd *s = make(&small);
        uint64_t physical = (uint64_t) (alpha_of(&small) * N_SMALL + 0.5);

        ck_assert_uint_eq(write_at_random(s, N_SMALL, physical, SSD_UNITS), physical * small.program_ns);
        ck_assert_uint_eq(ssd_counters(s).n_erases, 0);
        ck_assert_uint_eq(ssd_state(s), 0);
        ck_assert_uint_gt(ssd_write(s, 0, SSD_UNITS, 0), small.program_ns);
        ck_assert_uint_eq(ssd_counters(s).n_erases, 1);
        ck_assert_uint_eq(ssd_state(s), SSD_COLLECTING);
        free(s);
}
END_TEST

START_TEST(time_is_what_was_moved_and_erased) {
        SsdConfig config = small;
        config.erase_ns = 777;
        Ssd *s = make(&config);
        write_at_random(s, N_SMALL, 2 * N_SMALL, SSD_UNITS);
        SsdCounters before = ssd_counters(s);
        uint64_t busy_ns = write_at_random(s, N_SMALL, N_SMALL, SSD_UNITS);
        SsdCounters after = ssd_counters(s);

        ck_assert_uint_eq(busy_ns, (after.flash_units - before.flash_units) / SSD_UNITS * config.program_ns +
                                           (after.n_erases - before.n_erases) * config.erase_ns);
        free(s);
}
END_TEST

START_TEST(a_filled_drive_falls_into_a_trough_before_its_floor) {
        Ssd *s = make(&small);
        write_in_order(s, N_SMALL, SSD_UNITS);
        write_at_random(s, N_SMALL, N_SMALL / 4, SSD_UNITS);

        double trough = amplification(s, N_SMALL, N_SMALL / 8, SSD_UNITS);
        write_at_random(s, N_SMALL, 4 * N_SMALL, SSD_UNITS);
        double floor_level = amplification(s, N_SMALL, 2 * N_SMALL, SSD_UNITS);
        ck_assert_double_gt(trough, 1.1 * floor_level);
        free(s);
}
END_TEST

/* What takes half the room leaves twice the over-provisioned capacity, and takes half the time. */
START_TEST(compression_raises_the_floor) {
        double limit = limit_of(2 * alpha_of(&small)), measured = lasting_amplification(&small, SSD_UNITS / 2);
        ck_assert_double_eq_tol(measured / limit, 1, 0.03);

        Ssd *s = make(&small);
        write_at_random(s, N_SMALL, 4 * N_SMALL, SSD_UNITS / 2);
        uint64_t compressible_ns = write_at_random(s, N_SMALL, N_SMALL, SSD_UNITS / 2);
        write_at_random(s, N_SMALL, 4 * N_SMALL, SSD_UNITS);
        ck_assert_uint_gt(write_at_random(s, N_SMALL, N_SMALL, SSD_UNITS), 4 * compressible_ns);
        free(s);
}
END_TEST

START_TEST(trimmed_pages_are_over_provisioning) {
        Ssd *s = make(&small);
        write_in_order(s, N_SMALL, SSD_UNITS);
        write_at_random(s, N_SMALL, 3 * N_SMALL, SSD_UNITS);
        for (uint64_t i = N_SMALL / 2; i < N_SMALL; i++) {
                ssd_trim(s, i);
                ssd_trim(s, i);
        }
        write_at_random(s, N_SMALL / 2, 3 * N_SMALL, SSD_UNITS);
        double measured = amplification(s, N_SMALL / 2, N_SMALL, SSD_UNITS);
        ck_assert_double_eq_tol(measured / limit_of(2 * alpha_of(&small)), 1, 0.03);
        ck_assert(ssd_check(s));
        free(s);
}
END_TEST

START_TEST(a_read_takes_time_only_where_something_is) {
        SsdConfig config = small;
        config.read_ns = 55;
        Ssd *s = make(&config);
        ssd_write(s, 7, SSD_UNITS, 0);
        ck_assert_uint_eq(ssd_read(s, 7), 55);
        ck_assert_uint_eq(ssd_read(s, 8), 0);
        ssd_trim(s, 7);
        ck_assert_uint_eq(ssd_read(s, 7), 0);
        free(s);
}
END_TEST

/* It must neither lose anything nor collect for ever. */
START_TEST(any_sequence_leaves_a_consistent_drive) {
        Ssd *s = make(&tiny);
        unsigned units[N_TINY] = {};

        for (uint64_t i = 0; i < 200000; i++) {
                uint64_t random = hash_mix64(i ^ UINT64_C(0xabcdef)), page = any_page(i, N_TINY);
                unsigned wanted = (unsigned) (random % (i < 100000 ? SSD_UNITS + 1 : 2 * SSD_UNITS));
                units[page] = wanted < SSD_UNITS ? wanted : SSD_UNITS;
                if (units[page] == 0)
                        ssd_trim(s, page);
                else
                        ssd_write(s, page, units[page], 0);
                if (i % 997 == 0)
                        ck_assert(ssd_check(s));
        }
        s = ssd_adopt(s, ssd_bytes(&tiny), &tiny);
        ck_assert_ptr_nonnull(s);
        ck_assert(ssd_check(s));
        for (uint64_t i = 0; i < N_TINY; i++)
                ck_assert_uint_eq(ssd_read(s, i), units[i] > 0);
        free(s);
}
END_TEST

START_TEST(the_cache_is_fast_until_it_is_full) {
        SsdConfig config = small;
        config.slc_pages = 100;
        config.slc_program_ns = 10;
        Ssd *s = make(&config);

        ck_assert_uint_eq(write_at_random(s, N_SMALL, 100, SSD_UNITS), 100 * 10);
        ck_assert_uint_eq(ssd_state(s), 0);
        ck_assert_uint_eq(ssd_write(s, 0, SSD_UNITS, 0), 1000);
        ck_assert_uint_eq(ssd_state(s), SSD_CACHE_FULL);

        /* A rest of 30 pages' time makes room for 30. */
        ck_assert_uint_eq(ssd_write(s, 0, SSD_UNITS, 30 * 1000), 10);
        ck_assert_uint_eq(ssd_state(s), 0);
        ck_assert_uint_eq(write_at_random(s, N_SMALL, 30, SSD_UNITS), 29 * 10 + 1000);
        free(s);
}
END_TEST

START_TEST(after_so_much_writing_it_is_throttled) {
        SsdConfig config = small;
        config.throttle_after_pages = 1000;
        config.throttle_program_ns = 50000;
        Ssd *s = make(&config);

        ck_assert_uint_eq(write_at_random(s, N_SMALL, 1000, SSD_UNITS), 1000 * 1000);
        ck_assert_uint_eq(ssd_state(s), 0);
        ck_assert_uint_eq(write_at_random(s, N_SMALL, 1000, SSD_UNITS), 1000 * 50000);
        ck_assert_uint_eq(ssd_state(s), SSD_THROTTLED);
        free(s);
}
END_TEST

START_TEST(a_drive_goes_on_where_it_was) {
        size_t bytes = ssd_bytes(&small);
        Ssd *s = make(&small);
        write_in_order(s, N_SMALL, SSD_UNITS);
        write_at_random(s, N_SMALL, 3 * N_SMALL, SSD_UNITS);
        SsdCounters before = ssd_counters(s);
        double level = amplification(s, N_SMALL, N_SMALL, SSD_UNITS);

        ck_assert_ptr_eq(ssd_adopt(s, bytes, &small), s);
        ck_assert(ssd_check(s));
        ck_assert_uint_eq(ssd_counters(s).host_pages, before.host_pages + N_SMALL);
        ck_assert_uint_eq(ssd_state(s), SSD_COLLECTING);
        ck_assert_double_eq_tol(amplification(s, N_SMALL, N_SMALL, SSD_UNITS) / level, 1, 0.03);
        free(s);
}
END_TEST

START_TEST(another_drive_is_not_adopted) {
        size_t bytes = ssd_bytes(&small);
        Ssd *s = make(&small);
        SsdConfig larger = small, coarser = small, roomier = small;
        larger.n_pages--;
        coarser.pages_per_block /= 2;
        roomier.over_provisioning = 0.3;

        ck_assert_ptr_null(ssd_adopt(s, bytes, &larger));
        ck_assert_ptr_null(ssd_adopt(s, bytes, &coarser));
        ck_assert_ptr_null(ssd_adopt(s, bytes * 2, &roomier));
        ck_assert_ptr_null(ssd_adopt(s, bytes - 1, &small));
        ck_assert_ptr_nonnull(ssd_adopt(s, bytes, &small));

        void *zeros = calloc(1, bytes);
        ck_assert_ptr_nonnull(zeros);
        ck_assert_ptr_null(ssd_adopt(zeros, bytes, &small));
        free(zeros);
        free(s);
}
END_TEST

typedef struct Killed {
        uint64_t n_done; /* writes that have ended */
        _Alignas(64) char drive[];
} Killed;

/* A child writes at full speed and is killed in the middle of it: what it leaves must be a drive with every page. */
static void kill_while_writing(Killed *shared, uint64_t n_done) {
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0)
                for (uint64_t n;; __atomic_store_n(&shared->n_done, n + 1, __ATOMIC_RELEASE)) {
                        n = shared->n_done;
                        ssd_write((Ssd *) shared->drive, any_page(n, N_TINY), 1 + n % SSD_UNITS, 0);
                }
        while (__atomic_load_n(&shared->n_done, __ATOMIC_ACQUIRE) < n_done)
                ;
        kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(a_kill_at_any_moment_loses_nothing) {
        size_t bytes = ssd_bytes(&tiny);
        Killed *shared = mmap(NULL, sizeof(*shared) + bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(shared, MAP_FAILED);
        write_in_order(ssd_create(shared->drive, &tiny), N_TINY, SSD_UNITS);

        for (unsigned round = 0; round < 500; round++) {
                kill_while_writing(shared, shared->n_done + 1 + hash_mix64(round) % 2000);
                Ssd *s = ssd_adopt(shared->drive, bytes, &tiny);
                ck_assert_ptr_nonnull(s);
                ck_assert(ssd_check(s));
                uint64_t in_flight = any_page(shared->n_done, N_TINY);
                for (uint64_t i = 0; i < N_TINY; i++)
                        ck_assert(ssd_read(s, i) == 1 || i == in_flight);
                ssd_write(s, in_flight, SSD_UNITS, 0);
        }
        munmap(shared, sizeof(*shared) + bytes);
}
END_TEST

START_TEST(what_makes_no_drive_is_refused) {
        const SsdConfig refused[] = {
                { .n_pages = 0, .pages_per_block = 64, .over_provisioning = 0.25 },
                { .n_pages = UINT32_MAX, .pages_per_block = 64, .over_provisioning = 0.25 },
                { .n_pages = UINT64_MAX, .pages_per_block = 64, .over_provisioning = 0.25 },
                { .n_pages = 1024, .pages_per_block = 1, .over_provisioning = 2 },
                { .n_pages = 1024, .pages_per_block = 4096, .over_provisioning = 9 },
                { .n_pages = 1024, .pages_per_block = 64, .over_provisioning = 0 },
                { .n_pages = 1024, .pages_per_block = 64, .over_provisioning = -0.5 },
                { .n_pages = 1024, .pages_per_block = 64, .over_provisioning = NAN },
                { .n_pages = 1024, .pages_per_block = 64, .over_provisioning = INFINITY },
                { .n_pages = 1024, .pages_per_block = 16, .over_provisioning = 0.05 }, /* no page to spare in a block */
        };
        for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
                ck_assert_uint_eq(ssd_bytes(&refused[i]), 0);
                ck_assert_ptr_null(ssd_create(NULL, &refused[i]));
        }
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("ssdsim");
        TCase *theory = tcase_create("theory"), *drive = tcase_create("drive");

        tcase_set_timeout(theory, 120);
        tcase_add_loop_test(theory, amplification_follows_the_limit, 0, N_BLOCKS * N_PROVISIONS);
        tcase_add_loop_test(theory, amplification_of_finite_blocks_is_that_of_their_size, 0, N_BLOCKS * N_PROVISIONS);
        tcase_add_test(theory, the_formulas_give_the_known_numbers);
        suite_add_tcase(suite, theory);

        tcase_set_timeout(drive, 120);
        tcase_add_test(drive, a_new_drive_writes_without_amplification_until_it_is_full);
        tcase_add_test(drive, time_is_what_was_moved_and_erased);
        tcase_add_test(drive, a_filled_drive_falls_into_a_trough_before_its_floor);
        tcase_add_test(drive, compression_raises_the_floor);
        tcase_add_test(drive, trimmed_pages_are_over_provisioning);
        tcase_add_test(drive, a_read_takes_time_only_where_something_is);
        tcase_add_test(drive, any_sequence_leaves_a_consistent_drive);
        tcase_add_test(drive, the_cache_is_fast_until_it_is_full);
        tcase_add_test(drive, after_so_much_writing_it_is_throttled);
        tcase_add_test(drive, a_drive_goes_on_where_it_was);
        tcase_add_test(drive, another_drive_is_not_adopted);
        tcase_add_test(drive, a_kill_at_any_moment_loses_nothing);
        tcase_add_test(drive, what_makes_no_drive_is_refused);
        suite_add_tcase(suite, drive);
        return suite;
}

UNIT_TEST_MAIN(make_suite)
