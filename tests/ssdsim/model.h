/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A flash drive whose truth is known: page-mapped translation, greedy garbage collection, over-provisioning, and what
 * makes drives slow after a while: compression that runs out of luck, a cache of SLC, a lifetime throttle.
 * Knows no I/O and no clock: each operation tells how long the drive was busy with it.
 *
 * For uniform random writes the write amplification follows α / (α + W₀(−α·e^(−α))), α = physical / logical capacity,
 * the limit of greedy collection for large erase blocks (Desnoyers 2012). Physical capacity is what can hold data: the
 * block that waits empty for the next collection comes on top. A block of finite size does a little better than the
 * limit, at 7 % over-provisioning by 1.4 % with 512 pages and by 2.8 % with 256: docs/ssdsim.md.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SSD_PAGE 4096U
#define SSD_UNITS 16U /* of a page: what compression can save is counted in these */

typedef struct SsdConfig {
        uint64_t n_pages;          /* logical */
        uint32_t pages_per_block;  /* of an erase block, 2 .. 4095 */
        double over_provisioning;  /* physical / logical − 1; enough for a spare page in each block */
        uint64_t program_ns;       /* of the drive to take one page: the inverse of its best write IOPS */
        uint64_t read_ns;          /* of the drive to give one page */
        uint64_t erase_ns;         /* of one block, while nothing else goes on */
        uint64_t slc_pages;        /* written into a cache first, emptied while the drive rests; 0: none */
        uint64_t slc_program_ns;
        uint64_t throttle_after_pages; /* host pages written in its life, after which it is throttled; 0: never */
        uint64_t throttle_program_ns;  /* a page then takes at least this */
} SsdConfig;

typedef struct SsdCounters {
        uint64_t host_units;  /* written by the host, as stored */
        uint64_t flash_units; /* written to flash in all */
        uint64_t host_pages;
        uint64_t n_erases;
} SsdCounters;

/* What a drive has come to: bits, the truth that a measurement of it is held against. */
typedef enum SsdState {
        SSD_COLLECTING = 1 << 0, /* has no free block left: writes have to wait for garbage collection */
        SSD_CACHE_FULL = 1 << 1, /* the last write found no room in the SLC cache it has */
        SSD_THROTTLED = 1 << 2,
} SsdState;

typedef struct Ssd Ssd;

/* Bytes of memory (or of a file) that hold a drive with this configuration; 0 if the configuration is none. */
size_t ssd_bytes(const SsdConfig *config);

/* Makes a drive as from the factory in memory of ssd_bytes(), aligned to 8 bytes, which the caller owns. */
Ssd *ssd_create(void *memory, const SsdConfig *config);

/*
 * A drive that was made before, from the memory (the file) it lived in, whatever moment its process was killed at; NULL
 * if it is none of this geometry. Speeds, cache and throttle may have changed.
 */
Ssd *ssd_adopt(void *memory, size_t bytes, const SsdConfig *config);

/*
 * Writes one page that compresses to `units` of SSD_UNITS (1 .. SSD_UNITS). Returns how long the drive was busy, in ns.
 * idle_ns: since the last operation ended, in which the SLC cache was emptied as far as that goes.
 */
uint64_t ssd_write(Ssd *ssd, uint64_t page, unsigned units, uint64_t idle_ns);
uint64_t ssd_read(const Ssd *ssd, uint64_t page);
void ssd_trim(Ssd *ssd, uint64_t page);

SsdCounters ssd_counters(const Ssd *ssd);
unsigned ssd_state(const Ssd *ssd);

/* Whether all that is mapped is consistent: for tests. */
bool ssd_check(const Ssd *ssd);
