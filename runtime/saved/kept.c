#include "runtime/saved/kept.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/saved/kept_private.h"
#include "runtime/session/session_block.h"
#include "runtime/text/format_text.h"

#define FNV_OFFSET 0xcbf29ce484222325u /* FNV-1a, 64 bits */
#define FNV_PRIME 0x100000001b3u

enum {
    LIST_ALIGN = 64,
    CLOCK_STEP = 1 << 20
}; /* CLOCK_STEP exceeds the number of a sequence's blocks */

/* ---- opening -------------------------------------------------------------------------------- */

static size_t round_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

static enum err count_bytes(void *context, void *memory, size_t bytes)
{
    (void)memory;
    *(size_t *)context += bytes;
    return ERR_OK;
}

static size_t keys_of(struct session *s, uint32_t tokens)
{
    size_t bytes = tokens * sizeof *s->ids;
    struct layer_state_io io = { count_bytes, &bytes, true, true };
    uint32_t tile_bytes;

    (void)session_block_move_keys(s, 0, KV_TILE, &io); /* measure one tile, which every context
                                                        * has */
    /* Each tile of keys takes equal bytes, so one tile gives all sizes. */
    tile_bytes = (uint32_t)(bytes - tokens * sizeof *s->ids);
    return tokens * sizeof *s->ids + (size_t)tile_bytes * (tokens / KV_TILE);
}

static size_t marks_of(struct session *s)
{
    size_t bytes = 0;
    struct layer_state_io io = { count_bytes, &bytes, true, true };

    (void)session_block_move_marks(s, 1, &io);
    return bytes;
}

static uint32_t choose_distance(struct session *s)
{
    uint32_t distance = KEPT_MARKS_LEAST;

    /* Without recurrent states a block costs only its keys. So short blocks cost no more per
     * token. */
    if (!session_block_has_marks(s)) {
        return KEPT_DISTANCE;
    }
    /* A mark has the same size for blocks of any length, so with longer blocks it costs less per
     * token. */
    while (distance < KEPT_MARKS_MOST && marks_of(s) > KEPT_MARKS_TIMES * keys_of(s, distance)) {
        distance *= 2;
    }
    return distance;
}

/* Cut the memory: lists first, then slots. Return false if not even one block fits. */
static bool cut_memory(struct kept *k, const struct memory_range *memory)
{
    size_t slot = k->keys_bytes + k->marks_bytes, lists = 0, n;
    uint8_t *base = memory->base;

    if (k->file != NULL) {
        lists = round_up(KEPT_BLOCKS_MOST * sizeof *k->card, LIST_ALIGN);
    }
    if (memory->bytes < lists + LIST_ALIGN) {
        return false;
    }
    n = (memory->bytes - lists - LIST_ALIGN) / (slot + sizeof *k->memory);
    k->n_memory = (uint32_t)min_size(n, KEPT_BLOCKS_MOST);
    if (k->n_memory == 0) {
        return false;
    }
    k->card = (void *)base;
    k->memory = (void *)(base + lists);
    k->slots = base + lists + round_up(k->n_memory * sizeof *k->memory, LIST_ALIGN);
    memset(k->memory, 0, k->n_memory * sizeof *k->memory);
    return true;
}

bool kept_open(struct kept *k, const struct kept_setup *setup, struct session *s)
{
    const char *why = session_block_error_message(s);

    memset(k, 0, sizeof *k);
    if (why != NULL) {
        format_text(k->error_message, sizeof k->error_message,
                    "prompts of this model cannot be kept: %s", why);
        return false;
    }
    k->file = setup->file;
    k->distance = setup->distance != 0 ? setup->distance : choose_distance(s);
    assert(k->distance % KV_TILE == 0);
    /* Sizes are whole sectors, so that a slot can be read from and written to the card directly. */
    k->keys_bytes = round_up(keys_of(s, k->distance), SECTOR_BYTES);
    k->marks_bytes = round_up(marks_of(s), SECTOR_BYTES);
    if (!cut_memory(k, &setup->memory)) {
        k->n_memory = 0;
        format_text(k->error_message, sizeof k->error_message,
                    "no prompts are kept: %lu bytes are not enough for one block of %u tokens",
                    (unsigned long)setup->memory.bytes, (unsigned)k->distance);
        return false;
    }
    kept_file_open(k, s);
    return true;
}

uint32_t kept_step(const struct kept *k)
{
    return k->n_memory != 0 && k->marks_bytes != 0 ? k->distance : 0;
}

