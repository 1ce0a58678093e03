/* Small made-up models of layers with recurrent mixers, and their logits by the formulas in double
 * precision, token after token. */
#ifndef INGOT_TESTS_UNIT_HYBRID_RIG_H
#define INGOT_TESTS_UNIT_HYBRID_RIG_H

#include <math.h>

#include "flash_image/source/source.h"
#include "tests/unit/rig.h"

enum { H_DIM = 64, H_HIDDEN = 96, H_LAYERS = 6, H_HEADS = 4, H_KV = 2, H_HEAD_DIM = 16 };
enum { H_VOCAB = 320, H_CONTEXT = 256, H_MOST_WIDTH = 512, H_MOST_STATE = 4096 };

/* One of each kind, with widths that divide nothing. */
struct hybrid {
    const char *name;
    uint8_t mixer, parallel; /* widths of all layers without attention; beside: of these, too */
    bool tiled, optional;    /* groups of a layer; tensors that may be there */
    uint32_t conv_taps, n_groups, inner_heads, state_dim, inner_dim;
    uint32_t
        attends; /* bit i: layer i has experts; 0: number 1 alone. Number 3 has one head of keys */
    bool latent; /* with latent keys, which rotate */
    uint32_t long_context; /* LongRoPE's, where heads rotate by it; 0: they do not */
};

static const struct hybrid hybrids[] = {
    { "gated delta net", INGOT_MIXER_DELTA, 0, false, false, 4, 2, 4, 12, 40, 0, false, 0 },
    { "gated delta net, groups in turn", INGOT_MIXER_DELTA, 0, true, true, 3, 2, 6, 10, 108, 0x3a,
      false, 0 },
    { "short convolution", INGOT_MIXER_SHORTCONV, 0, false, false, 3, 0, 0, 0, 56, 0, false, 0 },
    { "Mamba2", INGOT_MIXER_MAMBA2, 0, false, true, 4, 2, 4, 16, 72, 0, false, 0 },
    { "Mamba2 without its norm", INGOT_MIXER_MAMBA2, 0, false, false, 2, 1, 3, 8, 99, 0, false, 0 },
    { "Mamba2 beside attention", INGOT_MIXER_ATTENTION, INGOT_MIXER_MAMBA2, false, true, 4, 1, 4,
      20, 64, 0, false, 0 },
};
/* Its formulas are not here: tests/golden/latent.t has them. */
static const struct hybrid hybrid_latent = {
    "latent keys", INGOT_MIXER_DELTA, 0, false, false, 3, 2, 4, 8, 40, 0x3a, true, 0
};
enum { N_HYBRIDS = sizeof hybrids / sizeof hybrids[0] };

static struct source hybrid_source;
static _Alignas(4096) float hybrid_weights[1 << 19]; /* a tensor has pages of its own */
static size_t hybrid_n_weights;
static const struct hybrid *hybrid;
static uint32_t hybrid_seed;

static inline float hybrid_uniform(void)
{
    hybrid_seed = hybrid_seed * 1664525u + 1013904223u;
    return ((float)(hybrid_seed >> 8) - 8388608.0f) / 8388608.0f;
}

/* Makes numbers of the size that a trained tensor of the role has. */
static inline float hybrid_number(enum ingot_role role, uint32_t cols)
{
    float u = hybrid_uniform();

    switch (role) {
    case INGOT_SSM_A: return -0.5f - 0.4f * u;
    case INGOT_SSM_DT: return -1.0f + u;
    case INGOT_SSM_CONV: return 0.6f * u;
    case INGOT_TOKEN_EMBEDDING: return u;
    default: break;
    }
    return cols > 1 && !image_role_is_matrix(role) ? 1.0f + 0.3f * u
                                                   : 2.5f * u / sqrtf((float)cols);
}

static inline void hybrid_tensor(enum ingot_role role, unsigned layer)
{
    struct source_tensor *t = source_tensor(&hybrid_source, role, layer);
    float *data;

    source_role_shape(&hybrid_source, role, layer, &t->rows, &t->cols);
    data = hybrid_weights + hybrid_n_weights;
    hybrid_n_weights += ((size_t)t->rows * t->cols + 1023) / 1024 * 1024;
    if (hybrid_n_weights > sizeof hybrid_weights / sizeof *hybrid_weights)
        rig_die("too many weights");
    for (size_t i = 0; i < (size_t)t->rows * t->cols; i++)
        data[i] = hybrid_number(role, t->cols);
    t->data = (const uint8_t *)data;
    t->type = SOURCE_F32;
}

