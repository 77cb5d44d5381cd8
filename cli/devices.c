/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "device/find.h"
#include "output.h"
#include "probe.h"
#include "render/table.h"
#include "util/macro.h"
#include "util/text.h"

static void strv_freep(char ***strings) {
        strv_free(*strings);
}

static json_object *probe_json(const Probe *probe) {
        const DeviceInfo *info = probe->info;
        json_object *o = json_object_new_object(), *reasons = json_object_new_array();
        _cleanup_free_ char *confirmation = NULL, *twin = NULL;

        if (!o || !reasons || device_confirmation_here(info, &confirmation, &twin, NULL) < 0) {
                json_object_put(o);
                json_object_put(reasons);
                return NULL;
        }
        json_add_string(o, "path", info->path);
        json_add_string(o, "model", info->model);
        json_add_string(o, "serial", info->serial);
        json_add_string(o, "wwn", info->wwn);
        json_add_string(o, "firmware", info->firmware);
        json_add_u64(o, "size_bytes", info->size_bytes);
        json_add_u64(o, "logical_block_bytes", info->logical_block_bytes);
        json_add_u64(o, "physical_block_bytes", info->physical_block_bytes);
        json_add_bool(o, "rotational", info->rotational);
        json_add_string(o, "transport", info->transport);
        json_add_string(o, "link", info->link);
        json_add_string(o, "host_driver", info->host_driver);
        json_add_u64(o, "read_ahead_kib", info->read_ahead_kib);
        json_add_u64(o, "nr_requests", info->nr_requests);
        json_add_u64(o, "discard_max_bytes", info->discard_max_bytes);
        json_add_u64(o, "discard_granularity_bytes", info->discard_granularity_bytes);
        json_add_string(o, "scheduler", info->scheduler);
        json_add_string(o, "write_cache", info->write_cache);
        json_add_string(o, "confirm", confirmation);
        json_add_bool(o, "eligible", probe_is_eligible(probe));
        json_add_bool(o, "erasable", probe_is_erasable(probe));
        json_add(o, "reasons", reasons);
        for (size_t i = 0; i < probe->reasons.n; i++)
                json_append_string(reasons, probe->reasons.items[i].text);
        return o;
}

static int devices_json(Cli *cli, const Probes *probes) {
        _cleanup_json_ json_object *document = json_object_new_object();
        json_object *array = json_object_new_array();

        if (!document || !array)
                return -ENOMEM;
        json_add(document, "devices", array);
        for (size_t i = 0; i < probes->n; i++) {
                if (!probes->items[i].info)
                        continue;
                json_object *o = probe_json(&probes->items[i]);
                if (!o)
                        return -ENOMEM;
                json_object_array_add(array, o);
        }
        return output_json(cli, document, false);
}

/* Newly allocated; NULL: no memory. */
static char *judgement(const Probe *probe) {
        _cleanup_free_ char *reasons = probe_reasons_text(probe);
        char *text;

        if (!reasons)
                return NULL;
        if (probe_is_eligible(probe))
                return strdup("yes");
        return asprintf(&text, "%s: %s", probe_is_erasable(probe) ? "with --erase-existing" : "no", reasons) < 0
                       ? NULL : text;
}

static int add_row(Table *table, const Probe *probe) {
        const DeviceInfo *info = probe->info;
        _cleanup_free_ char *reasons = judgement(probe), *link = NULL;
        char size[TEXT_SIZE_MAX];

        if (!reasons || asprintf(&link, "%s%s%s", info->transport ?: "-", info->link ? " " : "",
                                 info->link ?: "") < 0) {
                link = NULL;
                return -ENOMEM;
        }
        const char *cells[] = { info->path, text_format_size(info->size_bytes, size), info->model, info->serial, link,
                reasons };
        return table_add_row(table, cells);
}

static int devices_text(const Probes *probes) {
        static const TableColumn columns[] = {
                { "DEVICE" }, { "SIZE", .right = true }, { "MODEL" }, { "SERIAL" }, { "LINK" }, { "MAY BE TORTURED" },
        };
        _cleanup_(table_freep) Table *table = NULL;

        if (probes->n == 0)
                return puts("no block devices") < 0 ? -EIO : 0;

        int r = table_new(&table, columns, ELEMENTSOF(columns));
        for (size_t i = 0; r >= 0 && i < probes->n; i++)
                if (probes->items[i].info)
                        r = add_row(table, &probes->items[i]);
        return r < 0 ? r : output_table(table);
}

/* One that was named must be there; of all, one may have gone meanwhile. */
static int check_named(Probes *probes, const Arguments *arguments, Error *error) {
        for (size_t i = 0; i < arguments->n_words; i++) {
                Probe *probe = &probes->items[i];

                if (!probe->info) {
                        error_move(error, &probe->error);
                        return -ENODEV;
                }
        }
        return 0;
}

/* The devices named, or all. */
static int devices_run(Cli *cli, const Arguments *arguments, Error *error) {
        _cleanup_(strv_freep) char **all = NULL;
        _cleanup_free_ const char **named = NULL;
        _cleanup_probes_ Probes probes = {};
        int r = 0;

        named = calloc(arguments->n_words + 1, sizeof(*named));
        if (!named)
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < arguments->n_words; i++) {
                named[i] = arguments->words[i];
                r = probe_check_name(named[i], error);
        }
        if (r >= 0 && arguments->n_words == 0)
                r = device_list(&all, error);
        if (r >= 0)
                r = probes_new(&probes, all ? (const char *const *) all : named, error);
        if (r >= 0)
                r = check_named(&probes, arguments, error);
        if (r < 0)
                return r;
        r = cli->json ? devices_json(cli, &probes) : devices_text(&probes);
        return r < 0 ? r : 0;
}

const Verb verb_devices = {
        .name = "devices",
        .summary = "block devices: identity, size, link, may they be tortured",
        .words = "[DEV...]",
        .description = "Shows the whole disks of this machine, or the devices named, and for each whether a run "
                       "could overwrite it, and if not, why. Nothing is written. Root sees every reason; others only "
                       "some. A drive that does not answer within 8 s is shown as such.",
        .n_words_max = SIZE_MAX,
        .options = (const Option[]) { {} },
        .run = devices_run,
};
