/* Shared by the files of the GGUF reader alone. */
#ifndef INGOT_FLASH_IMAGE_GGUF_PRIVATE_H
#define INGOT_FLASH_IMAGE_GGUF_PRIVATE_H

#include <string.h>

#include "flash_image/gguf/gguf.h"
#include "flash_image/source/families.h"

enum gguf_value_type { /* as the file numbers them */
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

/* The rest of the file. Reading past the end sets bad and gives zeros. */
struct gguf_reader {
    const uint8_t *at;
    size_t left;
    bool bad;
};

struct gguf_value {
    enum gguf_value_type type;
    enum gguf_value_type element; /* of an array */
    uint64_t count;               /* of an array's elements */
    struct source_text data;      /* of a string, of an array, or the number's bytes */
};

/* The numbers that parameters are made of. */
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
    N_ALIGNMENT,
    N_BOS,
    N_EOS,
    N_UNK,
    N_EOT,
    N_ADD_BOS,
    N_ADD_EOS,
    N_ADD_SPACE,
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
    R_ATTN_SCALE,
    R_ATTN_SOFTCAP,
    R_FINAL_SOFTCAP,
    N_REALS
};

/* Tensors that are no weights: factors of the frequencies of rotation. */
enum gguf_factors { FACTORS_ALL, FACTORS_SHORT, FACTORS_LONG, N_FACTORS };

struct gguf {
    struct source *s;
    struct gguf_reader r;
    const uint8_t *file;
    size_t bytes;
    uint64_t n_tensors, n_values;
    uint64_t number[N_NUMBERS];
    bool has_number[N_NUMBERS];
    double real[N_REALS];
    bool has_real[N_REALS];
    struct source_text architecture, type, tokenizer, pre, rope_scaling;
    struct gguf_value tokens, scores, types, merges, pattern;
    bool has_tokens, has_scores, has_types, has_merges, has_pattern;
    const struct family *family;             /* of the architecture; NULL: not supported */
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

/* The fixed front of a file: its version, and how many tensors and values follow.
 * Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err gguf_read_header(struct gguf *g);

/* Past the values of a file, of which those are kept that say what kind of file it is: its type and
 * architecture, which part of how many it is, its alignment. Errors: ERR_BAD_MODEL. */
enum err gguf_skip_values(struct gguf *g);

/* What kind of file this is, before all other values, whose names begin with general.architecture:
 * that value, and the family that it names (NULL: not supported). g->r stays where it is.
 * Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err gguf_read_architecture(struct gguf *g);

/* Refuse an adapter, the image part and their like by what they are (ERR_UNSUPPORTED), from g->type
 * and g->architecture. */
enum err gguf_check_kind(struct gguf *g);

/* Part i of n is what the values say that g->r, g->file and their counts are from. A single file
 * need not have them. Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err gguf_check_part(struct gguf *g, size_t i, size_t n);

/* Set g->r and its like to the tensor table of a part after the first, whose model g is.
 * Errors: as above. */
enum err gguf_open_part(struct gguf *g, const struct gguf_part *part, size_t i, size_t n);

/* Every value that the reader knows into g; one of the architecture's that it does not know is
 * refused. Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err gguf_read_values(struct gguf *g);

/* The tokenizer from the values that have been read, into g->s->vocab.
 * vocab_only: nothing else is wanted of the file, so that it must have one.
 * Errors: ERR_BAD_TOKENIZER, ERR_UNSUPPORTED, ERR_NOT_FOUND. */
enum err gguf_read_vocab(struct gguf *g, bool vocab_only);

/* The parameters from the values that have been read, into g->s->params, checked.
 * Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err gguf_read_params(struct gguf *g);

/* Add to them from the tensors: features that only a tensor's presence tells, and factors of
 * rotation, from tensors or from scaling, into g->s->rope. Errors: as above. */
enum err gguf_finish_params(struct gguf *g);

/* The file's value, else `otherwise`. */
uint64_t gguf_number_or(const struct gguf *g, enum gguf_number which, uint64_t otherwise);
double gguf_real_or(const struct gguf *g, enum gguf_real which, double otherwise);

/* The name of a number or real as it stands in the file, without its architecture. */
const char *gguf_number_name(enum gguf_number which);
const char *gguf_real_name(enum gguf_real which);

/* A whole number, or an array of equal ones; negative ones become huge. False: neither. */
bool gguf_value_number(const struct gguf_value *v, uint64_t *out);

/* The tensor table, at which g->r stands: every tensor into its slot of g->s, inside the file.
 * Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED. */
enum err gguf_read_tensors(struct gguf *g);

#endif
