/* SPDX-License-Identifier: MIT */

/*
 * What one drive tells through two kernels, or of itself before and after a change of firmware, is the same
 * but for what is missing: so a field that either side lacks decides nothing, and one that both have must be equal.
 */

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "device/find.h"
#include "util/macro.h"

/* --- likeness --- */

/* What is left of an identifier without what every one of its kind has. */
static const char *id_skip_kind(const char *id) {
        static const char *const kinds[] = { "naa.", "eui.", "uuid.", "t10.", "0x" };

        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (strncasecmp(id, kinds[i], strlen(kinds[i])) == 0)
                        return id + strlen(kinds[i]);
        return id;
}

/* All one character, blanks and dashes aside: "0000-0000", "FFFFFFFF", "-". */
static bool id_is_uniform(const char *id) {
        char first = '\0';

        for (; *id; id++) {
                if (!isalnum((unsigned char) *id))
                        continue;
                if (first == '\0')
                        first = *id;
                if (*id != first)
                        return false;
        }
        return true;
}

/* "0123456789", "123456789ABCDEF", however often it comes round. */
static bool id_counts_up(const char *id) {
        static const char digits[] = "0123456789abcdef";

        if (strlen(id) < 6)
                return false;
        for (; id[1]; id++) {
                const char *at = strchr(digits, tolower((unsigned char) id[0]));
                char next = (char) tolower((unsigned char) id[1]);
                if (!at || *at == '\0' || (next != at[1] && !((next == '0' || next == '1') && at - digits >= 9)))
                        return false;
        }
        return true;
}

bool identity_is_own(const char *id) {
        static const char *const defaults[] = {
                "none", "n/a", "na", "null", "unknown", "default", "serial", "serialnumber", "serial number",
                "not specified", "invalid", "test", "to be filled by o.e.m.", "system serial number",
        };

        if (!id)
                return false;
        id = id_skip_kind(id);
        for (size_t i = 0; i < ELEMENTSOF(defaults); i++)
                if (strcasecmp(id, defaults[i]) == 0)
                        return false;
        return !id_is_uniform(id) && !id_counts_up(id);
}

/* A WWN that the kernel has put together says no more than the serial number that it is made of. */
static bool wwn_is_own(const DeviceInfo *info) {
        bool is_composed = info->wwn && (strncmp(info->wwn, "nvme.", strlen("nvme.")) == 0 ||
                                         strncmp(info->wwn, "t10.", strlen("t10.")) == 0);

        return is_composed && info->serial ? identity_is_own(info->serial) : identity_is_own(info->wwn);
}

static bool text_contradicts(const char *a, const char *b) {
        return a && b && strcmp(a, b) != 0;
}

static bool text_agrees(const char *a, const char *b) {
        return a && b && strcmp(a, b) == 0;
}

static bool has_identity(const DeviceInfo *info) {
        return info->model || info->serial || info->wwn;
}

Likeness device_likeness(const DeviceInfo *expected, bool same_boot, const DeviceInfo *found) {
        bool same_size = expected->size_bytes == found->size_bytes &&
                         expected->logical_block_bytes == found->logical_block_bytes;

        if (expected->partition != found->partition || expected->namespace_id != found->namespace_id ||
            text_contradicts(expected->model, found->model) || text_contradicts(expected->serial, found->serial) ||
            text_contradicts(expected->wwn, found->wwn))
                return LIKENESS_NONE;

        bool seen = same_boot && expected->diskseq != 0 && expected->diskseq == found->diskseq;
        bool own = (text_agrees(expected->serial, found->serial) && identity_is_own(found->serial)) ||
                   (text_agrees(expected->wwn, found->wwn) && wwn_is_own(found));

        if (!same_size)
                return seen || own ? LIKENESS_CHANGED : LIKENESS_NONE;
        if (seen)
                return LIKENESS_SAME;
        if (own)
                return LIKENESS_STRONG;
        return has_identity(expected) && has_identity(found) && !expected->serial == !found->serial &&
               !expected->wwn == !found->wwn && !expected->model == !found->model ? LIKENESS_WEAK : LIKENESS_NONE;
}

/* --- choosing --- */

static void print_identity(FILE *f, const DeviceInfo *info) {
        const struct {
                const char *name, *value;
        } texts[] = { { "model", info->model }, { "serial", info->serial }, { "WWN", info->wwn } };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                if (texts[i].value)
                        fprintf(f, "%s %s, ", texts[i].name, texts[i].value);
        if (info->namespace_id != 0)
                fprintf(f, "namespace %" PRIu32 ", ", info->namespace_id);
        if (info->partition != 0)
                fprintf(f, "partition %" PRIu32 ", ", info->partition);
        if (!has_identity(info))
                fprintf(f, "disk sequence number %" PRIu64 ", ", info->diskseq);
        fprintf(f, "%" PRIu64 " bytes in sectors of %" PRIu32, info->size_bytes, info->logical_block_bytes);
}

