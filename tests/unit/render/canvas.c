/* SPDX-License-Identifier: MIT */

#include "render/canvas.h"

#include "unit.h"
#include "util/cleanup.h"

static char *print_row(const Canvas *canvas, unsigned row, bool ascii, bool color) {
        char *text = NULL;
        size_t length;
        FILE *f = open_memstream(&text, &length);

        canvas_print_row(canvas, row, ascii, color, f);
        fclose(f);
        return text;
}

static void assert_row(const Canvas *canvas, unsigned row, const char *expected) {
        _cleanup_free_ char *text = print_row(canvas, row, false, false);

        ck_assert_str_eq(text, expected);
}

START_TEST(dots_lie_where_they_belong) {
        _cleanup_(canvas_freep) Canvas *canvas = canvas_new(10, 2);
        static const char *const expected[CELL_DOTS_HIGH][CELL_DOTS_WIDE] = {
                { "⡀", "⢀" }, { "⠄", "⠠" }, { "⠂", "⠐" }, { "⠁", "⠈" },
        };

        for (unsigned y = 0; y < CELL_DOTS_HIGH; y++)
                for (unsigned x = 0; x < CELL_DOTS_WIDE; x++) {
                        _cleanup_(canvas_freep) Canvas *one = canvas_new(1, 1);

                        canvas_dot(one, x, y, (Ink) {});
                        assert_row(one, 0, expected[y][x]);
                }

        canvas_dot(canvas, 4, 5, (Ink) {}); /* third cell, upper row */
        assert_row(canvas, 0, "");
        assert_row(canvas, 1, "  ⠄");
}
END_TEST

START_TEST(outside_is_nothing) {
        _cleanup_(canvas_freep) Canvas *canvas = canvas_new(2, 1);

        canvas_dot(canvas, 4, 0, (Ink) {});
        canvas_dot(canvas, 0, 4, (Ink) {});
        assert_row(canvas, 0, "");
}
END_TEST

START_TEST(ascii_and_colour_tell_inks_apart) {
        _cleanup_(canvas_freep) Canvas *canvas = canvas_new(4, 1);

        canvas_dot(canvas, 0, 0, (Ink) { .band = true });
        canvas_dot(canvas, 2, 0, (Ink) { .band = true });
        canvas_dot(canvas, 2, 1, (Ink) {}); /* the last one counts */
        canvas_dot(canvas, 6, 0, (Ink) { .series = 1 });
        _cleanup_free_ char *ascii = print_row(canvas, 0, true, false), *color = print_row(canvas, 0, true, true);
        ck_assert_str_eq(ascii, ":* o");
        ck_assert_str_eq(color, "\033[2;36m:\033[36m* \033[33mo\033[0m");
}
END_TEST

static Suite *canvas_suite(void) {
        Suite *suite = suite_create("canvas");
        TCase *tcase = tcase_create("canvas");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, dots_lie_where_they_belong);
        tcase_add_test(tcase, outside_is_nothing);
        tcase_add_test(tcase, ascii_and_colour_tell_inks_apart);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(canvas_suite)
