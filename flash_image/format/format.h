/* The .ingot file, version 4, as C structures. FORMAT.md beside this file is the specification; if
 * the two differ, this file is wrong. Little-endian; every structure is naturally aligned. This
 * file is long because the format is one unit that a reader wants to see whole. */
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
    INGOT_PHASES = 4, /* phases of a segment: computing may start when a phase has arrived */

    /* Bounds that every reader checks before it multiplies sizes. */
    INGOT_MAX_LAYERS = 256,
    INGOT_MAX_SEGMENTS = INGOT_MAX_LAYERS + 3,
    INGOT_MAX_HEADS = 256,
    INGOT_MAX_DIM = 65536,
    INGOT_MAX_LATENT = 4096, /* largest head_dim with latent keys */
    INGOT_MAX_HIDDEN = 262144,
    INGOT_MAX_VOCAB = 1048576,
    INGOT_MAX_CONTEXT = 1048576,
    INGOT_MAX_TENSORS = 16384,
    INGOT_MAX_ROPES = 4,
    INGOT_MAX_EXPERTS = 512,     /* of a layer */
    INGOT_MAX_INNER_HEADS = 256, /* heads of a recurrent mixer, and its groups */
    INGOT_MAX_STATE = 1024,      /* numbers in a group of a recurrent state */
    INGOT_MAX_TAPS = 8,          /* taps of a convolution over positions */
    INGOT_TABLE_ROWS = 8,        /* rows of a token in the table per layer: one group, so that they
                                    are stored together */
};

