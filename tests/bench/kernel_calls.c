/* Why this file is long: its tables have a line for every op. */
#include "tests/bench/kernel_calls.h"

#include <stdbool.h>
#include <string.h>

enum {
    DIM = 576,
    HIDDEN = 1536,
    HEAD = 64, /* of smol135 */
    K_ROWS = 512,
    K_COLS = 2048, /* columns of tl2, because the K formats need a multiple of 256 */
    TOKENS = 64,
    GEMM_ROWS = 128,
    GEMM_K_COLS = 512, /* as many rows as the runtime deals */
    FEW_QUERIES = 3,
    FEW_POSITIONS = 48, /* a decode has the queries of one kv head */
    MANY_QUERIES = 30,  /* prefill */
    SPACE = 1 << 20,    /* of y, of x and of the floats that x is made from; w has two */
};

static struct calls_state {
    uint8_t *y, *x, *from, *w;
    uint64_t random;
    struct gemm_shape shape;
    struct nibble_table table;
} state;

#define MATRIX(op, rows, cols) \
    { \
        KERNEL_##op, rows, cols, 1 \
    }
#define CHUNK(op, cols) \
    { \
        KERNEL_##op, GEMM_ROWS, cols, TOKENS \
    }
#define VECTOR(op, n) \
    { \
        KERNEL_##op, 1, n, 1 \
    }
