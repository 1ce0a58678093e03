/* A model of another format in memory, parsed and checked: the readers (gguf/, hf/, llama2c/) fill
 * it and the packer uses it. Nothing is copied or allocated: tensors and vocabulary point into the
 * file. */
#ifndef INGOT_FLASH_IMAGE_SOURCE_H
#define INGOT_FLASH_IMAGE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "board/min_max.h"
#include "flash_image/format/format.h"

enum {
    SOURCE_ROLES_PER_LAYER = INGOT_OUTPUT_NORM - INGOT_ATTN_NORM,
    SOURCE_ROLES_OUTSIDE = INGOT_N_ROLES - SOURCE_ROLES_PER_LAYER,
    SOURCE_MAX_FACTORS = 512, /* most rotation factors in a set: heads of 1024 dims */
    SOURCE_MAX_TENSORS = SOURCE_ROLES_PER_LAYER * INGOT_MAX_LAYERS + SOURCE_ROLES_OUTSIDE,
};

/* The types of GGUF files, in the order of their rows in types.def. Their blocks are those of GGML
 * (quantize/dequantize.c). */
enum source_type {
#define TYPE_FLOATS(NAME, ...) SOURCE_##NAME,
#define TYPE_WEIGHTS(NAME, ...) SOURCE_##NAME,
#define TYPE_TABLED_OWN(...)
#define TYPE_TABLED_AGAIN(...)
#define TYPE_READ_FLOATS(NAME, ...) SOURCE_##NAME,
#define TYPE_READ(NAME, ...) SOURCE_##NAME,
#include "flash_image/format/types.def"
    SOURCE_Q2_0_128, /* as in a fork of llama.cpp, with 128 elements per scale */
    /* Values in the order of safetensors (quantize/source_rows.h). MXFP4 has separate scales, and a
     * byte holds elements 2k and 2k + 1. A byte of ternary values belongs to four rows, which are a
     * quarter of all rows apart. */
    SOURCE_MXFP4_PAIRS,
    SOURCE_TERNARY,
    /* Floats that a model rounds to three values while it runs: source_tensor.rounding. */
    SOURCE_ROUNDED_F32,
    SOURCE_ROUNDED_F16,
    SOURCE_ROUNDED_BF16,
    SOURCE_F8,      /* E4M3, with scales of tiles: source_tiles */
    SOURCE_GROUPED, /* llama2.c version 2: int8, and one float per group of consecutive elements */
    SOURCE_SYNTH,   /* made up while it is read: quantize/synthetic_rows.h; `group` is the seed */
    SOURCE_NONE,    /* not from a file: blocks that only the packer has */
};

/* Scales of a matrix of F8, one per tile. A tensor may be a part of a matrix: an element's tile
 * follows from its position in the matrix. */
struct source_tiles {
    const uint8_t *base;    /* the matrix's first element; NULL: the file has only scales */
    uint32_t rows, cols;    /* of the matrix */
    uint32_t height, width; /* size of a tile; the last ones may be smaller */
    const uint8_t *scales;  /* (ceil(rows / height), ceil(cols / width)), unaligned */
    uint32_t scale_rows, scale_cols;
    enum source_type type; /* of the scales: F32, F16 or BF16 */
};

struct source_tensor {
    const uint8_t *data;              /* NULL: the file has none; unaligned */
    const struct source_tiles *tiles; /* SOURCE_F8 */
    const uint8_t *scales;   /* SOURCE_GROUPED: one f32 per group, unaligned; SOURCE_MXFP4_PAIRS:
                              one power of two per block, beginning with the block at data */
    const float *row_scales; /* factor of each row's elements: F32, F16, BF16, SOURCE_TERNARY,
                        SOURCE_ROUNDED_... and SOURCE_F8; NULL: 1 */
    float rounding; /* SOURCE_ROUNDED_...: elements are multiplied by this, rounded to the nearest
                        integer (ties to even), limited to -1 .. 1; then row_scales are applied */
    uint32_t rows, cols;
    uint32_t group;  /* SOURCE_GROUPED: elements per scale, divides cols */
    uint32_t stride; /* not 0: transposed; element (r, c) is number c * stride + r */
    float add;       /* added to every element; only F32, F16 and BF16 */
    enum source_type type;
    uint32_t run;        /* not 0: this is one of two matrices whose heads alternate; rows are in
                              runs of `run` rows, and a run starts run_step rows after the previous
                              one */
    uint32_t run_step;   /* in elements if the tensor is transposed */
    uint32_t stack;      /* not 0: number of matrices of this shape, one per expert, next to each
                       other */
    uint32_t stack_step; /* rows from one matrix to the next if others are between; else 0 */
    const struct source_tensor *parts; /* (stack) if the experts' tensors are separate; else NULL */
};

