/* Practice makes the tokens of answers win. The head of a model has many thousand rows, of which
 * only few can win. Practice therefore repeats two steps:
 *
 *     look:    find the examples that lose, first in new or faded notes, at the end in all notes
 *     sweep:   compare these examples with their strongest rivals only, and take a step for each
 *              that loses, until none loses
 *
 * Practice ends when a look at all examples finds that all win. An example that was compared with
 * all rows of the head keeps its rivals, the ceiling of all other logits, and the head's input, h0.
 * For a later input h, no other logit is above
 *
 *     ceiling + |h - h0| |the longest row|
 *
 * (Cauchy-Schwarz). While the target is above this bound, only the rivals are computed; otherwise
 * the whole head is computed, for some examples at a time. Other rows hardly ever reach the bound,
 * so all looks except the last use a lower bound: a quarter of the second term, or a twentieth of
 * it after a sweep. The last look finds what the earlier looks miss.
 *
 * Memories that are nearly equal compete for their tokens for many rounds. Therefore practice has a
 * budget of half a second on a PC's core. The budget is counted in multiplications of the head, so
 * that every board stops at the same step. */
#include <math.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/chat/chat_private.h"
#include "runtime/console/console.h"
#include "runtime/features/fabric/chat_fabric_private.h"
#include "runtime/features/lessons/chat_learn_private.h"
#include "runtime/features/lessons/vector.h"

#define AIM \
    (2.0f * CHAT_LEARN_MARGIN) /* the margin after a step: the next steps take away some
                                          * of it */
#define LIKELY 0.25f           /* fraction of the bound's second term in a look */
#define SELDOM 0.05f           /* the same fraction after a sweep */
#define SURE \
    (1.25f * CHAT_LEARN_MARGIN) /* margin of a sure win, because logits of few rows are rounded
                                          * differently */

enum {
    SWEEPS = 24,   /* sweeps between two looks */
    STRONGEST = 8, /* rivals in a sweep */
    TOGETHER = 4,  /* every 4 notes add the budget of one note */
    SWEEP = 16,    /* one multiplication by a plain loop costs as much as 16 of the head's kernel */
};
/* An example that perhaps does not win. */
struct doubt {
    struct fabric_note *note;
    uint32_t example;
};

struct practice {
    struct chat *chat;
    enum fabric_name space;
    struct chat_lesson *lesson;
    uint32_t loses;      /* number of examples in a look that do not win by the margin */
    uint32_t lost;       /* number of examples in a look that do not win at all */
    float reach;         /* the fraction of the bound's second term that a look counts */
    uint64_t work, most; /* multiplications so far, and their limit, or 0 for none */
    uint32_t n_doubts;
    struct doubt doubts[MODEL_LEARN_ROWS];
};

/* Return true for notes of the namespace that are still strong and have examples. */
static bool takes_part(const struct practice *p, const struct fabric_note *n)
{
    return n->space == p->space && n->strength >= FABRIC_STRONG && n->n_examples != 0;
}

static uint64_t head_work(const struct practice *p)
{
    return (uint64_t)p->chat->session->model->image.header->params.vocab *
           fabric_of(p->chat)->fabric.dim;
}

/* Return ERR_ABORTED if the person has stopped the practice or the budget is spent. */
static enum err ends(struct practice *p)
{
    p->lesson->takes_long = p->most != 0 && p->work > p->most;
    return p->lesson->takes_long || console_aborted(p->chat->console) ? ERR_ABORTED : ERR_OK;
}

/* ---- a look --------------------------------------------------------------------------------- */

