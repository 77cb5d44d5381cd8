/* SPDX-License-Identifier: MIT */

/*
 * The device in cells as large as the largest I/O: each lies in one or two of them. Chains of a hash table hold the
 * I/Os of each cell; only these can overlap.
 */

#include "engine/overlap.h"

#include <errno.h>
#include <stdlib.h>

#include "util/cleanup.h"
#include "util/hash.h"
#include "util/macro.h"

#define NO_NODE UINT32_MAX

typedef struct Node {
        uint64_t cell, offset;
        uint32_t length;
        uint32_t next; /* of its chain */
        bool is_used;
} Node;

struct Overlap {
        uint32_t depth, n_chains; /* a power of 2 */
        uint64_t cell_bytes;
        uint32_t *chains;
        Node *nodes; /* of slot i: 2 i and, for its second cell, 2 i + 1 */
};

int overlap_new(Overlap **ret, uint32_t depth) {
        Overlap *o = calloc(1, sizeof(*o));

        if (!o)
                return -ENOMEM;
        o->depth = depth;
        for (o->n_chains = 16; o->n_chains < 2 * depth;)
                o->n_chains *= 2;
        o->chains = calloc(o->n_chains, sizeof(*o->chains));
        o->nodes = calloc((size_t) 2 * depth, sizeof(*o->nodes));
        if (!o->chains || !o->nodes) {
                overlap_free(o);
                return -ENOMEM;
        }
        overlap_begin(o, 1);
        *ret = o;
        return 0;
}

Overlap *overlap_free(Overlap *o) {
        if (!o)
                return NULL;
        free(o->chains);
        free(o->nodes);
        free(o);
        return NULL;
}

void overlap_begin(Overlap *o, uint64_t block_bytes) {
        o->cell_bytes = MAX(block_bytes, UINT64_C(1));
        for (uint32_t i = 0; i < o->n_chains; i++)
                o->chains[i] = NO_NODE;
        for (uint32_t i = 0; i < 2 * o->depth; i++)
                o->nodes[i].is_used = false;
}

static uint32_t *chain_of(const Overlap *o, uint64_t cell) {
        return &o->chains[hash_mix64(cell) & (o->n_chains - 1)];
}

static bool hits_in_cell(const Overlap *o, uint64_t cell, uint64_t offset, uint32_t length) {
        for (uint32_t i = *chain_of(o, cell); i != NO_NODE; i = o->nodes[i].next) {
                const Node *node = &o->nodes[i];

                if (node->offset < offset + length && offset < node->offset + node->length)
                        return true;
        }
        return false;
}

bool overlap_hits(const Overlap *o, uint64_t offset, uint32_t length) {
        uint64_t first = offset / o->cell_bytes, last = (offset + length - 1) / o->cell_bytes;

        return hits_in_cell(o, first, offset, length) || (last != first && hits_in_cell(o, last, offset, length));
}

static void link_node(Overlap *o, uint32_t number, uint64_t cell, uint64_t offset, uint32_t length) {
        uint32_t *chain = chain_of(o, cell);

        o->nodes[number] = (Node){
                .cell = cell, .offset = offset, .length = length, .next = *chain, .is_used = true,
        };
        *chain = number;
}

static void unlink_node(Overlap *o, uint32_t number) {
        Node *node = &o->nodes[number];
        uint32_t *at = chain_of(o, node->cell);

        if (!node->is_used)
                return;
        while (*at != number)
                at = &o->nodes[*at].next;
        *at = node->next;
        node->is_used = false;
}

void overlap_add(Overlap *o, uint32_t slot, uint64_t offset, uint32_t length) {
        uint64_t first = offset / o->cell_bytes, last = (offset + length - 1) / o->cell_bytes;

        link_node(o, 2 * slot, first, offset, length);
        if (last != first)
                link_node(o, 2 * slot + 1, last, offset, length);
}

void overlap_remove(Overlap *o, uint32_t slot) {
        unlink_node(o, 2 * slot);
        unlink_node(o, 2 * slot + 1);
}
