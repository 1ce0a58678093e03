/* Practice: the tokens of answers are made to win. The head of a model has many thousand rows, and few of them can win; so
 *
 *     look:    examples' logits by the whole head, some at a time; each keeps its strongest rivals, and those that lose are marked:
 *              first of what is new or has faded, in the end of all
 *     sweep:   marked examples against their rivals alone, a step at each that loses, until none does
 *
 * and again, until a look at all finds that all win. A sweep's results are near the head's logits; only a look is believed. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/chat/chat_private.h"
#include "runtime/console/console.h"
#include "runtime/features/fabric/chat_fabric_private.h"
#include "runtime/features/lessons/chat_learn_private.h"
#include "runtime/features/lessons/vector.h"

#define AIM (2.0f * CHAT_LEARN_MARGIN)   /* of a step, so that the next ones leave it the margin */
#define SURE (1.25f * CHAT_LEARN_MARGIN) /* of a sweep, whose logits are rounded otherwise */

enum { SWEEPS = 24 /* between two looks */ };

struct practice {
    struct chat *chat;
    enum fabric_name space;
    struct chat_lesson *lesson;
    uint32_t loses; /* of a look: examples that do not win by the margin, ... */
    uint32_t lost;  /* ... and those that do not win */
};

/* Notes of the namespace that are still strong, and have examples. */
static bool takes_part(const struct practice *p, const struct fabric_note *n)
{
    return n->space == p->space && n->strength >= FABRIC_STRONG && n->n_examples != 0;
}

static enum err ends(const struct practice *p)
{
    return !p->lesson->goes_on && console_aborted(p->chat->console) ? ERR_ABORTED : ERR_OK;
}

/* ---- a look --------------------------------------------------------------------------------- */

static void judge(struct practice *p, struct fabric_note *n, uint32_t i, const float *logits)
{
    struct chat *c = p->chat;
    struct fabric *f = &fabric_of(c)->fabric;
    struct micro_lora_choice choice;
    float lead;

    micro_lora_choose(&choice, &lessons_of(c)->lessons.head, logits,
                      c->session->model->image.header->params.vocab, f->targets[i]);
    lead = logits[f->targets[i]] - choice.best;
    for (uint32_t k = 0; k < FABRIC_RIVALS; k++) {
        f->rivals[i * FABRIC_RIVALS + k] = choice.ids[min_u32(k, choice.n - 2)];
    }
    if (!(lead > CHAT_LEARN_MARGIN)) {
        f->lost[i] = true;
        p->loses++;
    }
    if (!(lead > 0.0f)) {
        n->wins = false;
        p->lost++;
    }
}

/* Examples first .. end of a note, as many at a time as there is room for logits. */
static enum err look_at(struct practice *p, struct fabric_note *n, uint32_t first, uint32_t end)
{
    struct chat *c = p->chat;
    struct transformer *t = &c->session->model->transformer;
    uint32_t most = min_u32(c->session->model->plan.logits_rows, MODEL_LEARN_ROWS), rows;

    for (uint32_t i = first; i < end; i += rows) {
        const float *h = fabric_of(c)->fabric.hidden + (size_t)i * fabric_of(c)->fabric.dim;
        float *logits;
        enum err e;

        rows = min_u32(end - i, most);
        e = transformer_logits_of(t, h, rows, &logits);
        if (e != ERR_OK) {
            return e;
        }
        for (uint32_t k = 0; k < rows; k++) {
            judge(p, n, i + k, logits + k * t->act.logits_stride);
        }
    }
    return ends(p);
}

static enum err look_at_marked(struct practice *p, struct fabric_note *n)
{
    uint32_t end = n->first + n->n_examples, i = n->first;
    const uint8_t *lost = fabric_of(p->chat)->fabric.lost;
    enum err e = ERR_OK;

    while (i < end && e == ERR_OK) {
        uint32_t last = i;

        while (last < end && lost[last]) {
            last++;
        }
        e = look_at(p, n, i, last);
        i = last + 1;
    }
    return e;
}

/* Which examples a look is at: those of notes that may not win, all, or those that are marked. */
enum which { NEW, ALL, MARKED };

/* It won when it was practised last, and nothing has faded since. */
static bool is_known(const struct fabric_note *n)
{
    return n->wins && n->strength >= 1.0f;
}

static enum err look(struct practice *p, enum which which)
{
    struct fabric *f = &fabric_of(p->chat)->fabric;
    enum err e = ERR_OK;

    p->loses = p->lost = 0;
    for (uint32_t k = 0; k < f->n_notes && e == ERR_OK; k++) {
        struct fabric_note *n = &f->notes[k];

        if (!takes_part(p, n) || (which == NEW && is_known(n))) {
            continue;
        }
        fabric_ask_note(f, n);
        if (which == MARKED) {
            e = look_at_marked(p, n);
        } else {
            n->wins = true;
            e = look_at(p, n, n->first, n->first + n->n_examples);
        }
    }
    return e;
}

