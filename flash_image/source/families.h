/* The families of models and their particulars: one table for the readers of GGUF files and of
 * Hugging Face folders. source_params alone say what a family computes. A new family is a row
 * here, and new code in the runtime only for new mathematics (docs/MODELS.md). */
#ifndef INGOT_FLASH_IMAGE_FAMILIES_H
#define INGOT_FLASH_IMAGE_FAMILIES_H

#include "flash_image/source/source.h"

/* Which layers see only a window of positions, where a model sets one. */
enum family_window {
    FAMILY_NO_WINDOW,   /* none: a model that sets one is refused */
    FAMILY_ALL_LOCAL,   /* every layer */
    FAMILY_INTERLEAVED, /* all but every global_every-th */
};

enum family_trait {
    FAMILY_GGUF_PAIRS = 1 << 0, /* GGUF's q and k are permuted so that rope takes pairs (2i, 2i+1);
                                    everything else takes halves */
    FAMILY_NO_ROPE = 1 << 1,
    FAMILY_NORM_PLUS_1 = 1 << 2,     /* Hugging Face stores w of the norm's 1 + w; GGUF 1 + w */
    FAMILY_SCALE_EMBEDDING = 1 << 3, /* by sqrt(dim) */
    FAMILY_TIED = 1 << 4,            /* where config.json does not say */
    FAMILY_SOFTCAPS = 1 << 5,        /* may have them, of scores and logits */
    FAMILY_QUERY_SCALE = 1 << 6,     /* of scores: by query_pre_attn_scalar, not head_dim */
    FAMILY_PARTIAL_ROPE = 1 << 7,    /* may rotate only the first dimensions of a head */
};

struct family {
    enum ingot_family family;
    const char *name;         /* for people, and of config.json's model_type */
    const char *gguf;         /* general.architecture, the prefix of GGUF's keys; NULL: another's */
    const char *architecture; /* of config.json's architectures */
    uint32_t features;        /* enum source_feature */
    uint32_t traits;          /* enum family_trait */
    enum family_window window;
    uint32_t global_every;            /* FAMILY_INTERLEAVED, where the file does not say */
    float rope_base, rope_base_local; /* where the file does not say */
    float norm_eps;                   /* the same */
    uint32_t head_dim;                /* where config.json does not say; 0: dim / n_heads */
};

/* NULL: not supported. architecture may be NULL. */
const struct family *family_of_gguf(struct source_text architecture);
const struct family *family_of_config(const char *architecture, const char *model_type);
const struct family *family_find(enum ingot_family family);

/* Refuse an architecture by name: "architecture 'mamba' is not supported; supported: ...". */
enum err family_refuse(struct source *s, const char *architecture, size_t bytes);

/* Fill s->params, whose sizes (dim to context) are set, with the family's values: number,
 * features, rope and its base, scale of the embedding, norm_eps, and usual values for the rest.
 * Then the reader sets the file's own values. gguf: of a GGUF file. */
void family_set_params(struct source *s, const struct family *f, bool gguf);

/* A window that a model sets, once params.rope_base is final; 0, or one that no position can
 * leave: none. global_every: see params; taken where the family interleaves.
 * Errors: ERR_UNSUPPORTED, where the family has no windows. */
enum err family_set_window(struct source *s, const struct family *f, uint64_t window,
                           uint32_t global_every);

static inline bool family_has(const struct family *f, enum family_trait trait)
{
    return (f->traits & (uint32_t)trait) != 0;
}

#endif