/* The types of weights: types.def. Their numbers run from 0 without a gap. */
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
enum ingot_family { /* for a person to read: only the parameters say what to compute */
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
/* How a layer mixes its positions. */
enum ingot_mixer {
    INGOT_MIXER_NONE = 0,
    INGOT_MIXER_ATTENTION = 1,
    INGOT_MIXER_DELTA = 2,     /* gated delta net */
    INGOT_MIXER_SHORTCONV = 3, /* a convolution over a few positions */
    INGOT_MIXER_MAMBA2 = 4,
    INGOT_MIXER_OWN =
        240 /* from here to 255: for programs that add kinds; no published file uses them */
};
/* How a layer processes each position by itself. */
enum ingot_ffn {
    INGOT_FFN_NONE = 0,
    INGOT_FFN_DENSE = 1,
    INGOT_FFN_EXPERTS =
        2, /* some of many, chosen for each position, perhaps with an additional dense one */
    INGOT_FFN_OWN = 240 /* as INGOT_MIXER_OWN */
};
enum ingot_norm { INGOT_NORM_RMS = 0, INGOT_NORM_LAYER = 1 /* layer norms have biases */ };
enum ingot_norm_place { /* bits: norm of a block's input, and of its result before it is added */
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
/* How a router's logits (plus ROUTER_BIAS) are used: which experts are chosen, by the highest
 * value, or the lower number among equal ones, and with which weight each counts.
 * ROUTER_CHOICE_BIAS is added only to the values that choose. */
enum ingot_router {
    INGOT_ROUTER_SOFTMAX = 0,        /* softmax over all experts chooses and weighs */
    INGOT_ROUTER_SOFTMAX_CHOSEN = 1, /* logits choose, softmax over the chosen ones weighs */
    INGOT_ROUTER_SIGMOID = 2,        /* sigmoid of each chooses and weighs */
    INGOT_LAST_ROUTER = INGOT_ROUTER_SIGMOID
};
enum ingot_feature { /* bits of a layer's features */
                     INGOT_GATED =
                         1
                         << 0, /* down(act(gate) * up) instead of down(act(up)): FFN_GATE, EXPERT_GATE */
                     INGOT_QK_NORM =
                         1
                         << 1, /* each head's query and key normed before they rotate: ATTN_Q_NORM,
                                    ATTN_K_NORM */
                     INGOT_QK_NORM_WIDE = 1 << 2, /* with it: all heads of a token normed as one */
                     INGOT_QK_NORM_LATE = 1 << 3, /* with it, not wide: after they rotate */
                     INGOT_V_NORM = 1 << 4, /* each head's values RMS-normed, without weights */
                     INGOT_V_IS_K =
                         1 << 5, /* no ATTN_V: values are the keys before their norm and rotation */
                     INGOT_SHARED_KV =
                         1 << 6, /* keys and values of kv_layer: no ATTN_K, ATTN_V, ATTN_K_NORM */
                     INGOT_RENORMALIZE =
                         1 << 7, /* weights of experts are divided by the sum of the chosen ones, or
                                    by 6.103515625e-5 if the sum is less */
                     INGOT_TILED_GROUPS = 1
                                          << 8, /* delta: inner head h takes group h % n_groups, not
                                    h / (inner_heads / n_groups) */
                     INGOT_LATENT_KV =
                         1 << 9, /* one key for all heads; its first kv_rank numbers (normed by
                                    ATTN_K_NORM) are also the value, and the others rotate */
                     INGOT_GROUPS_BY_TWO =
                         1
                         << 10, /* a group of experts is rated by its best two, not by its best one */
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
    INGOT_SEGMENT_TABLE = 3 /* PER_LAYER_EMBEDDING, of which a token reads one row */
};

/* In the order of the tensor table and of the bytes of a segment. Norms and biases are (1, n) F32.
 * Biases of matrices are optional; FORMAT.md says which other tensors are required. Widths are
 * those of struct ingot_layer; channels: 2 n_groups state_dim + inner_dim, inner_dim for a short
 * convolution. */
enum ingot_role {
    INGOT_TOKEN_EMBEDDING = 0,  /* (vocab, dim); of an MTP head what makes its input (dim, 2 dim) */
    INGOT_PER_LAYER_EMBEDDING,  /* (TABLE_ROWS * vocab, n_layers * per_layer_dim / TABLE_ROWS),
                                       in its own segment */
    INGOT_POSITION_EMBEDDING,   /* (context, dim) F32 or F16, at the start of layer 0's segment,
                                       as the next two */
    INGOT_PER_LAYER_PROJECTION, /* (n_layers * per_layer_dim, dim) */
    INGOT_PER_LAYER_NORM,       /* (1, per_layer_dim) */
    INGOT_ATTN_NORM,            /* (1, dim) of any mixer; the roles of a layer start here */
    INGOT_ATTN_NORM_BIAS,
    INGOT_ATTN_Q_A,      /* (q_rank, dim), if q_rank is not 0 */
    INGOT_ATTN_Q_A_NORM, /* (1, q_rank) */
    INGOT_ATTN_Q, /* (n_heads * head_dim, dim), of latent keys (n_heads * query_dim, q_rank) */
    INGOT_ATTN_GATE, /* (n_heads * value_dim, dim): the result of attention is multiplied by its sigmoid */
    INGOT_ATTN_K, /* (n_kv_heads * head_dim, dim) */
    INGOT_ATTN_V, /* (n_kv_heads * value_dim, dim) */
    INGOT_ATTN_Q_BIAS,
    INGOT_ATTN_K_BIAS,
    INGOT_ATTN_V_BIAS,
    INGOT_ATTN_Q_NORM, /* (1, head_dim), wide: (1, n_heads * head_dim) */
    INGOT_ATTN_K_NORM, /* norm of latent keys (1, kv_rank) */
    INGOT_ATTN_K_B,   /* (n_heads * kv_rank, query_dim - (head_dim - kv_rank)), as the next one of a
                          type that takes Q8 activations, or of floats */
    INGOT_ATTN_V_B,   /* (n_heads * value_dim, kv_rank) */
    INGOT_ATTN_SINKS, /* (1, n_heads): a logit more in the sum of each head's softmax */
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
    INGOT_ROUTER_BIAS,        /* (1, n_experts) of the logits */
    INGOT_ROUTER_CHOICE_BIAS, /* (1, n_experts) of what chooses */
    INGOT_SHARED_SCALE,       /* (1, dim): beside experts the dense part times sigmoid(w.h) */
    INGOT_FFN_GATE,           /* (hidden, dim) */
    INGOT_FFN_UP,             /* (hidden, dim) */
    INGOT_FFN_UP_BIAS,
    INGOT_FFN_SUB_NORM, /* (1, hidden), for the input of FFN_DOWN */
    INGOT_FFN_DOWN,     /* (dim, hidden) */
    INGOT_FFN_DOWN_BIAS,
    INGOT_EXPERT_GATE, /* (expert_hidden, dim), of each expert, in its extent */
    INGOT_EXPERT_GATE_BIAS,
    INGOT_EXPERT_UP, /* (expert_hidden, dim) */
    INGOT_EXPERT_UP_BIAS,
    INGOT_EXPERT_DOWN, /* (dim, expert_hidden) */
    INGOT_EXPERT_DOWN_BIAS,
    INGOT_FFN_POST_NORM,
    INGOT_PER_LAYER_GATE,      /* (per_layer_dim, dim) */
    INGOT_PER_LAYER_OUT,       /* (dim, per_layer_dim) */
    INGOT_PER_LAYER_POST_NORM, /* (1, dim) */
    INGOT_OUTPUT_NORM,         /* here they end */
    INGOT_OUTPUT_NORM_BIAS,
    INGOT_OUTPUT,          /* (vocab, dim); tied: refers to the bytes of the embedding */
    INGOT_MTP_TOKEN_NORM,  /* (1, dim) of an MTP head, as the next one: for a token's row of the
                              model's embedding ... */
    INGOT_MTP_HIDDEN_NORM, /* ... and for the hidden state of the token before it */
    INGOT_N_ROLES
};
static_assert(INGOT_N_ROLES <= 64, "a set of roles is a uint64_t");

/* The model as a whole, and the sizes of its widest layer, by which memory is planned. */
struct ingot_params {
    uint32_t family; /* enum ingot_family */
    uint32_t dim;
    uint32_t n_layers;
    uint32_t vocab;
    uint32_t context; /* trained context length, tokens */
    uint32_t tied;    /* 1: INGOT_OUTPUT is the token embedding */
    uint32_t norm;    /* enum ingot_norm, of layers and output */
    uint32_t n_ropes; /* entries of header.ropes */
    uint32_t hidden;  /* the largest of any layer, including an expert's, like the next three */
    uint32_t n_heads;
    uint32_t n_kv_heads;
    uint32_t head_dim;
    float norm_eps;
    float final_softcap;    /* logits become cap * tanh(logit / cap); 0: they do not change */
    float embedding_scale;  /* factor of the token embedding; usually 1 */
    float logits_scale;     /* factor of the logits, before the softcap; usually 1 */
    uint32_t per_layer_dim; /* factor of the embedding that each layer adds; 0: they add none */
    uint32_t mtp;           /* 1: an MTP head, which guesses further tokens of another model */
    uint32_t reserved[14];  /* zero */
};
static_assert(sizeof(struct ingot_params) == 128, "params are 128 bytes");

/* One way to rotate queries and keys: the angle of pair i at position p is p * base^(-2i / dims) /
 * factor_i. Layers with the same rope have the same attn_scale. */
struct ingot_rope {
    uint32_t kind; /* enum ingot_rope_kind */
    uint32_t dims; /* first dims of each head that rotate; even, at most its head_dim */
    float base;
    float magnitude;       /* cosines and sines are multiplied by it; usually 1 */
    uint32_t factors;      /* entry of the rope section with the first of dims / 2 factors, or
                              INGOT_NO_FACTORS: all factors are 1 */
    uint32_t long_factors; /* the same for a sequence of more than long_context tokens */
    uint32_t long_context; /* tokens; 0: there are no long factors */
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

/* How tokens are chosen unless a user says otherwise: the recommendation of the model's publisher. Units and
 * ranges are those of the options of these names. A field that is not given is zero, and a program then uses its
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
    uint64_t bytes;  /* without the padding to the next multiple of 4096 */
    uint32_t crc32c; /* of these bytes */
    uint32_t count;  /* entries if it is a table, else 0 */
};
static_assert(sizeof(struct ingot_section) == 24, "a section reference is 24 bytes");

struct ingot_header {
    char magic[8];
    uint32_t version;
    uint32_t header_crc32c; /* of the 4096 header bytes, with this field zero */
    uint64_t file_bytes;    /* the whole file, a multiple of 4096 */
    char name[64];          /* NUL-terminated, UTF-8 */
    struct ingot_params params;
    struct ingot_section tokenizer;
    struct ingot_section chat;     /* struct ingot_chat */
    struct ingot_section rope;     /* float[count], the factors to which ropes refer */
    struct ingot_section layers;   /* struct ingot_layer[params.n_layers] */
    struct ingot_section segments; /* struct ingot_segment[count], in the order of the file */
    struct ingot_section tensors;  /* struct ingot_tensor[count], the order of enum ingot_role */
    struct ingot_rope ropes[INGOT_MAX_ROPES]; /* zero beyond params.n_ropes */
    struct ingot_section experts; /* uint32_t[count]: a CRC-32C of each expert of each layer, then
                                     of each token's rows of PER_LAYER_EMBEDDING */
    struct ingot_sampling sampling;
    uint8_t reserved[4096 - 544]; /* zero */
};
static_assert(sizeof(struct ingot_header) == 4096, "the header is one page");

/* A layer is norm, mixer, add, norm, feed-forward, add; this struct says which ones. Fields that a
 * kind does not have are zero. */
struct ingot_layer {
    uint8_t mixer;      /* enum ingot_mixer */
    uint8_t ffn;        /* enum ingot_ffn */
    uint8_t norms;      /* bits of enum ingot_norm_place, of both blocks */
    uint8_t activation; /* enum ingot_activation */
    uint32_t features;  /* bits of enum ingot_feature */
    uint32_t n_heads;
    uint32_t n_kv_heads; /* divides n_heads */
    uint32_t head_dim;   /* width of queries and keys; even if they rotate */
    uint32_t value_dim;  /* width of values; equal to head_dim except for INGOT_LATENT_KV */
    uint32_t
        hidden; /* width of the feed-forward; with experts, of the dense part that all share, 0: none */
    uint32_t window; /* positions that a query sees, including its own; 0: all */
    uint16_t rope;   /* entry of header.ropes, or INGOT_NO_ROPE */
    uint16_t
        kv_layer;     /* the layer whose keys and values it reads; itself without INGOT_SHARED_KV */
    float attn_scale; /* factor of the scores; 1 / sqrt(head_dim) in most families */
    float attn_softcap;    /* scores become cap * tanh(score / cap); 0: they do not change */
    float residual_scale;  /* factor of a block's result before it is added; usually 1 */
    uint32_t segment;      /* entry of the segment table: the layer's tensors and experts */
    uint32_t first_tensor; /* entry of the tensor table: its tensors follow each other */
    uint32_t n_tensors;

