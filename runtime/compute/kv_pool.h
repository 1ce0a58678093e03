/* Slots that hold tiles and have owners. A slot has room for one tile of positions (KV_TILE) of all
 * layers and heads. A sequence finds its tiles' slots in a table, whose entry i is for the tile
 * that begins at position i * KV_TILE. Sequences with the same beginning share slots: each slot
 * counts the tables that hold it, and is copied before one of them writes to it. One table is in
 * use. The slots of other tables are kept only while there is room; if they are lost, their
 * sequence is computed again. Core 0 only, outside workers_run. */
#ifndef INGOT_RUNTIME_KV_POOL_H
#define INGOT_RUNTIME_KV_POOL_H

#include <stddef.h>
#include <stdint.h>

struct kv_table {
    uint32_t *slots; /* (tiles of the context), of which the first n are used */
    uint32_t n;
};

struct kv_pool {
    void (*copy)(void *context, uint32_t to, uint32_t from); /* copies the bytes of a slot's tiles
                                                              * to another slot */
    void *context;
    uint32_t n_slots; /* at least the tiles of the context: enough for one sequence */
    uint32_t n_free;
    uint32_t n_tables;
    uint32_t *owners;        /* (n_slots) how many tables hold each slot */
    uint32_t *free;          /* (n_slots) the first n_free entries are the numbers of the free
                              * slots */
    struct kv_table *tables; /* (n_tables) */
};

/* Return the size of a pool with its tables. */
size_t kv_pool_bytes(uint32_t n_slots, uint32_t n_tables);

/* Open a pool with empty tables. memory: kv_pool_bytes(), 8-byte aligned; it must outlive the
 * pool. The caller sets the pool's copy function and context. */
void kv_pool_open(struct kv_pool *p, uint32_t n_slots, uint32_t n_tables, void *memory);

/* Positions [first, end) of the table's sequence will be written (end > first; first is at most the
 * end of the table's tiles). These tiles become the table's own: shared tiles are copied, and new
 * tiles are added at the end. If no slots are left, another table loses all of its slots. */
void kv_table_write(struct kv_pool *p, struct kv_table *t, uint32_t first, uint32_t end);

/* Keep the tiles of the first `positions`, and free the others. */
void kv_table_cut(struct kv_pool *p, struct kv_table *t, uint32_t positions);

/* Give the table the tiles of another table's first `positions`, in place of its own. */
void kv_table_share(struct kv_pool *p, struct kv_table *t, const struct kv_table *from,
                    uint32_t positions);

#endif
