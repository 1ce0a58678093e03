/* The .ingot file, version 4, as C structures. flash_image/FORMAT.md is the specification; if the
 * two differ, this file is wrong. Little-endian; every structure is naturally aligned. This file is
 * long because readers want to see the format in one place. */
#ifndef INGOT_FLASH_IMAGE_FORMAT_H
#define INGOT_FLASH_IMAGE_FORMAT_H

#include <assert.h>
#include <stdint.h>

#include "flash_image/format/tokenizer.h"
#include "kernels/blocks.h"

#define INGOT_MAGIC "INGOT\r\n\x1a" /* 8 bytes, no NUL: catches text-mode transfers */

enum {
    INGOT_VERSION = 4,
    INGOT_PAGE = 4096,             /* header size, and alignment of sections and segments */
    INGOT_TENSOR_ALIGN = 64,       /* alignment of a tensor inside its segment */
    INGOT_INTERLEAVE = GROUP_ROWS, /* rows of a quantized group */
    INGOT_CHUNK = CHUNK_COLS,      /* consecutive columns of a row inside a group */
    INGOT_NO_LAYER = 0xffff,
    INGOT_NO_ROPE = 0xffff,
    INGOT_PHASES = 4, /* phases of a segment: a part of its layer can be computed after each */

    /* Bounds that every reader checks before it multiplies sizes. */
    INGOT_MAX_LAYERS = 256,
    INGOT_MAX_SEGMENTS = INGOT_MAX_LAYERS + 3,
    INGOT_MAX_HEADS = 256,
    INGOT_MAX_DIM = 65536,
    INGOT_MAX_LATENT = 4096, /* largest head_dim of layers with latent keys */
    INGOT_MAX_HIDDEN = 262144,
    INGOT_MAX_VOCAB = 1048576,
    INGOT_MAX_CONTEXT = 1048576,
    INGOT_MAX_TENSORS = 16384,
    INGOT_MAX_ROPES = 4,
    INGOT_MAX_EXPERTS = 512,     /* of a layer */
    INGOT_MAX_INNER_HEADS = 256, /* heads of a recurrent mixer, and its groups */
    INGOT_MAX_STATE = 1024,      /* largest state_dim */
    INGOT_MAX_TAPS = 8,          /* taps of a convolution over positions */
    INGOT_TABLE_ROWS = 8,        /* rows of a token in the per-layer table: one group, so they are
                                    stored together */
};

