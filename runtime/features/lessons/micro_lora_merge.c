/* Merge two adapters into one with the rank of the first. Their sum is P Q, with P (dim, n) and Q
 * (n, dim), n <= 8. P and Q are made orthonormal, which leaves a core of n x n numbers. The largest
 * singular values of the core are those of the product. */
#include <math.h>
#include <string.h>

#include "runtime/features/lessons/micro_lora.h"
#include "runtime/features/lessons/vector.h"

enum { MOST = 2 * MICRO_LORA_MOST_RANK, SWEEPS = 12 };

struct core {
    uint32_t n;
    float u[MOST][MOST]; /* u[j] is column j of the core during the rotations */
    float v[MOST][MOST]; /* v[j] is column j of the product of the rotations so far */
};

size_t micro_lora_merge_floats(uint32_t dim)
{
    return (size_t)2 * MOST * dim;
}

/* Make the rows of x (n, dim) orthonormal, x_old[i] = sum_j r[i][j] x[j]. Each row is projected
 * twice, because one projection leaves rounding errors. A row in the span of earlier rows becomes
 * zero. */
static void orthonormalize(float *x, uint32_t n, uint32_t dim, float r[MOST][MOST])
{
    memset(r, 0, sizeof(float[MOST][MOST]));
    for (uint32_t i = 0; i < n; i++) {
        float *row = x + (size_t)i * dim;
        float before = vector_dot(row, row, dim), after;

        for (uint32_t j = 0; j < 2 * i; j++) {
            const float *unit = x + (size_t)(j % i) * dim;
            float part = vector_dot(row, unit, dim);

            r[i][j % i] += part;
            vector_add(row, unit, -part, dim);
        }
        after = vector_dot(row, row, dim);
        if (!(after > before * 1e-10f)) {
            memset(row, 0, dim * sizeof *row);
            continue;
        }
        r[i][i] = sqrtf(after);
        vector_scale(row, 1.0f / r[i][i], dim);
    }
}

static void rotate(float *x, float *y, uint32_t n, float c, float s)
{
    for (uint32_t i = 0; i < n; i++) {
        float was = x[i];

        x[i] = c * was - s * y[i];
        y[i] = s * was + c * y[i];
    }
}

/* One-sided Jacobi: rotate pairs of columns until they are orthogonal. Their lengths are then
 * the singular values. */
static void turn_pair(struct core *k, uint32_t p, uint32_t q)
{
    float pp = vector_dot(k->u[p], k->u[p], k->n), qq = vector_dot(k->u[q], k->u[q], k->n);
    float pq = vector_dot(k->u[p], k->u[q], k->n);
    float z, t, c;

    if (fabsf(pq) <= 1e-9f * sqrtf(pp * qq)) {
        return;
    }
    z = (qq - pp) / (2.0f * pq);
    t = 1.0f / (fabsf(z) + sqrtf(1.0f + z * z));
    t = z < 0.0f ? -t : t;
    c = 1.0f / sqrtf(1.0f + t * t);
    rotate(k->u[p], k->u[q], k->n, c, c * t);
    rotate(k->v[p], k->v[q], k->n, c, c * t);
}

static void decompose(struct core *k)
{
    memset(k->v, 0, sizeof k->v);
    for (uint32_t i = 0; i < k->n; i++) {
        k->v[i][i] = 1.0f;
    }
    for (uint32_t sweep = 0; sweep < SWEEPS; sweep++) {
        for (uint32_t p = 0; p + 1 < k->n; p++) {
            for (uint32_t q = p + 1; q < k->n; q++) {
                turn_pair(k, p, q);
            }
        }
    }
}

/* Copy the longest column that was not taken yet to u, and its column of v to v. Set the core's
 * column to zero, and return its length. */
static float take_largest(struct core *k, float u[MOST], float v[MOST])
{
    uint32_t best = 0;
    float most = -1.0f;

    for (uint32_t i = 0; i < k->n; i++) {
        float square = vector_dot(k->u[i], k->u[i], k->n);

        if (square > most) {
            most = square;
            best = i;
        }
    }
    memcpy(u, k->u[best], MOST * sizeof(float));
    memcpy(v, k->v[best], MOST * sizeof(float));
    memset(k->u[best], 0, MOST * sizeof(float));
    return sqrtf(most);
}

/* row = sum_j by[j] x[j] */
static void combine(float *row, const float *x, const float *by, float scale, uint32_t n,
                    uint32_t dim)
{
    memset(row, 0, dim * sizeof *row);
    for (uint32_t j = 0; j < n; j++) {
        vector_add(row, x + (size_t)j * dim, by[j] * scale, dim);
    }
}

void micro_lora_merge(struct micro_lora *base, float keep, const struct micro_lora *micro,
                      float add, float *work)
{
    uint32_t dim = base->dim, n = base->rank + micro->rank;
    size_t one = (size_t)base->rank * dim, two = (size_t)micro->rank * dim;
    float *q = work, *p = work + (size_t)MOST * dim;
    float of_q[MOST][MOST], of_p[MOST][MOST];
    struct core k = { .n = n };

    memcpy(q, base->weights, one * sizeof *q);
    memcpy(q + one, micro->weights, two * sizeof *q);
    memcpy(p, base->weights + one, one * sizeof *p);
    memcpy(p + one, micro->weights + two, two * sizeof *p);
    vector_scale(p, keep, one);
    vector_scale(p + one, add, two);
    orthonormalize(q, n, dim, of_q);
    orthonormalize(p, n, dim, of_p);
    for (uint32_t i = 0; i < n; i++) { /* core[i][j] = sum_m of_p[m][i] of_q[m][j] */
        for (uint32_t j = 0; j < n; j++) {
            for (uint32_t m = 0; m < n; m++) {
                k.u[j][i] += of_p[m][i] * of_q[m][j];
            }
        }
    }
    decompose(&k);
    for (uint32_t r = 0; r < base->rank; r++) {
        float u[MOST], v[MOST];
        float value = take_largest(&k, u, v);
        float root = sqrtf(value);

        combine(base->weights + (size_t)r * dim, q, v, root, n, dim);
        combine(base->weights + one + (size_t)r * dim, p, u, root > 0.0f ? 1.0f / root : 0.0f, n,
                dim);
    }
}
