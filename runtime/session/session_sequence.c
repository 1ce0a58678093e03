#include "runtime/session/session_sequence.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/base/arena.h"

static uint32_t n_tiles(uint32_t context)
{
    return (uint32_t)(((size_t)context + KV_TILE - 1) / KV_TILE);
}

uint64_t session_sequences_bytes(uint32_t context, uint32_t n)
{
    if (n == 0) {
        return 0;
    }
    return (uint64_t)n * arena_take_bytes(context * sizeof(uint32_t)) +
           arena_take_bytes(sizeof(struct kv_pool)) +
           arena_take_bytes(kv_pool_bytes(n_tiles(context), n + 1));
}

/* Return true if sequences can share slots: the layers keep only keys and values, of one type and
 * in memory. */
static bool can_share(const struct session *s)
{
    for (uint32_t i = 0; i < s->n_states; i++) {
        if (s->states[i].kind->mark != NULL) {
            return false;
        }
    }
    return s->kv.pages == NULL && s->kv.types.hot_tiles == 0;
}

void session_sequences_open(struct session *s, struct session_sequence *const sequences[],
                            uint32_t n)
{
    struct arena *a = &s->model->arena;
    struct kv_pool *pool;

    for (uint32_t i = 0; i < n; i++) {
        *sequences[i] = (struct session_sequence){
            .ids = arena_take(a, ARENA_SCRATCH, s->context * sizeof(uint32_t))
        };
    }
    if (n == 0 || !can_share(s)) {
        return;
    }
    pool = arena_take(a, ARENA_SCRATCH, sizeof *pool);
    kv_pool_open(pool, s->kv.n_tiles, n + 1,
                 arena_take(a, ARENA_SCRATCH, kv_pool_bytes(s->kv.n_tiles, n + 1)));
    kv_cache_use_pool(&s->kv, pool);
    for (uint32_t i = 0; i < n; i++) {
        sequences[i]->table = &pool->tables[i + 1];
    }
}

void session_sequence_keep(struct session *s, struct session_sequence *l)
{
    session_forget_guesses(s);
    l->n_ids = s->n_ids;
    l->n_cached = s->n_cached;
    l->hash = s->hash;
    l->is_long = s->is_long;
    l->n_exact = s->n_exact;
    memcpy(l->ids, s->ids, s->n_ids * sizeof *s->ids);
    if (l->table != NULL) {
        kv_table_share(s->kv.pool, l->table, s->kv.table, s->n_cached);
    }
}

static uint32_t common(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    uint32_t i = 0;

    while (i < n && a[i] == b[i]) {
        i++;
    }
    return i;
}

static void swap_words(uint32_t *a, uint32_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t word = a[i];

        a[i] = b[i];
        b[i] = word;
    }
}

/* Swap the tables. A sequence that lost slots to others gets back those of the common
 * beginning, if keys have the same factors. */
static void swap_tables(struct session *s, struct session_sequence *l, uint32_t same)
{
    uint32_t shared = min_u32(same, s->n_cached);
    struct kv_table *table = l->table;
    bool is_long = s->is_long;

    if (table->n == 0) {
        l->n_cached = 0;
    }
    if (l->n_cached == 0) {
        l->is_long = is_long;
        l->n_exact = UINT32_MAX;
    }
    if (l->n_cached < shared && l->is_long == is_long) {
        kv_table_share(s->kv.pool, table, s->kv.table, shared);
        l->n_cached = shared;
        l->n_exact = min_u32(l->n_exact, s->n_exact);
    }
    l->table = s->kv.table;
    s->kv.table = table;
    swap_words(&s->n_cached, &l->n_cached, 1);
    swap_words(&s->n_exact, &l->n_exact, 1);
    s->is_long = l->is_long;
    l->is_long = is_long;
}

void session_sequence_swap(struct session *s, struct session_sequence *l)
{
    struct session_prefix *p = s->prefix;
    uint32_t n = max_u32(s->n_ids, l->n_ids), same;
    struct session_hash hash = s->hash;

    session_forget_guesses(s);
    session_prefix_settle(s);
    same = common(s->ids, l->ids, min_u32(s->n_ids, l->n_ids));
    if (l->table != NULL) {
        swap_tables(s, l, same);
    } else {
        l->n_cached = 0;
        (void)session_cut_states(s, min_u32(s->n_cached, same));
    }
    swap_words(s->ids, l->ids, n);
    swap_words(&s->n_ids, &l->n_ids, 1);
    s->hash = l->hash;
    l->hash = hash;
    s->logits = NULL;
    if (p != NULL) {
        p->wanted = 0;
    }
    if (p != NULL && common(p->ids, s->ids, min_u32(p->n, s->n_cached)) < p->n) {
        session_forget_prefix(s);
    }
}

void session_sequence_weights_changed(struct session *s, struct session_sequence *l)
{
    l->n_cached = 0;
    if (l->table != NULL) {
        kv_table_cut(s->kv.pool, l->table, 0);
    }
}

void session_sequence_drop(struct session *s, struct session_sequence *l)
{
    l->n_ids = 0;
    l->n_cached = 0;
    if (l->table != NULL) {
        kv_table_cut(s->kv.pool, l->table, 0);
    }
}