static inline bool hybrid_has(const struct hybrid *h, enum ingot_role role, unsigned layer)
{
    static const float there;
    bool optional = role == INGOT_SSM_CONV_BIAS || role == INGOT_SSM_NORM;
    struct source_tensor *t = source_tensor(&hybrid_source, role, layer);
    bool has;

    if (h->optional && optional)
        t->data = (const uint8_t *)&there;
    has = source_has_role(&hybrid_source, role, layer);
    t->data = NULL;
    return has;
}

static inline bool hybrid_attends(const struct hybrid *h, unsigned layer)
{
    uint32_t bits = h->attends != 0 ? h->attends : 2;

    return h->mixer == INGOT_MIXER_ATTENTION || (bits >> layer & 1) != 0;
}

static inline void hybrid_set_latent(struct source_params *p)
{
    p->rope = INGOT_ROPE_PAIRS;
    p->rope_base = 10000.0f;
    p->latent.kv_rank = 24;
    p->latent.q_rank = 20;
    p->latent.query_dim = 18;
    p->latent.value_dim = 16;
    source_latent_params(p, 8);
}

/* Factors that turn heads another way from the second position on. */
static inline void hybrid_set_long(struct source *s, uint32_t context)
{
    uint32_t pairs = H_HEAD_DIM / 2;

    s->params.rope = INGOT_ROPE_HALVES;
    s->params.rope_base = 10000.0f;
    s->params.rope_dims = H_HEAD_DIM;
    s->params.rope_context = context;
    s->params.rope_magnitude = 1.2f;
    s->rope = s->factors;
    for (uint32_t i = 0; i < pairs; i++) {
        s->factors[SOURCE_ROPE_GLOBAL * pairs + i] = 1.0f + 0.1f * (float)i;
        s->factors[SOURCE_ROPE_LONG * pairs + i] = 1.5f + (float)i;
        s->factors[SOURCE_ROPE_LOCAL * pairs + i] = 1.0f;
    }
}

static inline void hybrid_fill(const struct hybrid *h)
{
    struct source *s = &hybrid_source;

    memset(s, 0, sizeof *s);
    s->path = "made up";
    s->params = (struct source_params){ .family = INGOT_LLAMA,
                                        .dim = H_DIM,
                                        .hidden = H_HIDDEN,
                                        .n_layers = H_LAYERS,
                                        .n_heads = H_HEADS,
                                        .n_kv_heads = H_KV,
                                        .head_dim = H_HEAD_DIM,
                                        .vocab = H_VOCAB,
                                        .context = H_CONTEXT,
                                        .tied = 1,
                                        .rope = SOURCE_ROPE_NONE,
                                        .norm_eps = 1e-5f };
    source_default_params(&s->params);
    if (h->latent)
        hybrid_set_latent(&s->params);
    if (h->long_context != 0)
        hybrid_set_long(s, h->long_context);
    s->params.features = h->tiled ? SOURCE_TILED_GROUPS : 0;
    s->params.recurrent.conv_taps = h->conv_taps;
    s->params.recurrent.n_groups = h->n_groups;
    s->params.recurrent.inner_heads = h->inner_heads;
    s->params.recurrent.state_dim = h->state_dim;
    s->params.recurrent.inner_dim = h->inner_dim;
    for (unsigned i = 0; i < H_LAYERS; i++) {
        struct source_layer_params *l = &s->params.layers[i];

        l->mixer = hybrid_attends(h, i) ? INGOT_MIXER_ATTENTION : h->mixer;
        l->parallel = h->parallel;
        l->n_kv_heads = hybrid_attends(h, i) ? (i == 3 ? 1 : H_KV) : 0;
    }
    s->params_known = true;
    s->vocab.n_tokens = H_VOCAB;
    s->vocab.bos = s->vocab.eos = s->vocab.unk = s->vocab.eot = INGOT_NO_TOKEN;
    hybrid_seed = 1;
    hybrid_n_weights = 0;
    for (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        if (hybrid_has(h, at.role, at.layer))
            hybrid_tensor(at.role, at.layer);
    }
}

