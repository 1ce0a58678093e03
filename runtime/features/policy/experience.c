#include "runtime/features/policy/experience.h"

#include <string.h>

#include "runtime/features/lessons/vector.h"

#define RATE 0.05f
#define LONG_QUESTION 128.0f /* tokens */
#define MANY_TURNS 16.0f

enum { ALIGN_FLOATS = 16, SEED = 1 };

static size_t padded(size_t floats)
{
    return (floats + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
}

size_t experience_bytes(uint32_t dim)
{
    return 2 * padded(dim) * sizeof(float) + EXPERIENCE_TURNS * sizeof(struct trajectory) +
           patterns_bytes(dim, PATTERNS_MOST);
}

void experience_open(struct experience *e, void *memory, uint32_t dim)
{
    float *f = memory;

    memset(e, 0, sizeof *e);
    e->sum = f;
    e->key = f + padded(dim);
    e->turns = (void *)(e->key + padded(dim));
    patterns_open(&e->patterns, e->turns + EXPERIENCE_TURNS, dim, PATTERNS_MOST);
    experience_clear(e);
}

void experience_clear(struct experience *e)
{
    e->patterns.n = 0;
    policy_open(&e->policy, SEED);
    memset(&e->totals, 0, sizeof e->totals);
    e->n = 0;
    e->next = 0;
    experience_forget(e);
    experience_watch(e, 0);
}

void experience_begin(struct experience *e)
{
    experience_settle(e);
    policy_begin(&e->policy);
}

/* ---- a question ----------------------------------------------------------------------------- */

void experience_watch(struct experience *e, uint32_t from)
{
    memset(e->sum, 0, e->patterns.dim * sizeof *e->sum);
    e->n_seen = 0;
    e->from = from;
}

void experience_see(struct experience *e, uint32_t position, const float *hidden)
{
    if (position >= e->from) {
        vector_add(e->sum, hidden, 1.0f, e->patterns.dim);
        e->n_seen++;
    }
}

static float at_most_1(float x)
{
    return x < 1.0f ? x : 1.0f;
}

/* Look up the results of similar questions, weighted by their cosine. */
static void look_up(struct experience *e)
{
    struct pattern_found found[PATTERNS_BEST];
    uint32_t n = patterns_find(&e->patterns, e->key, found);
    float weight = 0.0f, sum = 0.0f;

    for (uint32_t i = 0; i < n && found[i].cosine > 0.0f; i++) {
        /* A nearer question counts more. */
        weight += found[i].cosine;
        sum += found[i].cosine * e->patterns.list[found[i].index].quality;
    }
    e->near = n != 0 && found[0].cosine > 0.0f ? found[0].cosine : 0.0f;
    /* Without a similar question, assume a medium quality. */
    e->went = weight > 0.0f ? sum / weight : 0.5f;
}

static float share_of_digits(const struct experience_question *q)
{
    uint32_t n = 0;

    for (size_t i = 0; i < q->bytes; i++) {
        n += q->text[i] >= '0' && q->text[i] <= '9';
    }
    return q->bytes != 0 ? (float)n / (float)q->bytes : 0.0f;
}

static void set_inputs(const struct experience *e, const struct experience_question *q,
                       struct policy_state *s)
{
    float *x = s->inputs;

    /* Each input is between 0 and 1. */
    x[0] = at_most_1((float)q->tokens / LONG_QUESTION);
    x[1] = at_most_1(4.0f * share_of_digits(q));
    x[2] = q->bytes != 0 && q->text[q->bytes - 1] == '?' ? 1.0f : 0.0f;
    x[3] = at_most_1((float)q->turns / MANY_TURNS);
    x[4] = q->pressure;
    x[5] = e->near;
    x[6] = e->went;
    x[7] = e->totals.turns != 0 ? e->totals.last : 0.5f;
    s->pressure = q->pressure;
    s->throughput = q->throughput;
}

void experience_choose(struct experience *e, const struct experience_question *q,
                       struct policy_choice *choice)
{
    struct policy_state state;

    /* First learn from the previous turn, which is over. */
    experience_settle(e);
    memcpy(e->key, e->sum, e->patterns.dim * sizeof *e->key);
    /* A question without hidden states is similar to no other. */
    if (!vector_normalize(e->key, e->patterns.dim)) {
        memset(e->key, 0, e->patterns.dim * sizeof *e->key);
    }
    look_up(e);
    set_inputs(e, q, &state);
    /* The inputs and the state of the choice are kept until the result is known. */
    memcpy(e->open.inputs, state.inputs, sizeof e->open.inputs);
    memcpy(e->open.hidden, e->policy.hidden, sizeof e->open.hidden);
    policy_choose(&e->policy, &state, choice);
    experience_took(e, choice->choice);
    e->is_open = true;
}

void experience_took(struct experience *e, const uint8_t choice[POLICY_HEADS])
{
    memcpy(e->open.choice, choice, sizeof e->open.choice);
}

/* ---- the result ----------------------------------------------------------------------------- */

void experience_ended(struct experience *e, bool by_itself, bool repeated)
{
    e->signs.stopped = by_itself;
    e->signs.repeated = repeated;
    e->ended = true;
}

void experience_forget(struct experience *e)
{
    e->is_open = false;
    e->ended = false;
    memset(&e->signs, 0, sizeof e->signs);
}

static bool can_rate(const struct experience *e)
{
    return e->is_open && e->ended;
}

bool experience_rate(struct experience *e, bool good)
{
    if (can_rate(e)) {
        e->signs.good = good; /* the latest rating counts */
        e->signs.bad = !good;
    }
    return can_rate(e);
}

bool experience_undone(struct experience *e)
{
    e->signs.undone = e->signs.undone || can_rate(e);
    return can_rate(e);
}

/* Practise every kept turn, including the newest, so that one turn does not undo what many have
 * shown. */
static void practise(struct experience *e)
{
    for (uint32_t i = 0; i < e->n; i++) {
        if (policy_learn(&e->policy, &e->turns[i], RATE)) {
            e->totals.steps++;
        } else {
            e->totals.thrown++;
        }
    }
}

void experience_settle(struct experience *e)
{
    /* A turn without a result teaches nothing. */
    if (!can_rate(e)) {
        experience_forget(e);
        return;
    }
    e->open.quality = turn_quality(&e->signs);
    (void)patterns_add(&e->patterns, e->key, e->open.quality);
    /* If the list is full, this turn replaces the oldest. */
    e->turns[e->next] = e->open;
    e->next = (e->next + 1) % EXPERIENCE_TURNS;
    e->n += e->n < EXPERIENCE_TURNS;
    e->totals.turns++;
    e->totals.good += e->signs.good;
    e->totals.bad += e->signs.bad;
    e->totals.undone += e->signs.undone;
    e->totals.quality += e->open.quality;
    e->totals.last = e->open.quality;
    experience_forget(e);
    practise(e);
}
