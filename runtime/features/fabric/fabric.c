/* The namespaces and their effect on a hidden state. */
#include "runtime/features/fabric/fabric.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "board/min_max.h"
#include "kernels/ref/scalar.h"
#include "runtime/features/lessons/vector.h"

const struct fabric_kind fabric_kinds[FABRIC_SPACES] = {
    [FABRIC_PERSONAL] = { "personal", 8, 0.001f },  [FABRIC_EPISODIC] = { "episodic", 16, 0.01f },
    [FABRIC_WIKI] = { "wiki", 32, 0.0001f },        [FABRIC_SCHEDULE] = { "schedule", 4, 0.05f },
    [FABRIC_CONTESTED] = { "contested", 4, 0.02f },
};

enum {
    RANKS = 64, /* the sum of the ranks of all namespaces */
    ALIGN_FLOATS = 16,
    SEED = 5, /* the seed of A, the same on every board */
    SCALE_RANK = 32,
    PLAN_SHARE = 64,       /* 1/64 of a plan's bytes is for notes beyond the minimum */
    EXAMPLES_OF_NOTE = 12, /* the usual number of tokens of an answer */
};
#define FIRST_BIAS (-1.0f)
#define CONFLICT_NORM 0.1f
#define CONFLICT_COSINE (-0.5f)

