/* Stores notes, lets them fade with time, and has the background: what the model says without
 * notes. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernels/ref/scalar.h"
#include "runtime/features/fabric/fabric.h"
#include "runtime/features/lessons/vector.h"

enum { HOUR = 3600 };

void fabric_add_background(struct fabric *f)
{
    float *centre = f->centre;

    if (f->n_seen == 0 || f->n_background == FABRIC_BACKGROUND) {
        return;
    }
    vector_scale(f->sum, 1.0f / (float)f->n_seen, f->dim);
    memcpy(f->background + (size_t)f->n_background * f->dim, f->sum, f->dim * sizeof *f->sum);
    f->n_background++;
    memset(centre, 0, f->dim * sizeof *centre);
    for (uint32_t i = 0; i < f->n_background; i++) {
        vector_add(centre, f->background + (size_t)i * f->dim, 1.0f / (float)f->n_background,
                   f->dim);
    }
}

const char *fabric_answer_of(const char *text, size_t bytes)
{
    for (size_t i = 0; i + 3 <= bytes; i++) {
        if (memcmp(text + i, " = ", 3) == 0) {
            return text + i + 3;
        }
    }
    return text;
}

static bool is_missed_less(const struct fabric_note *a, const struct fabric_note *b)
{
    bool a_fades = a->strength < FABRIC_STRONG, b_fades = b->strength < FABRIC_STRONG;

    return a_fades != b_fades ? a_fades : a->used < b->used;
}

uint32_t fabric_least(const struct fabric *f)
{
    uint32_t least = 0;

    for (uint32_t i = 1; i < f->n_notes; i++) {
        if (is_missed_less(&f->notes[i], &f->notes[least])) {
            least = i;
        }
    }
    return least;
}

struct fabric_note *fabric_add_note(struct fabric *f, enum fabric_name space, const char *text,
                                    size_t bytes, size_t question)
{
    struct fabric_note *n;

    assert(bytes <= FABRIC_TEXT_BYTES && !fabric_is_full(f) && f->n_seen != 0);
    n = &f->notes[f->n_notes];
    *n = (struct fabric_note){ .space = (uint8_t)space,
                               .first = (uint16_t)f->n_examples,
                               .bytes = (uint16_t)bytes,
                               .question = (uint16_t)question,
                               .strength = 1.0f,
                               .when = f->clock,
                               .made = f->clock };
    memcpy(n->text, text, bytes);
    memcpy(f->keys + (size_t)f->n_notes * f->dim, f->sum, f->dim * sizeof(float));
    vector_scale(f->keys + (size_t)f->n_notes * f->dim, 1.0f / (float)f->n_seen, f->dim);
    f->n_notes++;
    f->spaces[space].notes++;
    f->that = f->n_notes;
    return n;
}

void fabric_add_example(struct fabric *f, const float *hidden, uint32_t target)
{
    struct fabric_note *n = &f->notes[f->n_notes - 1];

    assert(f->n_notes != 0 && f->n_examples < f->room.examples && n->n_examples < UINT8_MAX);
    memcpy(f->hidden + (size_t)f->n_examples * f->dim, hidden, f->dim * sizeof *hidden);
    f->lengths[f->n_examples] = sqrtf(vector_dot(hidden, hidden, f->dim));
    f->ceiling[f->n_examples] = INFINITY;
    f->targets[f->n_examples++] = target;
    n->n_examples++;
}

/* ---- time ----------------------------------------------------------------------------------- */

static void fade(struct fabric *f, int space, uint64_t hours)
{
    struct micro_lora *m = &f->spaces[space].lora;
    float factor = exp_f32(-fabric_kinds[space].decay * (float)hours);

    /* Both matrices fade, so their product fades by the factor's square. */
    vector_scale(m->weights, factor, micro_lora_floats(f->dim, m->rank));
    for (uint32_t i = 0; i < f->n_notes; i++) {
        f->notes[i].strength *= f->notes[i].space == space ? factor * factor : 1.0f;
    }
}

void fabric_correct_clock(struct fabric *f, uint64_t seconds)
{
    uint64_t change = seconds - f->clock;

    f->clock = seconds;
    for (uint32_t i = 0; i < f->n_notes; i++) {
        f->notes[i].when += change;
        f->notes[i].made += change;
    }
    for (int i = 0; i < FABRIC_SPACES; i++) {
        f->spaces[i].faded += change;
    }
}

void fabric_set_clock(struct fabric *f, uint64_t seconds)
{
    for (int i = 0; i < FABRIC_SPACES; i++) {
        struct fabric_space *s = &f->spaces[i];
        uint64_t hours = seconds > s->faded ? (seconds - s->faded) / HOUR : 0;

        /* Only whole hours make a memory fade; the rest counts next time. */
        if (hours != 0) {
            fade(f, i, hours);
            s->faded += hours * HOUR;
        }
    }
    f->clock = seconds;
}
