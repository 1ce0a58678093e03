/* Shared only by the files of the GGUF reader. */
#ifndef INGOT_FLASH_IMAGE_GGUF_PRIVATE_H
#define INGOT_FLASH_IMAGE_GGUF_PRIVATE_H

#include <string.h>

#include "flash_image/gguf/gguf.h"
#include "flash_image/source/families.h"

enum gguf_value_type { /* as numbered in the file */
                       VALUE_U8,
                       VALUE_I8,
                       VALUE_U16,
                       VALUE_I16,
                       VALUE_U32,
                       VALUE_I32,
                       VALUE_F32,
                       VALUE_BOOL,
                       VALUE_STRING,
                       VALUE_ARRAY,
                       VALUE_U64,
                       VALUE_I64,
                       VALUE_F64,
                       VALUE_TYPES
};

/* The unread part of the file. Reading past the end sets bad and returns zeros. */
struct gguf_reader {
    const uint8_t *at;
    size_t left;
    bool bad;
};

struct gguf_value {
    enum gguf_value_type type;
    enum gguf_value_type element; /* of an array */
    uint64_t count;               /* of an array's elements */
    struct source_text data;      /* bytes of a string, of an array, or of the number */
};

/* Whole numbers in a file, from which parameters are made. */
enum gguf_number {
    N_CONTEXT,
    N_DIM,
    N_LAYERS,
    N_VOCAB,
    N_HIDDEN,
    N_HEADS,
    N_KV_HEADS,
    N_KEY_LENGTH,
    N_VALUE_LENGTH,
    N_ROPE_DIMS,
    N_ROPE_CONTEXT,
    N_WINDOW,
    N_CAUSAL,
    N_MAY_ROPE,
    N_MORE_PREDICTED, /* layers at the end that guess further tokens */
    N_EXPERTS,        /* from here on: of experts */
    N_EXPERTS_USED,
    N_EXPERT_HIDDEN,
    N_SHARED_HIDDEN,
    N_SHARED_EXPERTS,
    N_EXPERT_SCORES,
    N_EXPERT_NORM,
    N_DENSE_LAYERS,
    N_EXPERT_GROUPS,
    N_EXPERT_GROUPS_USED,
    N_CONV_TAPS, /* from here on: for recurrent mixers */
    N_STATE_DIM,
    N_GROUPS,
    N_INNER_HEADS,
    N_INNER_DIM,
    N_SHORTCONV_TAPS,
    N_ATTENTION_EVERY,
    N_KEY_LENGTH_LOCAL, /* from here on: for local layers */
    N_VALUE_LENGTH_LOCAL,
    N_ROPE_DIMS_LOCAL,
    N_SHARED_KV,
    N_PER_LAYER,
    N_TARGET_DIM,
    N_KV_RANK, /* from here on: for latent keys */
    N_Q_RANK,
    N_KEY_LENGTH_LATENT,
    N_VALUE_LENGTH_LATENT,
    N_ALIGNMENT,
    N_BOS,
    N_EOS,
    N_UNK,
    N_EOT,
    N_EOM,
    N_ADD_BOS,
    N_ADD_EOS,
    N_ADD_SPACE,
    N_SQUEEZE_SPACES,
    N_SPLIT_PART,
    N_SPLIT_COUNT,
    N_SPLIT_TENSORS,
    N_NUMBERS
};
enum gguf_real {
    R_RMS_EPS,
    R_LAYER_EPS,
    R_ROPE_BASE,
    R_ROPE_BASE_LOCAL,
    R_ROPE_FACTOR,
    R_ROPE_LINEAR,
    R_ROPE_MAGNITUDE,
    R_BETA_FAST,
    R_BETA_SLOW,
    R_YARN_PART,
    R_YARN_LOG, /* scaling multiplies scores by (1 + this number * log(factor))^2 */
    R_ATTN_SCALE,
    R_ATTN_SOFTCAP,
    R_FINAL_SOFTCAP,
    R_EMBEDDING_SCALE, /* from here to R_LOGITS_SCALE: multipliers */
    R_RESIDUAL_SCALE,
    R_LOGITS_SCALE,
    R_EXPERT_SCALE,
    N_REALS
};

/* Tensors with frequency factors of the rotation, which are not weights. */
enum gguf_factors { FACTORS_ALL, FACTORS_SHORT, FACTORS_LONG, N_FACTORS };