/* The types of weights: types.def. The types' numbers run from 0 without a gap. */
enum ingot_type {
#define TYPE_FLOATS(NAME, id, ...) INGOT_##NAME = (id),
#define TYPE_WEIGHTS(NAME, id, ...) INGOT_##NAME = (id),
#define TYPE_PACKED(NAME, id, ...) INGOT_##NAME = (id),
#include "flash_image/format/types.def"
    INGOT_N_TYPES = 0
#define TYPE_FLOATS(...) +1
#define TYPE_WEIGHTS(...) +1
#define TYPE_PACKED(...) +1
#include "flash_image/format/types.def"
};
enum ingot_family { /* for people; the computation depends only on the parameters */
                    INGOT_LLAMA = 1,
                    INGOT_MISTRAL = 2,
                    INGOT_QWEN2 = 3,
                    INGOT_QWEN3 = 4,
                    INGOT_GEMMA = 5,
                    INGOT_GEMMA2 = 6,
                    INGOT_GEMMA3 = 7,
                    INGOT_PHI3 = 8,
                    INGOT_GPT2 = 9,
                    INGOT_QWEN35 = 10,
                    INGOT_QWEN35_MOE = 11,
                    INGOT_LFM2 = 12,
                    INGOT_LFM2_MOE = 13,
                    INGOT_GRANITE = 14,
                    INGOT_GRANITE_MOE = 15,
                    INGOT_GRANITE_HYBRID = 16,
                    INGOT_SMOLLM3 = 17,
                    INGOT_OLMO2 = 18,
                    INGOT_OLMOE = 19,
                    INGOT_QWEN3_MOE = 20,
                    INGOT_MIXTRAL = 21,
                    INGOT_GPT_OSS = 22,
                    INGOT_GEMMA4 = 23,
                    INGOT_EXAONE4 = 24,
                    INGOT_STARCODER2 = 25,
                    INGOT_HUNYUAN = 26,
                    INGOT_ERNIE45 = 27,
                    INGOT_MINICPM = 28,
                    INGOT_BITNET = 29,
                    INGOT_FALCON_H1 = 30,
                    INGOT_NEMOTRON_H = 31,
                    INGOT_DEEPSEEK2 = 32,
                    INGOT_LAST_FAMILY = INGOT_DEEPSEEK2
};
/* How a layer combines its positions. */
enum ingot_mixer {
    INGOT_MIXER_NONE = 0,
    INGOT_MIXER_ATTENTION = 1,
    INGOT_MIXER_DELTA = 2,     /* gated delta net */
    INGOT_MIXER_SHORTCONV = 3, /* convolution over a few positions */
    INGOT_MIXER_MAMBA2 = 4,
    INGOT_MIXER_OWN =
        240 /* from here to 255: for programs that add kinds; no published file uses them */
};
/* How a layer processes each position by itself. */
enum ingot_ffn {
    INGOT_FFN_NONE = 0,
    INGOT_FFN_DENSE = 1,
    INGOT_FFN_EXPERTS = 2, /* experts: some of many, chosen for each position, perhaps beside a
                              dense part for all positions */
    INGOT_FFN_OWN = 240    /* as INGOT_MIXER_OWN */
};
enum ingot_norm { INGOT_NORM_RMS = 0, INGOT_NORM_LAYER = 1 /* layer norms have biases */ };
enum ingot_norm_place { /* bits: a norm of a block's input, or of its result */
                        INGOT_NORM_BEFORE = 1,
                        INGOT_NORM_AFTER = 2
};
enum ingot_activation {
    INGOT_SILU = 0,
    INGOT_GELU = 1,       /* tanh form */
    INGOT_RELU2 = 2,      /* max(x, 0)^2 */
    INGOT_SWIGLU_OAI = 3, /* min(g, 7) sigmoid(1.702 min(g, 7)) (clamp(u, -7, 7) + 1), only gated */
    INGOT_LAST_ACTIVATION = INGOT_SWIGLU_OAI
};
/* How a router's logits (plus ROUTER_BIAS) choose and weigh experts. The experts with the
 * highest values are chosen, and among equal values the experts with the lowest numbers.
 * ROUTER_CHOICE_BIAS changes only the choice. */
enum ingot_router {
    INGOT_ROUTER_SOFTMAX = 0,        /* softmax over all experts chooses and gives the weights */
    INGOT_ROUTER_SOFTMAX_CHOSEN = 1, /* logits choose; softmax over the chosen experts gives
                                        weights */
    INGOT_ROUTER_SIGMOID = 2,        /* the sigmoid of each logit chooses and gives the weight */
    INGOT_LAST_ROUTER = INGOT_ROUTER_SIGMOID
};
enum ingot_feature { /* bits of a layer's features */
                     INGOT_GATED =
                         1
                         << 0, /* down(act(gate) * up) instead of down(act(up)): FFN_GATE, EXPERT_GATE */
                     INGOT_QK_NORM = 1
                                     << 1, /* each head's query and key are normed before rotation:
                                    ATTN_Q_NORM, ATTN_K_NORM */
                     INGOT_QK_NORM_WIDE = 1 << 2, /* with QK_NORM: a norm over all heads together */
                     INGOT_QK_NORM_LATE = 1 << 3, /* with QK_NORM: after rotation; not with WIDE */
                     INGOT_V_NORM = 1 << 4, /* each head's values are RMS-normed, without weights */
                     INGOT_V_IS_K =
                         1 << 5, /* no ATTN_V: values are the keys before norm and rotation */
                     INGOT_SHARED_KV =
                         1 << 6, /* keys and values of kv_layer: no ATTN_K, ATTN_V, ATTN_K_NORM */
                     INGOT_RENORMALIZE =
                         1 << 7, /* the chosen experts' weights are divided by their sum, or by
                                    6.103515625e-5 if that is more */
                     INGOT_TILED_GROUPS = 1
                                          << 8, /* delta: inner head h takes group h % n_groups, not
                                    h / (inner_heads / n_groups) */
                     INGOT_LATENT_KV =
                         1 << 9, /* one key for all heads; its first kv_rank numbers (normed by
                                    ATTN_K_NORM) are also the value, and the others rotate */
                     INGOT_GROUPS_BY_TWO =
                         1 << 10, /* a group of experts is rated by its best two experts, not by its
                                     best one */
                     INGOT_ATTENTION_FEATURES = 63 << 1 |
                                                INGOT_LATENT_KV, /* the bits of attention */
                     INGOT_ALL_FEATURES = (1 << 11) - 1
};
enum ingot_rope_kind {
    INGOT_ROPE_PAIRS = 0 /* (2i, 2i+1) */,
    INGOT_ROPE_HALVES = 1 /* (i, i+d/2) */
};
enum ingot_segment_kind {
    INGOT_SEGMENT_EMBEDDING = 0,
    INGOT_SEGMENT_LAYER = 1,
    INGOT_SEGMENT_HEAD = 2,
    INGOT_SEGMENT_TABLE = 3 /* PER_LAYER_EMBEDDING: a token reads only its own rows */
};

