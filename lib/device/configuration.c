/* SPDX-License-Identifier: MIT */

#include "device/configuration.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "device/related.h"
#include "util/ini.h"

/* --- reading --- */

typedef struct Reader {
        const char *name;
        Configuration *configuration;
        size_t n_deny;
} Reader;

/* Takes over the string, which may be NULL for want of memory. */
static int strings_add(char ***strings, size_t *n, char *string) {
        char **longer = string ? reallocarray(*strings, *n + 2, sizeof(char *)) : NULL;

        if (!longer) {
                free(string);
                return -ENOMEM;
        }
        *strings = longer;
        longer[(*n)++] = string;
        longer[*n] = NULL;
        return 0;
}

static int refuse_unknown(const Reader *reader, const IniEntry *entry, Error *error) {
        if (!entry->key || strcmp(entry->section, "devices") != 0)
                return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: %s%s%s: expected the section [devices]",
                                 reader->name, entry->line, *entry->section ? "[" : "no section",
                                 entry->section, *entry->section ? "]" : "");
        return error_set(error, ERROR_USAGE, EINVAL, "%s:%u: unknown option '%s': expected deny=PATTERN",
                         reader->name, entry->line, entry->key);
}

static int add_deny(Reader *reader, const IniEntry *entry, Error *error) {
        const char *pattern = entry->value ?: "";

        if (*pattern == '\0')
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: deny has no value: expected a pattern of a model, a serial number or a path",
                                 reader->name, entry->line);
        if (*pattern == '/' && strncmp(pattern, "/dev/", strlen("/dev/")) != 0)
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: deny=%s: expected a path below /dev, or a pattern that does not begin with /",
                                 reader->name, entry->line, pattern);
        if (*pattern == '/' && strpbrk(pattern, " \t"))
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s:%u: deny=%s: expected one path; each further one has a line 'deny=' of its own",
                                 reader->name, entry->line, pattern);
        return strings_add(&reader->configuration->deny, &reader->n_deny, strdup(pattern));
}

static int read_entry(const IniEntry *entry, void *userdata, Error *error) {
        bool is_devices = strcmp(entry->section, "devices") == 0;
        Reader *reader = userdata;
        int r;

        if (is_devices && !entry->key)
                return 0;
        if (!is_devices || strcmp(entry->key, "deny") != 0)
                return refuse_unknown(reader, entry, error);
        r = add_deny(reader, entry, error);
        return r == -ENOMEM ? error_set(error, ERROR_FAILED, ENOMEM, "out of memory") : r;
}

/* The text of the file, and its length; -EINVAL with words if it is anything else. */
static int read_text(const char *path, char **ret, size_t *ret_length, Error *error) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        _cleanup_free_ char *text = malloc(CONFIGURATION_BYTES_MAX + 1);
        struct stat st;
        size_t n = 0;
        ssize_t more = 1;

        if (!text)
                return error_set(error, ERROR_FAILED, ENOMEM, "out of memory");
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_set(error, ERROR_USAGE, errno, "the configuration %s cannot be read: %s", path,
                                 strerror(errno));
        if (!S_ISREG(st.st_mode))
                return error_set(error, ERROR_USAGE, EINVAL, "the configuration %s is no regular file", path);

        for (; more > 0 && n <= CONFIGURATION_BYTES_MAX; n += more > 0 ? (size_t) more : 0)
                more = read(fd, text + n, CONFIGURATION_BYTES_MAX + 1 - n);
        if (more < 0)
                return error_set(error, ERROR_USAGE, errno, "the configuration %s cannot be read: %s", path,
                                 strerror(errno));
        if (n > CONFIGURATION_BYTES_MAX)
                return error_set(error, ERROR_USAGE, E2BIG, "the configuration %s is longer than %d bytes", path,
                                 CONFIGURATION_BYTES_MAX);

        *ret = TAKE_PTR(text);
        *ret_length = n;
        return 0;
}

int configuration_read(Configuration *ret, const char *path, Error *error) {
        _cleanup_configuration_ Configuration configuration = {};
        Reader reader = { .name = path ?: CONFIGURATION_PATH, .configuration = &configuration };
        _cleanup_free_ char *text = NULL;
        size_t length = 0;

        *ret = (Configuration) {};
        if (!path && access(CONFIGURATION_PATH, F_OK) < 0 && errno == ENOENT)
                return 0;

        int r = read_text(reader.name, &text, &length, error);
        if (r >= 0)
                r = ini_parse(reader.name, text, length, read_entry, &reader, error);
        if (r < 0)
                return r;

        *ret = configuration;
        configuration = (Configuration) {};
        return 0;
}

void configuration_clear(Configuration *configuration) {
        strv_free(configuration->deny);
        *configuration = (Configuration) {};
}

/* --- denying --- */

/* The links of a drive have many names, and a pattern may name any of them. */
static int pattern_finds(const char *pattern, dev_t device, dev_t disk) {
        _cleanup_(globfree) glob_t found = {};
        int r = glob(pattern, GLOB_NOSORT, NULL, &found);

        if (r == GLOB_NOSPACE)
                return -ENOMEM;
        for (size_t i = 0; r == 0 && i < found.gl_pathc; i++) {
                struct stat st;

                if (stat(found.gl_pathv[i], &st) == 0 && S_ISBLK(st.st_mode) &&
                    (st.st_rdev == device || st.st_rdev == disk))
                        return 1;
        }
        return 0;
}

static bool pattern_fits(const char *pattern, const char *s) {
        return s && fnmatch(pattern, s, 0) == 0;
}

int device_check_denied(const DeviceInfo *info, const char *const *deny, Reasons *reasons) {
        DeviceNumbers numbers = device_numbers_read(makedev(info->major, info->minor));
        _cleanup_free_ char *disk_path = device_node_path(info->disk_name);
        int r = disk_path ? 0 : -ENOMEM;

        for (; r >= 0 && deny && *deny; deny++) {
                bool fits = pattern_fits(*deny, info->model) || pattern_fits(*deny, info->serial) ||
                            pattern_fits(*deny, info->path) || pattern_fits(*deny, disk_path) ||
                            pattern_fits(*deny, info->name) || pattern_fits(*deny, info->disk_name);

                if (!fits && **deny == '/') {
                        r = pattern_finds(*deny, numbers.device, numbers.disk);
                        fits = r > 0;
                }
                if (fits)
                        r = reasons_add(reasons, REASON_DENIED,
                                        "denied by deny=%s of the service's configuration; choose another drive",
                                        *deny);
        }
        return r < 0 ? r : 0;
}