static char *describe(const DeviceInfo *info) {
        char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return NULL;
        print_identity(f, info);
        if (fclose(f) == 0)
                return text;
        free(text);
        return NULL;
}

static int fail_absent(const DeviceInfo *expected, bool same_boot, Error *error) {
        _cleanup_free_ char *wanted = describe(expected);

        if (!wanted)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        if (has_identity(expected))
                return error_set(error, ERROR_NOT_FOUND, ENODEV,
                                 "the drive is not there: expected %s, last known as %s", wanted, expected->path);
        return error_set(error, ERROR_REFUSED, ENODEV, "%s is gone: expected %s; a device without model, serial number "
                         "and WWN is known only %s", expected->path, wanted,
                         same_boot ? "as long as it stays attached" : "until the machine is started again");
}

static int fail_changed(const DeviceInfo *expected, const DeviceInfo *found, Error *error) {
        _cleanup_free_ char *wanted = describe(expected), *is = describe(found);

        if (!wanted || !is)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        return error_set(error, ERROR_REFUSED, ESTALE, "%s has changed: expected %s; found %s", found->path, wanted,
                         is);
}

static int fail_ambiguous(const DeviceInfo *expected, const DeviceInfo *one, const DeviceInfo *other, Error *error) {
        _cleanup_free_ char *wanted = describe(expected);

        if (!wanted)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        return error_set(error, ERROR_REFUSED, ENOTUNIQ, "%s and %s cannot be told apart: both are what was expected, "
                         "%s; detach the one that is not meant before the service starts", one->path, other->path,
                         wanted);
}

int device_choose(const DeviceInfo *expected, bool same_boot, DeviceInfo *const *candidates, size_t n,
                  size_t *ret_index, Likeness *ret_likeness, Error *error) {
        Likeness best = LIKENESS_NONE;
        size_t index = 0, other = 0;
        bool several = false;

        for (size_t i = 0; i < n; i++) {
                Likeness likeness = device_likeness(expected, same_boot, candidates[i]);

                if (likeness == LIKENESS_NONE || likeness < best)
                        continue;
                several = likeness == best;
                other = index;
                index = i;
                best = likeness;
        }

        if (best == LIKENESS_NONE)
                return fail_absent(expected, same_boot, error);
        if (best == LIKENESS_CHANGED)
                return fail_changed(expected, candidates[index], error);
        if (several)
                return fail_ambiguous(expected, candidates[other], candidates[index], error);

        *ret_index = index;
        *ret_likeness = best;
        return 0;
}

/* --- all devices of this machine --- */

typedef struct Candidates {
        DeviceInfo **items;
        size_t n;
} Candidates;

static void candidates_clear(Candidates *candidates) {
        for (size_t i = 0; i < candidates->n; i++)
                device_info_free(candidates->items[i]);
        free(candidates->items);
}

/* What has gone since it was listed, or cannot be read, is no candidate. */
static int candidates_read(Candidates *ret, Error *error) {
        char **paths;
        size_t n = 0;

        int r = device_list(&paths, error);
        if (r < 0)
                return r;
        while (paths[n])
                n++;
        ret->items = calloc(n + 1, sizeof(*ret->items));
        for (size_t i = 0; ret->items && i < n; i++)
                if (device_info_read(&ret->items[ret->n], paths[i], NULL) >= 0)
                        ret->n++;
        strv_free(paths);
        return ret->items ? 0 : error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
}

int device_find(const DeviceInfo *expected, bool same_boot, DeviceInfo **ret, Likeness *ret_likeness, Error *error) {
        __attribute__((cleanup(candidates_clear))) Candidates candidates = {};
        size_t index;

        int r = candidates_read(&candidates, error);
        if (r >= 0)
                r = device_choose(expected, same_boot, candidates.items, candidates.n, &index, ret_likeness, error);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(candidates.items[index]);
        return 0;
}

/* Another device that the same serial number would confirm. */
static int find_twin(const DeviceInfo *info, const char *word, char **ret, Error *error) {
        __attribute__((cleanup(candidates_clear))) Candidates candidates = {};
        _cleanup_free_ char *twin = NULL;

        int r = candidates_read(&candidates, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < candidates.n && !twin; i++) {
                const DeviceInfo *other = candidates.items[i];
                _cleanup_free_ char *theirs = device_confirmation(other);

                if (!theirs || (other->major == info->major && other->minor == info->minor))
                        continue;
                if (strcmp(theirs, word) == 0 && !(twin = strdup(other->path)))
                        return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        }
        *ret = TAKE_PTR(twin);
        return 0;
}

int device_confirmation_here(const DeviceInfo *info, char **ret_word, char **ret_twin, Error *error) {
        _cleanup_free_ char *word = device_confirmation(info), *twin = NULL;

        if (!word)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        int r = info->serial ? find_twin(info, word, &twin, error) : 0;
        if (r < 0)
                return r;
        if (twin) {
                free(word);
                word = strdup(info->name);
                if (!word)
                        return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        }
        *ret_word = TAKE_PTR(word);
        *ret_twin = TAKE_PTR(twin);
        return 0;
}
