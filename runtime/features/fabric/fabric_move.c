/* Converts a fabric to bytes and back, so that it survives a restart. */
#include <math.h>
#include <string.h>

#include "runtime/features/fabric/fabric.h"
#include "runtime/features/lessons/vector.h"

struct counts {
    uint64_t clock;
    uint32_t n_notes, n_examples, n_background, thrown;
    uint64_t faded[FABRIC_SPACES];
    float bias[FABRIC_SPACES];
    uint32_t reserved;
};

static uint64_t weights_floats(const struct fabric *f)
{
    uint64_t n = 0;

    for (int i = 0; i < FABRIC_SPACES; i++) {
        n += micro_lora_floats(f->dim, fabric_kinds[i].rank) + f->dim;
    }
    return n;
}

uint64_t fabric_move_bytes(const struct fabric *f, uint32_t n_notes, uint32_t n_examples)
{
    uint64_t vectors = 1 + FABRIC_BACKGROUND + n_notes + (uint64_t)n_examples;

    return sizeof(struct counts) + (weights_floats(f) + vectors * f->dim) * sizeof(float) +
           n_examples * sizeof(uint32_t) + n_notes * sizeof(struct fabric_note);
}

static enum err move_counts(struct fabric *f, bool loads, fabric_move_fn *move, void *context)
{
    struct counts c = { f->clock,  f->n_notes, f->n_examples, f->n_background,
                        f->thrown, { 0 },      { 0 },         0 };
    enum err e;

    for (int i = 0; i < FABRIC_SPACES; i++) {
        c.faded[i] = f->spaces[i].faded;
        c.bias[i] = f->spaces[i].bias;
    }
    e = move(context, &c, sizeof c);
    if (e != ERR_OK || !loads) {
        return e;
    }
    if (c.n_notes > f->room.notes || c.n_examples > f->room.examples ||
        c.n_background > FABRIC_BACKGROUND) {
        return ERR_BAD_MODEL;
    }
    f->clock = c.clock;
    f->n_notes = c.n_notes;
    f->n_examples = c.n_examples;
    f->n_background = c.n_background;
    f->thrown = c.thrown;
    for (int i = 0; i < FABRIC_SPACES; i++) {
        f->spaces[i].faded = c.faded[i];
        f->spaces[i].bias = c.bias[i];
    }
    return ERR_OK;
}

static enum err move_spaces(struct fabric *f, fabric_move_fn *move, void *context)
{
    enum err e = ERR_OK;

    for (int i = 0; i < FABRIC_SPACES && e == ERR_OK; i++) {
        struct fabric_space *s = &f->spaces[i];

        e = move(context, s->gate, f->dim * sizeof(float));
        if (e == ERR_OK) {
            e = move(context, s->lora.weights,
                     micro_lora_floats(f->dim, fabric_kinds[i].rank) * sizeof(float));
        }
    }
    return e;
}

/* Recompute values that depend on loaded data. */
static void measure(struct fabric *f)
{
    for (uint32_t i = 0; i < f->n_examples; i++) {
        const float *h = f->hidden + (size_t)i * f->dim;

        f->lengths[i] = sqrtf(vector_dot(h, h, f->dim));
    }
}

/* Count the notes of each namespace; numbers that are not valid are skipped. */
static void count_notes(struct fabric *f)
{
    for (int i = 0; i < FABRIC_SPACES; i++) {
        f->spaces[i].notes = 0;
    }
    for (uint32_t i = 0; i < f->n_notes; i++) {
        if (f->notes[i].space < FABRIC_SPACES) {
            f->spaces[f->notes[i].space].notes++;
        }
    }
}

enum err fabric_move(struct fabric *f, bool loads, fabric_move_fn *move, void *context)
{
    size_t vector = f->dim * sizeof(float);
    enum err e = move_counts(f, loads, move, context);

    if (e == ERR_OK) {
        e = move_spaces(f, move, context);
    }
    if (e == ERR_OK) {
        const struct {
            void *memory;
            size_t bytes;
        } parts[] = { { f->centre, vector },
                      { f->background, FABRIC_BACKGROUND * vector },
                      { f->keys, f->n_notes * vector },
                      { f->hidden, f->n_examples * vector },
                      { f->targets, f->n_examples * sizeof *f->targets },
                      { f->notes, f->n_notes * sizeof *f->notes } };

        for (size_t i = 0; e == ERR_OK && i < sizeof parts / sizeof parts[0]; i++) {
            e = move(context, parts[i].memory, parts[i].bytes);
        }
    }
    for (uint32_t i = 0; i < f->n_examples;
         i++) { /* reset the saved fabric, too, so that both continue identically */
        f->ceiling[i] = INFINITY;
    }
    if (loads) {
        f->that = 0;
        count_notes(f);
        measure(f);
        fabric_leave(f);
    }
    return e;
}

/* Examples of notes are contiguous, in the order of the notes. */
static bool notes_are_sound(const struct fabric *f)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < f->n_notes; i++) {
        const struct fabric_note *n = &f->notes[i];

        if (n->space >= FABRIC_SPACES || n->first != first || n->bytes > FABRIC_TEXT_BYTES ||
            n->question > n->bytes || n->before_bytes > FABRIC_TEXT_BYTES ||
            !(n->strength >= 0.0f && n->strength <= 1.0f)) {
            return false;
        }
        first += n->n_examples;
    }
    return first == f->n_examples;
}

bool fabric_is_sound(const struct fabric *f, uint32_t vocab)
{
    bool sound = notes_are_sound(f);

    for (uint32_t i = 0; i < f->n_examples; i++) {
        sound = sound && f->targets[i] < vocab;
    }
    for (int i = 0; i < FABRIC_SPACES; i++) {
        const struct fabric_space *s = &f->spaces[i];
        size_t n = micro_lora_floats(f->dim, fabric_kinds[i].rank);

        sound = sound && vector_is_finite(s->gate, f->dim) && vector_is_finite(&s->bias, 1) &&
                vector_is_finite(s->lora.weights, n);
    }
    return sound && vector_is_finite(f->centre, f->dim) &&
           vector_is_finite(f->background, (size_t)FABRIC_BACKGROUND * f->dim) &&
           vector_is_finite(f->keys, (size_t)f->n_notes * f->dim) &&
           vector_is_finite(f->hidden, (size_t)f->n_examples * f->dim);
}
