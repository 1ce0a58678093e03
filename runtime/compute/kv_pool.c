#include "runtime/compute/kv_pool.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "kernels/kernels.h"

size_t kv_pool_bytes(uint32_t n_slots, uint32_t n_tables)
{
    return n_tables * sizeof(struct kv_table) + (2 + (size_t)n_tables) * n_slots * sizeof(uint32_t);
}

void kv_pool_open(struct kv_pool *p, uint32_t n_slots, uint32_t n_tables, void *memory)
{
    uint32_t *numbers = (uint32_t *)((struct kv_table *)memory + n_tables);

    memset(memory, 0, kv_pool_bytes(n_slots, n_tables));
    *p = (struct kv_pool){ .n_slots = n_slots,
                           .n_free = n_slots,
                           .n_tables = n_tables,
                           .owners = numbers,
                           .free = numbers + n_slots,
                           .tables = memory };
    for (uint32_t i = 0; i < n_slots; i++) {
        p->free[i] = n_slots - 1 - i; /* the last slot is taken first, so slots ascend */
    }
    for (uint32_t i = 0; i < n_tables; i++) {
        p->tables[i].slots = numbers + (2 + (size_t)i) * n_slots;
    }
}

static uint32_t tiles(uint32_t positions)
{
    return positions / KV_TILE + (positions % KV_TILE != 0);
}

static uint32_t take(struct kv_pool *p)
{
    uint32_t slot = p->free[--p->n_free];

    p->owners[slot] = 1;
    return slot;
}

static void give_back(struct kv_pool *p, uint32_t slot)
{
    assert(p->owners[slot] != 0);
    if (--p->owners[slot] == 0) {
        p->free[p->n_free++] = slot;
    }
}

/* Copy a shared slot; the other holders keep the old one. */
static uint32_t copy(struct kv_pool *p, uint32_t slot)
{
    uint32_t own = take(p);

    p->copy(p->context, own, slot);
    give_back(p, slot);
    return own;
}

/* Return how many new slots the table needs to write tiles [from, to). */
static uint32_t count_needed(const struct kv_pool *p, const struct kv_table *t, uint32_t from,
                             uint32_t to)
{
    uint32_t needed = 0;

    for (uint32_t i = from; i < to; i++) {
        needed += i >= t->n || p->owners[t->slots[i]] > 1;
    }
    return needed;
}

/* After all other tables are emptied, any sequence has room. */
static void make_room(struct kv_pool *p, const struct kv_table *t, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; count_needed(p, t, from, to) > p->n_free; i++) {
        assert(i < p->n_tables);
        if (&p->tables[i] != t) {
            kv_table_cut(p, &p->tables[i], 0);
        }
    }
}

void kv_table_write(struct kv_pool *p, struct kv_table *t, uint32_t first, uint32_t end)
{
    uint32_t from = first / KV_TILE, to = tiles(end);

    assert(first < end && from <= t->n && to <= p->n_slots);
    make_room(p, t, from, to);
    for (uint32_t i = from; i < to; i++) {
        if (i == t->n) {
            t->slots[t->n++] = take(p);
        } else if (p->owners[t->slots[i]] > 1) {
            t->slots[i] = copy(p, t->slots[i]);
        }
    }
}

void kv_table_cut(struct kv_pool *p, struct kv_table *t, uint32_t positions)
{
    while (t->n > tiles(positions)) {
        give_back(p, t->slots[--t->n]);
    }
}

void kv_table_share(struct kv_pool *p, struct kv_table *t, const struct kv_table *from,
                    uint32_t positions)
{
    uint32_t n = min_u32(tiles(positions), from->n);

    kv_table_cut(p, t, 0);
    for (uint32_t i = 0; i < n; i++) {
        t->slots[i] = from->slots[i];
        p->owners[t->slots[i]]++;
    }
    t->n = n;
}
