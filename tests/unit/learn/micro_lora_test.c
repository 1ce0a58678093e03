/* The adapter on the last hidden state: its gradient against differences of the loss, computed here
 * in double from the definition; the choice of candidates; the merge of products. */
#include "runtime/features/lessons/micro_lora.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/features/lessons/vector.h"
#include "tests/unit/tap.h"

enum { DIM = 40, VOCAB = 90, MOST = 8 * DIM };

static float head_rows[VOCAB][DIM], h[DIM], weights[MOST], gradient[MOST];

static double dot(const float *a, const float *b)
{
    double sum = 0;

    for (int i = 0; i < DIM; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

/* h~ in double. */
static void adapt(const struct micro_lora *m, const double *w, double *y)
{
    for (int i = 0; i < DIM; i++)
        y[i] = h[i];
    for (uint32_t r = 0; r < m->rank; r++) {
        double u = 0;

        for (int i = 0; i < DIM; i++)
            u += w[r * DIM + (uint32_t)i] * h[i];
        for (int i = 0; i < DIM; i++)
            y[i] += m->scale * u * w[(m->rank + r) * DIM + (uint32_t)i];
    }
}

static double logit_of(const struct micro_lora_head *f, uint32_t id, const double *y)
{
    double z = 0;

    for (int i = 0; i < DIM; i++)
        z += head_rows[id][i] * y[i];
    z *= f->scale;
    return f->cap != 0 ? f->cap * tanh(z / f->cap) : z;
}

/* Returns -log p of the target among the tokens of c. */
static double loss(const struct micro_lora *m, const double *w, const struct micro_lora_head *f,
                   const struct micro_lora_choice *c)
{
    double y[DIM], sum = 0, target = 0;

    adapt(m, w, y);
    for (uint32_t k = 0; k < c->n; k++) {
        target = logit_of(f, c->ids[k], y);
        sum += exp(target);
    }
    return log(sum) - target;
}

static void fill(float *x, size_t n, float size, unsigned seed)
{
    vector_random(x, n, size, &seed);
}

static void check_gradient(uint32_t rank, float scale, const struct micro_lora_head *f,
                           uint32_t target)
{
    struct micro_lora m;
    struct micro_lora_choice c;
    float logits[VOCAB], e[DIM] = { 0 };
    double w[MOST], y[DIM], worst = 0, largest = 0;
    size_t n = micro_lora_floats(DIM, rank);

    micro_lora_open(&m, weights, DIM, rank, 7);
    m.scale = scale;
    fill(weights + n / 2, n / 2, 0.2f, 11);
    for (size_t i = 0; i < n; i++)
        w[i] = weights[i];
    adapt(&m, w, y);
    for (uint32_t i = 0; i < VOCAB; i++)
        logits[i] = (float)logit_of(f, i, y);
    micro_lora_choose(&c, f, logits, VOCAB, target);
    for (uint32_t k = 0; k < c.n; k++)
        vector_add(e, head_rows[c.ids[k]], c.errors[k], DIM);
    micro_lora_gradient(&m, h, e, gradient);
    for (size_t i = 0; i < n; i++) {
        double was = w[i], step = 1e-5, up, down, g;

        w[i] = was + step;
        up = loss(&m, w, f, &c);
        w[i] = was - step;
        down = loss(&m, w, f, &c);
        w[i] = was;
        g = (up - down) / (2 * step);
        worst = fmax(worst, fabs(g - (double)gradient[i]));
        largest = fmax(largest, fabs(g));
    }
    OK(largest > 1e-2 && worst < 2e-5 * largest + 1e-6,
       "rank %u, s %g, logits %g cap %g: A and B have the gradient of differences, off by %.1e of %.2g",
       rank, (double)scale, (double)f->scale, (double)f->cap, worst, largest);
    OK(fabs(-log((double)c.loss_p) - loss(&m, w, f, &c)) < 1e-4,
       "the target has the probability of its loss");
}

static void check_choice(void)
{
    static const struct micro_lora_head plain = { 1.0f, 0.0f };
    static float logits[VOCAB], order[VOCAB];
    struct micro_lora_choice c;
    bool right = true;
    float sum = 0;

    for (int i = 0; i < VOCAB; i++)
        logits[i] = (float)((i * 37) % VOCAB) * 0.1f; /* a permutation */
    memcpy(order, logits, sizeof order);
    micro_lora_choose(&c, &plain, logits, VOCAB, 0);
    for (uint32_t k = 0; k + 1 < c.n; k++) {
        float expected = (float)(VOCAB - 1 - k) * 0.1f;

        right = right && logits[c.ids[k]] > expected - 0.01f && logits[c.ids[k]] < expected + 0.01f;
        sum += c.errors[k];
    }
    OK(c.n == MICRO_LORA_CANDIDATES + 1 && right, "the 32 best logits come, the best first");
    OK(c.ids[c.n - 1] == 0 && fabsf(sum + c.errors[c.n - 1]) < 1e-6f,
       "the worst of all is there as the target, and the errors sum to nothing");
    micro_lora_choose(&c, &plain, logits, VOCAB, c.ids[0]);
    right = true;
    for (uint32_t k = 0; k + 1 < c.n; k++)
        right = right && c.ids[k] != c.ids[c.n - 1];
    OK(right && c.best < c.logits[c.n - 1], "the best is there once if it is the target");
    logits[3] = NAN;
    logits[4] = 99.0f;
    logits[9] = 99.0f;
    micro_lora_choose(&c, &plain, logits, VOCAB, 0);
    OK(c.ids[0] == 4 && c.ids[1] == 9, "the smaller id of equal logits comes first");
    right = true;
    for (uint32_t k = 0; k < c.n; k++)
        right = right && c.ids[k] != 3;
    OK(right, "NaN is not a candidate");
    micro_lora_choose(&c, &plain, order, 4, 1);
    OK(c.n == 4, "a vocabulary of four has four candidates");
}

/* B A at (i, j). */
static float product(const struct micro_lora *m, uint32_t i, uint32_t j)
{
    float sum = 0;

    for (uint32_t r = 0; r < m->rank; r++)
        sum += m->weights[(m->rank + r) * DIM + i] * m->weights[r * DIM + j];
    return sum;
}

static double merged_error(struct micro_lora *base, const struct micro_lora *other, float keep,
                           float add)
{
    static float before[DIM][DIM], work[16 * DIM];
    double error = 0, size = 0;

    for (uint32_t i = 0; i < DIM; i++)
        for (uint32_t j = 0; j < DIM; j++)
            before[i][j] = keep * product(base, i, j) + add * product(other, i, j);
    micro_lora_merge(base, keep, other, add, work);
    for (uint32_t i = 0; i < DIM; i++)
        for (uint32_t j = 0; j < DIM; j++) {
            error += pow(before[i][j] - product(base, i, j), 2);
            size += pow(before[i][j], 2);
        }
    return sqrt(error / size);
}

static void check_merge(void)
{
    static float one[MOST], two[MOST], again[MOST];
    struct micro_lora a, b;
    double error;

    micro_lora_open(&a, one, DIM, 4, 1);
    micro_lora_open(&b, two, DIM, 2, 2);
    fill(two + 2 * DIM, 2 * DIM, 0.3f, 3);
    error = merged_error(&a, &b, 1.0f, 1.0f);
    OK(error < 1e-5, "rank 2 merged into an empty rank 4 gives the product, off by %.1e", error);
    error = merged_error(&a, &b, 0.25f, 0.75f);
    OK(error < 1e-5, "the mean of equal ones is the same, off by %.1e", error);
    micro_lora_open(&b, two, DIM, 2, 5);
    fill(two + 2 * DIM, 2 * DIM, 0.3f, 6);
    error = merged_error(&a, &b, 0.5f, 0.5f);
    OK(error < 1e-5, "ranks two and two fit into four, off by %.1e", error);
    /* For two products at right angles, of lengths 3 and 1, rank 1 keeps the longer one. */
    memset(one, 0, sizeof one);
    memset(again, 0, sizeof again);
    a = (struct micro_lora){ DIM, 1, 1.0f, one };
    b = (struct micro_lora){ DIM, 1, 1.0f, again };
    one[0] = 1;
    one[DIM + 1] = 1;
    again[2] = 1;
    again[DIM + 3] = 3;
    error = merged_error(&a, &b, 1.0f, 1.0f);
    OK(fabs(error - 1 / sqrt(10.0)) < 1e-4 && fabsf(product(&a, 3, 2) - 3.0f) < 1e-4f,
       "the part that rank 1 cannot hold is small: %.4f of the whole", error);
}

int main(void)
{
    static const struct micro_lora_head heads[] = { { 1, 0 }, { 0.7f, 0 }, { 1, 5 }, { 1.3f, 4 } };
    struct micro_lora m;
    float x[DIM];

    fill(&head_rows[0][0], VOCAB * DIM, 0.5f, 21);
    fill(h, DIM, 1.0f, 22);
    for (uint32_t rank = 1; rank <= MICRO_LORA_MOST_RANK; rank++)
        check_gradient(rank, rank == 3 ? 0.5f : 1.0f, &heads[rank - 1], 17 * rank);
    check_choice();
    check_merge();
    micro_lora_open(&m, weights, DIM, 4, 1);
    memcpy(x, h, sizeof x);
    micro_lora_apply(&m, x);
    OK(memcmp(x, h, sizeof x) == 0, "h is the same, to the bit, before the first lesson");
    OK(dot(weights, weights) > 0.2 && dot(weights + 3 * DIM, weights + 3 * DIM) > 0.2,
       "A is not zero before the first lesson");
    return tap_done();
}
