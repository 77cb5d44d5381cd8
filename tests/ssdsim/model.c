/* SPDX-License-Identifier: MIT */

/*
 * All state lies in one piece of memory without pointers, so that it can be a mapped file which outlives the process.
 * One block is open. When it is full, the next free one is taken; if there is none, the block with the fewest valid units is
 * collected into the one that is kept in reserve. Blocks hang in lists by their number of valid units, so
 * the victim is found at once.
 */

#include <string.h>

#include "model.h"

#define MAGIC UINT64_C(0x706c6174656175)
#define NONE UINT32_MAX

typedef struct Block {
        uint32_t used;  /* units written */
        uint32_t valid; /* of those, still mapped */
        uint32_t n_entries;
        uint32_t previous, next; /* in the list of its valid count; or next free */
} Block;

typedef struct Place {
        uint32_t block; /* NONE: not mapped */
        uint16_t entry;
        uint8_t units;
        uint8_t unused;
} Place;

struct Ssd {
        uint64_t magic;
        SsdConfig config;
        SsdCounters counters;
        uint64_t slc_used;   /* pages in the cache, not yet moved on */
        uint32_t n_blocks;
        uint32_t block_units; /* a block holds so many */
        uint32_t open;
        uint32_t free_head;
        uint32_t n_free;
        uint32_t lowest;     /* no list below it holds a block */
        uint32_t reserve;
        uint32_t unused;
};

/* The arrays behind the header, in this order. */
static Place *places(const Ssd *s) {
        return (Place *) ((char *) s + sizeof(Ssd));
}

static Block *blocks(const Ssd *s) {
        return (Block *) (places(s) + s->config.n_pages);
}

static uint32_t *lists(const Ssd *s) {
        return (uint32_t *) (blocks(s) + s->n_blocks);
}

static uint32_t *entries(const Ssd *s, uint32_t block) {
        return lists(s) + s->block_units + 1 + (size_t) block * s->block_units;
}

static uint32_t count_blocks(const SsdConfig *c) {
        double physical = (double) c->n_pages * (1 + c->over_provisioning);
        /* Physical capacity is what can hold data; the block in reserve comes on top. */
        return (uint32_t) (physical / c->pages_per_block + 0.5) + 1;
}

size_t ssd_bytes(const SsdConfig *c) {
        if (c->n_pages == 0 || c->n_pages >= NONE || c->pages_per_block < 2 || c->pages_per_block > UINT16_MAX / SSD_UNITS ||
            !(c->over_provisioning > 0) || (uint64_t) (count_blocks(c) - 1) * c->pages_per_block <= c->n_pages)
                return 0;

        size_t n_blocks = count_blocks(c), block_units = (size_t) c->pages_per_block * SSD_UNITS;
        return sizeof(Ssd) + c->n_pages * sizeof(Place) + n_blocks * sizeof(Block) +
               (block_units + 1) * sizeof(uint32_t) + n_blocks * block_units * sizeof(uint32_t);
}

static void list_remove(Ssd *s, uint32_t b) {
        Block *block = &blocks(s)[b];
        if (block->previous != NONE)
                blocks(s)[block->previous].next = block->next;
        else
                lists(s)[block->valid] = block->next;
        if (block->next != NONE)
                blocks(s)[block->next].previous = block->previous;
}

static void list_insert(Ssd *s, uint32_t b) {
        Block *block = &blocks(s)[b];
        uint32_t *head = &lists(s)[block->valid];
        block->previous = NONE;
        block->next = *head;
        if (*head != NONE)
                blocks(s)[*head].previous = b;
        *head = b;
        if (block->valid < s->lowest)
                s->lowest = block->valid;
}

static void place_drop(Ssd *s, uint64_t page) {
        Place *place = &places(s)[page];
        if (place->block == NONE)
                return;

        uint32_t b = place->block;
        if (b != s->open)
                list_remove(s, b);
        blocks(s)[b].valid -= place->units;
        if (b != s->open)
                list_insert(s, b);
        place->block = NONE;
}

static bool open_has_room(const Ssd *s, unsigned units) {
        const Block *open = &blocks(s)[s->open];
        return open->used + units <= s->block_units;
}

static void open_append(Ssd *s, uint64_t page, unsigned units) {
        Block *open = &blocks(s)[s->open];
        places(s)[page] = (Place){ .block = s->open, .entry = (uint16_t) open->n_entries, .units = (uint8_t) units };
        entries(s, s->open)[open->n_entries++] = (uint32_t) page;
        open->used += units;
        open->valid += units;
        s->counters.flash_units += units;
}

static uint32_t victim_find(Ssd *s) {
        while (lists(s)[s->lowest] == NONE)
                s->lowest++;
        return lists(s)[s->lowest];
}