#define ATTENTION(op, cols) \
    { KERNEL_##op, FEW_POSITIONS, cols, FEW_QUERIES }, \
    { \
        KERNEL_##op, KV_TILE, cols, MANY_QUERIES \
    }
/* A whole tile of heads of every usual width, for one query and for the four of a group. */
#define HEADS(op) \
    ATTENTION(op, HEAD), { KERNEL_##op, KV_TILE, 64, 1 }, { KERNEL_##op, KV_TILE, 64, 4 }, \
        { KERNEL_##op, KV_TILE, 128, 1 }, { KERNEL_##op, KV_TILE, 128, 4 }, \
        { KERNEL_##op, KV_TILE, 256, 1 }, \
    { \
        KERNEL_##op, KV_TILE, 256, 4 \
    }

const struct kernel_call kernel_calls[] = {
#define TYPE_FLOATS(NAME, id, name, ...) MATRIX(gemv_f32_##name##_f32, DIM, DIM),
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) \
    MATRIX(gemv_f32_##layout##x8_##act, (cols) == BLOCK_K_COLS ? K_ROWS : DIM, \
           (cols) == BLOCK_K_COLS ? K_COLS : HIDDEN),
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
    MATRIX(gemv_f32_f16_f32, 8, DIM), /* an adapter's A is the first half of what expand ends */
#define TYPE_FLOATS(NAME, id, name, ...) CHUNK(gemm_f32_##name##_f32, DIM),
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) \
    CHUNK(gemm_f32_##layout##x8_##act##x4, (cols) == BLOCK_COLS ? DIM : GEMM_K_COLS),
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
    HEADS(score_f32_f16),
    HEADS(score_f32_q8),
    ATTENTION(online_softmax_f32, 1),
    HEADS(accumulate_f32_f16),
    HEADS(accumulate_f32_q8),
    HEADS(score_f32_q4),
    HEADS(accumulate_f32_q8_q8),
    HEADS(accumulate_f32_q4_q8),
    VECTOR(quantize_q8_f32, DIM),
    VECTOR(quantize_q8k_f32, K_COLS),
    { KERNEL_interleave_q8x4_q8, 1, DIM, TOKENS },
    { KERNEL_interleave_q8kx4_q8k, 1, GEMM_K_COLS, TOKENS },
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, ...) \
    VECTOR(dequantize_f32_##layout##x8, (cols) == BLOCK_K_COLS ? K_COLS \
                                        : (cols) == FIG4_COLS  ? HIDDEN \
                                                               : DIM),
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
    VECTOR(rmsnorm_f32, DIM),
    VECTOR(layernorm_f32, DIM),
    VECTOR(rope_f32_pairs, HEAD),
    VECTOR(rope_f32_halves, HEAD),
    VECTOR(max_f32, 128),
    VECTOR(exp_sum_f32, 128),
    VECTOR(softmax_f32, 128),
    VECTOR(silu_mul_f32, HIDDEN),
    VECTOR(gelu_f32, HIDDEN),
    VECTOR(gelu_mul_f32, HIDDEN),
    VECTOR(softcap_f32, HIDDEN),
    VECTOR(add_f32, DIM),
    VECTOR(scale_f32, DIM),
    VECTOR(silu_f32, HIDDEN),
    VECTOR(sigmoid_mul_f32, HIDDEN),
    VECTOR(swiglu_oai_f32, HIDDEN),
    VECTOR(relu2_f32, HIDDEN),
    VECTOR(relu2_mul_f32, HIDDEN),
    VECTOR(mul_f32, DIM),
    VECTOR(add_scaled_f32, DIM),
    { KERNEL_expand_f32_f32, DIM, 8, 1 },
    { KERNEL_expand_f32_f16, DIM, 8, 1 },
    { KERNEL_expand_f32_f16, DIM, 32, 1 },
    VECTOR(l2norm_f32, 128),
    VECTOR(hadamard_f32, 64),
    VECTOR(hadamard_f32, 128),
    { KERNEL_conv_f32, 4, DIM, 1 },
    { KERNEL_delta_f32, 128, 128, 1 },
    { KERNEL_mamba2_f32, 128, 64, 1 },
    VECTOR(convert_f16_f32, DIM),
    VECTOR(convert_f32_f16, DIM),
    VECTOR(crc32c_u8, 65536),
    VECTOR(sha256_u8, 65536),
};
const size_t kernel_n_calls = sizeof kernel_calls / sizeof kernel_calls[0];

/* The weights of an op: a group is 8 rows of a block, beginning with fp16 scales; of a float
 * format, one value. cols 0: the op has none. */
struct weights {
    size_t cols, bytes, n_halves;
};

static struct weights weights_of(enum kernel_op op)
{
    switch ((int)op) {
#define TYPE_FLOATS(NAME, id, name, cols, bytes, ...) \
    case KERNEL_gemv_f32_##name##_f32: \
    case KERNEL_gemm_f32_##name##_f32: \
        return (struct weights){ 1, bytes, 0 };
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, halves, ...) \
    case KERNEL_gemv_f32_##layout##x8_##act: \
    case KERNEL_gemm_f32_##layout##x8_##act##x4: \
    case KERNEL_dequantize_f32_##layout##x8: \
        return (struct weights){ cols, sizeof(struct block_##layout##x8), halves };
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
    default: return (struct weights){ 0, 0, 0 };
    }
}

size_t kernel_call_items(const struct kernel_call *call)
{
    return call->rows * call->cols * call->tokens;
}

size_t kernel_call_weight_bytes(const struct kernel_call *call)
{
    struct weights weights = weights_of(call->op);

    if (weights.cols <= 1) {
        return call->rows * call->cols * weights.bytes;
    }
    return (call->rows + 7) / 8 * (call->cols / weights.cols) * weights.bytes;
}

/* Whole tiles of at most 64 rows; 32 tokens share the work of decoding nearly as well as 64 do. */
struct kernel_call kernel_call_small(const struct kernel_call *call)
{
    struct kernel_call small = *call;
    size_t block = weights_of(call->op).cols;

    if (block != 0 && call->rows > 1) {
        small.rows = 64;
        small.cols = call->tokens == 1 ? 512 : block == 1 ? 128 : 256;
        small.tokens = call->tokens == 1 ? 1 : 32;
    }
    return small;
}

void kernel_calls_init(uint8_t *memory)
{
    assert((uintptr_t)memory % 64 == 0);
    state.y = memory;
    state.x = memory + SPACE;
    state.from = memory + 2 * SPACE;
    state.w = memory + 3 * SPACE;
}

static uint32_t random_word(void)
{
    state.random = state.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state.random >> 32);
}

static void fill_floats(void *to, size_t n)
{
    float *out = to;

    for (size_t i = 0; i < n; i++) {
        out[i] = (float)(int32_t)random_word() * 0x1p-31f;
    }
}

/* Makes numbers of ordinary size, for scales of blocks and for cached keys. */
static void fill_halves(void *to, size_t n)
{
    uint16_t *out = to;

    for (size_t i = 0; i < n; i++) {
        out[i] = (uint16_t)(0x2000u + (random_word() & 0x8fffu));
    }
}

static void fill_bytes(uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)random_word();
    }
}

