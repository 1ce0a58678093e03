#include "flash_image/source/families.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    GEMMA_TRAITS = FAMILY_NORM_PLUS_1 | FAMILY_SCALE_EMBEDDING | FAMILY_TIED,
    GPT2_FEATURES = SOURCE_LAYER_NORM | SOURCE_GELU | SOURCE_UNGATED | SOURCE_QKV_BIAS |
                    SOURCE_OUT_BIAS | SOURCE_FFN_BIAS | SOURCE_POSITIONS,
};

/* Of families with one architecture in GGUF the first is taken: a Mistral GGUF is a "llama". */
static const struct family families[] = {
    { .family = INGOT_LLAMA,
      .name = "llama",
      .gguf = "llama",
      .architecture = "LlamaForCausalLM",
      .traits = FAMILY_GGUF_PAIRS,
      .rope_base = 10000.0f,
      .norm_eps = 1e-6f },
    { .family = INGOT_MISTRAL,
      .name = "mistral",
      .architecture = "MistralForCausalLM",
      .traits = FAMILY_GGUF_PAIRS,
      .window = FAMILY_ALL_LOCAL,
      .rope_base = 10000.0f,
      .norm_eps = 1e-6f },
    { .family = INGOT_QWEN2,
      .name = "qwen2",
      .gguf = "qwen2",
      .architecture = "Qwen2ForCausalLM",
      .features = SOURCE_QKV_BIAS,
      .window = FAMILY_ALL_LOCAL,
      .rope_base = 10000.0f,
      .norm_eps = 1e-6f },
    { .family = INGOT_QWEN3,
      .name = "qwen3",
      .gguf = "qwen3",
      .architecture = "Qwen3ForCausalLM",
      .features = SOURCE_QK_NORM,
      .window = FAMILY_ALL_LOCAL,
      .rope_base = 10000.0f,
      .norm_eps = 1e-6f,
      .head_dim = 128 },
    { .family = INGOT_GEMMA,
      .name = "gemma",
      .gguf = "gemma",
      .architecture = "GemmaForCausalLM",
      .features = SOURCE_GELU,
      .traits = GEMMA_TRAITS,
      .rope_base = 10000.0f,
      .norm_eps = 1e-6f,
      .head_dim = 256 },
    { .family = INGOT_GEMMA2,
      .name = "gemma2",
      .gguf = "gemma2",
      .architecture = "Gemma2ForCausalLM",
      .features = SOURCE_GELU | SOURCE_POST_NORMS,
      .traits = GEMMA_TRAITS | FAMILY_SOFTCAPS | FAMILY_QUERY_SCALE,
      .window = FAMILY_INTERLEAVED,
      .global_every = 2,
      .rope_base = 10000.0f,
      .norm_eps = 1e-6f,
      .head_dim = 256 },
    { .family = INGOT_GEMMA3,
      .name = "gemma3",
      .gguf = "gemma3",
      .architecture = "Gemma3ForCausalLM",
      .features = SOURCE_GELU | SOURCE_POST_NORMS | SOURCE_QK_NORM,
      .traits = GEMMA_TRAITS | FAMILY_SOFTCAPS | FAMILY_QUERY_SCALE,
      .window = FAMILY_INTERLEAVED,
      .global_every = 6,
      .rope_base = 1e6f,
      .rope_base_local = 10000.0f,
      .norm_eps = 1e-6f,
      .head_dim = 256 },
    { .family = INGOT_PHI3,
      .name = "phi3",
      .gguf = "phi3",
      .architecture = "Phi3ForCausalLM",
      .traits = FAMILY_PARTIAL_ROPE,
      .window = FAMILY_ALL_LOCAL,
      .rope_base = 10000.0f,
      .norm_eps = 1e-5f },
    { .family = INGOT_GPT2,
      .name = "gpt2",
      .gguf = "gpt2",
      .architecture = "GPT2LMHeadModel",
      .features = GPT2_FEATURES,
      .traits = FAMILY_NO_ROPE | FAMILY_TIED,
      .rope_base = 10000.0f, /* the reader demands one even without rope */
      .norm_eps = 1e-5f },
};