enum source_feature { /* bits of a model's features; a feature means that the named tensors exist */
                      SOURCE_LAYER_NORM = 1 << 0, /* not RMS norms: ..._NORM_BIAS */
                      SOURCE_GELU = 1 << 1,       /* (tanh form) instead of SiLU */
                      SOURCE_UNGATED = 1 << 2,    /* down(act(up)): no FFN_GATE */
                      SOURCE_QKV_BIAS = 1 << 3,   /* ATTN_Q_BIAS, ATTN_K_BIAS, ATTN_V_BIAS */
                      SOURCE_OUT_BIAS = 1 << 4,   /* ATTN_OUT_BIAS */
                      SOURCE_FFN_BIAS = 1 << 5,   /* FFN_UP_BIAS, FFN_DOWN_BIAS */
                      SOURCE_QK_NORM = 1 << 6,    /* ATTN_Q_NORM, ATTN_K_NORM */
                      SOURCE_POST_NORMS = 1 << 7, /* ATTN_POST_NORM, FFN_POST_NORM */
                      SOURCE_POSITIONS = 1 << 8,  /* POSITION_EMBEDDING */
                      SOURCE_RELU2 = 1 << 9,      /* replaces SiLU, as SWIGLU_OAI does */
                      SOURCE_SWIGLU_OAI = 1 << 10,
                      SOURCE_QK_NORM_WIDE = 1 << 11, /* as INGOT_QK_NORM_WIDE, like the next ones */
                      SOURCE_QK_NORM_LATE = 1 << 12,
                      SOURCE_V_NORM = 1 << 13,
                      SOURCE_RENORMALIZE = 1 << 14,
                      SOURCE_TILED_GROUPS = 1 << 15,
                      SOURCE_NO_NORM_BEFORE = 1 << 16 /* a block's input is not normed */
};
enum {
    SOURCE_ROPE_NONE = 2
}; /* values of source_params.rope, in addition to enum ingot_rope_kind */

/* Divisors of the frequencies of rotation: for global layers, for global layers in a context beyond
 * rope_context, for local layers. */
enum source_rope_set { SOURCE_ROPE_GLOBAL, SOURCE_ROPE_LONG, SOURCE_ROPE_LOCAL, SOURCE_ROPE_SETS };

/* A layer's own facts. */
struct source_layer_params {
    uint8_t mixer;    /* enum ingot_mixer */
    uint8_t parallel; /* as in struct ingot_layer */
    uint8_t ffn;      /* enum ingot_ffn */
    bool local;       /* the layer sees a window, and has the local rotation and width */
    bool no_rope;
    bool v_is_k;
    uint16_t kv_layer;   /* the layer whose keys and values are used: itself or another */
    uint32_t n_kv_heads; /* 0 without attention */
    uint32_t hidden; /* width of the dense feed-forward; with experts, of the dense part that all
                        positions use */
    float output_scale;
};

/* Facts about the model as a whole; source_layers.h derives each layer from them. */
struct source_params {
    uint32_t family;   /* enum ingot_family */
    uint32_t features; /* bits of enum source_feature */
    uint32_t dim;
    uint32_t hidden;
    uint32_t n_layers;
    uint32_t n_heads;
    uint32_t n_kv_heads;
    uint32_t head_dim;
    uint32_t vocab;
    uint32_t context; /* trained context length, tokens */
    uint32_t rope;    /* enum ingot_rope_kind, or SOURCE_ROPE_NONE */
    uint32_t tied;    /* 1: the output is the token embedding */
    float rope_base;
    float rope_base_local; /* base of local layers, if window != 0; else 0 */
    float rope_magnitude;  /* factor of cosines and sines */
    bool rope_local_plain; /* local layers use neither rope_magnitude nor scaled factors */
    uint32_t rope_dims;    /* dims of each head that rotate: the first rope_dims */
    uint32_t rope_context; /* longer sequences use the long factors; 0: there are none */
    uint32_t window;       /* positions that a local layer sees, including its own; 0: all */
    uint32_t global_every; /* 6: every sixth layer is global; 0: none is */
    float norm_eps;
    float attn_scale;         /* of the scores */
    float attn_softcap;       /* of the scores; 0: none, also in final_softcap */
    float final_softcap;      /* of the logits */
    float embedding_scale;    /* of the token embedding */
    float residual_scale;     /* a block's result is multiplied by it */
    float logits_scale;       /* of the logits */
    uint32_t head_dim_local;  /* for local layers, like rope_dims_local; 0: as in other layers */
    uint32_t rope_dims_local; /* at most rope_dims */
    uint32_t per_layer_dim;   /* width of Gemma 4's embedding of each layer; 0: none */
    uint32_t mtp;             /* 1: this is only the MTP head of the model, or an assistant */
    uint32_t target_dim;      /* for an assistant, the dim of its model; else 0 */
    struct {
        uint32_t conv_taps, n_groups, inner_heads, state_dim,
            inner_dim; /* as in struct ingot_layer */
    } recurrent;
    struct {
        uint32_t kv_rank, q_rank, query_dim, value_dim; /* as in struct ingot_layer */
    } latent;                                           /* kv_rank 0: none */
    struct {
        uint32_t n, used, hidden;
        uint32_t router; /* enum ingot_router */
        float scale;     /* of their sum */
        uint32_t groups, groups_used;
    } experts;
    struct source_layer_params layers[INGOT_MAX_LAYERS];
};

