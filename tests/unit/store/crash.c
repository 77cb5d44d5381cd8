/* SPDX-License-Identifier: MIT */

/* A writer killed at any moment: what it had committed is there, and nothing is half there. */

#include <signal.h>
#include <sys/wait.h>

#include "fixture.h"
#include "util/hash.h"
#include "util/time.h"

/* Adds samples for ever, one transaction each, and says so after each commit. */
static void write_until_killed(int told) {
        Store *store = open_writer();
        uint64_t seq = (uint64_t) sql_number(store, "SELECT count(*) FROM samples");

        for (;; seq++) {
                _cleanup_free_ Sample *sample = new_sample(seq);
                add_sample(store, 1, sample);
                if (write(told, "x", 1) != 1)
                        _exit(1);
        }
}

/* Kills the writer some time after n commits; how many it told of in all. */
static int64_t kill_after(unsigned n) {
        int told[2], status;
        int64_t committed = 0;
        char c;

        ck_assert_int_eq(pipe(told), 0);
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0)
                write_until_killed(told[1]);

        close(told[1]);
        for (; committed < n; committed++)
                ck_assert_int_eq(read(told[0], &c, 1), 1);
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        while (read(told[0], &c, 1) == 1)
                committed++;
        close(told[0]);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        return committed;
}

START_TEST(what_was_committed_survives_a_kill) {
        enum { N_KILLS = 12, N_COMMITS_MAX = 60 };
        uint64_t seed = time_monotonic_ns();
        int64_t committed = 0;

        Store *store = open_writer();
        add_run(store);
        store_close(store);

        for (unsigned i = 0; i < N_KILLS; i++) {
                committed += kill_after(1 + (unsigned) hash_below(hash_mix64_2(seed, i), N_COMMITS_MAX));

                _cleanup_store_ Store *again = open_writer();
                int64_t n = sql_number(again, "SELECT count(*) FROM samples");
                ck_assert_int_ge(n, committed);
                ck_assert_int_le(n, committed + 1); /* committed, and killed before it could tell */
                committed = n;
                ck_assert_int_eq(sql_number(again, "SELECT max(seq) + 1 FROM samples"), n);
                ck_assert_int_eq(sql_number(again, "SELECT n_samples FROM phases WHERE run = 1 AND phase = 0"), n);
                ck_assert_int_eq(sql_number(again, "SELECT count(*) FROM latencies"), n);
                ck_assert_int_eq(sql_number(again, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
                ck_assert_int_eq(sql_number(again, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
        }
}
END_TEST

static Suite *crash_suite(void) {
        Suite *suite = suite_create("crash");
        TCase *tcase = store_case("crash");

        tcase_add_test(tcase, what_was_committed_survives_a_kill);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(crash_suite)