/* The roles are in the order of the tensor table and of the bytes of a segment. Norms and biases
 * are (1, n) F32. Biases of matrices are optional; FORMAT.md says which other tensors are required.
 * Widths are fields of struct ingot_layer; channels: 2 n_groups state_dim + inner_dim, or inner_dim
 * for a short convolution. */
enum ingot_role {
    INGOT_TOKEN_EMBEDDING = 0, /* (vocab, dim); in an MTP head (dim, 2 dim), in an assistant
                                  (dim, 2 target_dim): the matrix that makes its input */
    INGOT_PER_LAYER_EMBEDDING, /* (TABLE_ROWS * vocab, n_layers * per_layer_dim / TABLE_ROWS),
                                       in its own segment */
    INGOT_POSITION_EMBEDDING,  /* (context, dim) F32 or F16; at the start of layer 0's segment, like
                                       the next two */
    INGOT_PER_LAYER_PROJECTION, /* (n_layers * per_layer_dim, dim) */
    INGOT_PER_LAYER_NORM,       /* (1, per_layer_dim) */
    INGOT_ATTN_NORM,            /* (1, dim), for any mixer; the roles of a layer start here */
    INGOT_ATTN_NORM_BIAS,
    INGOT_ATTN_Q_A,      /* (q_rank, dim), if q_rank is not 0 */
    INGOT_ATTN_Q_A_NORM, /* (1, q_rank) */
    INGOT_ATTN_Q,    /* (n_heads * head_dim, dim); with latent keys (n_heads * query_dim, q_rank) */
    INGOT_ATTN_GATE, /* (n_heads * value_dim, dim): its sigmoid multiplies the result of attention */
    INGOT_ATTN_K,    /* (n_kv_heads * head_dim, dim) */
    INGOT_ATTN_V,    /* (n_kv_heads * value_dim, dim) */
    INGOT_ATTN_Q_BIAS,
    INGOT_ATTN_K_BIAS,
    INGOT_ATTN_V_BIAS,
    INGOT_ATTN_Q_NORM, /* (1, head_dim), wide: (1, n_heads * head_dim) */
    INGOT_ATTN_K_NORM, /* norm of latent keys (1, kv_rank) */
    INGOT_ATTN_K_B,    /* (n_heads * kv_rank, query_dim - (head_dim - kv_rank)); neither this matrix
                          nor ATTN_V_B has a packed type or FIG4 */
    INGOT_ATTN_V_B,    /* (n_heads * value_dim, kv_rank) */
    INGOT_ATTN_SINKS,  /* (1, n_heads): one more logit in the sum of each head's softmax */
    INGOT_ATTN_SUB_NORM, /* (1, n_heads * value_dim), for the result of attention */
    INGOT_ATTN_OUT,      /* (dim, n_heads * value_dim) */
    INGOT_ATTN_OUT_BIAS,
    INGOT_SSM_IN,    /* delta: q, k, v (channels, dim); short convolution: B, C, x (3 * inner_dim,
                        dim); Mamba2: z, x, B, C, dt (inner_dim + channels + inner_heads, dim) */
    INGOT_SSM_GATE,  /* delta: (inner_dim, dim) */
    INGOT_SSM_BETA,  /* delta: (inner_heads, dim) */
    INGOT_SSM_ALPHA, /* delta: (inner_heads, dim) */
    INGOT_SSM_CONV,  /* (conv_taps, channels) F32, the oldest position first */
    INGOT_SSM_CONV_BIAS,
    INGOT_SSM_A,          /* (1, inner_heads): -exp(A_log) */
    INGOT_SSM_DT,         /* (1, inner_heads): added to alpha, or to dt */
    INGOT_SSM_D,          /* Mamba2: (1, inner_heads) */
    INGOT_SSM_NORM,       /* delta: (1, inner_dim / inner_heads); Mamba2: (1, inner_dim) */
    INGOT_SSM_OUT,        /* (dim, inner_dim) */
    INGOT_ATTN_POST_NORM, /* norm of the block's result, before it is added */
    INGOT_FFN_NORM,
    INGOT_FFN_NORM_BIAS,
    INGOT_ROUTER,             /* (n_experts, dim) F32 */
    INGOT_ROUTER_BIAS,        /* (1, n_experts): added to the logits */
    INGOT_ROUTER_CHOICE_BIAS, /* (1, n_experts): changes only the choice */
    INGOT_SHARED_SCALE,       /* (1, dim): w; the dense part beside experts is multiplied by
                                 sigmoid(w.h) */
    INGOT_FFN_GATE,           /* (hidden, dim) */
    INGOT_FFN_UP,             /* (hidden, dim) */
    INGOT_FFN_UP_BIAS,
    INGOT_FFN_SUB_NORM, /* (1, hidden), for the input of FFN_DOWN */
    INGOT_FFN_DOWN,     /* (dim, hidden) */
    INGOT_FFN_DOWN_BIAS,
    INGOT_EXPERT_GATE, /* (expert_hidden, dim), in the extent of each expert */
    INGOT_EXPERT_GATE_BIAS,
    INGOT_EXPERT_UP, /* (expert_hidden, dim) */
    INGOT_EXPERT_UP_BIAS,
    INGOT_EXPERT_DOWN, /* (dim, expert_hidden) */
    INGOT_EXPERT_DOWN_BIAS,
    INGOT_FFN_POST_NORM,
    INGOT_PER_LAYER_GATE,      /* (per_layer_dim, dim) */
    INGOT_PER_LAYER_OUT,       /* (dim, per_layer_dim) */
    INGOT_PER_LAYER_POST_NORM, /* (1, dim) */
    INGOT_OUTPUT_NORM,         /* here the roles of a layer end */
    INGOT_OUTPUT_NORM_BIAS,
    INGOT_OUTPUT,          /* (vocab, dim); tied: refers to the bytes of the embedding */
    INGOT_MTP_TOKEN_NORM,  /* (1, dim), only in an MTP head, like MTP_HIDDEN_NORM: norm of the
                              token's row of the embedding */
    INGOT_MTP_HIDDEN_NORM, /* norm of the hidden state of the previous token */
    INGOT_MTP_STATE,       /* (target_dim, dim), only in an assistant: turns a hidden state of the
                              assistant into one of the model */
    INGOT_N_ROLES
};
static_assert(INGOT_N_ROLES <= 64, "a set of roles is a uint64_t");