/* Makes one of the hybrids, like rig_make_model. */
static inline void hybrid_make(const struct hybrid *h, enum ingot_type type)
{
    const char *base = getenv("TMPDIR");
    char path[256], error_message[512];
    struct pack_options o = { .input = "made up", .output = path, .type = type };
    FILE *in;

    o.type_given = o.quiet = true;
    hybrid = h;
    hybrid_fill(h);
    snprintf(path, sizeof path, "%s/ingot-hybrid-%ld.ingot", base != NULL ? base : "/tmp",
             (long)getpid());
    if (pack_source(&hybrid_source, &o, error_message, sizeof error_message) != ERR_OK)
        rig_die(error_message);
    hybrid_fill(
        h); /* once more: the packer has given the pages back to the system, as those of a file */
    in = fopen(path, "rb");
    free(rig.packed);
    rig.packed = aligned_alloc(4096, RIG_MOST_BYTES);
    if (in == NULL || rig.packed == NULL)
        rig_die("the made-up model cannot be opened");
    rig.packed_bytes = fread(rig.packed, 1, RIG_MOST_BYTES, in);
    fclose(in);
    unlink(path);
    free(rig.reads);
    rig.reads = calloc(RIG_MOST_BYTES / SECTOR_BYTES, sizeof *rig.reads);
}

/* ---- by the formulas ------------------------------------------------------------------------- */

struct expected_layer {
    double rows[INGOT_MAX_TAPS][H_MOST_WIDTH]; /* the latest before the convolution */
    double state[8][32][128];                  /* of each head */
    double keys[H_CONTEXT][H_KV * H_HEAD_DIM], values[H_CONTEXT][H_KV * H_HEAD_DIM];
};

static struct expected_layer expected_layers[H_LAYERS];

static inline const float *weights_of(enum ingot_role role, unsigned layer)
{
    return (const float *)(const void *)source_slot_of(&hybrid_source, role, layer)->data;
}

static inline void multiply(double *y, enum ingot_role role, unsigned layer, const double *x)
{
    const struct source_tensor *t = source_slot_of(&hybrid_source, role, layer);
    const float *w = weights_of(role, layer);

    for (uint32_t r = 0; r < t->rows; r++) {
        y[r] = 0;
        for (uint32_t c = 0; c < t->cols; c++)
            y[r] += (double)w[(size_t)r * t->cols + c] * x[c];
    }
}

static inline void norm(double *y, const double *x, const float *w, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    for (uint32_t i = 0; i < n; i++)
        y[i] = x[i] / sqrt(sum / n + 1e-5) * (double)w[i];
}

static inline double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static inline double silu(double x)
{
    return x * sigmoid(x);
}

/* Computes y of n channels from the current row and the rows before it. */
static inline void convolve(double *y, unsigned layer, const double *x, uint32_t n)
{
    struct expected_layer *e = &expected_layers[layer];
    const float *w = weights_of(INGOT_SSM_CONV, layer);
    const float *bias = weights_of(INGOT_SSM_CONV_BIAS, layer);
    uint32_t taps = hybrid->conv_taps;

    memmove(e->rows[0], e->rows[1], (taps - 1) * sizeof e->rows[0]);
    memcpy(e->rows[taps - 1], x, n * sizeof *x);
    for (uint32_t c = 0; c < n; c++) {
        y[c] = bias != NULL ? (double)bias[c] : 0;
        for (uint32_t j = 0; j < taps; j++)
            y[c] += (double)w[(size_t)j * n + c] * e->rows[j][c];
    }
}

static inline void expect_shortconv(double *out, unsigned layer, const double *x)
{
    double in[H_MOST_WIDTH], y[H_MOST_WIDTH];
    uint32_t d = hybrid->inner_dim;

    multiply(in, INGOT_SSM_IN, layer, x);
    for (uint32_t i = 0; i < d; i++)
        in[i] *= in[2 * d + i];
    convolve(y, layer, in, d);
    for (uint32_t i = 0; i < d; i++)
        y[i] *= in[d + i];
    multiply(out, INGOT_SSM_OUT, layer, y);
}

