/* SPDX-License-Identifier: MIT */

#include "render/heat-map.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "util/macro.h"

static double luminance(HeatColor c) {
        return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;
}

START_TEST(colors_grow_lighter) {
        double before = -1;

        for (int i = 0; i <= 100; i++) {
                HeatColor c = heat_color(i / 100.0);
                ck_assert(c.red >= 0 && c.red <= 1 && c.green >= 0 && c.green <= 1 && c.blue >= 0 && c.blue <= 1);
                ck_assert_double_gt(luminance(c), before);
                before = luminance(c);
        }
        ck_assert_double_eq(luminance(heat_color(-1)), luminance(heat_color(0)));
        ck_assert_double_eq(luminance(heat_color(2)), luminance(heat_color(1)));
        ck_assert(!heat_color_is_light(heat_color(0)));
        ck_assert(heat_color_is_light(heat_color(1)));
}
END_TEST

START_TEST(formats_are_known_by_the_name) {
        static const struct {
                const char *path;
                int format;
        } cases[] = {
                { "a.svg", PICTURE_SVG }, { "dir.x/a.PNG", PICTURE_PNG }, { ".svg", PICTURE_SVG },
                { "a.pdf", -1 },          { "a", -1 },                    { "svg", -1 },
                { "a.png.", -1 },         { "a.svg/b", -1 },              { "", -1 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_error_ Error error = ERROR_INIT;
                PictureFormat format;

                int r = picture_format_from_path(cases[i].path, &format, &error);
                if (cases[i].format < 0) {
                        ck_assert_int_eq(r, -EINVAL);
                        ck_assert_int_eq(error.kind, ERROR_USAGE);
                        ck_assert_ptr_nonnull(strstr(error_message(&error), ".svg or .png"));
                } else {
                        ck_assert_int_eq(r, 0);
                        ck_assert_int_eq((int) format, cases[i].format);
                }
        }
}
END_TEST

/* --- pictures, read back --- */

typedef struct Bytes {
        char *data;
        size_t n, at;
} Bytes;

static Bytes write_map(const HeatMap *map, PictureFormat format) {
        _cleanup_error_ Error error = ERROR_INIT;
        Bytes bytes = {};

        FILE *f = open_memstream(&bytes.data, &bytes.n);
        ck_assert_ptr_nonnull(f);
        ck_assert_msg(heat_map_write(f, format, map, &error) == 0, "%s", error_message(&error));
        ck_assert_int_eq(fclose(f), 0);
        return bytes;
}

static cairo_status_t read_bytes(void *userdata, unsigned char *data, unsigned length) {
        Bytes *bytes = userdata;

        if (length > bytes->n - bytes->at)
                return CAIRO_STATUS_READ_ERROR;
        memcpy(data, bytes->data + bytes->at, length);
        bytes->at += length;
        return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *draw_map(const HeatMap *map) {
        Bytes bytes = write_map(map, PICTURE_PNG);
        cairo_surface_t *surface = cairo_image_surface_create_from_png_stream(read_bytes, &bytes);

        free(bytes.data);
        ck_assert_int_eq(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
        return surface;
}

static uint32_t pixel(cairo_surface_t *surface, int x, int y) {
        const uint8_t *row = cairo_image_surface_get_data(surface) +
                             (size_t) y * (size_t) cairo_image_surface_get_stride(surface);
        uint32_t value;

        memcpy(&value, row + 4 * (size_t) x, sizeof(value));
        return value & 0xffffff;
}

/* Cairo's own rounding is allowed for. */
static bool is_near(uint32_t channel, double wanted) {
        return fabs((double) (channel & 0xff) - wanted * 255) <= 1.5;
}

static unsigned count_pixels(cairo_surface_t *surface, HeatColor color) {
        unsigned n = 0;

        for (int y = 0; y < cairo_image_surface_get_height(surface); y++)
                for (int x = 0; x < cairo_image_surface_get_width(surface); x++) {
                        uint32_t value = pixel(surface, x, y);
                        n += is_near(value >> 16, color.red) && is_near(value >> 8, color.green) &&
                             is_near(value, color.blue);
                }
        return n;
}

#define CELL_PIXELS 1000 /* more than any text or the colour scale has of one colour */

static HeatMap one_panel(const HeatPanel *panel) {
        return (HeatMap){ .title = "drive", .column_title = "block size", .row_title = "outstanding", .unit = "IOPS",
                          .panels = panel, .n_panels = 1 };
}

static const char *const texts[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9", "10" };

START_TEST(colors_follow_the_logarithm) {
        static const HeatCell cells[] = {
                { 10, "10", false }, { 100, "100", false }, { 1000, "1000", false }, { NAN, "-", false },
        };
        const HeatPanel panel = { "p", texts, texts, 4, 1, cells };
        const HeatMap map = one_panel(&panel);
        cairo_surface_t *surface = draw_map(&map);

        ck_assert_uint_gt(count_pixels(surface, heat_color(0)), CELL_PIXELS);
        ck_assert_uint_gt(count_pixels(surface, heat_color(0.5)), CELL_PIXELS);
        ck_assert_uint_gt(count_pixels(surface, heat_color(1)), CELL_PIXELS);
        ck_assert_uint_lt(count_pixels(surface, heat_color(0.25)), CELL_PIXELS);
        cairo_surface_destroy(surface);
}
END_TEST

START_TEST(panels_share_their_scale) {
        static const HeatCell low[] = { { 10, "10", false } }, high[] = { { 1000, "1000", false } };
        const HeatPanel panels[] = { { "low", texts, texts, 1, 1, low }, { "high", texts, texts, 1, 1, high } };
        HeatMap map = one_panel(panels);
        map.n_panels = 2;
        cairo_surface_t *surface = draw_map(&map);

        ck_assert_uint_gt(count_pixels(surface, heat_color(0)), CELL_PIXELS);
        ck_assert_uint_gt(count_pixels(surface, heat_color(1)), CELL_PIXELS);
        cairo_surface_destroy(surface);
}
END_TEST

/* What differs by noise only looks alike. */
START_TEST(the_scale_is_never_narrow) {
        static const HeatCell cells[] = { { 1000, "1000", false }, { 1040, "1040", false } };
        const HeatPanel panel = { "p", texts, texts, 2, 1, cells };
        const HeatMap map = one_panel(&panel);
        cairo_surface_t *surface = draw_map(&map);

        ck_assert_uint_lt(count_pixels(surface, heat_color(0)), CELL_PIXELS);
        ck_assert_uint_lt(count_pixels(surface, heat_color(1)), CELL_PIXELS);
        cairo_surface_destroy(surface);
}
END_TEST

START_TEST(an_incomplete_cell_is_hatched) {
        HeatCell cells[] = { { 10, "10", false }, { 1000, "1000", false } };
        const HeatPanel panel = { "p", texts, texts, 2, 1, cells };
        const HeatMap map = one_panel(&panel);
        cairo_surface_t *plain = draw_map(&map);
        cells[0].incomplete = true;
        cairo_surface_t *hatched = draw_map(&map);

        ck_assert_int_eq(cairo_image_surface_get_width(plain), cairo_image_surface_get_width(hatched));
        ck_assert_uint_lt(count_pixels(hatched, heat_color(0)), count_pixels(plain, heat_color(0)) * 9 / 10);
        ck_assert_uint_eq(count_pixels(hatched, heat_color(1)), count_pixels(plain, heat_color(1)));
        cairo_surface_destroy(plain);
        cairo_surface_destroy(hatched);
}
END_TEST

/* Whatever has no logarithm, and nothing at all, make pictures, too. */
START_TEST(odd_values_are_drawn) {
        static const double values[] = { 0, NAN, -1, INFINITY, 1e-300, 1e300 };

        for (size_t i = 0; i < ELEMENTSOF(values); i++) {
                const HeatCell cell = { values[i], "x", false };
                const HeatPanel panel = { "p", texts, texts, 1, 1, &cell };
                const HeatMap map = one_panel(&panel);
                cairo_surface_t *surface = draw_map(&map);

                ck_assert_int_gt(cairo_image_surface_get_width(surface), 0);
                cairo_surface_destroy(surface);
        }
}
END_TEST

/* No ink at the edge: nothing is cut off, however long the texts. */
static void assert_edges_are_white(cairo_surface_t *surface) {
        int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);

        for (int x = 0; x < width; x++)
                ck_assert(pixel(surface, x, 0) == 0xffffff && pixel(surface, x, height - 1) == 0xffffff);
        for (int y = 0; y < height; y++)
                ck_assert(pixel(surface, 0, y) == 0xffffff && pixel(surface, width - 1, y) == 0xffffff);
}

#define LONG "a label that is longer than any picture would be without it"

#define LONG_PIXELS 700 /* less than it takes */

/* Each for itself, so that none has its room from another. */
START_TEST(everything_has_room) {
        static const char *const longs[] = { LONG };
        static const HeatCell brief[] = { { 1, "1", false } }, wide[] = { { 1, LONG, true } };
        const HeatPanel plain = { "p", texts, texts, 1, 1, brief }, titled = { LONG, texts, texts, 1, 1, brief },
                        columns = { "p", longs, texts, 1, 1, brief }, rows = { "p", texts, longs, 1, 1, brief },
                        cells = { "p", texts, texts, 1, 1, wide };
        const HeatPanel later[] = { plain, titled };
        HeatMap maps[] = {
                one_panel(&plain), one_panel(&plain),  one_panel(&plain), one_panel(&plain), one_panel(&plain),
                one_panel(&titled), one_panel(&columns), one_panel(&rows),  one_panel(&cells), one_panel(later),
        };

        maps[0].title = LONG;
        maps[1].column_title = LONG;
        maps[2].row_title = LONG;
        maps[3].lines = longs;
        maps[3].n_lines = 1;
        maps[4].footnotes = longs;
        maps[4].n_footnotes = 1;
        maps[9].n_panels = 2;
        for (size_t i = 0; i < ELEMENTSOF(maps); i++) {
                cairo_surface_t *surface = draw_map(&maps[i]);

                ck_assert_int_gt(cairo_image_surface_get_width(surface), LONG_PIXELS);
                assert_edges_are_white(surface);
                cairo_surface_destroy(surface);
        }
}
END_TEST

START_TEST(an_svg_is_one_document) {
        static const HeatCell cells[] = { { 1, "1", false } };
        const HeatPanel panel = { "<p> & \"p\"", texts, texts, 1, 1, cells };
        const HeatMap map = one_panel(&panel);
        Bytes bytes = write_map(&map, PICTURE_SVG);

        ck_assert_int_eq(strncmp(bytes.data, "<?xml", 5), 0);
        ck_assert_ptr_nonnull(strstr(bytes.data, "</svg>"));
        ck_assert_ptr_null(strstr(bytes.data, "<p>"));
        free(bytes.data);
}
END_TEST

START_TEST(a_full_disk_is_told) {
        static const HeatCell cells[] = { { 1, "1", false } };
        const HeatPanel panel = { "p", texts, texts, 1, 1, cells };
        const HeatMap map = one_panel(&panel);

        for (PictureFormat format = 0; format < N_PICTURE_FORMATS; format++) {
                _cleanup_error_ Error error = ERROR_INIT;
                FILE *f = fopen("/dev/full", "w");

                ck_assert_ptr_nonnull(f);
                setbuf(f, NULL);
                ck_assert_int_eq(heat_map_write(f, format, &map, &error), -ENOSPC);
                fclose(f);
        }
}
END_TEST

START_TEST(a_png_beyond_all_bounds_is_refused) {
        enum { N = 600 };
        static HeatCell cells[N];
        static const char *rows[N];
        _cleanup_error_ Error error = ERROR_INIT;

        for (size_t i = 0; i < N; i++) {
                cells[i] = (HeatCell){ 1, "1", false };
                rows[i] = "1";
        }
        const HeatPanel panel = { "p", texts, rows, 1, N, cells };
        const HeatMap map = one_panel(&panel);
        FILE *f = fopen("/dev/null", "w");
        ck_assert_ptr_nonnull(f);
        ck_assert_int_eq(heat_map_write(f, PICTURE_PNG, &map, &error), -EFBIG);
        ck_assert_ptr_nonnull(strstr(error_message(&error), ".svg"));
        fclose(f);
}
END_TEST

#ifdef __SANITIZE_ADDRESS__
/* Fontconfig keeps what it has read for as long as the process lives, and cairo frees the rest only when that ends. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
        return "leak:libfontconfig";
}
#endif

static Suite *heat_map_suite(void) {
        Suite *suite = suite_create("render/heat-map");
        TCase *tcase = tcase_create("heat-map");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, colors_grow_lighter);
        tcase_add_test(tcase, formats_are_known_by_the_name);
        tcase_add_test(tcase, colors_follow_the_logarithm);
        tcase_add_test(tcase, panels_share_their_scale);
        tcase_add_test(tcase, the_scale_is_never_narrow);
        tcase_add_test(tcase, an_incomplete_cell_is_hatched);
        tcase_add_test(tcase, odd_values_are_drawn);
        tcase_add_test(tcase, everything_has_room);
        tcase_add_test(tcase, an_svg_is_one_document);
        tcase_add_test(tcase, a_full_disk_is_told);
        tcase_add_test(tcase, a_png_beyond_all_bounds_is_refused);
        suite_add_tcase(suite, tcase);
        return suite;
}

UNIT_TEST_MAIN(heat_map_suite)