/* The model as a whole, and the sizes of its widest layer, from which memory is planned. */
struct ingot_params {
    uint32_t family; /* enum ingot_family */
    uint32_t dim;
    uint32_t n_layers;
    uint32_t vocab;
    uint32_t context; /* trained context length, tokens */
    uint32_t tied;    /* 1: INGOT_OUTPUT is the token embedding */
    uint32_t norm;    /* enum ingot_norm of layers and output */
    uint32_t n_ropes; /* entries of header.ropes */
    uint32_t hidden;  /* the largest of any layer or expert, like the next three */
    uint32_t n_heads;
    uint32_t n_kv_heads;
    uint32_t head_dim;
    float norm_eps;
    float final_softcap;    /* logits become cap * tanh(logit / cap); 0: they do not change */
    float embedding_scale;  /* the token embedding is multiplied by it; usually 1 */
    float logits_scale;     /* the logits are multiplied by it before the softcap; usually 1 */
    uint32_t per_layer_dim; /* width of the embedding that each layer adds; 0: layers add none */
    uint32_t mtp;           /* 1: this is an MTP head, which guesses another model's tokens */
    uint32_t target_dim;    /* in an assistant: dim of the model whose keys the assistant reads;
                               otherwise 0 */
    uint32_t reserved[13];  /* zero */
};
static_assert(sizeof(struct ingot_params) == 128, "params are 128 bytes");

/* A way to rotate queries and keys: the angle of pair i at position p is p * base^(-2i / dims) /
 * factor_i. Layers with the same rope have the same attn_scale. */