/* Judge an example with the whole head. `adapted` is the head's input. */
static void judge(struct practice *p, const struct doubt *d, const float *adapted,
                  const float *logits)
{
    struct chat *c = p->chat;
    struct fabric *f = &fabric_of(c)->fabric;
    uint32_t i = d->example;
    struct micro_lora_choice choice;
    float lead;

    micro_lora_choose(&choice, &lessons_of(c)->lessons.head, logits,
                      c->session->model->image.header->params.vocab, f->targets[i]);
    lead = logits[f->targets[i]] - choice.best;
    for (uint32_t k = 0; k < FABRIC_RIVALS; k++) {
        f->rivals[i * FABRIC_RIVALS + k] = choice.ids[min_u32(k, choice.n - 2)];
    }
    f->ceiling[i] = transformer_is_plain(&c->session->model->transformer)
                        ? choice.logits[choice.n - 2]
                        : INFINITY;
    memcpy(f->taken + (size_t)i * f->dim, adapted, f->dim * sizeof *adapted);
    if (!(lead > CHAT_LEARN_MARGIN)) {
        f->lost[i] = true;
        p->loses++;
    }
    if (!(lead > 0.0f)) {
        d->note->wins = false;
        p->lost++;
    }
}

/* Set f->key to the head's current input for example i. */
static void adapt(struct practice *p, uint32_t i)
{
    struct fabric *f = &fabric_of(p->chat)->fabric;

    memcpy(f->key, f->hidden + (size_t)i * f->dim, f->dim * sizeof *f->key);
    transformer_adapt(&p->chat->session->model->transformer, f->key);
}

/* Compute the logits of the first n rivals of example i, then its target. f->key is the input. */
static void compute_rivals(struct practice *p, uint32_t i, uint32_t n, float *logits)
{
    struct fabric *f = &fabric_of(p->chat)->fabric;
    const struct transformer *t = &p->chat->session->model->transformer;
    float *row = lessons_of(p->chat)->lessons.row;

    transformer_logits_of_rows(t, f->key, f->rivals + (size_t)i * FABRIC_RIVALS, n, row, logits);
    transformer_logits_of_rows(t, f->key, f->targets + i, 1, row, logits + n);
}

/* Return true if the example's rivals show that it wins. Otherwise the whole head must decide. */
static bool surely_wins(struct practice *p, uint32_t i)
{
    struct fabric *f = &fabric_of(p->chat)->fabric;
    struct lessons *l = &lessons_of(p->chat)->lessons;
    float logits[FABRIC_RIVALS + 1], drift, most;

    if (!transformer_is_plain(&p->chat->session->model->transformer) || isinf(f->ceiling[i])) {
        return false;
    }
    compute_rivals(p, i, FABRIC_RIVALS, logits);
    memcpy(l->error, f->key, f->dim * sizeof *f->key);
    vector_add(l->error, f->taken + (size_t)i * f->dim, -1.0f, f->dim);
    drift = sqrtf(vector_dot(l->error, l->error, f->dim));
    most = f->ceiling[i] + p->reach * fabsf(l->head.scale) * f->longest_row * drift;
    for (uint32_t k = 0; k < FABRIC_RIVALS; k++) {
        most = logits[k] > most ? logits[k] : most;
    }
    return logits[FABRIC_RIVALS] - most > SURE;
}

/* Check all doubtful examples in one pass over the head. Their inputs lie in f->gradient, which is
 * free because no step is taken now. */
static enum err settle(struct practice *p)
{
    struct transformer *t = &p->chat->session->model->transformer;
    const struct fabric *f = &fabric_of(p->chat)->fabric;
    uint32_t n = p->n_doubts;
    float *logits;
    enum err e = n != 0 ? transformer_logits_of_adapted(t, f->gradient, n, &logits) : ERR_OK;

    for (uint32_t k = 0; k < n && e == ERR_OK; k++) {
        /* an example's first check is free, because after a load all examples need one */
        p->work += isinf(f->ceiling[p->doubts[k].example]) ? 0 : head_work(p);
        judge(p, &p->doubts[k], f->gradient + (size_t)k * f->dim,
              logits + k * t->act.logits_stride);
    }
    p->n_doubts = 0;
    return e == ERR_OK ? ends(p) : e;
}

/* Look at a note's examples from `first` up to `end`, as many at a time as their logits fit. */
static enum err look_at(struct practice *p, struct fabric_note *n, uint32_t first, uint32_t end)
{
    uint32_t most = min_u32(p->chat->session->model->plan.logits_rows, MODEL_LEARN_ROWS);
    struct fabric *f = &fabric_of(p->chat)->fabric;
    enum err e = ERR_OK;