/* ---- finding -------------------------------------------------------------------------------- */

/* A walk through a sequence, from block to block. */
struct walk {
    struct kept *k;
    struct session *s;
    uint64_t parent;
    uint64_t since; /* blocks with a later time belong to this walk */
    uint32_t i;     /* index of the next block in the sequence */
    uint32_t model;
};

static struct walk begin(struct kept *k, struct session *s)
{
    struct walk w = { .k = k, .s = s, .since = k->clock, .model = session_model_crc(s) };

    /* The blocks of a walk get times below the new clock; the first block gets the latest time. */
    k->clock += CLOCK_STEP;
    return w;
}

static const uint32_t *ids_of(const struct walk *w)
{
    return w->s->ids + (size_t)w->i * w->k->distance;
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ at[i]) * FNV_PRIME;
    }
    return hash;
}

static uint64_t hash_of(const struct walk *w)
{
    uint64_t hash = mix(FNV_OFFSET, &w->parent, sizeof w->parent);

    /* The parent's serial stands for all tokens before, the model's CRC for the weights. */
    hash = mix(hash, &w->model, sizeof w->model);
    return mix(hash, ids_of(w), w->k->distance * sizeof(uint32_t));
}

static uint32_t find(const struct walk *w, const struct kept_block *list, uint32_t n, uint64_t hash)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].hash == hash && list[i].serial != 0 && list[i].parent == w->parent &&
            list[i].model == w->model) {
            return i;
        }
    }
    return KEPT_NONE;
}

static bool has_ids(const struct walk *w, uint32_t at)
{
    return memcmp(kept_slot(w->k, at), ids_of(w), w->k->distance * sizeof(uint32_t)) == 0;
}

/* Read a block of the file into memory. */
static uint32_t bring(const struct walk *w, uint64_t hash)
{
    struct kept *k = w->k;
    uint32_t from = find(w, k->card, k->n_card, hash), to;

    if (from == KEPT_NONE) {
        return KEPT_NONE;
    }
    /* Replace the block that was used longest ago, but no block of this walk. */
    to = kept_oldest(k->memory, k->n_memory, w->since, w->parent);
    if (to == KEPT_NONE) {
        return KEPT_NONE;
    }
    /* The slot is free until the read has succeeded. */
    k->memory[to].serial = 0;
    if (!kept_file_read_keys(k, from, to) || !has_ids(w, to)) {
        return KEPT_NONE;
    }
    k->memory[to] = k->card[from];
    k->memory[to].has_mark = k->marks_bytes == 0;
    k->memory[to].wanted = true;
    return to;
}

/* Find the walk's next block in memory, or read it from the file. Return KEPT_NONE if this block is
 * not kept. */
static uint32_t look(const struct walk *w)
{
    uint64_t hash = hash_of(w);
    uint32_t at = find(w, w->k->memory, w->k->n_memory, hash);

    /* Compare the tokens, because hashes may collide. */
    if (at != KEPT_NONE && has_ids(w, at)) {
        return at;
    }
    return bring(w, hash);
}

/* Go past a block and mark it as used, so that a sequence's beginning counts as used later than its
 * end. */
static void pass_by(struct walk *w, uint32_t at)
{
    struct kept *k = w->k;
    uint64_t now = k->clock - w->i;
    uint32_t card = kept_find_serial(k->card, k->n_card, k->memory[at].serial);

    k->memory[at].used = now;
    if (card != KEPT_NONE) {
        k->card[card].used = now;
    }
    w->parent = k->memory[at].serial;
    w->i++;
}

/* ---- moving --------------------------------------------------------------------------------- */

static enum err from_memory(void *context, void *memory, size_t bytes)
{
    uint8_t **at = context;

    memcpy(memory, *at, bytes);
    *at += bytes;
    return ERR_OK;
}

static enum err to_memory(void *context, void *memory, size_t bytes)
{
    uint8_t **at = context;

    memcpy(*at, memory, bytes);
    *at += bytes;
    return ERR_OK;
}

static bool has_mark(const struct kept *k, uint32_t at)
{
    uint32_t card;

    if (k->memory[at].has_mark) {
        return true;
    }
    card = kept_find_serial(k->card, k->n_card, k->memory[at].serial);
    return card != KEPT_NONE && k->card[card].has_mark;
}

