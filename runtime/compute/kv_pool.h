/* Slots of tiles with owners. A slot is where a tile of positions (KV_TILE) of all layers and heads
 * lies; a sequence finds its tiles' slots in a table, entry i for positions i * KV_TILE on. Sequences
 * that begin alike share slots: each counts the tables that hold it, and is copied before one of them
 * writes to it. One table is at work; what others hold is kept as long as there is room, since a sequence
 * can be computed again. Core 0 only, outside workers_run. */
#ifndef INGOT_RUNTIME_KV_POOL_H
#define INGOT_RUNTIME_KV_POOL_H

#include <stddef.h>
#include <stdint.h>

struct kv_table {
    uint32_t *slots; /* (tiles of the context), the first n */
    uint32_t n;
};

struct kv_pool {
    void (*copy)(void *context, uint32_t to, uint32_t from); /* a slot's tiles */
    void *context;
    uint32_t n_slots; /* tiles of the context: enough for a sequence alone */
    uint32_t n_free;
    uint32_t n_tables;
    uint32_t *owners;        /* (n_slots) tables that hold the slot */
    uint32_t *free;          /* (n_slots) numbers of free slots, the first n_free */
    struct kv_table *tables; /* (n_tables) */
};

/* For a pool with its tables. */
size_t kv_pool_bytes(uint32_t n_slots, uint32_t n_tables);

/* All tables are empty. memory: kv_pool_bytes(), 8-byte aligned; it must outlive the pool, whose copy and
 * context the caller sets. */
void kv_pool_open(struct kv_pool *p, uint32_t n_slots, uint32_t n_tables, void *memory);

/* Positions first .. end of the table's sequence will be written (end > first; first at most what it has
 * tiles for): their tiles become its own, copied where they are shared and new at the end. If slots run out,
 * another table loses all of its own. */
void kv_table_write(struct kv_pool *p, struct kv_table *t, uint32_t first, uint32_t end);

/* Keep the tiles of the first `positions`, and give back the others. */
void kv_table_cut(struct kv_pool *p, struct kv_table *t, uint32_t positions);

/* The table gets those of another's first `positions`, in place of what it has. */
void kv_table_share(struct kv_pool *p, struct kv_table *t, const struct kv_table *from,
                    uint32_t positions);

#endif