    uint8_t parallel;     /* a second mixer of the same normed input whose result is also added:
                             INGOT_MIXER_MAMBA2, or INGOT_MIXER_NONE */
    uint8_t conv_taps;    /* taps of a recurrent mixer's convolution */
    uint8_t router;       /* enum ingot_router */
    uint8_t reserved0;    /* zero */
    uint32_t n_groups;    /* recurrent mixer: heads of q and k, groups of B and C */
    uint32_t inner_heads; /* a multiple of n_groups: inner head h uses group h / (inner_heads /
                             n_groups), except with INGOT_TILED_GROUPS */
    uint32_t state_dim;   /* width of q and k, or of B and C */
    uint32_t inner_dim;   /* a multiple of inner_heads */
    uint32_t n_experts;
    uint32_t n_experts_used; /* for each position */
    uint32_t expert_hidden;
    float expert_scale;    /* factor of the experts' sum; usually 1 */
    float output_scale;    /* factor of the residual stream after the layer; usually 1 */
    uint32_t first_expert; /* entry of the experts section: CRCs of the layer's extents */
    uint32_t reserved1[2]; /* zero */
    uint64_t
        expert_offset; /* offset of expert 0's extent from the segment's start, a multiple of 4096 */
    uint64_t expert_bytes; /* size of an extent, a multiple of 4096; expert e begins at
                            * expert_offset + e * expert_bytes */

