/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job-file.h"
#include "output.h"
#include "preset.h"
#include "util/macro.h"

static int open_job(const char *path, Error *error) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;

        if (strcmp(path, "-") == 0) {
                fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
                if (fd < 0)
                        return error_set(error, ERROR_USAGE, errno, "cannot read the job from standard input: %s",
                                         strerror(errno));
                return TAKE_FD(fd);
        }

        /* Neither waiting for the writer of a FIFO, nor reading a device that was named in the wrong place. */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
                return error_set(error, ERROR_USAGE, errno, "cannot read the job file %s: %s", path, strerror(errno));
        if (fstat(fd, &st) < 0)
                return error_set(error, ERROR_USAGE, errno, "cannot read the job file %s: %s", path, strerror(errno));
        if (S_ISBLK(st.st_mode))
                return error_set(error, ERROR_USAGE, EINVAL,
                                 "%s is a block device, where the job file is expected: plateau start JOB --device %s",
                                 path, path);
        if (S_ISDIR(st.st_mode))
                return error_set(error, ERROR_USAGE, EISDIR, "%s is a directory, not a job file", path);
        return TAKE_FD(fd);
}

static int read_all(FILE *f, const char *name, char **ret, size_t *ret_length, Error *error) {
        _cleanup_free_ char *text = malloc(JOB_TEXT_MAX + 1);
        size_t n;

        if (!text)
                return -ENOMEM;
        n = fread(text, 1, JOB_TEXT_MAX + 1, f);
        if (ferror(f))
                return error_set(error, ERROR_USAGE, errno, "cannot read the job file %s: %s", name, strerror(errno));
        if (n > JOB_TEXT_MAX)
                return error_set(error, ERROR_USAGE, E2BIG, "%s is no job file: it is larger than %d bytes", name,
                                 JOB_TEXT_MAX);
        *ret = TAKE_PTR(text);
        *ret_length = n;
        return 0;
}

static const char *shown_name(const char *path) {
        return strcmp(path, "-") == 0 ? "stdin" : path;
}

static int read_text(const char *path, char **ret, size_t *ret_length, Error *error) {
        _cleanup_close_ int fd = -EBADF;
        _cleanup_fclose_ FILE *f = NULL;

        fd = open_job(path, error);
        if (fd < 0)
                return fd;
        f = fdopen(fd, "re");
        if (!f)
                return -errno;
        TAKE_FD(fd);
        return read_all(f, shown_name(path), ret, ret_length, error);
}

/* In place of the plain message, where a preset may have been meant. */
static int no_such_job(const char *path, Error *error) {
        const char *nearest = preset_nearest(path);

        error_clear(error);
        return error_set(error, ERROR_USAGE, ENOENT, "there is no job file %s, and no preset of that name; %s%s%s",
                         path, nearest ? "did you mean the preset '" : "'plateau presets' lists them", nearest ?: "",
                         nearest ? "'?" : "");
}

static int read_preset(const Preset *preset, char **ret, size_t *ret_length) {
        if (access(preset->name, F_OK) == 0)
                output_notice("note: %s is the preset; the file of that name is ./%s", preset->name, preset->name);
        *ret = strdup(preset->text);
        if (!*ret)
                return -ENOMEM;
        *ret_length = strlen(*ret);
        return 0;
}

int job_file_read(Job **ret, const char *path, const char **ret_file_name, Error *error) {
        const Preset *preset = preset_find(path);
        const char *name = shown_name(path);
        _cleanup_free_ char *text = NULL;
        size_t length = 0;

        int r = preset ? read_preset(preset, &text, &length) : read_text(path, &text, &length, error);
        if (r == -ENOENT && !strchr(path, '/'))
                return no_such_job(path, error);
        if (r >= 0)
                r = job_parse(ret, name, text, length, error);
        if (r >= 0 && ret_file_name)
                *ret_file_name = basename(name);
        return r;
}

/* A phase more at the end changes nothing of what is expected, and a file that has none becomes a job. */
int job_file_read_expectations(Expectations *ret, const char *path, Error *error) {
        static const char phase[] = "\n[none]\nrw=read\n";
        _cleanup_free_ char *text = NULL;
        _cleanup_job_ Job *job = NULL;
        size_t length = 0;

        int r = read_text(path, &text, &length, error);
        if (r < 0)
                return r;
        char *whole = realloc(text, length + sizeof(phase));
        if (!whole)
                return -ENOMEM;
        text = whole;
        memcpy(text + length, phase, sizeof(phase));
        r = job_parse(&job, shown_name(path), text, length + strlen(phase), error);
        if (r < 0)
                return r;
        *ret = job->expectations;
        return 0;
}