struct gguf {
    struct source *s;
    struct gguf_reader r;
    const uint8_t *file;
    size_t bytes;
    uint64_t n_tensors, n_values;
    uint64_t number[N_NUMBERS];
    bool has_number[N_NUMBERS];
    struct gguf_value kv_heads, hiddens; /* one number per layer, if the type is VALUE_ARRAY */
    struct gguf_value recurrent;         /* true or false for each layer; no data: absent */
    double real[N_REALS];
    bool has_real[N_REALS];
    double lora_alpha;       /* lora_alpha of an adapter; 0: none is given */
    struct source_text name; /* name of an adapter; a model's name goes to s */
    struct source_text architecture, type, tokenizer, pre, rope_scaling;
    struct gguf_value tokens, scores, types, merges, pattern;
    bool has_tokens, has_scores, has_types, has_merges, has_pattern;
    uint64_t charsmap_bytes;                 /* size of a table that rewrites characters; 0: none */
    const struct family *family;             /* family of the architecture; NULL: not supported */
    uint32_t n_blocks;                       /* layers in the file */
    uint32_t n_left_out;                     /* layers at the file's end that are not read */
    uint32_t first_block;                    /* the first of the file's layers that is read */
    struct source_tensor factors[N_FACTORS]; /* data NULL: none */
};

static inline const uint8_t *gguf_take(struct gguf_reader *r, uint64_t bytes)
{
    static const uint8_t zeros[8];
    const uint8_t *at = r->at;

    if (bytes > r->left) {
        r->bad = true;
        r->left = 0;
        return zeros;
    }
    r->at += bytes;
    r->left -= (size_t)bytes;
    return at;
}

static inline uint32_t gguf_take_u32(struct gguf_reader *r)
{
    return load_u32(gguf_take(r, 4));
}

static inline uint64_t gguf_take_u64(struct gguf_reader *r)
{
    return load_u64(gguf_take(r, 8));
}

static inline struct source_text gguf_take_text(struct gguf_reader *r)
{
    uint64_t bytes = gguf_take_u64(r);
    const uint8_t *data = gguf_take(r, bytes);

    if (r->bad) {
        return (struct source_text){ data, 0 };
    }
    return (struct source_text){ data, (size_t)bytes };
}

/* Read the fixed start of a file: its version, and the numbers of tensors and values. Errors:
 * ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err gguf_read_header(struct gguf *g);

/* Read past the values of a file, but keep those that describe it: type, architecture, number of
 * this part and of all parts, alignment. Errors: ERR_BAD_MODEL. */
enum err gguf_skip_values(struct gguf *g);

/* Read the value general.architecture before all other values, whose names may begin with the
 * architecture, and find the architecture's family (NULL: not supported). g->r does not move.
 * Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err gguf_read_architecture(struct gguf *g);

/* Refuse adapters, image parts and similar files (ERR_UNSUPPORTED): g->type and g->architecture
 * tell the kind, which the error message names. */
enum err gguf_check_kind(struct gguf *g);

/* Check that the values say that this file is part i of n. If n is 1, they may be absent. Errors:
 * ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err gguf_check_part(struct gguf *g, size_t i, size_t n);

/* Set g->r and related members to the tensor table of a part after the first; g is the model.
 * Errors: as above. */
enum err gguf_open_part(struct gguf *g, const struct gguf_part *part, size_t i, size_t n);

/* Read every known value into g; refuse unknown values of the architecture. Errors: ERR_BAD_MODEL,
 * ERR_UNSUPPORTED. */
enum err gguf_read_values(struct gguf *g);

/* Make the tokenizer in g->s->vocab from the values that have been read. vocab_only: a file without
 * a vocabulary is an error, because the caller needs nothing else. Errors: ERR_BAD_TOKENIZER,
 * ERR_UNSUPPORTED, ERR_NOT_FOUND. */
enum err gguf_read_vocab(struct gguf *g, bool vocab_only);

/* Arguments of an error message's "%.*s%s": the architecture, then a name that begins with a
 * dot. */
#define GGUF_SHOW_KEY(g, name) SOURCE_SHOW((g)->architecture), (name)

/* A number beyond 32 bits becomes UINT32_MAX, which is above every bound. */
static inline uint32_t gguf_narrow(uint64_t n)
{
    return (uint32_t)min_u64(n, UINT32_MAX);
}

/* Return the value of `which` for one layer: from a list, whose length must have been checked,
 * or the value for all layers. */
uint64_t gguf_layer_number(const struct gguf *g, enum gguf_number which, uint32_t layer);