static void fill_weights(const struct kernel_call *call)
{
    struct weights weights = weights_of(call->op);
    size_t bytes = kernel_call_weight_bytes(call);

    if (weights.cols <= 1) {
        if (weights.bytes == 4) {
            fill_floats(state.w, bytes / 4);
        } else {
            fill_halves(state.w, bytes / 2);
        }
        return;
    }
    for (size_t at = 0; at < bytes; at += weights.bytes) {
        fill_halves(state.w + at, weights.n_halves);
        fill_bytes(state.w + at + 2 * weights.n_halves, weights.bytes - 2 * weights.n_halves);
    }
}

/* Sets state.from to the floats of all tokens, and quantizes them to state.x; interleaves them too
 * if `chunk`. */
static void fill_activations(size_t cols, size_t tokens, bool is_k, bool chunk)
{
    struct block_q8 *q8 = (struct block_q8 *)state.x;
    struct block_q8k *q8k = (struct block_q8k *)state.x;
    float *from = (float *)state.from;

    fill_floats(from, cols * tokens);
    if (is_k) {
        quantize_q8k_f32_ref(q8k, from, cols * tokens);
    } else {
        quantize_q8_f32_ref(q8, from, cols * tokens);
    }
    if (!chunk) {
        return;
    }
    if (is_k) {
        interleave_q8kx4_q8k_ref((struct block_q8kx4 *)state.from, q8k, tokens, cols);
    } else {
        interleave_q8x4_q8_ref((struct block_q8x4 *)state.from, q8, tokens, cols);
    }
    memcpy(state.x, state.from, SPACE / 2);
}

/* A factor that keeps what was accumulated at its size. */
static void fill_scores(size_t n)
{
    struct score_row *row = (struct score_row *)state.y;

    for (size_t i = 0; i < n; i++) {
        fill_floats(row[i].s, KV_TILE);
        row[i].max = 1.0f;
        row[i].sum = 1.0f;
        row[i].factor = 0.5f;
    }
}

static void fill_attention(const struct kernel_call *call)
{
    size_t values = KV_TILE * call->cols;

    fill_scores(call->tokens);
    if (call->op == KERNEL_accumulate_f32_q8_q8 || call->op == KERNEL_accumulate_f32_q4_q8) {
        fill_activations(KV_TILE * call->cols / kv_values_block(call->cols), call->tokens, false,
                         false);
        memcpy(state.from, state.x, SPACE / 2);
        fill_bytes(state.w, values);
    } else if (call->op == KERNEL_score_f32_q4) {
        fill_halves(state.w, values / 32);
        fill_bytes(state.w + values / 16, values / 2);
    } else if (call->op == KERNEL_score_f32_q8 || call->op == KERNEL_accumulate_f32_q8) {
        fill_floats(state.w, values / 32);
        fill_bytes(state.w + values / 8, values);
    } else {
        fill_halves(state.w, values);
    }
    if (call->op == KERNEL_score_f32_q8 || call->op == KERNEL_score_f32_q4) {
        fill_activations(call->cols, call->tokens, false, false);
    } else {
        fill_floats(state.x, call->tokens * call->cols);
    }
}

void kernel_call_fill(const struct kernel_call *call)
{
    size_t n = call->rows * call->cols * call->tokens;
    size_t block = weights_of(call->op).cols;

    state.random = 1;
    state.shape = (struct gemm_shape){ call->rows, call->cols, call->tokens, call->rows,
                                       call->cols };
    switch ((int)call->op) {
    case KERNEL_score_f32_f16:
    case KERNEL_score_f32_q8:
    case KERNEL_online_softmax_f32:
    case KERNEL_accumulate_f32_f16:
    case KERNEL_accumulate_f32_q8:
    case KERNEL_score_f32_q4:
    case KERNEL_accumulate_f32_q8_q8:
    case KERNEL_accumulate_f32_q4_q8: fill_attention(call); return;
    case KERNEL_interleave_q8x4_q8:
    case KERNEL_interleave_q8kx4_q8k:
        fill_activations(call->cols, call->tokens, call->op == KERNEL_interleave_q8kx4_q8k, false);
        return;
    case KERNEL_rope_f32_pairs:
    case KERNEL_rope_f32_halves:
        fill_floats(state.y, n);
        for (size_t i = 0; i < n; i++) { /* rotations, so that nothing grows or vanishes */
            ((float *)state.x)[i] = i % 2 == 0 ? 0.6f : 0.8f;
        }
        return;
    case KERNEL_convert_f32_f16: fill_halves(state.x, n); return;
    default: break;
    }
    if (block != 0) {
        fill_weights(call);
    } else {
        fill_floats(state.w, n);
        fill_floats(state.y, n);
    }
    if (block > 1) {
        fill_activations(call->cols, call->tokens, block >= FIG4_COLS, call->tokens > 1);
    } else {
        fill_floats(state.x, block == 0 ? n : call->cols * call->tokens);
    }
}

