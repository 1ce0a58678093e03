#include "runtime/features/policy/policy.h"

#include <string.h>

#include "kernels/ref/scalar.h"
#include "runtime/features/lessons/vector.h"

enum { N_WEIGHTS = sizeof(struct policy_weights) / sizeof(float) };

#define SURE 0.7f
#define MOST_WEIGHT 100.0f

/* Intermediate results of a step, for the gradient. */
struct step {
    float z[POLICY_HIDDEN], c[POLICY_HIDDEN], next[POLICY_HIDDEN];
    float zeta, nu;
    float p[POLICY_HEADS][POLICY_CHOICES];
};

uint8_t policy_choices(enum policy_head head)
{
    return head == POLICY_DRAFT || head == POLICY_THOUGHTS ? 2 : 3;
}

/* Heads begin without a preference. */
void policy_open(struct policy *p, unsigned seed)
{
    struct policy_weights *w = &p->weights;

    memset(p, 0, sizeof *p);
    /* The same seed gives the same policy on every board. */
    vector_random(&w->w[0][0], POLICY_HIDDEN * POLICY_INPUTS, 0.3f, &seed);
    vector_random(&w->u[0][0], POLICY_HIDDEN * POLICY_HIDDEN, 0.2f, &seed);
    /* These numbers go through sigmoids. At first the gate decides how far the state changes. */
    w->zeta = 1.0f;
    w->nu = -4.0f;
}

void policy_begin(struct policy *p)
{
    memset(p->hidden, 0, sizeof p->hidden);
}

static void softmax(float *p, uint8_t n)
{
    float most = p[0], sum = 0.0f;

    /* Subtract the largest value, so that no exponent overflows. */
    for (uint8_t i = 1; i < n; i++) {
        most = p[i] > most ? p[i] : most;
    }
    for (uint8_t i = 0; i < n; i++) {
        p[i] = exp_f32(p[i] - most);
        sum += p[i];
    }
    for (uint8_t i = 0; i < n; i++) {
        p[i] /= sum;
    }
}

static void run(const struct policy_weights *w, const float *x, const float *h, struct step *s)
{
    s->zeta = sigmoid_f32(w->zeta);
    s->nu = sigmoid_f32(w->nu);
    for (int i = 0; i < POLICY_HIDDEN; i++) {
        /* FastGRNN: gate and candidate share one product. */
        float sum = vector_dot(w->w[i], x, POLICY_INPUTS) + vector_dot(w->u[i], h, POLICY_HIDDEN);

        s->z[i] = sigmoid_f32(sum + w->bz[i]);
        s->c[i] = tanh_f32(sum + w->bh[i]);
        /* zeta and nu weight the new state against the old one. */
        s->next[i] = (s->zeta * (1.0f - s->z[i]) + s->nu) * s->c[i] + s->z[i] * h[i];
    }
    for (int k = 0; k < POLICY_HEADS; k++) {
        uint8_t n = policy_choices((enum policy_head)k);

        for (uint8_t i = 0; i < n; i++) {
            s->p[k][i] = vector_dot(w->v[k][i], s->next, POLICY_HIDDEN) + w->vb[k][i];
        }
        softmax(s->p[k], n);
    }
}

void policy_choose(struct policy *p, const struct policy_state *state, struct policy_choice *choice)
{
    struct step s;

    run(&p->weights, state->inputs, p->hidden, &s);
    memcpy(p->hidden, s.next, sizeof p->hidden);
    for (int k = 0; k < POLICY_HEADS; k++) {
        uint8_t best = 0;

        for (uint8_t i = 1; i < policy_choices((enum policy_head)k); i++) {
            best = s.p[k][i] > s.p[k][best] ? i : best;
        }
        /* If a head is not sure, the default is chosen. */
        choice->sure[k] = s.p[k][best];
        choice->choice[k] = s.p[k][best] >= SURE ? best : 0;
        choice->own[k] = choice->choice[k];
    }
    /* Two rules override the heads, one for scarce memory and one for a slow reply. */
    if (state->pressure > POLICY_PRESSURE) {
        choice->choice[POLICY_CONTEXT] = POLICY_SMALLEST_CONTEXT;
        choice->sure[POLICY_CONTEXT] = 1.0f;
    }
    if (state->throughput > 0.0f && state->throughput < 0.5f) {
        choice->choice[POLICY_DRAFT] = 1;
        choice->sure[POLICY_DRAFT] = 1.0f;
    }
}