static inline void normalize(double *x, uint32_t n, double scale)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    for (uint32_t i = 0; i < n; i++)
        x[i] *= scale / sqrt(sum + 1e-5);
}

/* One head: S fades, moves towards v where k asks, and answers q. */
static inline void delta_head(double *o, double (*s)[128], const double *q, const double *k,
                              const double *v, double decay, double beta)
{
    uint32_t n = hybrid->state_dim, d = hybrid->inner_dim / hybrid->inner_heads;

    for (uint32_t j = 0; j < d; j++) {
        double m = 0;

        o[j] = 0;
        for (uint32_t i = 0; i < n; i++) {
            s[i][j] *= decay;
            m += s[i][j] * k[i];
        }
        for (uint32_t i = 0; i < n; i++) {
            s[i][j] += k[i] * beta * (v[j] - m);
            o[j] += s[i][j] * q[i];
        }
    }
}

static inline void expect_delta(double *out, unsigned layer, const double *x)
{
    uint32_t n = hybrid->state_dim, groups = hybrid->n_groups, heads = hybrid->inner_heads;
    uint32_t d = hybrid->inner_dim / heads;
    double in[H_MOST_WIDTH], z[H_MOST_WIDTH], beta[16], alpha[16], o[128];

    multiply(in, INGOT_SSM_IN, layer, x);
    multiply(z, INGOT_SSM_GATE, layer, x);
    multiply(beta, INGOT_SSM_BETA, layer, x);
    multiply(alpha, INGOT_SSM_ALPHA, layer, x);
    convolve(in, layer, in, 2 * groups * n + heads * d);
    for (uint32_t i = 0; i < 2 * groups * n + heads * d; i++)
        in[i] = silu(in[i]);
    for (uint32_t g = 0; g < groups; g++) {
        normalize(in + g * n, n, 1 / sqrt(n));
        normalize(in + (groups + g) * n, n, 1);
    }
    for (uint32_t h = 0; h < heads; h++) {
        uint32_t g = hybrid->tiled ? h % groups : h / (heads / groups);
        double step = log1p(exp(alpha[h] + (double)weights_of(INGOT_SSM_DT, layer)[h]));

        delta_head(o, expected_layers[layer].state[h], in + g * n, in + (groups + g) * n,
                   in + 2 * groups * n + h * d,
                   exp((double)weights_of(INGOT_SSM_A, layer)[h] * step), sigmoid(beta[h]));
        norm(o, o, weights_of(INGOT_SSM_NORM, layer), d);
        for (uint32_t j = 0; j < d; j++)
            z[h * d + j] = silu(z[h * d + j]) * o[j];
    }
    multiply(out, INGOT_SSM_OUT, layer, z);
}

static inline void mamba_head(double *y, unsigned layer, uint32_t h, const double *x,
                              const double *b, const double *c, double dt)
{
    double decay = exp(dt * (double)weights_of(INGOT_SSM_A, layer)[h]);
    double(*s)[128] = expected_layers[layer].state[h];

    for (uint32_t p = 0; p < hybrid->inner_dim / hybrid->inner_heads; p++) {
        y[p] = (double)weights_of(INGOT_SSM_D, layer)[h] * x[p];
        for (uint32_t i = 0; i < hybrid->state_dim; i++) {
            s[i][p] = s[i][p] * decay + dt * x[p] * b[i];
            y[p] += s[i][p] * c[i];
        }
    }
}

static inline void expect_mamba2(double *out, unsigned layer, const double *x)
{
    uint32_t n = hybrid->state_dim, groups = hybrid->n_groups, heads = hybrid->inner_heads;
    uint32_t inner = hybrid->inner_dim, channels = inner + 2 * groups * n;
    double in[H_MOST_WIDTH], u[H_MOST_WIDTH], y[H_MOST_WIDTH];
    const float *w = weights_of(INGOT_SSM_NORM, layer);

    multiply(in, INGOT_SSM_IN, layer, x);
    convolve(u, layer, in + inner, channels);
    for (uint32_t i = 0; i < channels; i++)
        u[i] = silu(u[i]);
    for (uint32_t h = 0; h < heads; h++) {
        const double *b = u + inner + h / (heads / groups) * n;
        double step = in[inner + channels + h] + (double)weights_of(INGOT_SSM_DT, layer)[h];

        mamba_head(y + h * (inner / heads), layer, h, u + h * (inner / heads), b, b + groups * n,
                   log1p(exp(step)));
    }
    for (uint32_t i = 0; i < inner; i++)
        y[i] *= silu(in[i]);
    for (uint32_t g = 0; g < groups && w != NULL; g++)
        norm(y + g * (inner / groups), y + g * (inner / groups), w + g * (inner / groups),
             inner / groups);
    multiply(out, INGOT_SSM_OUT, layer, y);
}

