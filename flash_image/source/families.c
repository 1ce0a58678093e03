#include "flash_image/source/families.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    GEMMA_TRAITS = FAMILY_NORM_PLUS_1 | FAMILY_SCALE_EMBEDDING | FAMILY_TIED,
    GPT2_FEATURES = SOURCE_LAYER_NORM | SOURCE_GELU | SOURCE_UNGATED | SOURCE_QKV_BIAS |
                    SOURCE_OUT_BIAS | SOURCE_FFN_BIAS | SOURCE_POSITIONS,
    STARCODER2_FEATURES = GPT2_FEATURES & ~SOURCE_POSITIONS,
    GRANITE_TRAITS = FAMILY_GGUF_PAIRS | FAMILY_MULTIPLIERS | FAMILY_MAY_ROPE,
    OLMO2_FEATURES = SOURCE_QK_NORM | SOURCE_QK_NORM_WIDE | SOURCE_NO_NORM_BEFORE |
                     SOURCE_POST_NORMS,
    QWEN35_TRAITS = FAMILY_GATED_QUERY | FAMILY_LATE_FFN_NORM | FAMILY_PARTIAL_ROPE |
                    FAMILY_NORM_PLUS_1,
    GEMMA4_FEATURES = SOURCE_GELU | SOURCE_POST_NORMS | SOURCE_QK_NORM | SOURCE_V_NORM,
    GEMMA4_TRAITS = FAMILY_SCALE_EMBEDDING | FAMILY_TIED | FAMILY_SOFTCAPS | FAMILY_LOCAL_PLAIN |
                    FAMILY_TWO_WIDTHS | FAMILY_SHARED_KV | FAMILY_PER_LAYER,
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
      .traits = FAMILY_PARTIAL_ROPE | FAMILY_FUSED_GATE_UP,
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
    { .family = INGOT_MIXTRAL,
      .name = "mixtral",
      .traits = FAMILY_GGUF_PAIRS | FAMILY_EXPERTS,
      .window = FAMILY_ALL_LOCAL,
      .rope_base = 1e6f,
      .norm_eps = 1e-5f,
      .router = INGOT_ROUTER_SOFTMAX_CHOSEN },
    { .family = INGOT_QWEN3_MOE,
      .name = "qwen3_moe",
      .gguf = "qwen3moe",
      .features = SOURCE_QK_NORM | SOURCE_RENORMALIZE,
      .traits = FAMILY_EXPERTS,
      .window = FAMILY_ALL_LOCAL,
      .rope_base = 1e6f,
      .norm_eps = 1e-6f,
      .head_dim = 128,
      .router = INGOT_ROUTER_SOFTMAX },
    { .family = INGOT_QWEN35,
      .name = "qwen3_5",
      .gguf = "qwen35",
      .features = SOURCE_QK_NORM,
      .traits = QWEN35_TRAITS,
      .rope_base = 1e7f,
      .norm_eps = 1e-6f,
      .head_dim = 256,
      .mixer = INGOT_MIXER_DELTA },
    { .family = INGOT_QWEN35_MOE,
      .name = "qwen3_5_moe",
      .gguf = "qwen35moe",
      .features = SOURCE_QK_NORM | SOURCE_RENORMALIZE,
      .traits = QWEN35_TRAITS | FAMILY_EXPERTS,
      .rope_base = 1e7f,
      .norm_eps = 1e-6f,
      .head_dim = 256,
      .mixer = INGOT_MIXER_DELTA,
      .router = INGOT_ROUTER_SOFTMAX },
    { .family = INGOT_LFM2,
      .name = "lfm2",
      .gguf = "lfm2",
      .features = SOURCE_QK_NORM,
      .traits = FAMILY_TIED,
      .rope_base = 1e6f,
      .norm_eps = 1e-5f,
      .mixer = INGOT_MIXER_SHORTCONV },
    { .family = INGOT_LFM2_MOE,
      .name = "lfm2_moe",
      .gguf = "lfm2moe",
      .features = SOURCE_QK_NORM | SOURCE_RENORMALIZE,
      .traits = FAMILY_TIED | FAMILY_EXPERTS,
      .rope_base = 1e6f,
      .norm_eps = 1e-5f,
      .mixer = INGOT_MIXER_SHORTCONV,
      .router = INGOT_ROUTER_SIGMOID },
    { .family = INGOT_GRANITE,
      .name = "granite",
      .gguf = "granite",
      .traits = GRANITE_TRAITS,
      .rope_base = 10000.0f,
      .norm_eps = 1e-6f },
    { .family = INGOT_GRANITE_MOE,
      .name = "granitemoe",
      .gguf = "granitemoe",
      .traits = GRANITE_TRAITS | FAMILY_EXPERTS,
      .rope_base = 10000.0f,
      .norm_eps = 1e-6f,
      .router = INGOT_ROUTER_SOFTMAX_CHOSEN },
    { .family = INGOT_GRANITE_HYBRID,
      .name = "granitemoehybrid",
      .gguf = "granitehybrid",
      .traits = GRANITE_TRAITS | FAMILY_EXPERTS,
      .rope_base = 10000.0f,
      .norm_eps = 1e-6f,
      .mixer = INGOT_MIXER_MAMBA2,
      .router = INGOT_ROUTER_SOFTMAX_CHOSEN },
    { .family = INGOT_SMOLLM3,
      .name = "smollm3",
      .gguf = "smollm3",
      .traits = FAMILY_GGUF_PAIRS | FAMILY_TIED,
      .rope_base = 2e6f,
      .norm_eps = 1e-6f,
      .no_rope_every = 4 },
    { .family = INGOT_OLMO2, /* OLMo 3 has windows and their pattern */
      .name = "olmo2",
      .gguf = "olmo2",
      .features = OLMO2_FEATURES,
      .traits = FAMILY_LOCAL_PLAIN,
      .window = FAMILY_INTERLEAVED,
      .global_every = 4,
      .rope_base = 500000.0f,
      .norm_eps = 1e-6f },
    { .family = INGOT_OLMOE,
      .name = "olmoe",
      .gguf = "olmoe",
      .features = SOURCE_QK_NORM | SOURCE_QK_NORM_WIDE,
      .traits = FAMILY_EXPERTS,
      .rope_base = 10000.0f,
      .norm_eps = 1e-5f,
      .router = INGOT_ROUTER_SOFTMAX },
    { .family = INGOT_GPT_OSS,
      .name = "gpt_oss",
      .gguf = "gpt-oss",
      .features = SOURCE_SWIGLU_OAI | SOURCE_QKV_BIAS | SOURCE_OUT_BIAS,
      .traits = FAMILY_EXPERTS | FAMILY_LATE_FFN_NORM,
      .window = FAMILY_INTERLEAVED,
      .global_every = 2,
      .rope_base = 150000.0f,
      .norm_eps = 1e-5f,
      .head_dim = 64,
      .router = INGOT_ROUTER_SOFTMAX_CHOSEN },
    { .family = INGOT_GEMMA4,
      .name = "gemma4",
      .gguf = "gemma4",
      .features = GEMMA4_FEATURES,
      .traits = GEMMA4_TRAITS,
      .window = FAMILY_INTERLEAVED,
      .global_every = 6,
      .rope_base = 1e6f,
      .rope_base_local = 10000.0f,
      .norm_eps = 1e-6f,
      .head_dim = 256,
      .attn_scale = 1.0f },
    { .family = INGOT_EXAONE4,
      .name = "exaone4",
      .gguf = "exaone4",
      .features = SOURCE_QK_NORM | SOURCE_NO_NORM_BEFORE | SOURCE_POST_NORMS,
      .traits = FAMILY_LOCAL_ROPE,
      .window = FAMILY_INTERLEAVED,
      .global_every = 4,
      .rope_base = 1e6f,
      .norm_eps = 1e-5f },
    { .family = INGOT_STARCODER2,
      .name = "starcoder2",
      .gguf = "starcoder2",
      .features = STARCODER2_FEATURES,
      .traits = FAMILY_TIED,
      .window = FAMILY_ALL_LOCAL,
      .rope_base = 10000.0f,
      .norm_eps = 1e-5f },
    { .family = INGOT_HUNYUAN,
      .name = "hunyuan_v1_dense",
      .gguf = "hunyuan-dense",
      .features = SOURCE_QK_NORM | SOURCE_QK_NORM_LATE,
      .rope_base = 10000.0f,
      .norm_eps = 1e-5f },
    { .family = INGOT_ERNIE45,
      .name = "ernie4_5",
      .gguf = "ernie4_5",
      .traits = FAMILY_GGUF_PAIRS | FAMILY_TIED,
      .rope_base = 500000.0f,
      .norm_eps = 1e-5f,
      .head_dim = 128 },
    { .family = INGOT_MINICPM,
      .name = "minicpm",
      .gguf = "minicpm",
      .traits = FAMILY_GGUF_PAIRS | FAMILY_MULTIPLIERS,
      .rope_base = 10000.0f,
      .norm_eps = 1e-5f },
    { .family = INGOT_BITNET,
      .name = "bitnet",
      .gguf = "bitnet-b1.58",
      .features = SOURCE_RELU2,
      .rope_base = 500000.0f,
      .norm_eps = 1e-5f },
    { .family = INGOT_BITNET, /* of its files the older models' gate is SiLU */
      .name = "bitnet",
      .gguf = "bitnet",
      .features = SOURCE_RELU2,
      .rope_base = 500000.0f,
      .norm_eps = 1e-5f },
    { .family = INGOT_FALCON_H1,
      .name = "falcon_h1",
      .gguf = "falcon-h1",
      .traits = FAMILY_BESIDE,
      .rope_base = 1e11f,
      .norm_eps = 1e-5f,
      .mixer = INGOT_MIXER_MAMBA2 },
    { .family = INGOT_NEMOTRON_H,
      .name = "nemotron_h",
      .gguf = "nemotron_h",
      .features = SOURCE_RELU2 | SOURCE_UNGATED,
      .traits = FAMILY_NO_ROPE | FAMILY_ONE_BLOCK,
      .rope_base = 10000.0f,
      .norm_eps = 1e-5f,
      .mixer = INGOT_MIXER_MAMBA2 },
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
    if (f->architecture == NULL) {
        return false;
    }
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
    char names[N_FAMILIES * 20] = "";
    const char *comma = "";
    size_t used = 0;

    for (size_t i = 0; i < N_FAMILIES; i++) {
        if (i > 0 && families[i].family == families[i - 1].family) {
            continue;
        }
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

/* Of `every` layers the last one does not rotate; 0: all do. */
static void skip_rotations(struct source_params *p, uint32_t every)
{
    for (uint32_t i = 0; every != 0 && i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
        p->layers[i].no_rope = i % every == every - 1;
    }
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
    p->experts.router = f->router;
    p->rope_local_plain = family_has(f, FAMILY_LOCAL_PLAIN);
    if (f->attn_scale != 0.0f) {
        p->attn_scale = f->attn_scale;
    }
    if (family_has(f, FAMILY_SCALE_EMBEDDING)) {
        p->embedding_scale = sqrtf((float)p->dim);
    }
    if (gguf && f->mixer == INGOT_MIXER_DELTA) {
        p->features |= SOURCE_TILED_GROUPS; /* its converter reorders the heads */
    }
    skip_rotations(p, f->no_rope_every);
}

/* Local layers that differ by more than what they see are told apart however wide the window is. */
static bool local_differs(const struct family *f)
{
    return f->rope_base_local != 0.0f || family_has(f, FAMILY_LOCAL_PLAIN) ||
           family_has(f, FAMILY_LOCAL_ROPE) || family_has(f, FAMILY_TWO_WIDTHS);
}

enum err family_set_window(struct source *s, const struct family *f, uint64_t window,
                           uint32_t global_every)
{
    struct source_params *p = &s->params;

    if (window == 0 || (window >= p->context && !local_differs(f))) {
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
    family_set_rotations(p, f);
    return ERR_OK;
}

void family_set_rotations(struct source_params *p, const struct family *f)
{
    for (uint32_t i = 0; i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
        if (family_has(f, FAMILY_LOCAL_ROPE)) {
            p->layers[i].no_rope = !p->layers[i].local;
        }
    }
}
