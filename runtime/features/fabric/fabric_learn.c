/* A fabric learns gates from its notes' questions, and adapters from the true gradient. */
#include <string.h>

#include "runtime/features/fabric/fabric.h"
#include "runtime/features/lessons/vector.h"

enum { GATE_ROUNDS = 400 };
#define OPEN_MARGIN 4.0f    /* least w x + b for the gate's own notes, where g is .98 */
#define SHUT_MARGIN (-6.0f) /* most w x + b for all others, where g is .0025, which is shut */
#define BIAS \
    (-20.0f) /* makes gates steep: a gate is open only near its notes, and shut at a cosine of
              * .6 */
#define GATE_RATE 1.5f /* a step is this times the missing margin, so a few rounds are enough */
#define LONGEST 50.0f  /* limit of the weights' norm */

/* ---- gates ---------------------------------------------------------------------------------- */

/* Return the direction of mean i. Notes come first, then the background. */
static const float *key_of(struct fabric *f, uint32_t i)
{
    const float *mean = i < f->n_notes ? f->keys + (size_t)i * f->dim
                                       : f->background + (size_t)(i - f->n_notes) * f->dim;

    memcpy(f->key, mean, f->dim * sizeof *mean);
    vector_add(f->key, f->centre, -1.0f, f->dim);
    (void)vector_normalize(f->key, f->dim);
    return f->key;
}

/* Run one pass over all means. Take a step for each mean on the wrong side of its margin. */
static bool go_round(struct fabric *f, enum fabric_name space)
{
    struct fabric_space *s = &f->spaces[space];
    bool good = true;

    for (uint32_t i = 0; i < f->n_notes + f->n_background; i++) {
        bool own = i < f->n_notes && f->notes[i].space == space;
        const float *key = key_of(f, i);
        float z = vector_dot(s->gate, key, f->dim) + s->bias;
        float miss = own ? OPEN_MARGIN - z : SHUT_MARGIN - z;

        if (own ? miss > 0.0f : miss < 0.0f) {
            good = false;
            vector_add(s->gate, key, GATE_RATE * miss, f->dim);
        }
    }
    return good;
}

bool fabric_make_gates(struct fabric *f)
{
    bool all = true;

    for (int i = 0; i < FABRIC_SPACES; i++) {
        struct fabric_space *s = &f->spaces[i];
        bool good = s->notes == 0;

        memset(s->gate, 0, f->dim * sizeof *s->gate);
        s->bias = BIAS;
        for (uint32_t round = 0; round < GATE_ROUNDS && !good; round++) {
            good = go_round(f, (enum fabric_name)i);
        }
        all = all && good;
    }
    return all;
}

/* ---- adapters ------------------------------------------------------------------------------- */

void fabric_keep(struct fabric *f, enum fabric_name space)
{
    const struct micro_lora *m = &f->spaces[space].lora;

    memcpy(f->kept, m->weights, micro_lora_floats(f->dim, m->rank) * sizeof(float));
    for (uint32_t i = 0; i < f->n_notes; i++) {
        f->kept_strength[i] = f->notes[i].strength;
        f->kept_wins[i] = f->notes[i].wins;
    }
}

void fabric_put_back(struct fabric *f, enum fabric_name space)
{
    struct micro_lora *m = &f->spaces[space].lora;

    memcpy(m->weights, f->kept, micro_lora_floats(f->dim, m->rank) * sizeof(float));
    for (uint32_t i = 0; i < f->n_notes; i++) {
        if (f->notes[i].space == space) {
            f->notes[i].strength = f->kept_strength[i];
            f->notes[i].wins = f->kept_wins[i];
        }
    }
}

bool fabric_step(struct fabric *f, enum fabric_name space, const float *h, const float *e,
                 float missing)
{
    struct fabric_space *s = &f->spaces[space];
    struct micro_lora gated = s->lora;
    size_t n = micro_lora_floats(f->dim, gated.rank);
    float square;

    gated.scale *= s->open;
    micro_lora_gradient(&gated, h, e, f->gradient);
    square = vector_dot(f->gradient, f->gradient, n);
    if (!(square > 0.0f)) {
        return false;
    }
    memcpy(f->before, s->lora.weights, n * sizeof(float));
    vector_add(s->lora.weights, f->gradient, -missing / square, n);
    square = vector_dot(s->lora.weights, s->lora.weights, n);
    if (!vector_is_finite(s->lora.weights, n) || !(square <= LONGEST * LONGEST)) {
        memcpy(s->lora.weights, f->before, n * sizeof(float));
        f->thrown++;
        return false;
    }
    return true;
}