struct source_text {
    const uint8_t *data; /* NULL: none */
    size_t bytes;
};

/* For "%.*s": at most 60 bytes of a file's text. */
#define SOURCE_SHOW(t) (int)min_size((t).bytes, 60), (const char *)(t).data

bool source_text_is(struct source_text t, const char *text);

/* SOURCE_NO_VOCAB: there are n_tokens unused tokens without text. SOURCE_LISTED_VOCAB: the reader
 * of the file has allocated the arrays. */
enum source_layout {
    SOURCE_NO_VOCAB,
    SOURCE_GGUF_VOCAB,
    SOURCE_LLAMA2C_VOCAB,
    SOURCE_LISTED_VOCAB
};

/* One token of the vocabulary. Texts are spelled as in files, with U+2581 for a space. In
 * byte-level BPE, GPT-2's printable characters stand for the bytes of a NORMAL token; tokens that
 * were added to the vocabulary are literal. */
struct source_token {
    const uint8_t *text;
    uint32_t bytes;
    float score;
    uint32_t type;       /* enum ingot_token_type, or another number from the file */
    bool lstrip, rstrip; /* the token includes white space on that side; CONTROL and USER only */
    bool named;          /* only its name is known, from added_tokens.json */
};

/* A token without text. */
extern const struct source_token source_unused_token;

struct source_merge {
    struct source_text left, right; /* spelled as tokens are */
};

struct source_vocab {
    enum source_layout layout;
    enum ingot_tokenizer_kind kind; /* 0 is INGOT_TOKENIZER_SPM */
    enum ingot_pre pre;             /* of INGOT_TOKENIZER_BPE */
    uint32_t n_tokens;
    uint32_t n_merges;
    const uint8_t *texts;  /* GGUF: u64 length, bytes; llama2.c: f32, i32, bytes */
    const uint8_t *scores; /* GGUF: f32[n_tokens], NULL: all 0 */
    const uint8_t *types;  /* GGUF: i32[n_tokens], NULL: all normal */
    const uint8_t *merges; /* GGUF: u64 length, "left right", by rank */
    const struct source_token *listed_tokens;
    const struct source_merge *listed_merges; /* by rank */
    bool strip_after_control;    /* GGUF of Phi-3: a control token includes white space after it */
    uint32_t bos, eos, unk, eot; /* or INGOT_NO_TOKEN */
    uint32_t stops[INGOT_MAX_STOPS]; /* more tokens that end a reply: generation_config.json */
    uint32_t n_stops;
    uint32_t flags; /* enum ingot_tokenizer_flags */
};

struct source {
    const char *path; /* for error messages */
    struct source_params params;
    float *rope; /* (SOURCE_ROPE_SETS, rope_dims / 2), see rope_factors.h; NULL: no factors */
    float factors[SOURCE_ROPE_SETS * SOURCE_MAX_FACTORS]; /* rope points to these */
    struct source_text name;
    struct source_text chat_template; /* Jinja, as Hugging Face writes it */
    struct source_vocab vocab;
    struct ingot_sampling sampling;                   /* source_sample() fills it */
    bool params_known;                                /* false: a GGUF that has only a vocabulary */
    bool wants_mtp;                                   /* read the MTP head instead of the model */
    struct source_tensor tensors[SOURCE_MAX_TENSORS]; /* see source_tensor() */
    char error_message[1024];
    char notes[1024]; /* remarks for a person about a valid model: lines "PATH: SENTENCE" */
};

struct source_cursor {
    const uint8_t *at;
    uint32_t id; /* number of the next token, or rank of the next merge */
};

/* Set s->error_message to "PATH: SENTENCE" and return e. */
__attribute__((format(printf, 3, 4))) enum err source_refuse(struct source *s, enum err e,
                                                             const char *format, ...);

