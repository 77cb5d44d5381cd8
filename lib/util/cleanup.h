/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Scope-bound clean-up, in the manner of systemd: declare a variable with
 * _cleanup_(func) and func(&variable) runs when the scope is left. Ownership
 * leaves a scope through TAKE_PTR() or TAKE_FD().
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(func) __attribute__((cleanup(func)))
#define _printf_(fmt, args) __attribute__((format(printf, fmt, args)))

/* Defines static inline void func_p(type *p), for use with _cleanup_(). */
#define DEFINE_CLEANUP(type, func)               \
        static inline void func##p(type *p) {    \
                if (*p)                          \
                        func(*p);                \
        }

#define TAKE_PTR(ptr)                            \
        ({                                       \
                __typeof__(ptr) *_p = &(ptr);    \
                __typeof__(ptr) _v = *_p;        \
                *_p = NULL;                      \
                _v;                              \
        })

#define TAKE_FD(fd)                              \
        ({                                       \
                int *_p = &(fd);                 \
                int _v = *_p;                    \
                *_p = -EBADF;                    \
                _v;                              \
        })

static inline void freep(void *p) {
        free(*(void **) p);
}

static inline void fclosep(FILE **f) {
        if (*f)
                fclose(*f);
}

/* Closes fd if it is one; errno is kept. Always returns -EBADF, so that `fd = fd_close(fd)` forgets it. */
static inline int fd_close(int fd) {
        if (fd >= 0) {
                int saved = errno;
                close(fd);
                errno = saved;
        }
        return -EBADF;
}

static inline void fd_closep(int *fd) {
        *fd = fd_close(*fd);
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(fd_closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