/* Moves what is valid of the emptiest block into the reserve, which becomes the open one. Returns the time it takes. */
static uint64_t collect(Ssd *s) {
        uint32_t v = victim_find(s);
        Block *victim = &blocks(s)[v];
        uint64_t busy_ns = s->config.erase_ns, moved = victim->valid;

        list_remove(s, v);
        s->open = s->reserve;
        for (uint32_t i = 0; i < victim->n_entries; i++) {
                uint32_t page = entries(s, v)[i];
                Place place = places(s)[page];
                if (place.block == v && place.entry == i)
                        open_append(s, page, place.units);
        }
        *victim = (Block){ .next = NONE, .previous = NONE };
        s->reserve = v;
        s->counters.n_erases++;
        return busy_ns + moved * s->config.program_ns / SSD_UNITS;
}

/* Makes room in the open block. Returns the time it takes. */
static uint64_t open_next(Ssd *s, unsigned units) {
        uint64_t busy_ns = 0;

        while (!open_has_room(s, units)) {
                list_insert(s, s->open);
                if (s->n_free > 0) {
                        s->open = s->free_head;
                        s->free_head = blocks(s)[s->open].next;
                        s->n_free--;
                } else
                        busy_ns += collect(s);
        }
        return busy_ns;
}

static void slc_rest(Ssd *s, uint64_t idle_ns) {
        uint64_t moved = s->config.program_ns > 0 ? idle_ns / s->config.program_ns : s->slc_used;
        s->slc_used -= moved < s->slc_used ? moved : s->slc_used;
}

uint64_t ssd_write(Ssd *s, uint64_t page, unsigned units, uint64_t idle_ns) {
        const SsdConfig *c = &s->config;
        slc_rest(s, idle_ns);

        place_drop(s, page);
        uint64_t busy_ns = open_next(s, units);
        open_append(s, page, units);
        s->counters.host_units += units;
        s->counters.host_pages++;

        uint64_t program_ns = c->program_ns * units / SSD_UNITS;
        if (s->slc_used < c->slc_pages) {
                /* The cache hides programming and collecting until it is full. */
                s->slc_used++;
                busy_ns = c->slc_program_ns;
        } else
                busy_ns += program_ns;

        if (c->throttle_after_pages > 0 && s->counters.host_pages > c->throttle_after_pages &&
            busy_ns < c->throttle_program_ns)
                busy_ns = c->throttle_program_ns;
        return busy_ns;
}

uint64_t ssd_read(Ssd *s, uint64_t page) {
        return places(s)[page].block == NONE ? 0 : s->config.read_ns;
}

void ssd_trim(Ssd *s, uint64_t page) {
        place_drop(s, page);
}

SsdCounters ssd_counters(const Ssd *s) {
        return s->counters;
}

Ssd *ssd_create(void *memory, const SsdConfig *config) {
        size_t bytes = ssd_bytes(config);
        if (bytes == 0)
                return NULL;

        Ssd *s = memset(memory, 0, bytes);
        s->config = *config;
        s->n_blocks = count_blocks(config);
        s->block_units = config->pages_per_block * SSD_UNITS;
        s->lowest = 0;

        for (uint64_t i = 0; i < config->n_pages; i++)
                places(s)[i].block = NONE;
        for (uint32_t i = 0; i <= s->block_units; i++)
                lists(s)[i] = NONE;

        /* 0 is open, the last is in reserve, the others are free in order. */
        for (uint32_t i = 0; i < s->n_blocks; i++)
                blocks(s)[i] = (Block){ .previous = NONE, .next = i + 2 < s->n_blocks ? i + 1 : NONE };
        s->reserve = s->n_blocks - 1;
        s->free_head = 1;
        s->n_free = s->n_blocks - 2;

        s->magic = MAGIC;
        return s;
}

Ssd *ssd_adopt(void *memory, size_t bytes, const SsdConfig *config) {
        Ssd *s = memory;
        size_t wanted = ssd_bytes(config);
        if (wanted == 0 || bytes < wanted || s->magic != MAGIC || s->config.n_pages != config->n_pages ||
            s->config.pages_per_block != config->pages_per_block || s->n_blocks != count_blocks(config))
                return NULL;

        s->config = *config;
        return s;
}

bool ssd_check(const Ssd *s) {
        uint64_t valid = 0, mapped = 0;

        for (uint32_t b = 0; b < s->n_blocks; b++) {
                const Block *block = &blocks(s)[b];
                if (block->valid > block->used || block->used > s->block_units)
                        return false;
                valid += block->valid;
        }
        for (uint64_t i = 0; i < s->config.n_pages; i++) {
                Place place = places(s)[i];
                if (place.block == NONE)
                        continue;
                if (entries(s, place.block)[place.entry] != i)
                        return false;
                mapped += place.units;
        }
        return valid == mapped;
}