static size_t padded(size_t floats)
{
    return (floats + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
}

enum fabric_name fabric_find(const char *name, size_t bytes)
{
    for (int i = 0; i < FABRIC_SPACES; i++) {
        if (strlen(fabric_kinds[i].name) == bytes &&
            memcmp(fabric_kinds[i].name, name, bytes) == 0) {
            return (enum fabric_name)i;
        }
    }
    return FABRIC_SPACES;
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Bytes for one more note, and for one more example. */
static size_t note_bytes(uint32_t dim)
{
    return padded(dim) * sizeof(float) + sizeof(struct fabric_note);
}

static size_t example_bytes(uint32_t dim)
{
    return (2 * padded(dim) + 3 + FABRIC_RIVALS) * sizeof(float) + 1;
}

struct fabric_room fabric_plan_room(uint32_t dim, uint64_t bytes)
{
    uint64_t each = EXAMPLES_OF_NOTE * example_bytes(dim) + note_bytes(dim);
    uint32_t most = FABRIC_MOST_NOTES - FABRIC_LEAST_NOTES;
    uint32_t more = (uint32_t)min_u64(bytes / PLAN_SHARE / each, most);

    return (struct fabric_room){ FABRIC_LEAST_NOTES + more,
                                 min_u32(FABRIC_LEAST_EXAMPLES + EXAMPLES_OF_NOTE * more,
                                         FABRIC_MOST_EXAMPLES) };
}

size_t fabric_bytes(uint32_t dim, struct fabric_room room)
{
    /* Count the vectors: gates and parts, 4 of a turn, background, keys, 2 for each example, and 6
     * for each rank up to FABRIC_MOST_RANK. */
    size_t vectors = 2 * FABRIC_SPACES + 4 + FABRIC_BACKGROUND + room.notes + 2 * room.examples +
                     6 * FABRIC_MOST_RANK;
    size_t rows = padded(room.examples) * (3 + FABRIC_RIVALS) + padded(room.notes);

    return (vectors * padded(dim) + (size_t)2 * RANKS * dim + rows) * sizeof(float) +
           padded(room.examples) + room.notes * (sizeof(struct fabric_note) + 1);
}

static float *take(float **at, size_t floats)
{
    float *part = *at;

    *at += floats;
    return part;
}

static void open_adapter(struct fabric *f, enum fabric_name i)
{
    struct fabric_space *s = &f->spaces[i];
    uint32_t rank = fabric_kinds[i].rank;

    micro_lora_open(&s->lora, s->lora.weights, f->dim, rank, SEED + (unsigned)i);
    /* The scale makes namespaces of small and large rank equally strong. */
    s->lora.scale = (float)SCALE_RANK / (float)rank;
}

void fabric_renew(struct fabric *f, enum fabric_name space)
{
    for (uint32_t i = 0; i < f->n_notes; i++) {
        if (f->notes[i].space == space && f->notes[i].strength >= FABRIC_STRONG) {
            return;
        }
    }
    open_adapter(f, space);
}

static void empty_space(struct fabric *f, enum fabric_name i)
{
    struct fabric_space *s = &f->spaces[i];

    open_adapter(f, i);
    memset(s->gate, 0, f->dim * sizeof *s->gate);
    s->bias = FIRST_BIAS;
    s->open = s->replied = 0.0f;
    s->notes = 0;
    s->faded = f->clock;
}

void fabric_clear(struct fabric *f)
{
    for (int i = 0; i < FABRIC_SPACES; i++) {
        empty_space(f, (enum fabric_name)i);
    }
    f->n_notes = f->n_examples = f->n_background = 0;
    f->thrown = f->conflicts = 0;
    f->that = 0;
    f->practised = FABRIC_SPACES;
    memset(f->centre, 0, f->dim * sizeof *f->centre);
    fabric_leave(f);
}

void fabric_open(struct fabric *f, void *memory, uint32_t dim, struct fabric_room room)
{
    size_t row = padded(dim);
    float *at = memory;

    memset(f, 0, sizeof *f);
    f->dim = dim;
    f->room = room;
    /* The order of these calls is that of the memory: floats first, bytes last. */
    for (int i = 0; i < FABRIC_SPACES; i++) {
        f->spaces[i].gate = take(&at, row);
        f->spaces[i].part = take(&at, row);
    }
    f->sum = take(&at, row);
    f->key = take(&at, row);
    f->centre = take(&at, row);
    f->last = take(&at, row);
    f->background = take(&at, FABRIC_BACKGROUND * row);
    f->keys = take(&at, room.notes * row);
    f->hidden = take(&at, room.examples * row);
    f->taken = take(&at, room.examples * row);
    f->gradient = take(&at, 2 * FABRIC_MOST_RANK * row);
    f->before = take(&at, 2 * FABRIC_MOST_RANK * row);
    f->kept = take(&at, 2 * FABRIC_MOST_RANK * row);
    f->kept_strength = take(&at, padded(room.notes));
    f->lengths = take(&at, padded(room.examples));
    f->ceiling = take(&at, padded(room.examples));
    f->targets = (uint32_t *)(void *)take(&at, padded(room.examples));
    f->rivals = (uint32_t *)(void *)take(&at, padded(room.examples) * FABRIC_RIVALS);
    for (int i = 0; i < FABRIC_SPACES; i++) {
        f->spaces[i].lora.weights = take(&at, micro_lora_floats(dim, fabric_kinds[i].rank));
    }
    f->notes = (struct fabric_note *)(void *)at;
    f->lost = (uint8_t *)(f->notes + room.notes);
    f->kept_wins = f->lost + padded(room.examples);
    fabric_clear(f);
}

/* ---- a turn --------------------------------------------------------------------------------- */

void fabric_leave(struct fabric *f)
{
    f->watches = f->seen = false;
    f->n_seen = 0;
    for (int i = 0; i < FABRIC_SPACES; i++) {
        f->spaces[i].open = 0.0f;
    }
    for (uint32_t i = 0; i < f->n_notes; i++) {
        f->notes[i].spoke = false;
    }
}

void fabric_watch(struct fabric *f, uint32_t from)
{
    fabric_leave(f);
    f->from = from;
    f->watches = true;
    memset(f->sum, 0, f->dim * sizeof *f->sum);
}

/* States are added in the order of positions, whatever the chunks are, so that the sum always has
 * the same bits. */
void fabric_see(struct fabric *f, uint32_t position, const float *hidden)
{
    /* Tokens of the system prompt say nothing about the question. */
    if (f->watches && position >= f->from) {
        vector_add(f->sum, hidden, 1.0f, f->dim);
        f->n_seen++;
    }
}

/* Set key (dim) to the direction from the background's mean to a mean. */
static void direct(const struct fabric *f, const float *mean, float *key)
{
    memcpy(key, mean, f->dim * sizeof *key);
    /* All hidden states share a direction, which would make all keys similar. */
    vector_add(key, f->centre, -1.0f, f->dim);
    (void)vector_normalize(key, f->dim);
}

static float sigmoid(float x)
{
    return 1.0f / (1.0f + exp_f32(-x));
}

/* Compute the gates of the namespaces that have notes. */
static void ask_gates(struct fabric *f, const float *key)
{
    for (int i = 0; i < FABRIC_SPACES; i++) {
        struct fabric_space *s = &f->spaces[i];

        s->open = s->notes != 0 ? sigmoid(vector_dot(s->gate, key, f->dim) + s->bias) : 0.0f;
    }
}

static void ask_turn(struct fabric *f)
{
    float *mean = f->key;

    memcpy(mean, f->sum, f->dim * sizeof *mean);
    /* Compute every gate from the direction of the turn's mean. */
    vector_scale(mean, 1.0f / (float)f->n_seen, f->dim);
    direct(f, mean, f->key);
    ask_gates(f, f->key);
    f->seen = true;
}

void fabric_hold(struct fabric *f)
{
    if (f->watches && f->n_seen != 0) {
        ask_turn(f);
    }
    f->watches = false;
}

void fabric_ask_note(struct fabric *f, const struct fabric_note *n)
{
    fabric_leave(f);
    direct(f, f->keys + (size_t)(n - f->notes) * f->dim, f->key);
    ask_gates(f, f->key);
}

/* ---- a hidden state ------------------------------------------------------------------------- */

static bool is_open(const struct fabric_space *s)
{
    return s->open > FABRIC_SHUT;
}

/* Return true if the hidden state is similar to one from which the namespace has learnt. For other
 * states the namespace's contribution would be arbitrary and could spoil the reply. */
static bool is_near(struct fabric *f, int space)
{
    float length = sqrtf(vector_dot(f->last, f->last, f->dim));

    /* A namespace that is learning contributes to all states. */
    if (f->practised == (uint32_t)space) {
        return true;
    }
    for (uint32_t k = 0; k < f->n_notes; k++) {
        struct fabric_note *n = &f->notes[k];

        for (uint32_t i = n->first; n->space == space && i < n->first + (uint32_t)n->n_examples;
             i++) {
            float dot = vector_dot(f->hidden + (size_t)i * f->dim, f->last, f->dim);

            /* Compare the cosine without a division for each example. */
            if (dot >= FABRIC_NEAR * length * f->lengths[i]) {
                n->spoke = true;
                return true;
            }
        }
    }
    return false;
}

static void make_part(struct fabric *f, struct fabric_space *s)
{
    struct micro_lora gated = s->lora;

    gated.scale *= s->open;
    memset(s->part, 0, f->dim * sizeof *s->part);
    /* Add B (A h), one rank of the adapter after another. */
    for (uint32_t r = 0; r < gated.rank; r++) {
        const float *a = gated.weights + (size_t)r * f->dim;
        const float *b = gated.weights + (size_t)(gated.rank + r) * f->dim;

        vector_add(s->part, b, gated.scale * vector_dot(a, f->last, f->dim), f->dim);
    }
    s->norm = sqrtf(vector_dot(s->part, s->part, f->dim));
}

/* If two namespaces want opposite changes, leave out the less certain one. */
static void settle_conflicts(struct fabric *f, bool speaks[FABRIC_SPACES])
{
    for (int i = 0; i < FABRIC_SPACES; i++) {
        for (int k = i + 1; k < FABRIC_SPACES; k++) {
            struct fabric_space *x = &f->spaces[i], *y = &f->spaces[k];

            /* Both changes are strong and have opposite directions. */
            if (speaks[i] && speaks[k] && x->norm > CONFLICT_NORM && y->norm > CONFLICT_NORM &&
                vector_dot(x->part, y->part, f->dim) < CONFLICT_COSINE * x->norm * y->norm) {
                speaks[x->open < y->open ? i : k] = false;
                f->conflict[0] = (uint8_t)i;
                f->conflict[1] = (uint8_t)k;
                f->conflicts++;
            }
        }
    }
}

void fabric_adapt(struct fabric *f, float *hidden)
{
    bool speaks[FABRIC_SPACES];

    /* All parts are computed from the state before any is added. */
    memcpy(f->last, hidden, f->dim * sizeof *hidden);
    if (f->watches && f->n_seen != 0) {
        ask_turn(f);
    }
    for (int i = 0; i < FABRIC_SPACES; i++) {
        speaks[i] = is_open(&f->spaces[i]) && is_near(f, i);
        if (speaks[i]) {
            make_part(f, &f->spaces[i]);
        }
    }
    /* Add parts only after all of them are computed. */
    settle_conflicts(f, speaks);
    for (int i = 0; i < FABRIC_SPACES; i++) {
        if (speaks[i]) {
            vector_add(hidden, f->spaces[i].part, 1.0f, f->dim);
        }
    }
}

/* ---- use ------------------------------------------------------------------------------------ */

static void need(struct fabric *f, uint32_t i)
{
    struct fabric_note *n = &f->notes[i];

    n->used++;
    n->when = f->clock;
    f->spaces[n->space].faded = f->clock;
    f->that = i + 1;
}

void fabric_need(struct fabric *f, uint32_t i)
{
    need(f, i);
}

/* Record that the notes whose gates were open were needed. */
void fabric_needed(struct fabric *f)
{
    for (int i = 0; i < FABRIC_SPACES; i++) {
        f->spaces[i].replied = f->spaces[i].open;
    }
    for (uint32_t i = 0; f->seen && i < f->n_notes; i++) {
        struct fabric_note *n = &f->notes[i];

        if (f->spaces[n->space].open > 0.5f && n->spoke) {
            need(f, i);
        }
    }
}

/* ---- promotion ------------------------------------------------------------------------------ */

void fabric_promote(struct fabric *f, enum fabric_name dst, enum fabric_name src)
{
    struct micro_lora *to = &f->spaces[dst].lora;
    const struct micro_lora *from = &f->spaces[src].lora;
    uint32_t rank = to->rank < from->rank ? to->rank : from->rank;

    assert(dst != src);
    fabric_renew(f, dst);
    /* Add only half of the source, because both were learnt with full strength. */
    vector_add(to->weights, from->weights, 0.5f, (size_t)rank * f->dim);
    vector_add(to->weights + (size_t)to->rank * f->dim, from->weights + (size_t)from->rank * f->dim,
               0.5f, (size_t)rank * f->dim);
    for (uint32_t i = 0; i < f->n_notes; i++) {
        if (f->notes[i].space == src) {
            f->notes[i].space = (uint8_t)dst;
            f->notes[i].strength = 1.0f; /* the note will be practised */
            f->spaces[dst].notes++;
        }
    }
    empty_space(f, src);
}

/* ---- forgetting ----------------------------------------------------------------------------- */

static void drop_examples(struct fabric *f, const struct fabric_note *n)
{
    uint32_t end = n->first + n->n_examples, left = f->n_examples - end;

    memmove(f->hidden + (size_t)n->first * f->dim, f->hidden + (size_t)end * f->dim,
            (size_t)left * f->dim * sizeof(float));
    memmove(f->taken + (size_t)n->first * f->dim, f->taken + (size_t)end * f->dim,
            (size_t)left * f->dim * sizeof(float));
    memmove(f->rivals + (size_t)n->first * FABRIC_RIVALS, f->rivals + (size_t)end * FABRIC_RIVALS,
            (size_t)left * FABRIC_RIVALS * sizeof *f->rivals);
    memmove(f->targets + n->first, f->targets + end, left * sizeof *f->targets);
    memmove(f->lengths + n->first, f->lengths + end, left * sizeof *f->lengths);
    memmove(f->ceiling + n->first, f->ceiling + end, left * sizeof *f->ceiling);
    f->n_examples -= n->n_examples;
    /* Examples after these have moved down. */
    for (uint32_t i = 0; i < f->n_notes; i++) {
        if (f->notes[i].first > n->first) {
            f->notes[i].first = (uint16_t)(f->notes[i].first - n->n_examples);
        }
    }
}

void fabric_drop_examples(struct fabric *f, uint32_t i)
{
    drop_examples(f, &f->notes[i]);
    f->notes[i].n_examples = 0;
}

void fabric_drop(struct fabric *f, uint32_t i)
{
    f->that = 0;
    f->spaces[f->notes[i].space].notes--;
    drop_examples(f, &f->notes[i]);
    f->n_notes--;
    memmove(&f->notes[i], &f->notes[i + 1], (f->n_notes - i) * sizeof *f->notes);
    memmove(f->keys + (size_t)i * f->dim, f->keys + (size_t)(i + 1) * f->dim,
            (size_t)(f->n_notes - i) * f->dim * sizeof(float));
}

void fabric_forget(struct fabric *f, uint32_t i)
{
    enum fabric_name space = (enum fabric_name)f->notes[i].space;
    uint32_t left;

    assert(i < f->n_notes);
    fabric_drop(f, i);
    left = f->spaces[space].notes;
    /* A note cannot be subtracted from an adapter, so the adapter must learn again without this
     * note. */
    empty_space(f, space);
    f->spaces[space].notes = left;
}

void fabric_forget_space(struct fabric *f, enum fabric_name space)
{
    for (uint32_t i = f->n_notes; i-- > 0;) {
        if (f->notes[i].space == space) {
            fabric_drop(f, i);
        }
    }
    empty_space(f, space);
}
