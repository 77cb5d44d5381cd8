/* SPDX-License-Identifier: MIT */

#include "verified.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "output.h"
#include "render/json.h"
#include "render/table.h"
#include "util/macro.h"
#include "util/text.h"

#define N_CELLS_BEFORE 3U /* those of mismatches */

int verified_load(Verified *ret, Store *store, uint32_t run, size_t n_phases, Error *error) {
        *ret = (Verified){
                .n_phases = n_phases,
                .of = calloc(MAX(n_phases, (size_t) 1), sizeof(*ret->of)),
        };
        if (!ret->of)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");

        int r = store_get_verifications(store, run, ret->of, n_phases, error);
        return r < 0 ? r : store_get_findings(store, run, &ret->findings, &ret->n_findings, error);
}

void verified_clear(Verified *verified) {
        free(verified->of);
        store_findings_free(verified->findings, verified->n_findings);
}

bool verified_total(const Verified *verified, Verification *ret) {
        bool any = false;

        *ret = (Verification){};
        for (size_t i = 0; i < verified->n_phases; i++) {
                any = any || verified->of[i].is_asked;
                ret->checked_bytes += verified->of[i].so_far.checked_bytes;
                for (unsigned k = 0; k < N_MISMATCHES; k++)
                        ret->n_blocks[k] += verified->of[i].so_far.n_blocks[k];
        }
        return any;
}

VerifiedShare verified_least(const Verified *verified) {
        VerifiedShare least = VERIFIED_ALL;

        for (size_t i = 0; i < verified->n_phases; i++)
                if (verified->of[i].is_asked)
                        least = MIN(least, verified->of[i].share);
        return least;
}

static json_object *finding_json(const StoreFinding *finding) {
        json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        json_add_string(o, "kind", mismatch_name(finding->kind));
        json_add_u64(o, "offset", finding->offset);
        json_add_u64(o, "bytes", finding->bytes);
        json_add_string(o, "detail", finding->detail);
        return o;
}

json_object *verified_json(const Verified *verified, size_t phase) {
        const Verification *v = &verified->of[phase].so_far;
        json_object *o, *findings;

        if (!verified->of[phase].is_asked)
                return NULL;
        o = json_object_new_object();
        findings = json_object_new_array();
        if (!o || !findings)
                return NULL;
        json_add_u64(o, "asked_bytes", v->asked_bytes);
        json_add_u64(o, "checked_bytes", v->checked_bytes);
        json_add_u64(o, "errors", verification_errors(v));
        for (Mismatch i = 0; i < N_MISMATCHES; i++)
                json_add_u64(o, mismatch_name(i), v->n_blocks[i]);
        for (size_t i = 0; i < verified->n_findings; i++)
                if (verified->findings[i].phase == phase)
                        json_object_array_add(findings, finding_json(&verified->findings[i]));
        json_add(o, "findings", findings);
        return o;
}

static int add_row(Table *table, const StorePhase *phase, const Verification *v) {
        char checked[TEXT_SIZE_MAX], asked[TEXT_SIZE_MAX], numbers[N_MISMATCHES][24];
        const char *cells[N_CELLS_BEFORE + N_MISMATCHES] = {
                phase->name, text_format_size(v->checked_bytes, checked), text_format_size(v->asked_bytes, asked),
        };

        for (unsigned i = 0; i < N_MISMATCHES; i++) {
                snprintf(numbers[i], sizeof(numbers[i]), "%" PRIu64, v->n_blocks[i]);
                cells[N_CELLS_BEFORE + i] = numbers[i];
        }
        return table_add_row(table, cells);
}

int verified_print(const Verified *verified, const StorePhase *phases) {
        static const TableColumn columns[] = {
                { "VERIFIED", .truncate = true }, { "CHECKED", .right = true }, { "OF", .right = true },
                { "CORRUPT", .right = true }, { "MISPLACED", .right = true }, { "TORN", .right = true },
                { "LOST", .right = true },
        };
        _cleanup_(table_freep) Table *table = NULL;
        Verification total;

        if (!verified_total(verified, &total))
                return 0;
        putchar('\n');
        int r = table_new(&table, columns, ELEMENTSOF(columns));
        for (size_t i = 0; r >= 0 && i < verified->n_phases; i++)
                if (verified->of[i].is_asked)
                        r = add_row(table, &phases[i], &verified->of[i].so_far);
        return r < 0 ? r : output_table(table);
}
