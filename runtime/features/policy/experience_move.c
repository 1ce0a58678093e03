/* Converts experience to bytes and back, so that it survives a restart. */
#include "runtime/features/policy/experience.h"
#include "runtime/features/lessons/vector.h"

#define MOST_WEIGHT 100.0f

struct counts {
    struct experience_totals totals;
    uint32_t n_turns, next, n_patterns;
};

uint64_t experience_move_bytes(const struct experience *e, uint32_t n_patterns)
{
    return sizeof(struct counts) + sizeof(struct policy_weights) +
           EXPERIENCE_TURNS * sizeof(struct trajectory) +
           n_patterns * (e->patterns.dim * sizeof(float) + sizeof(struct pattern));
}

static enum err move_counts(struct experience *e, bool loads, experience_move_fn *move,
                            void *context)
{
    struct counts c = { e->totals, e->n, e->next, e->patterns.n };
    enum err error = move(context, &c, sizeof c);

    if (error != ERR_OK || !loads) {
        return error;
    }
    if (c.n_turns > EXPERIENCE_TURNS || c.next >= EXPERIENCE_TURNS ||
        c.n_patterns > PATTERNS_MOST) {
        return ERR_BAD_MODEL;
    }
    e->totals = c.totals;
    e->n = c.n_turns;
    e->next = c.next;
    e->patterns.n = c.n_patterns;
    experience_forget(e);
    return ERR_OK;
}

enum err experience_move(struct experience *e, bool loads, experience_move_fn *move, void *context)
{
    struct patterns *p = &e->patterns;
    enum err error = move_counts(e, loads, move, context);
    const struct {
        void *memory;
        size_t bytes;
    } parts[] = { { &e->policy.weights, sizeof e->policy.weights },
                  { e->turns, EXPERIENCE_TURNS * sizeof *e->turns },
                  { p->keys, (size_t)p->n * p->dim * sizeof *p->keys },
                  { p->list, p->n * sizeof *p->list } };

    for (size_t i = 0; error == ERR_OK && i < sizeof parts / sizeof parts[0]; i++) {
        error = move(context, parts[i].memory, parts[i].bytes);
    }
    return error;
}

static bool is_share(float x)
{
    return x >= 0.0f && x <= 1.0f;
}

static bool turns_are_sound(const struct experience *e)
{
    for (uint32_t i = 0; i < e->n; i++) {
        const struct trajectory *t = &e->turns[i];

        for (int k = 0; k < POLICY_HEADS; k++) {
            if (t->choice[k] >= policy_choices((enum policy_head)k)) {
                return false;
            }
        }
        if (!is_share(t->quality) || !vector_is_finite(t->inputs, POLICY_INPUTS) ||
            !vector_is_finite(t->hidden, POLICY_HIDDEN)) {
            return false;
        }
    }
    return true;
}

static bool patterns_are_sound(const struct patterns *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const float *key = p->keys + (size_t)i * p->dim;
        float square = vector_dot(key, key, p->dim);

        if (!(square > 0.99f && square < 1.01f) || !is_share(p->list[i].quality) ||
            p->list[i].merged == 0) {
            return false;
        }
    }
    return true;
}

bool experience_is_sound(const struct experience *e)
{
    const float *w = (const float *)&e->policy.weights;

    for (size_t i = 0; i < sizeof e->policy.weights / sizeof *w; i++) {
        if (!(w[i] >= -MOST_WEIGHT && w[i] <= MOST_WEIGHT)) {
            return false;
        }
    }
    return turns_are_sound(e) && patterns_are_sound(&e->patterns) &&
           vector_is_finite(&e->totals.quality, 1) && is_share(e->totals.last);
}