/* Read element i, which exists, of an array. False: it is not an array of whole numbers. */
bool gguf_value_element(const struct gguf_value *v, uint64_t i, uint64_t *out);

/* Find which layers are local, and their window. Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err gguf_read_windows(struct gguf *g);

/* Find each layer's mixer, the number of its key heads, the width of its feed-forward, the layer
 * whose keys it uses, and whether it rotates. Windows must have been read. Errors: ERR_BAD_MODEL,
 * ERR_UNSUPPORTED. */
enum err gguf_read_layers(struct gguf *g);

/* Read the sizes of recurrent mixers. */
void gguf_read_recurrent(struct gguf *g);

/* Read the sizes of experts, how they are chosen, and which layers have them. Errors: as above. */
enum err gguf_read_experts(struct gguf *g);

/* How a tensor holds the matrices of roles: of one role, of several (the slot then has the first),
 * or of none. */
enum gguf_fusion {
    GGUF_ALONE,
    GGUF_QKV,           /* rows of q, then k, then v */
    GGUF_GATE_UP,       /* rows of gate, then up */
    GGUF_QUERY_GATE,    /* for each head, rows of its query, then rows of its gate */
    GGUF_EXPERTS,       /* a matrix or a vector for each expert */
    GGUF_EXPERTS_FUSED, /* for each expert, rows of its gate, then rows of EXPERT_UP */
    GGUF_HEADS,         /* a matrix for each head */
    GGUF_LATENT,        /* for each head, rows of its key, then rows of its value */
    GGUF_OUTPUT_SCALE,  /* the layer's output_scale */
    GGUF_INSTEAD,       /* the last norm of an MTP head, if the head has its own, ... */
    GGUF_UNLESS,        /* ... or else the model's last norm */
    GGUF_IGNORED
};
struct gguf_slot {
    enum ingot_role role;
    unsigned layer;
    enum gguf_fusion fusion;
};

/* Find the roles of a tensor by its name. False: no supported model has a tensor of this name. */
bool gguf_find_slot(const struct gguf *g, struct source_text name, struct gguf_slot *slot);

/* Put the tensor into the slot. The tensor is n matrices of the shape of *all, at all->data.
 * Errors: as above. */
enum err gguf_place(struct gguf *g, struct source_text name, const struct source_tensor *all,
                    uint32_t n, const struct gguf_slot *slot);

/* Make the parameters, in g->s->params, from the values that have been read, and check them.
 * Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err gguf_read_params(struct gguf *g);

/* Add features that only the presence of a tensor shows. Set the rotation factors in g->s->rope
 * from tensors or from scaling. Errors: as above. */
enum err gguf_finish_params(struct gguf *g);

/* Read only the rotation factors, from tensors and from values. Errors: as above. */
enum err gguf_read_rope(struct gguf *g);

/* Return the file's value; `otherwise` if there is none. */
uint64_t gguf_number_or(const struct gguf *g, enum gguf_number which, uint64_t otherwise);
double gguf_real_or(const struct gguf *g, enum gguf_real which, double otherwise);

/* The name of a number or real in the file, without its architecture. */
const char *gguf_number_name(enum gguf_number which);
const char *gguf_real_name(enum gguf_real which);

/* True if a key has this name; a name that begins with a dot follows the architecture. */
bool gguf_key_is(const struct gguf *g, struct source_text key, const char *name);
bool gguf_begins_with_architecture(const struct gguf *g, struct source_text key);

/* Find the number or the real with this name; N_NUMBERS or N_REALS if there is none. An idle key
 * does not change the computation. */
size_t gguf_find_number(const struct gguf *g, struct source_text key);
size_t gguf_find_real(const struct gguf *g, struct source_text key);
bool gguf_is_idle(const struct gguf *g, struct source_text key);

/* Read a whole number, or an array of equal whole numbers. A negative number becomes a huge one.
 * False: the value is of another kind. */
bool gguf_value_number(const struct gguf_value *v, uint64_t *out);

/* Read the tensor table, where g->r is: check that each tensor is inside the file, and pass it to
 * `visit` as n matrices of the shape of *all, at all->data. Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED,
 * those of visit. */
typedef enum err gguf_visit_fn(struct gguf *g, void *context, struct source_text name,
                               const struct source_tensor *all, uint32_t n);
enum err gguf_visit_tensors(struct gguf *g, gguf_visit_fn *visit, void *context);

/* Read the tensor table into the slots of g->s. */
enum err gguf_read_tensors(struct gguf *g);

#endif
