#include "runtime/features/lessons/lessons.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/features/lessons/vector.h"
#include "runtime/text/civil_time.h"
#include "runtime/text/utf8.h"

enum {
    ALIGN_FLOATS = 16,
    PLAN_SHARE = 128, /* 1/128 of a plan's bytes is for examples beyond the minimum */
};

static size_t padded(size_t floats)
{
    return (floats + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
}

uint32_t lessons_plan_room(uint32_t dim, uint64_t bytes)
{
    uint64_t each = ((uint64_t)dim + 2) * sizeof(float) +
                    sizeof(struct lessons_note) / LESSONS_NOTE_SHARE;
    uint64_t more = min_u64(bytes / PLAN_SHARE / each, LESSONS_MOST_ROOM - LESSONS_LEAST_ROOM);

    return LESSONS_LEAST_ROOM + (uint32_t)more / LESSONS_NOTE_SHARE * LESSONS_NOTE_SHARE;
}

size_t lessons_bytes(uint32_t dim, uint32_t row_floats, uint32_t room)
{
    size_t floats = 2 * padded(row_floats) + padded(dim) + padded((size_t)room * dim) + 2 * room;

    return floats * sizeof(float) + room / LESSONS_NOTE_SHARE * sizeof(struct lessons_note) +
           learner_bytes(dim, MICRO_LORA_MOST_RANK);
}

void lessons_open(struct lessons *l, void *memory, uint32_t dim, uint32_t row_floats, uint32_t room,
                  const struct micro_lora_head *head)
{
    struct learner_rule rule = learner_default_rule();
    float *f = memory;

    memset(l, 0, sizeof *l);
    l->head = *head;
    l->dim = dim;
    l->row_floats = row_floats;
    l->room = room;
    l->row = f;
    l->error = f + padded(row_floats);
    l->last = l->error + padded(row_floats);
    l->hidden = l->last + padded(dim);
    l->lengths = l->hidden + padded((size_t)room * dim);
    l->targets = (uint32_t *)(void *)(l->lengths + room);
    l->notes = (struct lessons_note *)(void *)(l->targets + room);
    l->gated = true;
    learner_open(&l->learner, l->notes + room / LESSONS_NOTE_SHARE, dim, MICRO_LORA_MOST_RANK,
                 &rule);
}

/* Mark the example's lesson as used in this reply. */
static void count_example(struct lessons *l, uint32_t example)
{
    struct lessons_note *n = l->notes;

    for (; n < l->notes + l->n_notes && example >= n->n; n++) {
        example -= n->n;
    }
    if (n < l->notes + l->n_notes) {
        n->spoke = true;
    }
}

/* Compare the cosine without a division, as h k >= near |h| |k|. */
static bool is_near(struct lessons *l, const float *h)
{
    float length = LESSONS_NEAR * sqrtf(vector_dot(h, h, l->dim));

    for (uint32_t i = 0; i < l->n; i++) {
        if (vector_dot(h, l->hidden + (size_t)i * l->dim, l->dim) >= length * l->lengths[i]) {
            count_example(l, i);
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

void lessons_reply_begins(struct lessons *l)
{
    for (uint32_t i = 0; i < l->n_notes; i++) {
        l->notes[i].spoke = false;
    }
}

void lessons_reply_ends(struct lessons *l)
{
    for (uint32_t i = 0; i < l->n_notes; i++) {
        l->notes[i].used += l->notes[i].spoke;
        l->notes[i].spoke = false;
    }
}

void lessons_correct_clock(struct lessons *l, uint64_t clock, uint64_t now)
{
    for (uint32_t i = 0; i < l->n_notes; i++) {
        struct lessons_note *n = &l->notes[i];

        if (n->made < CIVIL_TIME_FIRST) {
            n->made = n->made <= clock ? now - (clock - n->made) : now;
        }
    }
}

bool lessons_have_taught(const struct lessons *l, const char *text, size_t bytes)
{
    for (uint32_t i = 0; i < l->n_notes; i++) {
        const struct lessons_note *n = &l->notes[i];

        if (n->kind == LESSON_TAUGHT && n->text_bytes == bytes &&
            memcmp(n->text, text, bytes) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- room ----------------------------------------------------------------------------------- */

static bool has_note(const struct lessons *l)
{
    return l->n_notes < l->room / LESSONS_NOTE_SHARE;
}

uint32_t lessons_most(const struct lessons *l)
{
    uint32_t taught = 0, rated = 0;

    for (uint32_t i = 0; i < l->n_notes; i++) {
        taught += l->notes[i].kind == LESSON_TAUGHT ? l->notes[i].n : 0;
        rated += l->notes[i].kind != LESSON_TAUGHT;
    }
    return rated != 0 || has_note(l) ? l->room - taught : 0;
}

uint32_t lessons_next_to_go(const struct lessons *l, uint32_t after)
{
    uint32_t next = l->n_notes;

    for (uint32_t i = 0; i < l->n_notes; i++) {
        bool went = after != UINT32_MAX &&
                    (l->notes[i].used < l->notes[after].used ||
                     (l->notes[i].used == l->notes[after].used && i <= after));

        if (l->notes[i].kind != LESSON_TAUGHT && !went &&
            (next == l->n_notes || l->notes[i].used < l->notes[next].used)) {
            next = i;
        }
    }
    return next;
}

uint32_t lessons_to_go(const struct lessons *l, uint32_t n)
{
    uint32_t free = l->room - l->n, go = 0, i = UINT32_MAX;
    bool note = has_note(l);

    while (free < n || !note) {
        i = lessons_next_to_go(l, i);
        assert(i < l->n_notes); /* n <= lessons_most() */
        free += l->notes[i].n;
        note = true;
        go++;
    }
    return go;
}

/* Drop n examples from example i on. */
static void drop_examples(struct lessons *l, uint32_t i, uint32_t n)
{
    uint32_t left = l->n - i - n;

    memmove(l->hidden + (size_t)i * l->dim, l->hidden + (size_t)(i + n) * l->dim,
            (size_t)left * l->dim * sizeof *l->hidden);
    memmove(l->lengths + i, l->lengths + i + n, left * sizeof *l->lengths);
    memmove(l->targets + i, l->targets + i + n, left * sizeof *l->targets);
    l->n -= n;
}

void lessons_drop(struct lessons *l, uint32_t i)
{
    drop_examples(l, i, 1);
    l->notes[l->n_notes - 1].n--;
}

static void drop_note(struct lessons *l, uint32_t note)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < note; i++) {
        first += l->notes[i].n;
    }
    drop_examples(l, first, l->notes[note].n);
    l->n_notes--;
    memmove(l->notes + note, l->notes + note + 1, (l->n_notes - note) * sizeof *l->notes);
}

void lessons_begin(struct lessons *l, uint32_t n, enum lesson_kind kind, const char *text,
                   size_t bytes, uint64_t now)
{
    struct lessons_note *note;

    for (uint32_t go = lessons_to_go(l, n); go != 0; go--) {
        drop_note(l, lessons_next_to_go(l, UINT32_MAX));
    }
    l->first = l->n;
    note = &l->notes[l->n_notes++];
    *note = (struct lessons_note){ .made = now, .kind = (uint8_t)kind };
    note->text_bytes = (uint8_t)utf8_whole_bytes(text, min_size(bytes, LESSONS_TEXT_BYTES));
    memcpy(note->text, text, note->text_bytes);
    learner_begin(&l->learner);
}

void lessons_add(struct lessons *l, uint32_t target)
{
    assert(l->n < l->room);
    memcpy(l->hidden + (size_t)l->n * l->dim, l->last, l->dim * sizeof *l->last);
    l->lengths[l->n] = sqrtf(vector_dot(l->last, l->last, l->dim));
    l->targets[l->n++] = target;
    l->notes[l->n_notes - 1].n++;
}

void lessons_clear(struct lessons *l)
{
    learner_clear(&l->learner);
    l->n = 0;
    l->first = 0;
    l->n_notes = 0;
    l->in_file = false;
}

bool lessons_undo(struct lessons *l)
{
    if (!learner_undo(&l->learner)) {
        return false;
    }
    l->n = l->first;
    l->n_notes--;
    return true;
}