/* Return -ln p to about 1e-6, for display, from the exponent's bits and artanh of the rest. */
static float minus_log(float p)
{
    uint32_t bits = f32_bits(p > 0x1p-100f ? p : 0x1p-100f);
    /* p = 2^e m with m in [1, 2). */
    float m = f32_from_bits((bits & 0x7fffffu) | 0x3f800000u);
    float f = (m - 1.0f) / (m + 1.0f), f2 = f * f;
    float ln = 2.0f * f * (1.0f + f2 * (1 / 3.0f + f2 * (0.2f + f2 * (1 / 7.0f + f2 / 9.0f))));

    return -((float)((int32_t)(bits >> 23) - 127) * 0.69314718f + ln);
}

/* Compute the gradients of the heads. dh becomes the gradient with respect to h'. */
static void heads_back(const struct policy_weights *w, const struct step *s,
                       const struct trajectory *t, struct policy_weights *g, float *dh)
{
    for (int k = 0; k < POLICY_HEADS; k++) {
        for (uint8_t i = 0; i < policy_choices((enum policy_head)k); i++) {
            /* The gradient is that of cross-entropy times the turn's result. */
            float d = (t->quality - 0.5f) * (s->p[k][i] - (i == t->choice[k] ? 1.0f : 0.0f));

            vector_add(g->v[k][i], s->next, d, POLICY_HIDDEN);
            g->vb[k][i] += d;
            vector_add(dh, w->v[k][i], d, POLICY_HIDDEN);
        }
    }
}

/* Compute the gradients of the cell, in which z and c share the sum W x + U h. */
static void cell_back(const struct step *s, const struct trajectory *t, struct policy_weights *g,
                      const float *dh)
{
    for (int i = 0; i < POLICY_HIDDEN; i++) {
        float z = s->z[i], c = s->c[i];
        /* Multiply by the derivatives of the sigmoid of z and the tanh of c. */
        float dz = dh[i] * (t->hidden[i] - s->zeta * c) * z * (1.0f - z);
        float dc = dh[i] * (s->zeta * (1.0f - z) + s->nu) * (1.0f - c * c);

        g->bz[i] += dz;
        g->bh[i] += dc;
        vector_add(g->w[i], t->inputs, dz + dc, POLICY_INPUTS);
        vector_add(g->u[i], t->hidden, dz + dc, POLICY_HIDDEN);
        g->zeta += dh[i] * (1.0f - z) * c * s->zeta * (1.0f - s->zeta);
        g->nu += dh[i] * c * s->nu * (1.0f - s->nu);
    }
}

float policy_loss(const struct policy *p, const struct trajectory *t, struct policy_weights *g)
{
    float loss = 0.0f, dh[POLICY_HIDDEN] = { 0 };
    struct step s;

    run(&p->weights, t->inputs, t->hidden, &s);
    for (int k = 0; k < POLICY_HEADS; k++) {
        loss += (t->quality - 0.5f) * minus_log(s.p[k][t->choice[k]]);
    }
    if (g != NULL) {
        memset(g, 0, sizeof *g);
        heads_back(&p->weights, &s, t, g, dh);
        cell_back(&s, t, g, dh);
    }
    return loss;
}

bool policy_learn(struct policy *p, const struct trajectory *t, float rate)
{
    struct policy_weights g, before = p->weights;
    float *w = (float *)&p->weights;

    (void)policy_loss(p, t, &g);
    for (int i = 0; i < N_WEIGHTS; i++) {
        w[i] -= rate * ((const float *)&g)[i];
        /* If one weight is out of bounds, or NaN, the whole step is taken back. */
        if (!(w[i] >= -MOST_WEIGHT && w[i] <= MOST_WEIGHT)) {
            p->weights = before;
            return false;
        }
    }
    return true;
}

/* Return 1 or 0 if a person rated the turn, or else a low value after an undo. Without both, each
 * good sign raises the value. */
float turn_quality(const struct turn_signs *signs)
{
    /* After a rating, the other signs do not count. */
    if (signs->good || signs->bad) {
        return signs->good && !signs->bad ? 1.0f : 0.0f;
    }
    if (signs->undone) {
        return 0.1f;
    }
    return 0.3f + (signs->stopped ? 0.3f : 0.0f) + (signs->repeated ? 0.0f : 0.2f);
}
