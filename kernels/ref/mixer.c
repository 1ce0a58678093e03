/* References of the mixers that carry a state instead of a cache: short convolution, gated delta
 * rule, Mamba2. One call computes one position. A prompt takes one
 * call per position, so it gets the same bits as single steps.
 *
 * The columns of a state are independent: sums run over the rows, in one
 * order. A lane of a vector is a column, so no vector is ever folded. */
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"

/* y[c] = bias[c] + sum_j w[j][c] x[j][c]: each channel on its own, over the last n_taps
 * positions. */
void conv_f32_ref(float *restrict y, const float *restrict x, const float *restrict w,
                  const float *restrict bias, const struct conv_shape *restrict shape)
{
    assert(shape->n_taps >= 1 && shape->n_taps <= CONV_MOST_TAPS);
    assert(shape->x_stride >= shape->channels && shape->w_stride >= shape->channels);
    for (size_t c = 0; c < shape->channels; c++) {
        float sum = bias != NULL ? bias[c] : 0.0f;

        for (size_t j = 0; j < shape->n_taps; j++) {
            sum = fmaf(w[j * shape->w_stride + c], x[j * shape->x_stride + c], sum);
        }
        y[c] = sum;
    }
}

/* The gated delta rule. The state maps keys to values. A step fades the state by `decay`, and moves
 * the state's answer for the key k towards v by the fraction beta:
 *     S = decay S;  S += k (beta (v - S'k))';  o = S'q.
 * m = S'k is computed before the state fades, because (decay S)'k = decay (S'k), which saves one
 * operation and one rounding per element. */
void delta_f32_ref(float *restrict s, float *o, const float *q, const float *k, const float *v,
                   const struct state_shape *restrict shape, float decay, float beta)
{
    assert(shape->stride >= shape->columns);
    for (size_t j = 0; j < shape->columns; j++) {
        float m = 0.0f;
        float sum = 0.0f;
        float d;

        for (size_t i = 0; i < shape->rows; i++) {
            m = fmaf(s[i * shape->stride + j], k[i], m);
        }
        d = beta * fmaf(-decay, m, v[j]);
        for (size_t i = 0; i < shape->rows; i++) {
            float *at = &s[i * shape->stride + j];

            *at = fmaf(k[i], d, *at * decay);
            sum = fmaf(*at, q[i], sum);
        }
        o[j] = sum;
    }
}

/* Mamba2, the state of one head with n rows and p columns: S = decay S + b (dt x)', y = S'c, decay
 * = exp(dt A). */
void mamba2_f32_ref(float *restrict s, float *y, const float *x, const float *b, const float *c,
                    const struct state_shape *restrict shape, float decay, float dt)
{
    assert(shape->stride >= shape->columns);
    for (size_t p = 0; p < shape->columns; p++) {
        float input = dt * x[p];
        float sum = 0.0f;

        for (size_t n = 0; n < shape->rows; n++) {
            float *at = &s[n * shape->stride + p];

            *at = fmaf(input, b[n], *at * decay);
            sum = fmaf(*at, c[n], sum);
        }
        y[p] = sum;
    }
}
