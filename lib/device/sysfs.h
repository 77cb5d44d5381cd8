/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reading sysfs, relative to an open directory, so that tests can lay out a tree of their
 * own. Attributes come from hardware: any bytes, any length up to a page.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The directory `path` below dir_fd (AT_FDCWD and an absolute path: /sys itself); its fd, or -errno. */
int sysfs_open(int dir_fd, const char *path);

/* Up to size bytes of an attribute; how many, or -errno. */
ssize_t sysfs_read(int dir_fd, const char *attribute, void *buf, size_t size);

/* An attribute without the blanks around it, newly allocated; -ENODATA if nothing is left. */
int sysfs_read_text(int dir_fd, const char *attribute, char **ret);

/* A decimal attribute. */
int sysfs_read_u64(int dir_fd, const char *attribute, uint64_t *ret);
int sysfs_read_u32(int dir_fd, const char *attribute, uint32_t *ret);

/* The last component of what a symbolic link leads to ("driver" -> "ahci"), newly allocated. */
int sysfs_read_link(int dir_fd, const char *link, char **ret);

/* The name of the directory itself, links resolved, newly allocated. */
int sysfs_name(int dir_fd, char **ret);

/*
 * Called for each entry of a directory but those whose name begins with a dot, in no order. A
 * return other than 0 ends the walk and is returned.
 */
typedef int (*SysfsHandler)(int dir_fd, const char *name, void *userdata);
int sysfs_foreach(int dir_fd, const char *path, SysfsHandler handler, void *userdata);

/* prefix followed by a digit: "ata1" of "ata". */
bool sysfs_is_numbered(const char *name, const char *prefix);