static inline void expect_attention(double *out, unsigned layer, const double *x, uint32_t p)
{
    struct expected_layer *e = &expected_layers[layer];
    uint32_t heads = hybrid_source.params.layers[layer].n_kv_heads;
    double q[H_HEADS * H_HEAD_DIM], y[H_HEADS * H_HEAD_DIM] = { 0 };

    multiply(q, INGOT_ATTN_Q, layer, x);
    multiply(e->keys[p], INGOT_ATTN_K, layer, x);
    multiply(e->values[p], INGOT_ATTN_V, layer, x);
    for (uint32_t h = 0; h < H_HEADS; h++) {
        uint32_t at = h / (H_HEADS / heads) * H_HEAD_DIM;
        double sum = 0;

        for (uint32_t j = 0; j <= p; j++) {
            double score = 0;

            for (uint32_t i = 0; i < H_HEAD_DIM; i++)
                score += q[h * H_HEAD_DIM + i] * e->keys[j][at + i];
            score = exp(score / sqrt(H_HEAD_DIM));
            sum += score;
            for (uint32_t i = 0; i < H_HEAD_DIM; i++)
                y[h * H_HEAD_DIM + i] += score * e->values[j][at + i];
        }
        for (uint32_t i = 0; i < H_HEAD_DIM; i++)
            y[h * H_HEAD_DIM + i] /= sum;
    }
    multiply(out, INGOT_ATTN_OUT, layer, y);
}

static inline void expect_mixer(double *x, unsigned layer, uint8_t mixer, const double *normed,
                                uint32_t p)
{
    double out[H_DIM];

    switch (mixer) {
    case INGOT_MIXER_NONE: return;
    case INGOT_MIXER_DELTA: expect_delta(out, layer, normed); break;
    case INGOT_MIXER_SHORTCONV: expect_shortconv(out, layer, normed); break;
    case INGOT_MIXER_MAMBA2: expect_mamba2(out, layer, normed); break;
    default: expect_attention(out, layer, normed, p); break;
    }
    for (uint32_t i = 0; i < H_DIM; i++)
        x[i] += out[i];
}

/* Returns the logits after one more token, number p. */
static inline void expect_token(double *logits, uint32_t id, uint32_t p)
{
    const float *embedding = weights_of(INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER) + (size_t)id * H_DIM;
    double x[H_DIM], normed[H_DIM], gate[H_HIDDEN], up[H_HIDDEN];

    for (uint32_t i = 0; i < H_DIM; i++)
        x[i] = (double)embedding[i];
    for (unsigned l = 0; l < H_LAYERS; l++) {
        norm(normed, x, weights_of(INGOT_ATTN_NORM, l), H_DIM);
        expect_mixer(x, l, hybrid_source.params.layers[l].mixer, normed, p);
        expect_mixer(x, l, hybrid_source.params.layers[l].parallel, normed, p);
        norm(normed, x, weights_of(INGOT_FFN_NORM, l), H_DIM);
        multiply(gate, INGOT_FFN_GATE, l, normed);
        multiply(up, INGOT_FFN_UP, l, normed);
        for (uint32_t i = 0; i < H_HIDDEN; i++)
            up[i] *= silu(gate[i]);
        multiply(normed, INGOT_FFN_DOWN, l, up);
        for (uint32_t i = 0; i < H_DIM; i++)
            x[i] += normed[i];
    }
    norm(normed, x, weights_of(INGOT_OUTPUT_NORM, INGOT_NO_LAYER), H_DIM);
    multiply(logits, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER, normed);
}

#endif