    uint32_t kv_rank;            /* INGOT_LATENT_KV: the numbers of a key that do not rotate */
    uint32_t q_rank;             /* rank of ATTN_Q_A; 0: there is none */
    uint32_t query_dim;          /* a head's rows of ATTN_Q; the last of them rotate */
    uint32_t expert_groups;      /* divides n_experts; 0: there are none */
    uint32_t expert_groups_used; /* experts are chosen from so many groups */
    uint32_t reserved[27];       /* zero */
};
static_assert(sizeof(struct ingot_layer) == 256, "a layer entry is 256 bytes");

/* Bytes that are read together: first the embedding, then the layers in order, then the head. */
struct ingot_segment {
    uint64_t offset; /* from the start of the file, a multiple of 4096 */
    uint64_t bytes;  /* a multiple of 4096, including zero padding; the CRC covers them */
    uint32_t crc32c;
    uint16_t kind;      /* enum ingot_segment_kind */
    uint16_t layer;     /* INGOT_NO_LAYER for the embedding and the head */
    uint32_t reserved0; /* zero */
    uint32_t reserved;
    uint64_t phase_end[INGOT_PHASES]; /* bytes that computing needs by the end of each phase; never
                                         decreasing, and the last is all bytes */
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
    uint32_t cols_padded; /* cols rounded up to a multiple of 32 (Q8_0, Q4_0), 16 (F32) or 32 (F16),
                             with zeros; otherwise cols, a multiple of the block's columns */
    uint32_t segment;     /* index into the segment table */
    uint64_t offset;      /* offset from the start of the segment, a multiple of 64; for an EXPERT_
                             role from the start of an expert's extent: one entry for all experts */
    uint64_t bytes;       /* rows up to a multiple of interleave, times the bytes of a row */
    int8_t values[NIBBLES]; /* FIG4: the value of each nibble, -127 .. 127; else zero */
    uint64_t reserved;
};
static_assert(sizeof(struct ingot_tensor) == 64, "a tensor entry is 64 bytes");

/* The bytes of a quantized tensor are the blocks of kernels/blocks.h. */

/* The chat section: this, then the bytes of the strings in order, not terminated. FORMAT.md says
 * how a conversation is assembled. If all lengths are 0, the model has no template and continues
 * the text unchanged. */
enum ingot_chat_string {
    INGOT_CHAT_NAME,    /* name of the template, for a person to read */
    INGOT_CHAT_OPENING, /* before a conversation */
    INGOT_CHAT_SYSTEM_PREFIX,
    INGOT_CHAT_SYSTEM_SUFFIX,
    INGOT_CHAT_USER_PREFIX,
    INGOT_CHAT_USER_SUFFIX,
    INGOT_CHAT_REPLY_PREFIX,
    INGOT_CHAT_REPLY_SUFFIX,
    INGOT_CHAT_NO_THINKING, /* after the reply prefix, for a reply without thoughts */
    INGOT_CHAT_THINK_END,   /* a reply's thoughts end with it; later turns omit them */
    INGOT_CHAT_SYSTEM,      /* the system prompt if none is given */
    INGOT_CHAT_REPLY_START, /* after the reply prefix of the next reply; replaced by no_thinking */
    INGOT_CHAT_PAST_START,  /* after the reply prefix of a past reply without its thoughts */
    INGOT_CHAT_STRINGS
};
enum { INGOT_CHAT_FIRST_STRINGS = INGOT_CHAT_SYSTEM + 1 }; /* whose lengths are bytes[] */
enum ingot_chat_flags {
    INGOT_CHAT_SYSTEM_IN_USER = 1,  /* the system block follows the first user prefix */
    INGOT_CHAT_SYSTEM_ALWAYS = 2,   /* the system block is written even if the prompt is empty */
    INGOT_CHAT_TRIM_USER = 4,       /* white space around the user's texts is removed */
    INGOT_CHAT_TRIM_SYSTEM = 8,     /* and around the system prompt */
    INGOT_CHAT_TRIM = 12,           /* both */
    INGOT_CHAT_SYSTEM_LAST = 16,    /* with IN_USER: in the last turn, not in the first */
    INGOT_CHAT_SYSTEM_WHOLE = 32,   /* the string for no system prompt is the whole block */
    INGOT_CHAT_KEEPS_THOUGHTS = 64, /* later turns keep the thoughts of earlier ones */
    INGOT_ALL_CHAT_FLAGS = 127
};
enum { INGOT_MAX_STOPS = 8 };
struct ingot_chat {
    uint32_t bytes[INGOT_CHAT_FIRST_STRINGS];
    uint32_t flags;
    uint32_t n_stops;                /* a reply ends with any of these tokens, */
    uint32_t stops[INGOT_MAX_STOPS]; /* each below n_tokens; zero beyond n_stops */
    uint32_t more_bytes[2];          /* lengths of the strings that follow those of bytes[] */
    uint32_t reserved;               /* zero */
};
static_assert(sizeof(struct ingot_chat) == 96, "the chat header is 96 bytes");
static_assert(INGOT_CHAT_STRINGS - INGOT_CHAT_FIRST_STRINGS == 2, "two lengths in more_bytes[]");

/* The position of the length of a string. */
static inline const uint32_t *ingot_chat_bytes(const struct ingot_chat *chat,
                                               enum ingot_chat_string which)
{
    if ((unsigned)which < INGOT_CHAT_FIRST_STRINGS) {
        return &chat->bytes[which];
    }
    return &chat->more_bytes[(unsigned)which - INGOT_CHAT_FIRST_STRINGS];
}

#endif