enum { N_FAMILIES = sizeof families / sizeof families[0] };

const struct family *family_of_gguf(struct source_text architecture)
{
    for (size_t i = 0; i < N_FAMILIES; i++) {
        const char *name = families[i].gguf;

        if (name != NULL && source_text_is(architecture, name)) {
            return &families[i];
        }
    }
    return NULL;
}

/* "gemma3_text" is the part of a larger model that this is about. */
static bool is_model_type(const char *type, const char *name)
{
    size_t n = strlen(name);

    return strncmp(type, name, n) == 0 && (type[n] == '\0' || strcmp(type + n, "_text") == 0);
}

/* A configuration without architectures is known by its model_type. */
static bool is_configured(const struct family *f, const char *architecture, const char *model_type)
{
    if (architecture != NULL) {
        return strcmp(architecture, f->architecture) == 0;
    }
    return model_type != NULL && is_model_type(model_type, f->name);
}

const struct family *family_of_config(const char *architecture, const char *model_type)
{
    for (size_t i = 0; i < N_FAMILIES; i++) {
        if (is_configured(&families[i], architecture, model_type)) {
            return &families[i];
        }
    }
    return NULL;
}

const struct family *family_find(enum ingot_family family)
{
    for (size_t i = 0; i < N_FAMILIES; i++) {
        if (families[i].family == family) {
            return &families[i];
        }
    }
    return NULL;
}

enum err family_refuse(struct source *s, const char *architecture, size_t bytes)
{
    char names[N_FAMILIES * 16] = "";
    const char *comma = "";
    size_t used = 0;

    for (size_t i = 0; i < N_FAMILIES; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", comma,
                                 families[i].name);
        comma = ", ";
    }
    return source_refuse(s, ERR_UNSUPPORTED, "architecture '%.*s' is not supported; supported: %s",
                         (int)min_size(bytes, 60), architecture, names);
}

static uint32_t rope_of(const struct family *f, bool gguf)
{
    if (family_has(f, FAMILY_NO_ROPE)) {
        return SOURCE_ROPE_NONE;
    }
    if (gguf && family_has(f, FAMILY_GGUF_PAIRS)) {
        return INGOT_ROPE_PAIRS;
    }
    return INGOT_ROPE_HALVES;
}

void family_set_params(struct source *s, const struct family *f, bool gguf)
{
    struct source_params *p = &s->params;

    p->family = f->family;
    p->features = f->features;
    p->rope = rope_of(f, gguf);
    p->rope_base = f->rope_base;
    p->norm_eps = f->norm_eps;
    source_default_params(p);
    if (family_has(f, FAMILY_SCALE_EMBEDDING)) {
        p->embedding_scale = sqrtf((float)p->dim);
    }
}

/* Local layers with a base of their own are told apart by the window, however wide it is. */
enum err family_set_window(struct source *s, const struct family *f, uint64_t window,
                           uint32_t global_every)
{
    struct source_params *p = &s->params;

    if (window == 0 || (window >= p->context && f->rope_base_local == 0.0f)) {
        return ERR_OK;
    }
    if (f->window == FAMILY_NO_WINDOW) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "the model sets a sliding window of %llu, which "
                             "the family %s does not have",
                             (unsigned long long)window, f->name);
    }
    p->window = (uint32_t)min_u64(window, INGOT_MAX_CONTEXT);
    p->global_every = 0;
    if (f->window == FAMILY_INTERLEAVED) {
        p->global_every = global_every;
    }
    p->rope_base_local = p->rope_base;
    if (f->rope_base_local != 0.0f) {
        p->rope_base_local = f->rope_base_local;
    }
    for (uint32_t i = 0; i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
        p->layers[i].local = p->global_every == 0 || i % p->global_every != p->global_every - 1;
    }
    return ERR_OK;
}