static bool bring_mark(struct kept *k, uint32_t at)
{
    uint32_t card;

    if (k->memory[at].has_mark) {
        return true;
    }
    card = kept_find_serial(k->card, k->n_card, k->memory[at].serial);
    k->memory[at].has_mark = card != KEPT_NONE && kept_file_read_marks(k, card, at);
    return k->memory[at].has_mark;
}

/* Move the keys and values of block number i, which is at `at`. */
static void move_keys(struct kept *k, struct session *s, uint32_t i, uint32_t at, bool loads)
{
    uint8_t *place = kept_slot(k, at) + k->distance * sizeof(uint32_t);
    struct layer_state_io io = { loads ? from_memory : to_memory, &place, loads, false };

    (void)session_block_move_keys(s, i * k->distance, (i + 1) * k->distance, &io);
}

static void move_marks(struct kept *k, struct session *s, uint32_t n, uint32_t at, bool loads)
{
    uint8_t *place = kept_slot(k, at) + k->keys_bytes;
    struct layer_state_io io = { loads ? from_memory : to_memory, &place, loads, false };

    (void)session_block_move_marks(s, n, &io);
}

/* Move the blocks of tokens [cached, best), which are in memory, into the states. Returns how
 * many tokens are cached. */
static uint32_t load(struct kept *k, struct session *s, uint32_t cached, uint32_t best)
{
    struct walk w = begin(k, s);
    uint32_t at = KEPT_NONE;

    while ((w.i + 1) * k->distance <= best) {
        at = look(&w);
        if (at == KEPT_NONE) {
            return cached;
        }
        /* Only the last block's mark is needed: the state after all of these tokens. */
        if ((w.i + 1) * k->distance == best && !bring_mark(k, at)) {
            return cached;
        }
        /* Earlier blocks are already in the session's cache. */
        if ((w.i + 1) * k->distance > cached) {
            move_keys(k, s, w.i, at, true);
        }
        pass_by(&w, at);
    }
    move_marks(k, s, best, at, true);
    session_block_take(s, best);
    return best;
}

uint32_t kept_take(struct kept *k, struct session *s)
{
    uint32_t cached = session_block_ready(s), best = 0;
    struct walk w;

    if (k->n_memory == 0 || s->n_exact < cached) { /* blocks continue only from exact states */
        return cached;
    }
    w = begin(k, s);
    while ((w.i + 1) * k->distance < s->n_ids && w.i < k->n_memory) {
        uint32_t at = look(&w);

        if (at == KEPT_NONE) {
            break;
        }
        /* A sequence can only continue from a block with a mark; blocks without a mark are passed
         * over. */
        if (has_mark(k, at)) {
            best = (w.i + 1) * k->distance;
        }
        pass_by(&w, at);
    }
    return best > cached ? load(k, s, cached, best) : cached;
}

/* ---- keeping -------------------------------------------------------------------------------- */

/* Store the walk's next block, which is new. Return KEPT_NONE if this sequence uses all slots. */
static uint32_t make(const struct walk *w)
{
    struct kept *k = w->k;
    uint32_t at = kept_oldest(k->memory, k->n_memory, w->since, w->parent);

    if (at == KEPT_NONE) {
        return KEPT_NONE;
    }
    memcpy(kept_slot(k, at), ids_of(w), k->distance * sizeof(uint32_t));
    move_keys(k, w->s, w->i, at, false);
    k->memory[at] = (struct kept_block){ .serial = ++k->serial,
                                         .parent = w->parent,
                                         .hash = hash_of(w),
                                         .model = w->model,
                                         .end = (w->i + 1) * k->distance,
                                         .has_mark = k->marks_bytes == 0 };
    return at;
}

void kept_follow(struct kept *k, struct session *s, uint32_t n_prompt)
{
    uint32_t cached = min_u32(s->n_cached, s->n_exact);
    struct walk w;

    if (k->n_memory == 0 || cached < k->distance) {
        return;
    }
    w = begin(k, s);
    while ((w.i + 1) * k->distance <= cached && w.i < k->n_memory) {
        uint32_t end = (w.i + 1) * k->distance, at = look(&w);

        if (at == KEPT_NONE) {
            at = make(&w);
        }
        if (at == KEPT_NONE) {
            return;
        }
        /* The states are those after the last cached token: a block that ends there gets a mark. */
        if (!has_mark(k, at) && end == cached) {
            move_marks(k, s, cached, at, false);
            k->memory[at].has_mark = true;
        }
        /* Only prompts go to the file: other requests seldom begin with a reply. */
        k->memory[at].wanted = k->memory[at].wanted || end <= n_prompt;
        pass_by(&w, at);
    }
}
