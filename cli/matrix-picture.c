/* SPDX-License-Identifier: MIT */

#include "matrix-picture.h"

#include <inttypes.h>
#include <math.h>

#include "output-file.h"
#include "output.h"
#include "render/heat-map.h"
#include "util/macro.h"
#include "util/text.h"

#define N_LINES 2

/* A panel, and what it points to. */
typedef struct Panel {
        char *title;
        HeatCell *cells;
        char (*texts)[MATRIX_CELL_MAX]; /* of each cell */
        char columns[JOB_N_VALUES_MAX][TEXT_SIZE_MAX], rows[JOB_N_VALUES_MAX][TEXT_SIZE_MAX];
        const char *column_texts[JOB_N_VALUES_MAX], *row_texts[JOB_N_VALUES_MAX];
} Panel;

typedef struct Picture {
        size_t n;
        Panel *panels;
        HeatPanel *heat_panels;
        char *title;
        char *lines[N_LINES];
        char *notes[MATRIX_N_NOTES_MAX];
} Picture;

static void picture_clear(Picture *picture) {
        for (size_t i = 0; picture->panels && i < picture->n; i++) {
                free(picture->panels[i].title);
                free(picture->panels[i].cells);
                free(picture->panels[i].texts);
        }
        free(picture->panels);
        free(picture->heat_panels);
        free(picture->title);
        for (size_t i = 0; i < N_LINES; i++)
                free(picture->lines[i]);
        for (size_t i = 0; i < MATRIX_N_NOTES_MAX; i++)
                free(picture->notes[i]);
}

static void fill_cell(Panel *panel, size_t i, const StorePhase *phase) {
        const char *text = phase ? matrix_cell_format(phase, panel->texts[i]) : NULL;

        panel->cells[i] = (HeatCell){
                .value = text ? matrix_cell_iops(phase) : NAN,
                .text = text ?: "-",
                .incomplete = text && matrix_cell_is_incomplete(phase),
        };
}

static int make_panel(Panel *panel, HeatPanel *heat, const Matrix *matrix) {
        size_t n_columns = matrix->blocks.n, n_rows = matrix->depths.n;

        panel->title = matrix_title(matrix);
        panel->cells = calloc(n_columns * n_rows, sizeof(*panel->cells));
        panel->texts = calloc(n_columns * n_rows, sizeof(*panel->texts));
        if (!panel->title || !panel->cells || !panel->texts)
                return -ENOMEM;

        for (size_t c = 0; c < n_columns; c++)
                panel->column_texts[c] = text_format_size(matrix->blocks.values[c], panel->columns[c]);
        for (size_t r = 0; r < n_rows; r++) {
                snprintf(panel->rows[r], sizeof(panel->rows[r]), "%" PRIu64, matrix->depths.values[r]);
                panel->row_texts[r] = panel->rows[r];
                for (size_t c = 0; c < n_columns; c++)
                        fill_cell(panel, r * n_columns + c,
                                  matrix_find(matrix, matrix->blocks.values[c], matrix->depths.values[r]));
        }
        *heat = (HeatPanel){
                .title = panel->title,
                .columns = panel->column_texts,
                .rows = panel->row_texts,
                .n_columns = n_columns,
                .n_rows = n_rows,
                .cells = panel->cells,
        };
        return 0;
}

/* Of what is not known nothing is said. */
static char *drive_line(const StoreRun *run) {
        char size[TEXT_SIZE_MAX], *text = NULL;
        size_t length;
        FILE *f = open_memstream(&text, &length);

        if (!f)
                return NULL;
        fprintf(f, "%s", text_format_size(run->size_bytes, size));
        if (run->firmware)
                fprintf(f, ", firmware %s", run->firmware);
        if (run->serial)
                fprintf(f, ", serial %s", run->serial);
        if (!run->imported)
                fprintf(f, ", read-ahead %" PRIu32 " KiB", run->read_ahead_kib);
        if (run->host_driver)
                fprintf(f, ", driver %s", run->host_driver);
        return fclose(f) == 0 ? text : NULL;
}

static char *run_line(const StoreRun *run) {
        char time[OUTPUT_TIME_MAX], *text;
        bool labelled = run->label != NULL;

        return asprintf(&text, "run %" PRIu32 " %s%s%s (%s), %s", run->id, run->name, labelled ? ", " : "",
                        run->label ?: "", run_state_name(run->state), output_format_time(run->started_at_ns, time)) < 0
                       ? NULL : text;
}

static int make_heading(Picture *picture, const StoreRun *run) {
        _cleanup_free_ char *drive = drive_line(run), *of_run = run_line(run);

        if (!drive || !of_run)
                return -ENOMEM;
        picture->title = text_escape(run->model ?: run->device_path);
        picture->lines[0] = text_escape(drive);
        picture->lines[1] = text_escape(of_run);
        return picture->title && picture->lines[0] && picture->lines[1] ? 0 : -ENOMEM;
}

static int make_picture(Picture *picture, const StoreRun *run, const Matrix *matrices, size_t n) {
        picture->panels = calloc(n, sizeof(*picture->panels));
        picture->heat_panels = calloc(n, sizeof(*picture->heat_panels));
        if (!picture->panels || !picture->heat_panels)
                return -ENOMEM;
        while (picture->n < n) {
                size_t i = picture->n++;
                int r = make_panel(&picture->panels[i], &picture->heat_panels[i], &matrices[i]);
                if (r < 0)
                        return r;
        }
        int n_notes = matrix_notes(run, matrices, n, picture->notes);
        if (n_notes < 0)
                return n_notes;
        int r = make_heading(picture, run);
        return r < 0 ? r : n_notes;
}

int matrix_picture_write(const char *path, const StoreRun *run, const Matrix *matrices, size_t n, Error *error) {
        _cleanup_(output_file_done) OutputFile file = {};
        _cleanup_(picture_clear) Picture picture = {};
        PictureFormat format;

        int r = picture_format_from_path(path, &format, error);
        if (r < 0)
                return r;
        if (n > MATRIX_N_PICTURE_MAX)
                return error_set(error, ERROR_USAGE, E2BIG,
                                 "run %" PRIu32 " has %zu matrices, and a picture holds %d: choose one with --phase",
                                 run->id, n, MATRIX_N_PICTURE_MAX);
        int n_notes = make_picture(&picture, run, matrices, n);
        if (n_notes < 0)
                return n_notes;

        const HeatMap map = {
                .title = picture.title,
                .lines = (const char *const *) picture.lines,
                .n_lines = N_LINES,
                .column_title = "block size",
                .row_title = "outstanding",
                .unit = "IOPS",
                .panels = picture.heat_panels,
                .n_panels = n,
                .footnotes = (const char *const *) picture.notes,
                .n_footnotes = (size_t) n_notes,
        };
        r = output_file_open(&file, path, error);
        return r < 0 ? r : output_file_keep(&file, heat_map_write(file.f, format, &map, error), error);
}
