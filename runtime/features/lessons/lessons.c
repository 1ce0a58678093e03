#include "runtime/features/lessons/lessons.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "runtime/features/lessons/vector.h"

enum { ALIGN_FLOATS = 16 };

static size_t padded(size_t floats)
{
    return (floats + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
}

size_t lessons_bytes(uint32_t dim, uint32_t row_floats)
{
    size_t floats = 2 * padded(row_floats) + padded(dim) + padded((size_t)LESSONS_ROOM * dim) +
                    2 * LESSONS_ROOM;

    return floats * sizeof(float) + learner_bytes(dim, MICRO_LORA_MOST_RANK);
}

void lessons_open(struct lessons *l, void *memory, uint32_t dim, uint32_t row_floats,
                  const struct micro_lora_head *head)
{
    struct learner_rule rule = learner_default_rule();
    float *f = memory;

    memset(l, 0, sizeof *l);
    l->head = *head;
    l->dim = dim;
    l->row_floats = row_floats;
    l->row = f;
    l->error = f + padded(row_floats);
    l->last = l->error + padded(row_floats);
    l->hidden = l->last + padded(dim);
    l->lengths = l->hidden + padded((size_t)LESSONS_ROOM * dim);
    l->targets = (uint32_t *)(void *)(l->lengths + LESSONS_ROOM);
    l->gated = true;
    learner_open(&l->learner, l->targets + LESSONS_ROOM, dim, MICRO_LORA_MOST_RANK, &rule);
}

/* The cosine is compared without a division: h k >= near |h| |k|. */
static bool is_near(const struct lessons *l, const float *h)
{
    float length = LESSONS_NEAR * sqrtf(vector_dot(h, h, l->dim));

    for (uint32_t i = 0; i < l->n; i++) {
        if (vector_dot(h, l->hidden + (size_t)i * l->dim, l->dim) >= length * l->lengths[i]) {
            return true;
        }
    }
    return false;
}

void lessons_adapt(struct lessons *l, float *hidden)
{
    memcpy(l->last, hidden, l->dim * sizeof *hidden);
    if (!l->gated || is_near(l, hidden)) {
        micro_lora_apply(&l->learner.lora, hidden);
    }
}

uint32_t lessons_most(const struct lessons *l)
{
    uint32_t taught = 0;

    for (uint32_t i = 0; i < l->n; i++) {
        taught += l->targets[i] != LESSONS_NO_TARGET;
    }
    return LESSONS_ROOM - taught;
}

void lessons_drop(struct lessons *l, uint32_t i)
{
    uint32_t left = --l->n - i;

    memmove(l->hidden + (size_t)i * l->dim, l->hidden + (size_t)(i + 1) * l->dim,
            (size_t)left * l->dim * sizeof *l->hidden);
    memmove(l->lengths + i, l->lengths + i + 1, left * sizeof *l->lengths);
    memmove(l->targets + i, l->targets + i + 1, left * sizeof *l->targets);
}

uint32_t lessons_begin(struct lessons *l, uint32_t n)
{
    uint32_t before = l->n;

    assert(n <= lessons_most(l));
    for (uint32_t i = 0; i < l->n && l->n + n > LESSONS_ROOM;) {
        if (l->targets[i] == LESSONS_NO_TARGET) {
            lessons_drop(l, i);
        } else {
            i++;
        }
    }
    l->first = l->n;
    learner_begin(&l->learner);
    return before - l->n;
}

void lessons_add(struct lessons *l, uint32_t target)
{
    assert(l->n < LESSONS_ROOM);
    memcpy(l->hidden + (size_t)l->n * l->dim, l->last, l->dim * sizeof *l->last);
    l->lengths[l->n] = sqrtf(vector_dot(l->last, l->last, l->dim));
    l->targets[l->n++] = target;
}

void lessons_clear(struct lessons *l)
{
    learner_clear(&l->learner);
    l->n = 0;
    l->first = 0;
}

bool lessons_undo(struct lessons *l)
{
    if (!learner_undo(&l->learner)) {
        return false;
    }
    l->n = l->first;
    return true;
}
