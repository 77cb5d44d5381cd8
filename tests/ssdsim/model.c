/* SPDX-License-Identifier: MIT */

/*
 * All state lies in one piece of memory without pointers, so that it can be a mapped file which outlives the process.
 * One block is open. When it is full, the next free one is taken; if there is none, the block with the fewest valid
 * units is collected into the one that is kept in reserve. Blocks hang in lists by their number of valid units, so
 * the victim is found at once.
 *
 * The process may be killed between any two instructions. All pages but the one just being written must be mapped
 * afterwards, so only the places, the blocks' entries and three numbers of the header are believed then, and they are
 * changed in an order (COMMIT) that leaves them right at every moment; valid counts and lists are made anew.
 */

#include <stdatomic.h>
#include <string.h>

#include "model.h"

#define MAGIC UINT64_C(0x32706c6174656175)
#define NONE UINT32_MAX

/* What stands above is in memory before what stands below: a killed process leaves no more than this to care for. */
#define COMMIT() atomic_signal_fence(memory_order_seq_cst)

typedef struct Block {
        uint32_t used;  /* units written; never fewer than entries */
        uint32_t valid; /* of those, still mapped */
        uint32_t n_entries;
        uint32_t previous, next; /* in the list of its valid count; or next free */
} Block;

typedef struct Place {
        _Alignas(8) uint32_t block; /* NONE: not mapped */
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
        uint32_t reserve;    /* empty, but while something is collected into it */
        uint32_t victim;     /* being collected into the reserve; NONE: no collection is going on */
        uint32_t free_head;
        uint32_t n_free;
        uint32_t lowest;     /* no list below it holds a block */
        uint32_t state;      /* SsdState bits of the last write */
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

static double count_blocks(const SsdConfig *c) {
        double physical = (double) c->n_pages * (1 + c->over_provisioning);
        /* Physical capacity is what can hold data; the block in reserve comes on top. */
        return (double) (uint64_t) (physical / c->pages_per_block + 0.5) + 1;
}

size_t ssd_bytes(const SsdConfig *c) {
        if (c->n_pages == 0 || c->n_pages >= NONE || c->pages_per_block < 2 ||
            c->pages_per_block > UINT16_MAX / SSD_UNITS ||
            !(c->over_provisioning > 0 && c->over_provisioning <= 100))
                return 0;

        /*
         * Some block must always hold a page less than it could: else collecting gives back the room it took. Pages
         * of odd sizes leave up to a page unused at the end of a block, so the spare is one page of each.
         */
        double n = count_blocks(c);
        if (n < 3 || n >= NONE || (n - 1) * (c->pages_per_block - 1) < (double) c->n_pages)
                return 0;

        size_t n_blocks = (size_t) n, block_units = (size_t) c->pages_per_block * SSD_UNITS;
        return sizeof(Ssd) + c->n_pages * sizeof(Place) + n_blocks * sizeof(Block) +
               (block_units + 1) * sizeof(uint32_t) + n_blocks * block_units * sizeof(uint32_t);
}

/* --- lists of blocks, by valid units --- */

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

static uint32_t victim_find(Ssd *s) {
        while (lists(s)[s->lowest] == NONE)
                s->lowest++;
        return lists(s)[s->lowest];
}

static void free_push(Ssd *s, uint32_t b) {
        blocks(s)[b].next = s->free_head;
        s->free_head = b;
        s->n_free++;
}

static uint32_t free_pop(Ssd *s) {
        uint32_t b = s->free_head;
        s->free_head = blocks(s)[b].next;
        s->n_free--;
        return b;
}

/* --- places --- */

static Place place_get(const Ssd *s, uint64_t page) {
        return places(s)[page];
}

/* In one store: a place is the old one or the new one, never a mixture. */
static void place_set(Ssd *s, uint64_t page, Place place) {
        __atomic_store(&places(s)[page], &place, __ATOMIC_RELAXED);
}

static void place_drop(Ssd *s, uint64_t page) {
        Place place = place_get(s, page);
        if (place.block == NONE)
                return;

        uint32_t b = place.block;
        if (b != s->open)
                list_remove(s, b);
        blocks(s)[b].valid -= place.units;
        if (b != s->open)
                list_insert(s, b);
        place_set(s, page, (Place){ .block = NONE });
}

static bool open_has_room(const Ssd *s, unsigned units) {
        return blocks(s)[s->open].used + units <= s->block_units;
}

static void open_append(Ssd *s, uint64_t page, unsigned units) {
        Block *open = &blocks(s)[s->open];
        uint32_t entry = open->n_entries;

        open->used += units;
        open->valid += units;
        COMMIT();
        entries(s, s->open)[entry] = (uint32_t) page;
        open->n_entries = entry + 1;
        COMMIT();
        place_set(s, page, (Place){ .block = s->open, .entry = (uint16_t) entry, .units = (uint8_t) units });
        s->counters.flash_units += units;
}

/* --- garbage collection --- */

/* Moves what is valid of the victim into the reserve, which becomes the open block. May be done again after a kill. */
static void collect_finish(Ssd *s) {
        uint32_t v = s->victim;

        if (s->reserve != v) {
                s->open = s->reserve;
                COMMIT();
                for (uint32_t i = 0; i < blocks(s)[v].n_entries; i++) {
                        uint32_t page = entries(s, v)[i];
                        Place place = place_get(s, page);
                        if (place.block == v && place.entry == i)
                                open_append(s, page, place.units);
                }
                COMMIT();
                blocks(s)[v] = (Block){ .next = NONE, .previous = NONE };
                COMMIT();
                s->reserve = v;
                s->counters.n_erases++;
        }
        COMMIT();
        s->victim = NONE;
        COMMIT();
}

/* Collects the emptiest block. Returns the time it takes. */
static uint64_t collect(Ssd *s) {
        uint32_t v = victim_find(s);
        uint64_t moved = blocks(s)[v].valid;

        list_remove(s, v);
        s->victim = v;
        COMMIT();
        collect_finish(s);
        return s->config.erase_ns + moved * s->config.program_ns / SSD_UNITS;
}

/* Makes room in the open block. Returns the time it takes. */
static uint64_t open_next(Ssd *s, unsigned units) {
        uint64_t busy_ns = 0;

        while (!open_has_room(s, units)) {
                list_insert(s, s->open);
                if (s->n_free > 0)
                        s->open = free_pop(s);
                else {
                        busy_ns += collect(s);
                        s->state |= SSD_COLLECTING;
                }
        }
        return busy_ns;
}

/* --- what the host asks for --- */

static void slc_rest(Ssd *s, uint64_t idle_ns) {
        uint64_t moved = s->config.program_ns > 0 ? idle_ns / s->config.program_ns : s->slc_used;
        s->slc_used -= moved < s->slc_used ? moved : s->slc_used;
}

/* The cache hides programming and collecting until it is full. */
static uint64_t slc_take(Ssd *s, uint64_t busy_ns) {
        if (s->slc_used >= s->config.slc_pages) {
                s->state |= SSD_CACHE_FULL;
                return busy_ns;
        }
        s->state &= ~SSD_CACHE_FULL;
        s->slc_used++;
        return s->config.slc_program_ns;
}

static uint64_t throttle(Ssd *s, uint64_t busy_ns) {
        const SsdConfig *c = &s->config;
        if (c->throttle_after_pages == 0 || s->counters.host_pages <= c->throttle_after_pages)
                return busy_ns;
        s->state |= SSD_THROTTLED;
        return busy_ns < c->throttle_program_ns ? c->throttle_program_ns : busy_ns;
}

uint64_t ssd_write(Ssd *s, uint64_t page, unsigned units, uint64_t idle_ns) {
        slc_rest(s, idle_ns);

        place_drop(s, page);
        uint64_t busy_ns = open_next(s, units);
        open_append(s, page, units);
        s->counters.host_units += units;
        s->counters.host_pages++;

        busy_ns += s->config.program_ns * units / SSD_UNITS;
        if (s->config.slc_pages > 0)
                busy_ns = slc_take(s, busy_ns);
        return throttle(s, busy_ns);
}

uint64_t ssd_read(const Ssd *s, uint64_t page) {
        return place_get(s, page).block == NONE ? 0 : s->config.read_ns;
}

void ssd_trim(Ssd *s, uint64_t page) {
        place_drop(s, page);
}

SsdCounters ssd_counters(const Ssd *s) {
        return s->counters;
}

unsigned ssd_state(const Ssd *s) {
        return s->state;
}

/* --- made, adopted, checked --- */

static void lists_clear(Ssd *s) {
        for (uint32_t i = 0; i <= s->block_units; i++)
                lists(s)[i] = NONE;
        s->lowest = 0;
        s->free_head = NONE;
        s->n_free = 0;
}

Ssd *ssd_create(void *memory, const SsdConfig *config) {
        size_t bytes = ssd_bytes(config);
        if (bytes == 0)
                return NULL;

        Ssd *s = memset(memory, 0, bytes);
        s->config = *config;
        s->n_blocks = (uint32_t) count_blocks(config);
        s->block_units = config->pages_per_block * SSD_UNITS;
        s->victim = NONE;
        lists_clear(s);
        for (uint64_t i = 0; i < config->n_pages; i++)
                place_set(s, i, (Place){ .block = NONE });

        /* 0 is open, the last is in reserve, the others are free in order. */
        s->reserve = s->n_blocks - 1;
        for (uint32_t b = s->reserve - 1; b > 0; b--)
                free_push(s, b);

        COMMIT();
        s->magic = MAGIC;
        return s;
}

static bool place_is_right(const Ssd *s, uint64_t page) {
        Place place = place_get(s, page);
        return place.block < s->n_blocks && place.entry < blocks(s)[place.block].n_entries &&
               place.units >= 1 && place.units <= SSD_UNITS && entries(s, place.block)[place.entry] == page;
}

/* Valid counts, from the places alone. False if they make no drive. */
static bool count_valid(Ssd *s) {
        for (uint32_t b = 0; b < s->n_blocks; b++) {
                if (blocks(s)[b].n_entries > s->block_units || blocks(s)[b].used > s->block_units)
                        return false;
                blocks(s)[b].valid = 0;
        }
        for (uint64_t i = 0; i < s->config.n_pages; i++) {
                if (place_get(s, i).block == NONE)
                        continue;
                if (!place_is_right(s, i))
                        return false;
                blocks(s)[place_get(s, i).block].valid += place_get(s, i).units;
        }
        return true;
}

/* All that follows from places, entries, open, reserve and victim. False if they make no drive. */
static bool rebuild(Ssd *s) {
        if (!count_valid(s))
                return false;

        lists_clear(s);
        if (s->victim != NONE)
                collect_finish(s);
        for (uint32_t b = s->n_blocks; b-- > 0;) {
                if (b == s->open || b == s->reserve)
                        continue;
                if (blocks(s)[b].n_entries == 0)
                        free_push(s, b);
                else
                        list_insert(s, b);
        }
        return blocks(s)[s->reserve].n_entries == 0 && s->open != s->reserve;
}

Ssd *ssd_adopt(void *memory, size_t bytes, const SsdConfig *config) {
        Ssd *s = memory;
        size_t wanted = ssd_bytes(config);
        if (wanted == 0 || bytes < wanted || s->magic != MAGIC || s->config.n_pages != config->n_pages ||
            s->block_units != config->pages_per_block * SSD_UNITS ||
            s->n_blocks != (uint32_t) count_blocks(config) || s->open >= s->n_blocks || s->reserve >= s->n_blocks ||
            (s->victim != NONE && s->victim >= s->n_blocks) || !rebuild(s))
                return NULL;

        s->config = *config;
        s->state &= SSD_COLLECTING;
        return s;
}

/* Units in the lists, each block hung where it belongs; UINT64_MAX if one is not. */
static uint64_t check_lists(const Ssd *s) {
        uint64_t valid = 0, n = 0;

        for (uint32_t i = 0; i <= s->block_units; i++)
                for (uint32_t b = lists(s)[i]; b != NONE; b = blocks(s)[b].next, n++) {
                        if (n >= s->n_blocks || b >= s->n_blocks || b == s->open || b == s->reserve ||
                            i < s->lowest || blocks(s)[b].valid != i || blocks(s)[b].used > s->block_units)
                                return UINT64_MAX;
                        valid += i;
                }
        return n + s->n_free + 2 == s->n_blocks ? valid : UINT64_MAX;
}

bool ssd_check(const Ssd *s) {
        uint64_t mapped = 0;

        for (uint64_t i = 0; i < s->config.n_pages; i++) {
                if (place_get(s, i).block == NONE)
                        continue;
                if (!place_is_right(s, i))
                        return false;
                mapped += place_get(s, i).units;
        }
        const Block *reserve = &blocks(s)[s->reserve];
        return s->victim == NONE && reserve->n_entries == 0 && reserve->valid == 0 &&
               check_lists(s) == mapped - blocks(s)[s->open].valid;
}