    for (uint32_t i = first; i < end && e == ERR_OK; i++) {
        adapt(p, i);
        if (surely_wins(p, i)) {
            continue;
        }
        memcpy(f->gradient + (size_t)p->n_doubts * f->dim, f->key, f->dim * sizeof *f->key);
        p->doubts[p->n_doubts++] = (struct doubt){ n, i };
        e = p->n_doubts == most ? settle(p) : ERR_OK;
    }
    return e;
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

/* A look sees the examples of notes that may lose, all examples, or the marked ones. */
enum which { NEW, ALL, MARKED };

/* Return true if the note won in its last practice and nothing has faded since. */
static bool is_known(const struct fabric_note *n)
{
    return n->wins && n->strength >= 1.0f;
}

static enum err look(struct practice *p, enum which which, float reach)
{
    struct fabric *f = &fabric_of(p->chat)->fabric;
    enum err e = ERR_OK;

    p->loses = p->lost = 0;
    p->n_doubts = 0;
    p->reach = reach;
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
    return e == ERR_OK ? settle(p) : e;
}

/* ---- a sweep -------------------------------------------------------------------------------- */

/* Take a step if the example needs one. Returns true if a step was taken. */
static bool step(struct practice *p, uint32_t i)
{
    struct chat *c = p->chat;
    struct fabric *f = &fabric_of(c)->fabric;
    const uint32_t *ids = f->rivals + (size_t)i * FABRIC_RIVALS;
    float logits[STRONGEST + 1];
    uint32_t best = 0;

    adapt(p, i);
    compute_rivals(p, i, STRONGEST, logits);
    p->work += (uint64_t)SWEEP * (STRONGEST + 1 + 2 * f->spaces[p->space].lora.rank) * f->dim;
    for (uint32_t k = 1; k < STRONGEST; k++) {
        best = logits[k] > logits[best] ? k : best;
    }
    if (logits[STRONGEST] > logits[best] + SURE) {
        return false;
    }
    chat_learn_make_margin(c, ids[best], logits[best], f->targets[i], logits[STRONGEST]);
    p->lesson->steps += fabric_step(f, p->space, f->hidden + (size_t)i * f->dim,
                                    lessons_of(c)->lessons.error,
                                    logits[best] + AIM - logits[STRONGEST]);
    return true;
}

/* Sweep once over the examples. *steps becomes the number of steps taken. */
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

/* Practise until the marked examples win; unmarked examples may then lose. */
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
            e = look(p, MARKED, SELDOM);
        }
    } while (e == ERR_OK && p->loses != 0 && lesson->rounds < CHAT_LEARN_ROUNDS);
    return e;
}

/* Measure the head's longest row, once. */
static void measure_head(struct chat *c)
{
    struct fabric *f = &fabric_of(c)->fabric;
    float *row = lessons_of(c)->lessons.row, most = 0.0f;

    for (uint32_t id = 0;
         f->longest_row == 0.0f && id < c->session->model->image.header->params.vocab; id++) {
        float square;

        transformer_head_row(&c->session->model->transformer, id, row);
        square = vector_dot(row, row, f->dim);
        most = square > most ? square : most;
    }
    f->longest_row = f->longest_row == 0.0f ? sqrtf(most) : f->longest_row;
}

static enum err practise(struct practice *p)
{
    struct chat_lesson *lesson = p->lesson;
    enum err e;

    measure_head(p->chat);
    memset(fabric_of(p->chat)->fabric.lost, 0, fabric_of(p->chat)->fabric.room.examples);
    e = look(p, NEW, LIKELY);
    if (e == ERR_OK && p->loses != 0) {
        e = practise_marked(p);
    }
    while (e == ERR_OK) {
        e = look(p, ALL, LIKELY);
        if (e == ERR_OK && p->loses == 0) {
            e = look(p, ALL, 1.0f);
        }
        lesson->wins = e == ERR_OK && p->loses == 0;
        lesson->lost = p->lost;
        if (e != ERR_OK || lesson->wins || lesson->rounds >= CHAT_LEARN_ROUNDS) {
            return e;
        }
        e = practise_marked(p);
    }
    return e;
}