struct ingot_rope {
    uint32_t kind; /* enum ingot_rope_kind */
    uint32_t dims; /* the first `dims` of each head rotate; an even number, at most head_dim */
    float base;
    float magnitude;       /* factor of cosines and sines; usually 1 */
    uint32_t factors;      /* index of the first of the dims / 2 factors in the rope section;
                              INGOT_NO_FACTORS: all are 1 */
    uint32_t long_factors; /* index as in `factors`, for sequences longer than long_context */
    uint32_t long_context; /* in tokens; 0: there are no long factors */
    uint32_t reserved;     /* zero */
};
static_assert(sizeof(struct ingot_rope) == 32, "a rope entry is 32 bytes");
#define INGOT_NO_FACTORS 0xffffffffu

/* Bits of ingot_sampling.given. */
enum ingot_sampling_field {
    INGOT_SAMPLES_TEMP = 1,
    INGOT_SAMPLES_TOP_P = 2,
    INGOT_SAMPLES_MIN_P = 4,
    INGOT_SAMPLES_REPEAT = 8,
    INGOT_SAMPLES_TOP_K = 16,
    INGOT_SAMPLES_REPEAT_LAST = 32,
    INGOT_ALL_SAMPLING = 63
};

/* The publisher's recommendation for sampling; a user's options override it. Units and ranges are
 * those of the options of the same names. A field that is not given is zero, and a program uses its
 * own default. */
struct ingot_sampling {
    uint32_t given; /* bits of enum ingot_sampling_field */
    float temp;
    float top_p;
    float min_p;
    float repeat;
    uint32_t top_k;
    uint32_t repeat_last;
    uint32_t reserved; /* zero */
};
static_assert(sizeof(struct ingot_sampling) == 32, "sampling defaults are 32 bytes");

struct ingot_section {
    uint64_t offset; /* from the start of the file, a multiple of 4096 */
    uint64_t bytes;  /* does not count padding to the next multiple of 4096 */
    uint32_t crc32c; /* of these bytes */
    uint32_t count;  /* number of entries of a table, else 0 */
};
static_assert(sizeof(struct ingot_section) == 24, "a section reference is 24 bytes");

struct ingot_header {
    char magic[8];
    uint32_t version;
    uint32_t header_crc32c; /* CRC-32C of the 4096 header bytes, with this field zero */
    uint64_t file_bytes;    /* size of the whole file, a multiple of 4096 */
    char name[64];          /* NUL-terminated, UTF-8 */
    struct ingot_params params;
    struct ingot_section tokenizer;
    struct ingot_section chat;     /* struct ingot_chat */
    struct ingot_section rope;     /* float[count]: the factors that ropes refer to */
    struct ingot_section layers;   /* struct ingot_layer[params.n_layers] */
    struct ingot_section segments; /* struct ingot_segment[count], in the order of the file */
    struct ingot_section tensors;  /* struct ingot_tensor[count], in the order of enum ingot_role */
    struct ingot_rope ropes[INGOT_MAX_ROPES]; /* zero beyond params.n_ropes */
    struct ingot_section experts; /* uint32_t[count]: the CRC-32C of each expert of each layer, then
                                     those of each token's rows of PER_LAYER_EMBEDDING */
    struct ingot_sampling sampling;
    uint8_t reserved[4096 - 544]; /* zero */
};
static_assert(sizeof(struct ingot_header) == 4096, "the header is one page");

/* A layer computes norm, mixer, add, norm, feed-forward, add; this struct gives the kind of each.
 * Fields that these kinds do not use are zero. */
struct ingot_layer {
    uint8_t mixer;      /* enum ingot_mixer */
    uint8_t ffn;        /* enum ingot_ffn */
    uint8_t norms;      /* bits of enum ingot_norm_place, for both blocks */
    uint8_t activation; /* enum ingot_activation */
    uint32_t features;  /* bits of enum ingot_feature */
    uint32_t n_heads;
    uint32_t n_kv_heads; /* divides n_heads */
    uint32_t head_dim;   /* width of queries and keys; an even number in layers that rotate */
    uint32_t value_dim;  /* width of values; equal to head_dim except for INGOT_LATENT_KV */
    uint32_t hidden; /* width of the feed-forward, or of the dense part beside experts; 0: none */
    uint32_t window; /* positions that a query sees, including its own; 0: all */
    uint16_t rope;   /* index into header.ropes, or INGOT_NO_ROPE */
    uint16_t
        kv_layer;     /* the layer whose keys and values are read; itself without INGOT_SHARED_KV */
    float attn_scale; /* scores are multiplied by it; 1 / sqrt(head_dim) in most families */
    float attn_softcap;    /* scores become cap * tanh(score / cap); 0: they do not change */
    float residual_scale;  /* a block's result is multiplied by it before the addition; usually 1 */
    uint32_t segment;      /* index into the segment table: the layer's tensors and experts */
    uint32_t first_tensor; /* index of its first tensor in the tensor table */
    uint32_t n_tensors;

