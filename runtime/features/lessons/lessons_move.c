/* Converts lessons to bytes and back, so that they survive a restart. */
#include <assert.h>

#include "runtime/features/lessons/lessons.h"
#include "runtime/features/lessons/vector.h"

struct counts {
    struct learner_totals totals;
    uint16_t tasks, n_notes; /* n_notes is 0 in a file of an earlier version */
    uint32_t samples, n_examples;
};

/* The weights, F, the anchor, and the task's mean and spread. */
enum { LEARNER_VECTORS = 5 };

uint64_t lessons_move_bytes(const struct lessons *l, uint32_t n_examples, uint32_t n_notes)
{
    uint64_t floats = LEARNER_VECTORS * (uint64_t)l->learner.ewc.n;

    floats += n_examples * ((uint64_t)l->dim + 1); /* hidden states and their lengths */
    return sizeof(struct counts) + floats * sizeof(float) + n_examples * sizeof(uint32_t) +
           n_notes * sizeof(struct lessons_note);
}

static enum err move_counts(struct lessons *l, bool loads, lessons_move_fn *move, void *context)
{
    struct learner *learner = &l->learner;
    struct counts c = { learner->totals, (uint16_t)learner->ewc.tasks, (uint16_t)l->n_notes,
                        learner->ewc.samples, l->n };
    enum err e = move(context, &c, sizeof c);

    if (e != ERR_OK || !loads) {
        return e;
    }
    if (c.n_examples > l->room || c.n_notes > l->room / LESSONS_NOTE_SHARE ||
        c.tasks > EWC_MOST_TASKS) {
        return ERR_BAD_MODEL;
    }
    learner->totals = c.totals;
    learner->can_undo = false;
    learner->ewc.tasks = c.tasks;
    learner->ewc.samples = c.samples;
    l->n = c.n_examples;
    l->n_notes = c.n_notes;
    l->first = l->n;
    return ERR_OK;
}

enum err lessons_move(struct lessons *l, bool loads, lessons_move_fn *move, void *context)
{
    struct ewc *ewc = &l->learner.ewc;
    enum err e = move_counts(l, loads, move, context);
    const struct {
        void *memory;
        size_t bytes;
    } parts[] = { { l->learner.lora.weights, ewc->n * sizeof(float) },
                  { ewc->fisher, ewc->n * sizeof(float) },
                  { ewc->anchor, ewc->n * sizeof(float) },
                  { ewc->mean, ewc->n * sizeof(float) },
                  { ewc->spread, ewc->n * sizeof(float) },
                  { l->hidden, (size_t)l->n * l->dim * sizeof(float) },
                  { l->lengths, l->n * sizeof(float) },
                  { l->targets, l->n * sizeof(uint32_t) },
                  { l->notes, l->n_notes * sizeof(struct lessons_note) } };

    for (size_t i = 0; e == ERR_OK && i < sizeof parts / sizeof parts[0]; i++) {
        e = move(context, parts[i].memory, parts[i].bytes);
    }
    return e;
}

static bool targets_are_sound(const struct lessons *l, uint32_t vocab)
{
    for (uint32_t i = 0; i < l->n; i++) {
        if ((l->targets[i] & ~LESSONS_SAID) >= vocab && l->targets[i] != LESSONS_NO_TARGET) {
            return false;
        }
    }
    return true;
}

/* A file of an earlier version has no notes. */
static bool notes_are_sound(const struct lessons *l)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n_notes; i++) {
        if (l->notes[i].kind >= LESSON_KINDS || l->notes[i].text_bytes > LESSONS_TEXT_BYTES) {
            return false;
        }
        n += l->notes[i].n;
    }
    return l->n_notes == 0 || n == l->n;
}

void lessons_note_old(struct lessons *l)
{
    if (l->n_notes != 0) {
        return;
    }
    for (uint32_t i = 0; i < l->n; i++) {
        bool taught = lessons_is_taught(l->targets[i]);

        if ((i == 0 || taught != lessons_is_taught(l->targets[i - 1])) &&
            l->n_notes < l->room / LESSONS_NOTE_SHARE) {
            l->notes[l->n_notes++] =
                (struct lessons_note){ .kind = (uint8_t)(taught ? LESSON_TAUGHT : LESSON_GOOD) };
        }
        l->notes[l->n_notes - 1].n++;
    }
}

bool lessons_are_sound(const struct lessons *l, uint32_t vocab)
{
    const struct ewc *ewc = &l->learner.ewc;

    return learner_is_sound(&l->learner) && targets_are_sound(l, vocab) && notes_are_sound(l) &&
           vector_is_finite(ewc->fisher, ewc->n) && vector_is_finite(ewc->anchor, ewc->n) &&
           vector_is_finite(ewc->mean, ewc->n) && vector_is_finite(ewc->spread, ewc->n) &&
           vector_is_finite(l->hidden, (size_t)l->n * l->dim) && vector_is_finite(l->lengths, l->n);
}
