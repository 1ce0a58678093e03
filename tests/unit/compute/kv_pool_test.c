/* Random operations on sequences that share slots, against a copy of everything: the current sequence reads
 * what it wrote, others have what they had or nothing, no slot is lost, and none is held by more tables than
 * it counts. */
#include "runtime/compute/kv_pool.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tests/unit/tap.h"

enum { N = 5, TILES = 9, CONTEXT = TILES * KV_TILE, OPERATIONS = 10000, MOST = 2 * KV_TILE };

struct sequence {
    struct kv_table *table;
    uint32_t n;
    float expected[CONTEXT];
};

static struct sequence sequences[N];
static struct kv_pool pool;
static float memory[TILES][KV_TILE];
static _Alignas(8) uint8_t lists[1024];
static uint32_t seed = 20261123;
static uint32_t n_lost, n_shared, n_copied;

static uint32_t draw(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

static void copy_slot(void *context, uint32_t to, uint32_t from)
{
    (void)context;
    memcpy(memory[to], memory[from], sizeof memory[to]);
    n_copied++;
}

static float *at(const struct sequence *s, uint32_t position)
{
    return &memory[s->table->slots[position / KV_TILE]][position % KV_TILE];
}

/* Others may have lost theirs to it, all or none. */
static bool settle_lost(void)
{
    bool right = true;

    for (uint32_t i = 0; i < N; i++) {
        uint32_t has = sequences[i].table->n, wants = (sequences[i].n + KV_TILE - 1) / KV_TILE;

        if (has == 0 && wants != 0) {
            sequences[i].n = 0;
            n_lost++;
        } else {
            right = right && has == wants;
        }
    }
    return right;
}

static bool append(struct sequence *s)
{
    uint32_t end = s->n + 1 + draw(MOST);

    if (end > CONTEXT)
        return true;
    kv_table_write(&pool, s->table, s->n, end);
    for (; s->n < end; s->n++)
        *at(s, s->n) = s->expected[s->n] = (float)draw(1 << 20);
    return settle_lost();
}

static void share(struct sequence *s, const struct sequence *from)
{
    uint32_t n = draw(from->n + 1);

    if (s == from)
        return;
    kv_table_share(&pool, s->table, from->table, n);
    memcpy(s->expected, from->expected, sizeof s->expected);
    s->n = n;
    n_shared++;
}

static bool operate(void)
{
    struct sequence *s = &sequences[draw(N)];

    switch (draw(6)) {
    case 0: share(s, &sequences[draw(N)]); return true;
    case 1:
        s->n = draw(s->n + 1);
        kv_table_cut(&pool, s->table, s->n);
        return true;
    default: return append(s);
    }
}

static bool reads_right(const struct sequence *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (*at(s, i) != s->expected[i])
            return false;
    }
    return true;
}

/* Each slot has as many holders as it counts, or is on the free list once. */
static bool counts_right(void)
{
    uint32_t holders[TILES] = { 0 }, n_free[TILES] = { 0 };

    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t j = 0; j < sequences[i].table->n; j++)
            holders[sequences[i].table->slots[j]]++;
    }
    for (uint32_t i = 0; i < pool.n_free; i++)
        n_free[pool.free[i]]++;
    for (uint32_t i = 0; i < TILES; i++) {
        if (holders[i] != pool.owners[i] || n_free[i] != (holders[i] == 0))
            return false;
    }
    return true;
}

int main(void)
{
    uint32_t wrong = 0, miscounted = 0, misplaced = 0;

    if (!OK(kv_pool_bytes(TILES, N) <= sizeof lists, "the lists have room"))
        return tap_done();
    kv_pool_open(&pool, TILES, N, lists);
    pool.copy = copy_slot;
    for (uint32_t i = 0; i < N; i++)
        sequences[i].table = &pool.tables[i];
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        misplaced += !operate();
        miscounted += !counts_right();
        for (uint32_t j = 0; j < N; j++)
            wrong += !reads_right(&sequences[j]);
    }
    OK(wrong == 0, "a sequence reads what it wrote, whatever the others do");
    OK(miscounted == 0, "no slot is lost, or shared by more than it counts");
    OK(misplaced == 0, "a table has all of its sequence or none of it");
    OK(n_lost > 100 && n_shared > 100 && n_copied > 100,
       "%u tiles were lost, %u shared, %u slots copied", n_lost, n_shared, n_copied);
    for (uint32_t i = 0; i < N; i++)
        kv_table_cut(&pool, sequences[i].table, 0);
    OK(pool.n_free == TILES, "all tiles are free in the end");
    return tap_done();
}