    uint8_t parallel;     /* a second mixer with the same input, whose result is also added:
                             INGOT_MIXER_MAMBA2, or INGOT_MIXER_NONE */
    uint8_t conv_taps;    /* taps of a recurrent mixer's convolution */
    uint8_t router;       /* enum ingot_router */
    uint8_t reserved0;    /* zero */
    uint32_t n_groups;    /* recurrent mixer: number of heads of q and k, or of groups of B and C */
    uint32_t inner_heads; /* a multiple of n_groups: inner head h uses group h / (inner_heads /
                             n_groups), except with INGOT_TILED_GROUPS */
    uint32_t state_dim;   /* width of q and k, or of B and C */
    uint32_t inner_dim;   /* a multiple of inner_heads */
    uint32_t n_experts;
    uint32_t n_experts_used; /* for each position */
    uint32_t expert_hidden;
    float expert_scale;    /* the experts' sum is multiplied by it; usually 1 */
    float output_scale;    /* the residual stream is multiplied by it after the layer; usually 1 */
    uint32_t first_expert; /* index of the layer's first CRC in the experts section */
    uint32_t reserved1[2]; /* zero */
    uint64_t
        expert_offset; /* offset of expert 0's extent from the segment's start, a multiple of 4096 */
    uint64_t expert_bytes; /* size of an extent, a multiple of 4096; expert e begins at
                              expert_offset + e * expert_bytes */

    uint32_t kv_rank;            /* INGOT_LATENT_KV: how many numbers of a key do not rotate */
    uint32_t q_rank;             /* rank of ATTN_Q_A; 0: there is none */
    uint32_t query_dim;          /* rows of ATTN_Q for each head; the last ones rotate */
    uint32_t expert_groups;      /* divides n_experts; 0: there are none */
    uint32_t expert_groups_used; /* number of groups from which experts are chosen */
    uint32_t reserved[27];       /* zero */
};
static_assert(sizeof(struct ingot_layer) == 256, "a layer entry is 256 bytes");

/* Bytes that are read together. Segments are in order: the embedding, the layers, the head. */
struct ingot_segment {
    uint64_t offset; /* from the start of the file, a multiple of 4096 */
    uint64_t bytes;  /* a multiple of 4096, including zero padding, which the CRC covers */
    uint32_t crc32c;
    uint16_t kind;      /* enum ingot_segment_kind */
    uint16_t layer;     /* INGOT_NO_LAYER for the embedding and the head */
    uint32_t reserved0; /* zero */
    uint32_t reserved;
    uint64_t phase_end[INGOT_PHASES]; /* bytes that must have arrived for each phase; never
                                         decreasing; the last is `bytes` */
};
static_assert(sizeof(struct ingot_segment) == 64, "a segment entry is 64 bytes");

struct ingot_tensor {
    uint16_t role;      /* enum ingot_role */
    uint16_t layer;     /* INGOT_NO_LAYER outside the layers */
    uint8_t type;       /* enum ingot_type */
    uint8_t interleave; /* rows of a group: 8 for quantized types, 1 for F32 and F16 */
    uint8_t chunk;      /* columns of a chunk: 4 for quantized types, 0 for F32 and F16 */
    uint8_t reserved0;
    uint32_t rows;
    uint32_t cols;
    uint32_t cols_padded; /* cols filled up with zeros to a multiple of 32 (Q8_0, Q4_0, F16) or 16
                             (F32); other types: cols, which is a multiple of the block's columns */
    uint32_t segment;     /* index into the segment table */
    uint64_t offset;      /* offset from the start of the segment, a multiple of 64; for an EXPERT_
                             role (one entry for all experts) from each extent's start */
    uint64_t bytes;       /* rows, rounded up to a multiple of interleave, times bytes per row */
    int8_t values[NIBBLES]; /* FIG4: the value of each nibble, -127 .. 127; other types: zero */
    uint64_t reserved;
};
static_assert(sizeof(struct ingot_tensor) == 64, "a tensor entry is 64 bytes");

