/* The families of models and their properties: one table for the readers of GGUF files and of
 * Hugging Face folders. Only source_params say what a model computes. A new family is a row here;
 * only new mathematics needs code in the runtime (flash_image/README.md). */
#ifndef INGOT_FLASH_IMAGE_FAMILIES_H
#define INGOT_FLASH_IMAGE_FAMILIES_H

#include "flash_image/source/source.h"

/* Which layers see only a window of positions, if a model has a window. */
enum family_window {
    FAMILY_NO_WINDOW,   /* no layer: a model with a window is refused */
    FAMILY_ALL_LOCAL,   /* every layer */
    FAMILY_INTERLEAVED, /* all but every global_every-th */
};

enum family_trait {
    FAMILY_GGUF_PAIRS = 1 << 0, /* GGUF files permute q and k so that rope uses pairs (2i, 2i+1);
                                    all other files use halves */
    FAMILY_NO_ROPE = 1 << 1,
    FAMILY_NORM_PLUS_1 = 1 << 2,     /* for a norm by 1 + w, Hugging Face stores w, GGUF 1 + w */
    FAMILY_SCALE_EMBEDDING = 1 << 3, /* the embedding is multiplied by sqrt(dim) */
    FAMILY_TIED = 1 << 4,            /* the output is tied unless config.json says otherwise */
    FAMILY_SOFTCAPS = 1 << 5,        /* scores and logits may have softcaps */
    FAMILY_QUERY_SCALE = 1 << 6,     /* scores are scaled by query_pre_attn_scalar, not head_dim */
    FAMILY_PARTIAL_ROPE = 1 << 7,    /* may rotate only the first dimensions of a head */
    FAMILY_MULTIPLIERS = 1 << 8,     /* has multipliers of embedding, residual and logits */
    FAMILY_MAY_ROPE = 1 << 9,     /* GGUF's rope.scaling.finetuned may say that no layer rotates */
    FAMILY_LOCAL_PLAIN = 1 << 10, /* scaling of the rotation applies only to global layers */
    FAMILY_LOCAL_ROPE = 1 << 11,  /* with a window, global layers do not rotate */
    FAMILY_PARALLEL = 1 << 12,    /* `mixer` runs parallel to the attention of every layer */
    FAMILY_ONE_BLOCK = 1 << 13,   /* a layer is one mixer or one feed-forward */
    FAMILY_TWO_WIDTHS = 1 << 14,  /* heads of local layers may have another width */
    FAMILY_SHARED_KV = 1 << 15,   /* the last layers may use the keys of earlier ones */
    FAMILY_PER_LAYER = 1 << 16,   /* may have an embedding for each layer */
    FAMILY_EXPERTS = 1 << 17,     /* may have experts; `router` says how they are chosen */
    FAMILY_FUSED_GATE_UP = 1 << 18, /* in a GGUF, ffn_up begins with the gate's rows */
    FAMILY_GATED_QUERY = 1 << 19,   /* the query matrix has each head's query, then its gate */
    FAMILY_LATE_FFN_NORM = 1 << 20, /* GGUF's post_attention_norm is the norm of the feed-forward */
    FAMILY_PAIRS = 1 << 21,         /* rope uses pairs in Hugging Face's files too */
    FAMILY_LATENT = 1 << 22,        /* keys and values are latent */
    FAMILY_MAY_BIAS = 1 << 24,      /* config.json says whether all of attention has biases */
    FAMILY_FREE_ROUTER = 1 << 23,   /* the file says how experts are chosen, maybe in groups */
    FAMILY_ASSISTANT = 1 << 25,     /* guesses another model's tokens from that model's keys */
};

struct family {
    enum ingot_family family;
    const char *name; /* shown to people; also config.json's model_type */
    const char
        *gguf; /* general.architecture, with which GGUF's keys begin; NULL: it is in another row */
    const char
        *architecture; /* one of config.json's architectures; NULL: only GGUF files are read */
    uint32_t features; /* enum source_feature */
    uint32_t traits;   /* enum family_trait */
    enum family_window window;
    uint32_t global_every;            /* FAMILY_INTERLEAVED: used if the file does not give it */
    float rope_base, rope_base_local; /* defaults; for a GGUF, only rope_base_local */
    float norm_eps;                   /* used if config.json does not give it */
    uint32_t head_dim;                /* used if config.json does not give it; 0: dim / n_heads */
    float attn_scale;                 /* used if the file does not give it; 0: 1 / sqrt(head_dim) */
    uint32_t no_rope_every;           /* 4: every fourth layer does not rotate; 0: all do */
    enum ingot_mixer mixer;   /* mixer of layers without attention; 0: all layers have attention */
    enum ingot_router router; /* FAMILY_EXPERTS */
};

/* All rows, in the order in which they are searched. */
enum { FAMILY_ROWS = 38 };
extern const struct family family_rows[FAMILY_ROWS];

/* Find a family; NULL: it is not supported. architecture may be NULL. */
const struct family *family_of_gguf(struct source_text architecture);
const struct family *family_of_config(const char *architecture, const char *model_type);
const struct family *family_find(enum ingot_family family);

/* Refuse an architecture by name: "architecture 'mamba' is not supported; supported: ...". The
 * message lists the families of GGUF files (gguf), or else those that are read from folders. */
enum err family_refuse(struct source *s, const char *architecture, size_t bytes, bool gguf);

/* Fill s->params with the family's values: its number, features, rope and its base, scale of the
 * embedding, norm_eps, and usual values for the rest. The sizes (dim to context) must be set
 * before. Afterwards the reader sets the file's own values. gguf: the model is a GGUF file. */
void family_set_params(struct source *s, const struct family *f, bool gguf);

/* Set the window of a model after params.rope_base is final. If window is 0, or longer than the
 * context, the model has no window. global_every: see params; used if the family interleaves.
 * Errors: ERR_UNSUPPORTED if the family has no windows. */
enum err family_set_window(struct source *s, const struct family *f, uint64_t window,
                           uint32_t global_every);

/* After layers[].local has changed, set again which layers rotate, for families in which this
 * depends on the window. */
void family_set_rotations(struct source_params *p, const struct family *f);

static inline bool family_has(const struct family *f, enum family_trait trait)
{
    return (f->traits & (uint32_t)trait) != 0;
}

#endif
