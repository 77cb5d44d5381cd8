/* SPDX-License-Identifier: MIT */
#pragma once

/* What every unit test program shares: check, and a main() that prints TAP for meson. */

#include <check.h>
#include <stdlib.h>

/* Defines main(): runs the suite that make_suite() returns. CK_FORK=no in the environment helps a debugger. */
#define UNIT_TEST_MAIN(make_suite)                                       \
        int main(void) {                                                 \
                SRunner *_runner = srunner_create(make_suite());         \
                srunner_set_tap(_runner, "-");                           \
                srunner_run_all(_runner, CK_SILENT);                     \
                int _failed = srunner_ntests_failed(_runner);            \
                srunner_free(_runner);                                   \
                return _failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;        \
        }