/* The bytes of a quantized tensor are the blocks of kernels/blocks.h. */

/* The chat section: struct ingot_chat, then the bytes of the strings in order, not terminated.
 * FORMAT.md says how a conversation is assembled. If all lengths are 0, the model has no template
 * and continues the text unchanged. */
enum ingot_chat_string {
    INGOT_CHAT_NAME,    /* name of the template, for a person to read */
    INGOT_CHAT_OPENING, /* before a conversation */
    INGOT_CHAT_SYSTEM_PREFIX,
    INGOT_CHAT_SYSTEM_SUFFIX,
    INGOT_CHAT_USER_PREFIX,
    INGOT_CHAT_USER_SUFFIX,
    INGOT_CHAT_REPLY_PREFIX,
    INGOT_CHAT_REPLY_SUFFIX,
    INGOT_CHAT_NO_THINKING, /* follows the reply prefix if the reply must not have thoughts */
    INGOT_CHAT_THINK_END,   /* ends a reply's thoughts; later turns omit the thoughts */
    INGOT_CHAT_SYSTEM,      /* the system prompt if none is given */
    INGOT_CHAT_REPLY_START, /* after the prefix of the next reply; NO_THINKING replaces it */
    INGOT_CHAT_PAST_START,  /* follows the prefix of a past reply whose thoughts are left out */
    INGOT_CHAT_STRINGS
};
enum { INGOT_CHAT_FIRST_STRINGS = INGOT_CHAT_SYSTEM + 1 }; /* entries of bytes[] */
enum ingot_chat_flags {
    INGOT_CHAT_SYSTEM_IN_USER = 1,  /* the system block follows the first user prefix */
    INGOT_CHAT_SYSTEM_ALWAYS = 2,   /* the system block is written even if the prompt is empty */
    INGOT_CHAT_TRIM_USER = 4,       /* white space around the user's texts is removed */
    INGOT_CHAT_TRIM_SYSTEM = 8,     /* white space around the system prompt is removed */
    INGOT_CHAT_SYSTEM_LAST = 16,    /* with SYSTEM_IN_USER: the block is in the last user turn */
    INGOT_CHAT_SYSTEM_WHOLE = 32,   /* without a system prompt, CHAT_SYSTEM is the whole block */
    INGOT_CHAT_KEEPS_THOUGHTS = 64, /* thoughts stay in the context of later turns */
    INGOT_CHAT_TRIM_REPLY = 128,    /* white space around the replies of earlier turns is removed */
    INGOT_CHAT_TRIM_SYSTEM_END = 256, /* white space after the system prompt is removed */
    INGOT_CHAT_TRIM = INGOT_CHAT_TRIM_USER | INGOT_CHAT_TRIM_SYSTEM | INGOT_CHAT_TRIM_REPLY,
    INGOT_CHAT_DROPS_WRITTEN = 512, /* thoughts in the text of an earlier reply are removed */
    INGOT_CHAT_REMOVES = INGOT_CHAT_TRIM | INGOT_CHAT_TRIM_SYSTEM_END | INGOT_CHAT_DROPS_WRITTEN,
    INGOT_ALL_CHAT_FLAGS = 1023
};
enum { INGOT_MAX_STOPS = 8 };
struct ingot_chat {
    uint32_t bytes[INGOT_CHAT_FIRST_STRINGS];
    uint32_t flags;
    uint32_t n_stops;                /* number of tokens that end a reply */
    uint32_t stops[INGOT_MAX_STOPS]; /* their ids, below n_tokens; zeros after the first n_stops */
    uint32_t more_bytes[2];          /* lengths of the last two strings; bytes[] has the others */
    uint32_t reserved;               /* zero */
};
static_assert(sizeof(struct ingot_chat) == 96, "the chat header is 96 bytes");
static_assert(INGOT_CHAT_STRINGS - INGOT_CHAT_FIRST_STRINGS == 2, "two lengths in more_bytes[]");

/* The field that stores the length of a string. */
static inline const uint32_t *ingot_chat_bytes(const struct ingot_chat *chat,
                                               enum ingot_chat_string which)
{
    if ((unsigned)which < INGOT_CHAT_FIRST_STRINGS) {
        return &chat->bytes[which];
    }
    return &chat->more_bytes[(unsigned)which - INGOT_CHAT_FIRST_STRINGS];
}

#endif