/* ---- a sweep -------------------------------------------------------------------------------- */

/* True: a step was needed. */
static bool step(struct practice *p, uint32_t i)
{
    struct chat *c = p->chat;
    struct fabric *f = &fabric_of(c)->fabric;
    const struct transformer *t = &c->session->model->transformer;
    const float *h = f->hidden + (size_t)i * f->dim;
    uint32_t ids[FABRIC_RIVALS + 1], best = 0;
    float logits[FABRIC_RIVALS + 1], *adapted = f->key;
    struct lessons *l = &lessons_of(c)->lessons;

    memcpy(ids, f->rivals + (size_t)i * FABRIC_RIVALS, FABRIC_RIVALS * sizeof *ids);
    ids[FABRIC_RIVALS] = f->targets[i];
    memcpy(adapted, h, f->dim * sizeof *h);
    fabric_adapt(f, adapted);
    transformer_logits_of_rows(t, adapted, ids, FABRIC_RIVALS + 1, l->row, logits);
    for (uint32_t k = 1; k < FABRIC_RIVALS; k++) {
        best = logits[k] > logits[best] ? k : best;
    }
    if (logits[FABRIC_RIVALS] > logits[best] + SURE) {
        return false;
    }
    chat_learn_make_margin(c, ids[best], logits[best], f->targets[i], logits[FABRIC_RIVALS]);
    p->lesson->steps += fabric_step(f, p->space, h, l->error,
                                    logits[best] + AIM - logits[FABRIC_RIVALS]);
    return true;
}

/* *steps: how many were needed. */
static enum err sweep(struct practice *p, uint32_t *steps)
{
    struct fabric *f = &fabric_of(p->chat)->fabric;

    *steps = 0;
    for (uint32_t k = 0; k < f->n_notes; k++) {
        const struct fabric_note *n = &f->notes[k];

        if (!takes_part(p, n)) {
            continue;
        }
        fabric_ask_note(f, n);
        for (uint32_t i = n->first; i < (uint32_t)n->first + n->n_examples; i++) {
            *steps += f->lost[i] && step(p, i);
        }
    }
    return ends(p);
}

/* ---- until all win -------------------------------------------------------------------------- */

/* The marked ones win; those that are not marked may have lost by it. */
static enum err practise_marked(struct practice *p)
{
    struct chat_lesson *lesson = p->lesson;
    enum err e = ERR_OK;

    do {
        uint32_t steps = 1;

        chat_learn_tell(p->chat, "rounds of practice", lesson->rounds, CHAT_LEARN_ROUNDS);
        lesson->rounds++;
        for (uint32_t i = 0; i < SWEEPS && steps != 0 && e == ERR_OK; i++) {
            e = sweep(p, &steps);
        }
        if (e == ERR_OK) {
            e = look(p, MARKED);
        }
    } while (e == ERR_OK && p->loses != 0 && lesson->rounds < CHAT_LEARN_ROUNDS);
    return e;
}

static enum err practise(struct practice *p)
{
    struct chat_lesson *lesson = p->lesson;
    enum err e;

    memset(fabric_of(p->chat)->fabric.lost, 0, fabric_of(p->chat)->fabric.room.examples);
    e = look(p, NEW);
    if (e == ERR_OK && p->loses != 0) {
        e = practise_marked(p);
    }
    while (e == ERR_OK) {
        e = look(p, ALL);
        lesson->wins = e == ERR_OK && p->loses == 0;
        lesson->lost = p->lost;
        if (e != ERR_OK || lesson->wins || lesson->rounds >= CHAT_LEARN_ROUNDS) {
            return e;
        }
        e = practise_marked(p);
    }
    return e;
}

enum err chat_fabric_learn(struct chat *c, enum fabric_name space, struct chat_lesson *lesson)
{
    struct fabric *f = &fabric_of(c)->fabric;
    struct practice p = { .chat = c, .space = space, .lesson = lesson };
    enum err e;

    lesson->apart = fabric_make_gates(f);
    lesson->rounds = 0;
    f->practised = (uint32_t)space;
    e = practise(&p);
    f->practised = FABRIC_SPACES;
    console_progress_end(c->console);
    fabric_leave(f);
    for (uint32_t i = 0; i < f->n_notes; i++) {
        struct fabric_note *n = &f->notes[i];

        if (takes_part(&p, n)) {
            lesson->examples += n->n_examples;
            n->wins = n->wins && e == ERR_OK; /* what no look has seen is found by its words */
            n->strength = n->wins ? 1.0f : n->strength;
        }
    }
    return e;
}