/* Add a line to s->notes; lines that no longer fit are dropped. */
__attribute__((format(printf, 2, 3))) void source_note(struct source *s, const char *format, ...);

/* Take the publisher's default of a sampling field. A count of -1 means all tokens. A value out
 * of range is ignored, and a note reports it under `name`. */
void source_sample(struct source *s, enum ingot_sampling_field field, const char *name,
                   double value);

/* Copy the fields that `over` gives to *to. */
void source_put_sampling(struct ingot_sampling *to, const struct ingot_sampling *over);

/* Set the values that follow from other parameters in most families: rope_dims, attn_scale, and
 * factors that are 1. */
void source_default_params(struct source_params *p);

/* Let all layers have attention and a dense feed-forward, with the usual sizes. source_check_params
 * refuses an n_layers that is too large. */
void source_default_layers(struct source_params *p);

/* Return whether the model has a separate tensor in a role; get its shape. `layer` is as for
 * source_tensor. A model has an optional tensor if the file has it or a feature requires it. */
bool source_has_role(const struct source *s, enum ingot_role role, unsigned layer);
void source_role_shape(const struct source *s, enum ingot_role role, unsigned layer, uint32_t *rows,
                       uint32_t *cols);

/* Return the slot of a tensor. layer < INGOT_MAX_LAYERS for a role of layers; it is ignored for
 * other roles. */
struct source_tensor *source_tensor(struct source *s, enum ingot_role role, unsigned layer);
const struct source_tensor *source_slot_of(const struct source *s, enum ingot_role role,
                                           unsigned layer);

/* Return the matrix of expert number `expert` in a stack. */
struct source_tensor source_expert(const struct source_tensor *t, uint32_t expert);

/* Return a part of a fused tensor: n rows of a matrix from `first` on, or n elements of a vector
 * (rows 1). The part has whole blocks and is inside *t, whose rows are contiguous. */
struct source_tensor source_slice(const struct source_tensor *t, uint32_t first, uint32_t n);

/* Set the values that follow from params.latent, dim, n_heads and the rotated dimensions: the width
 * of a key, and the scale of the scores. */
void source_latent_params(struct source_params *p, uint32_t rope_dims);

/* Split the matrix that makes all heads' keys and values from latent keys; its rows are, for
 * each head, those for the key, then those for the value. ERR_BAD_MODEL: t has another shape. */
enum err source_split_latent(const struct source_params *p, const struct source_tensor *t,
                             struct source_tensor *k, struct source_tensor *v);

/* Return the role of part i of a tensor with several roles (q, k and v, their biases, or gate and
 * up); the first role is `first`. */
enum ingot_role source_part_role(enum ingot_role first, unsigned i);

/* Iterates over every slot of a model in the order of roles, including those without a tensor: for
 * (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES; source_next_slot(p, &at)) */
struct source_slot {
    enum ingot_role role;
    unsigned layer; /* INGOT_NO_LAYER: outside the layers */
};
static const struct source_slot source_first_slot = { INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER };
void source_next_slot(const struct source_params *p, struct source_slot *slot);

/* Return the index of a row's first element, or (source_row_data) the address of that element or of
 * its block. Row t->rows is the end, unless t is transposed. */
uint64_t source_row_element(const struct source_tensor *t, uint32_t row);
const uint8_t *source_row_data(const struct source_tensor *t, uint32_t row);

/* Return the number of elements in a block, or (source_type_bytes) of bytes in whole blocks
 * (SOURCE_GROUPED: of int8, without scales). */
uint32_t source_type_block(enum source_type type);
uint64_t source_type_bytes(enum source_type type, uint64_t elements);
const char *source_type_name(enum source_type type);

/* Check that the parameters are within the reader's bounds (ERR_UNSUPPORTED), that every tensor
 * they require is present in its shape, and that there is no further layer (ERR_BAD_MODEL). */
enum err source_check_params(struct source *s);
enum err source_check_tensors(struct source *s);

/* Read the next token; false at the end. Parsers have checked that tokens are inside the file. */
bool source_next_token(const struct source_vocab *v, struct source_cursor *c,
                       struct source_token *t);

/* Read the next merge, in the order of ranks; false at the end. If a merge in a GGUF has no space
 * between two texts, the right text is empty. */
bool source_next_merge(const struct source_vocab *v, struct source_cursor *c,
                       struct source_merge *m);

/* Read a little-endian number of any alignment. */
static inline uint32_t load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint16_t load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint64_t load_u64(const uint8_t *p)
{
    return (uint64_t)load_u32(p) | (uint64_t)load_u32(p + 4) << 32;
}

float load_f32(const uint8_t *p);
float load_f16(const uint8_t *p);
float load_bf16(const uint8_t *p);

#endif