#define AS(op) ((op##_fn *)function)
static bool run_product(const struct kernel_call *call, void (*function)(void), size_t ahead)
{
    size_t rows = call->rows;
    size_t n = call->cols;
    void *y = state.y;
    void *w = state.w;
    void *x = state.x;

    switch ((int)call->op) {
#define PRODUCTS(gemv, gemm, ahead_or_table, ...) \
    case KERNEL_##gemv: AS(gemv)(y, w, x, rows, n, ahead_or_table); return true; \
    case KERNEL_##gemm: \
        AS(gemm)(y, w, x, &state.shape __VA_ARGS__); \
        return true;
#define TYPE_FLOATS(NAME, id, name, ...) \
    PRODUCTS(gemv_f32_##name##_f32, gemm_f32_##name##_f32, ahead, )
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) \
    PRODUCTS(gemv_f32_##layout##x8_##act, gemm_f32_##layout##x8_##act##x4, ahead, )
#define COMMA ,
#define TYPE_TABLED(NAME, id, name, layout, cols, act, ...) \
    PRODUCTS(gemv_f32_##layout##x8_##act, gemm_f32_##layout##x8_##act##x4, &state.table, \
             COMMA &state.table)
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
    default: return false;
    }
}

static bool run_attention(const struct kernel_call *call, void (*function)(void))
{
    size_t n = call->rows;
    size_t d = call->cols;
    size_t n_q = call->tokens;
    void *s = state.y;
    void *k = state.w;
    void *q = state.x;

    switch ((int)call->op) {
    case KERNEL_score_f32_f16: AS(score_f32_f16)(s, q, k, n_q, n, d); return true;
    case KERNEL_score_f32_q8: AS(score_f32_q8)(s, q, k, n_q, n, d); return true;
    case KERNEL_score_f32_q4: AS(score_f32_q4)(s, q, k, n_q, n, d); return true;
    case KERNEL_accumulate_f32_q8_q8:
        AS(accumulate_f32_q8_q8)(q, s, (void *)state.from, k, n_q, d);
        return true;
    case KERNEL_accumulate_f32_q4_q8:
        AS(accumulate_f32_q4_q8)(q, s, (void *)state.from, k, n_q, d);
        return true;
    case KERNEL_online_softmax_f32: AS(online_softmax_f32)(s, n_q, n); return true;
    case KERNEL_accumulate_f32_f16: AS(accumulate_f32_f16)(q, s, k, n_q, n, d); return true;
    case KERNEL_accumulate_f32_q8: AS(accumulate_f32_q8)(q, s, k, n_q, n, d); return true;
    default: return false;
    }
}

/* Runs the vector ops of feed-forwards and mixers. */
static bool run_mixer(const struct kernel_call *call, void (*function)(void))
{
    struct state_shape head = { call->rows, call->cols, call->cols };
    struct conv_shape conv = { call->rows, call->cols, call->cols, call->cols };
    size_t n = call->cols;
    float *y = (float *)state.y;
    float *w = (float *)state.w;
    float *x = (float *)state.x;

    switch ((int)call->op) {
    case KERNEL_silu_f32: AS(silu_f32)(y, x, n); return true;
    case KERNEL_sigmoid_mul_f32: AS(sigmoid_mul_f32)(y, x, w, n); return true;
    case KERNEL_swiglu_oai_f32: AS(swiglu_oai_f32)(y, x, w, n, 7.0f, 1.702f); return true;
    case KERNEL_relu2_f32: AS(relu2_f32)(y, x, n); return true;
    case KERNEL_relu2_mul_f32: AS(relu2_mul_f32)(y, x, w, n); return true;
    case KERNEL_mul_f32: AS(mul_f32)(y, x, w, n); return true;
    case KERNEL_add_scaled_f32: AS(add_scaled_f32)(y, x, n, 0.5f); return true;
    case KERNEL_expand_f32_f32: AS(expand_f32_f32)(y, w, x, call->rows, n); return true;
    case KERNEL_expand_f32_f16: AS(expand_f32_f16)(y, (void *)w, x, call->rows, n); return true;
    case KERNEL_l2norm_f32: AS(l2norm_f32)(y, x, n, 1e-6f); return true;
    case KERNEL_hadamard_f32: AS(hadamard_f32)(y, n, n); return true;
    case KERNEL_conv_f32: AS(conv_f32)(y, x, w, w, &conv); return true;
    case KERNEL_delta_f32: AS(delta_f32)(w, y, x, x, x, &head, 0.875f, 0.02f); return true;
    case KERNEL_mamba2_f32: AS(mamba2_f32)(w, y, x, x, x, &head, 0.875f, 0.02f); return true;
    default: return false;
    }
}

/* The table of IQ4_NL, or a table as the packer finds it for FIG4. */
static void set_table(bool fig4, size_t ahead)
{
    static const int8_t iq4_nl[NIBBLES] = { -127, -104, -83, -65, -49, -35, -22, -10,
                                            1,    13,   25,  38,  53,  69,  89,  113 };

    for (size_t i = 0; i < NIBBLES; i++) {
        state.table.values[i] = fig4 ? (int8_t)(iq4_nl[i] * TABLE_NARROW / 127) : iq4_nl[i];
    }
    state.table.ahead = ahead;
}

void kernel_call_run(const struct kernel_call *call, void (*function)(void), size_t ahead)
{
    size_t n = call->cols;
    void *y = state.y;
    void *w = state.w;
    void *x = state.x;

    set_table(call->op == KERNEL_gemv_f32_fig4x8_q8k || call->op == KERNEL_gemm_f32_fig4x8_q8kx4,
              ahead);
    if (run_product(call, function, ahead) || run_attention(call, function) ||
        run_mixer(call, function)) {
        return;
    }
    switch ((int)call->op) {
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) \
    case KERNEL_dequantize_f32_##layout##x8: \
        AS(dequantize_f32_##layout##x8)(y, w, 0, n); \
        return;
#define TYPE_TABLED(NAME, id, name, layout, ...) \
    case KERNEL_dequantize_f32_##layout##x8: \
        AS(dequantize_f32_##layout##x8)(y, w, 0, n, &state.table); \
        return;
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
    case KERNEL_quantize_q8_f32: AS(quantize_q8_f32)(y, x, n); return;
    case KERNEL_quantize_q8k_f32: AS(quantize_q8k_f32)(y, x, n); return;
    case KERNEL_interleave_q8x4_q8: AS(interleave_q8x4_q8)(y, x, call->tokens, n); return;
    case KERNEL_interleave_q8kx4_q8k: AS(interleave_q8kx4_q8k)(y, x, call->tokens, n); return;
    case KERNEL_rmsnorm_f32: AS(rmsnorm_f32)(y, x, w, n, 1e-5f, 0.0f); return;
    case KERNEL_layernorm_f32: AS(layernorm_f32)(y, x, w, w, n, 1e-5f); return;
    case KERNEL_rope_f32_pairs: AS(rope_f32_pairs)(y, x, n); return;
    case KERNEL_rope_f32_halves: AS(rope_f32_halves)(y, x, n); return;
    case KERNEL_max_f32: (void)AS(max_f32)(x, n); return;
    case KERNEL_exp_sum_f32: (void)AS(exp_sum_f32)(y, n, 1.0f); return;
    case KERNEL_softmax_f32: AS(softmax_f32)(y, n); return;
    case KERNEL_silu_mul_f32: AS(silu_mul_f32)(y, x, w, n); return;
    case KERNEL_gelu_f32: AS(gelu_f32)(y, x, n); return;
    case KERNEL_gelu_mul_f32: AS(gelu_mul_f32)(y, x, w, n); return;
    case KERNEL_softcap_f32: AS(softcap_f32)(y, n, 30.0f); return;
    case KERNEL_add_f32: AS(add_f32)(y, x, n); return;
    case KERNEL_scale_f32: AS(scale_f32)(y, x, n, 0.5f); return;
    case KERNEL_convert_f16_f32: AS(convert_f16_f32)((uint16_t *)y, x, n); return;
    case KERNEL_convert_f32_f16: AS(convert_f32_f16)(y, x, n); return;
    case KERNEL_crc32c_u8: AS(crc32c_u8)((uint32_t *)y, x, n); return;
    case KERNEL_sha256_u8: AS(sha256_u8)((uint32_t *)y, x, n / 64); return;
    default: assert(!"every op has a call");
    }
}

void kernel_call_nothing(void)
{
}