/* Return the budget for `notes` notes whose longest answer has `tokens` tokens. */
static uint64_t budget(const struct practice *p, uint32_t notes, uint32_t tokens)
{
    uint64_t of_head = tokens * fabric_of(p->chat)->budget_heads * head_work(p);

    return notes * max_u64(of_head, fabric_of(p->chat)->budget);
}

/* Copy the results of the looks to the notes. */
static void note_wins(struct practice *p, bool looked)
{
    struct fabric *f = &fabric_of(p->chat)->fabric;

    for (uint32_t i = 0; i < f->n_notes; i++) {
        struct fabric_note *n = &f->notes[i];

        if (takes_part(p, n)) {
            p->lesson->examples += n->n_examples;
            n->wins = n->wins && looked; /* a note that no look has seen is found by its words */
            n->strength = n->wins ? 1.0f : n->strength;
        }
    }
}

/* Make the gates, then practise within the budget p->most. */
static enum err learn(struct practice *p)
{
    struct fabric *f = &fabric_of(p->chat)->fabric;
    enum err e;

    p->lesson->apart = fabric_make_gates(f);
    p->lesson->rounds = 0;
    f->practised = (uint32_t)p->space;
    e = practise(p);
    return p->lesson->takes_long ? ERR_OK : e;
}

static void leave(struct practice *p)
{
    fabric_of(p->chat)->fabric.practised = FABRIC_SPACES;
    console_progress_end(p->chat->console);
    fabric_leave(&fabric_of(p->chat)->fabric);
}

enum err chat_fabric_learn(struct chat *c, enum fabric_name space, struct chat_lesson *lesson)
{
    struct fabric *f = &fabric_of(c)->fabric;
    struct practice p = { .chat = c, .space = space, .lesson = lesson };
    uint32_t notes = 0, longest = 0;
    enum err e;

    for (uint32_t i = 0; i < f->n_notes; i++) {
        if (takes_part(&p, &f->notes[i])) {
            notes++;
            longest = max_u32(longest, f->notes[i].n_examples);
        }
    }
    p.most = budget(&p, 1 + notes / TOGETHER, longest);
    e = learn(&p);
    if (e == ERR_OK && lesson->takes_long) { /* find out which notes win anyway */
        p.most = 0;
        e = look(&p, ALL, 1.0f);
        lesson->lost = p.lost;
        lesson->takes_long = true;
    }
    leave(&p);
    note_wins(&p, e == ERR_OK);
    return e;
}

enum err chat_fabric_learn_latest(struct chat *c, struct chat_lesson *lesson)
{
    struct fabric *f = &fabric_of(c)->fabric;
    const struct fabric_note *latest = &f->notes[f->n_notes - 1];
    struct practice p = { .chat = c, .space = (enum fabric_name)latest->space, .lesson = lesson };
    enum err e;

    fabric_keep(f, p.space);
    p.most = budget(&p, 1, latest->n_examples);
    e = learn(&p);
    leave(&p);
    if (e == ERR_OK && !lesson->takes_long) {
        note_wins(&p, true);
        return ERR_OK;
    }
    fabric_put_back(f, p.space);
    fabric_drop_examples(f, f->n_notes - 1);
    lesson->by_words = lesson->takes_long;
    return e;
}

bool chat_fabric_wins(struct chat *c, struct fabric_note *n)
{
    struct fabric *f = &fabric_of(c)->fabric;
    struct chat_lesson lesson = { 0 };
    struct practice p = {
        .chat = c, .space = (enum fabric_name)n->space, .lesson = &lesson, .reach = 1.0f
    };
    enum err e;

    if (!n->wins || n->strength >= 1.0f) {
        return n->wins;
    }
    measure_head(c);
    fabric_ask_note(f, n);
    f->practised = (uint32_t)p.space;
    e = look_at(&p, n, n->first, n->first + n->n_examples);
    e = e == ERR_OK ? settle(&p) : e;
    f->practised = FABRIC_SPACES;
    fabric_leave(f);
    return e == ERR_OK && n->wins;
}
