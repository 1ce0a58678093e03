#include "flash_image/hf/hf_config.h"

#include <math.h>
#include <string.h>

#include "flash_image/hf/hf_gemma4.h"
#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_latent.h"
#include "flash_image/hf/hf_layers.h"
#include "flash_image/hf/hf_multipliers.h"
#include "flash_image/hf/hf_quantized.h"
#include "flash_image/hf/hf_rope.h"
#include "flash_image/hf/hf_text_part.h"
#include "flash_image/hf/hf_window.h"

/* Fields that change the computation in a way that Ingot does not support. Null, false, zero and
 * empty values are allowed; so is 1 for a factor. */
static const struct foreign {
    const char *field;
    bool is_factor;
    uint32_t unless_feature, unless_trait; /* the field is allowed if the family supports it */
} foreign[] = {
    { .field = "num_local_experts", .unless_trait = FAMILY_EXPERTS },
    { .field = "num_experts", .unless_trait = FAMILY_EXPERTS },
    { .field = "n_routed_experts", .unless_trait = FAMILY_FREE_ROUTER | FAMILY_ONE_BLOCK },
    { .field = "moe_intermediate_size", .unless_trait = FAMILY_EXPERTS | FAMILY_ONE_BLOCK },
    { .field = "kv_lora_rank", .unless_trait = FAMILY_LATENT },
    { .field = "attention_bias",
      .unless_feature = SOURCE_QKV_BIAS,
      .unless_trait = FAMILY_MAY_BIAS },
    { .field = "mlp_bias", .unless_feature = SOURCE_FFN_BIAS },
    { .field = "use_bias", .unless_feature = SOURCE_FFN_BIAS },
    { .field = "clip_qkv" },
    { .field = "alibi" },
    { .field = "logit_scale", .is_factor = true },
    { .field = "logits_scaling", .is_factor = true, .unless_trait = FAMILY_MULTIPLIERS },
    { .field = "residual_multiplier", .is_factor = true, .unless_trait = FAMILY_MULTIPLIERS },
    { .field = "embedding_multiplier",
      .is_factor = true,
      .unless_trait = FAMILY_MULTIPLIERS | FAMILY_PARALLEL },
    { .field = "attention_multiplier", .is_factor = true, .unless_trait = FAMILY_MULTIPLIERS },
    { .field = "attn_logit_softcapping", .unless_trait = FAMILY_SOFTCAPS },
    { .field = "final_logit_softcapping", .unless_trait = FAMILY_SOFTCAPS },
    { .field = "query_pre_attn_scalar", .unless_trait = FAMILY_QUERY_SCALE },
    { .field = "use_bidirectional_attention" }, /* but see sees_ahead() */
    { .field = "enable_moe_block" },
    { .field = "per_layer_config", .unless_trait = FAMILY_TWO_WIDTHS },
    { .field = "attention_chunk_size" },
    { .field = "no_rope_layers" }, /* but see no_rope_every */
    { .field = "mamba_proj_bias" },
    { .field = "projectors_bias" },
    { .field = "conv_bias" },
    { .field = "add_cross_attention" },
    { .field = "is_encoder_decoder" },
    { .field = "scale_attn_by_inverse_layer_idx" },
    { .field = "audio_config" },
};

static bool is_set(const cJSON *v, bool is_factor)
{
    if (v == NULL || cJSON_IsFalse(v)) {
        return false;
    }
    if (cJSON_IsNumber(v)) {
        return v->valuedouble != 0.0 && !(is_factor && v->valuedouble == 1.0);
    }
    if (cJSON_IsArray(v) || cJSON_IsObject(v)) {
        return v->child != NULL;
    }
    return true;
}

/* True if text attends to later tokens; in Gemma 4 only pictures do, and Ingot takes none. */
static bool sees_ahead(const struct hf_json *j)
{
    return !hf_json_is(j->object, "use_bidirectional_attention", "vision");
}

static void check_foreign(struct hf_json *j, const struct family *f)
{
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0] && j->e == ERR_OK; i++) {
        bool has = (f->features & foreign[i].unless_feature) != 0 ||
                   (f->traits & foreign[i].unless_trait) != 0;

        has = has || (f->no_rope_every != 0 && strcmp(foreign[i].field, "no_rope_layers") == 0) ||
              (!sees_ahead(j) && strcmp(foreign[i].field, "use_bidirectional_attention") == 0);
        if (!has && is_set(hf_json_get(j->object, foreign[i].field), foreign[i].is_factor)) {
            j->e = source_refuse(j->s, ERR_UNSUPPORTED,
                                 "the field \"%s\" is set, and the family "
                                 "%s does not support it here",
                                 foreign[i].field, f->name);
        }
    }
}

/* ---- family and sizes ------------------------------------------------------------------------ */

static enum err refuse_family(struct source *s, const char *name, const char *type)
{
    if (name == NULL && type == NULL) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the fields \"architectures\" and "
                             "\"model_type\" are missing: this is not a model's config.json");
    }
    if (type == NULL || (name != NULL && family_of_config(NULL, type) != NULL)) {
        return family_refuse(s, name, strlen(name),
                             false); /* maybe a classifier of a known family */
    }
    return family_refuse(s, type, strlen(type), false);
}

/* Return the first entry of "architectures", or NULL. */
static const char *first_architecture(struct hf_json *j)
{
    const cJSON *list = hf_json_list(hf_json_get(j->object, "architectures"));

    if (list == NULL) {
        return NULL;
    }
    return hf_json_string(list->child);
}

/* A nested text part has no architecture of its own: its model_type gives the family. */
static const struct family *find_family(struct hf_json *j, const struct hf_text_part *part)
{
    const char *type = hf_json_text(j, "model_type");
    const char *name = NULL;
    const struct family *f;

    if (!part->nested) {
        name = first_architecture(j);
    }
    f = family_of_config(name, type);
    if (j->e != ERR_OK) {
        return NULL;
    }
    if (f == NULL && (part->vision || part->nested)) {
        j->e = hf_text_part_refuse(j);
    } else if (f == NULL) {
        j->e = refuse_family(j->s, name, type);
    }
    return f;
}

/* Return the default for hf_json_u32: `usual`, or HF_NEEDED if `usual` is 0, which means that there
 * is no default. */
static uint32_t or_needed(uint32_t usual)
{
    if (usual == 0) {
        return HF_NEEDED;
    }
    return usual;
}

/* Read a size under either of its names: Transformers accepts both in GPT-2's config.json. */
static uint32_t size_of(struct hf_json *j, const char *field, const char *gpt2, uint32_t otherwise)
{
    if (gpt2 != NULL && hf_json_get(j->object, field) == NULL &&
        hf_json_get(j->object, gpt2) != NULL) {
        field = gpt2;
    }
    return hf_json_u32(j, field, otherwise);
}

/* The width of a head if config.json omits it. */
static uint32_t usual_head_dim(const struct family *f, const struct source_params *p)
{
    if (f->head_dim != 0 || p->n_heads == 0) {
        return f->head_dim;
    }
    return p->dim / p->n_heads;
}

/* Return the context if config.json omits it; NemotronHConfig has its own default. */
static uint32_t usual_context(const struct family *f, const struct hf_usual_sizes *usual)
{
    return f->family == INGOT_NEMOTRON_H ? 4096 : usual->context;
}

static void read_sizes(struct hf_json *j, const struct family *f,
                       const struct hf_usual_sizes *usual)
{
    struct source_params *p = &j->s->params;
    uint32_t hidden = or_needed(usual->hidden), head_dim;

    p->dim = size_of(j, "hidden_size", "n_embd", or_needed(usual->dim));
    p->n_layers = size_of(j, "num_hidden_layers", "n_layer",
                          or_needed(usual->n_layers != 0 ? usual->n_layers : hf_layers_count(j)));
    p->n_heads = size_of(j, "num_attention_heads", "n_head", or_needed(usual->n_heads));
    p->vocab = size_of(j, "vocab_size", NULL, or_needed(usual->vocab));
    p->context = size_of(j, "max_position_embeddings", "n_positions",
                         or_needed(usual_context(f, usual)));
    p->n_kv_heads = size_of(j, "num_key_value_heads", NULL, p->n_heads);
    if ((usual->family == INGOT_GEMMA3 || usual->family == INGOT_GEMMA4) &&
        usual->n_kv_heads != 0) {
        p->n_kv_heads = size_of(j, "num_key_value_heads", NULL, usual->n_kv_heads);
    }
    if ((f->features & SOURCE_UNGATED) != 0 && p->dim <= INGOT_MAX_DIM) {
        hidden = 4 * p->dim;
    }
    if (family_has(f, FAMILY_EXPERTS) && hf_json_get(j->object, "moe_intermediate_size") != NULL) {
        hidden = hf_json_u32(j, "moe_intermediate_size", hidden);
    }
    if (f->family == INGOT_LFM2 && hf_json_get(j->object, "block_ff_dim") != NULL) {
        hidden = hf_json_u32(j, "block_ff_dim", hidden); /* the family's first models have only this
                                                            field */
    }
    p->hidden = hf_layers_hidden(j, f, size_of(j, "intermediate_size", "n_inner", hidden));
    head_dim = usual_head_dim(f, p);
    p->head_dim = hf_json_u32(j, "head_dim", head_dim);
    if (f->family == INGOT_NEMOTRON_H && hf_json_get(j->object, "head_dim") == NULL) {
        p->head_dim = hf_json_u32(j, "attention_head_dim", head_dim); /* the first models' name */
    }
    if (j->e == ERR_OK && p->head_dim == head_dim && f->head_dim == 0 &&
        (p->n_heads == 0 || p->dim % p->n_heads != 0)) {
        j->e = source_refuse(j->s, ERR_BAD_MODEL,
                             "%u attention heads do not divide a hidden size "
                             "of %u",
                             p->n_heads, p->dim);
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* GELU means the tanh form. Like Transformers, ignore Gemma's hidden_act, which says "gelu". */
static bool is_activation(const struct family *f, const char *name)
{
    if ((f->features & SOURCE_RELU2) != 0) {
        return strcmp(name, "relu2") == 0;
    }
    if ((f->features & SOURCE_GELU) == 0) {
        return strcmp(name, "silu") == 0 || strcmp(name, "swish") == 0;
    }
    return strcmp(name, "gelu_pytorch_tanh") == 0 || strcmp(name, "gelu_new") == 0 ||
           (strcmp(name, "gelu") == 0 && f->family == INGOT_GEMMA);
}

static enum err refuse_activation(struct source *s, const struct family *f, const char *field,
                                  const char *name)
{
    const char *known = (f->features & SOURCE_RELU2) != 0 ? "relu2" : "silu";

    if ((f->features & SOURCE_GELU) != 0) {
        known = "gelu_pytorch_tanh";
    }
    return source_refuse(s, ERR_UNSUPPORTED,
                         "the field \"%s\" is '%.40s'; in the family %s, only models with %s can "
                         "be packed",
                         field, name, f->name, known);
}

static void check_activation(struct hf_json *j, const struct family *f)
{
    static const char *const fields[] = { "hidden_activation", "activation_function",
                                          "mlp_hidden_act", "hidden_act" };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        bool gpt2 = strcmp(fields[i], "activation_function") == 0; /* unused in StarCoder2 */
        const char *name = gpt2 && f->family != INGOT_GPT2 ? NULL : hf_json_text(j, fields[i]);

        if (name != NULL && !is_activation(f, name)) {
            j->e = refuse_activation(j->s, f, fields[i], name);
        }
        if (name != NULL) {
            return;
        }
    }
}

static float read_eps(struct hf_json *j, float otherwise)
{
    static const char *const fields[] = { "rms_norm_eps", "layer_norm_epsilon", "norm_epsilon",
                                          "norm_eps", "layer_norm_eps" };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (hf_json_get(j->object, fields[i]) != NULL) {
            return hf_json_float(j, fields[i], otherwise);
        }
    }
    return otherwise;
}

/* Read a cap: Gemma 2 has a cap unless its config.json sets the field to null. */
static float read_cap(struct hf_json *j, const struct family *f, const char *field, float usual)
{
    bool named = cJSON_GetObjectItemCaseSensitive(j->object, field) != NULL;

    return hf_json_float(j, field, f->family == INGOT_GEMMA2 && !named ? usual : 0.0f);
}

/* Read whether attention, and in StarCoder2 the feed-forward, has biases. */
static void read_biases(struct hf_json *j, const struct family *f)
{
    enum { ATTENTION = SOURCE_QKV_BIAS | SOURCE_OUT_BIAS };
    struct source_params *p = &j->s->params;

    if (family_has(f, FAMILY_MAY_BIAS) && hf_json_bool(j, "attention_bias", false)) {
        p->features |= ATTENTION;
    }
    if (f->family == INGOT_GPT_OSS && !hf_json_bool(j, "attention_bias", true)) {
        p->features &= ~(uint32_t)ATTENTION;
    }
    if (f->family == INGOT_STARCODER2 && !hf_json_bool(j, "use_bias", true)) {
        p->features &= ~(uint32_t)(ATTENTION | SOURCE_FFN_BIAS);
    }
}

static void read_scales(struct hf_json *j, const struct family *f)
{
    struct source_params *p = &j->s->params;
    float scalar = hf_json_float(j, "query_pre_attn_scalar", 256.0f);

    p->norm_eps = read_eps(j, p->norm_eps);
    p->attn_softcap = read_cap(j, f, "attn_logit_softcapping", 50.0f);
    p->final_softcap = read_cap(j, f, "final_logit_softcapping", 30.0f);
    read_biases(j, f);
    if (family_has(f, FAMILY_QUERY_SCALE)) {
        p->attn_scale = 1.0f / sqrtf(scalar); /* a scalar out of range gives a scale out of bounds,
                                                 which is refused */
    }
    if (!hf_json_bool(j, "scale_attn_weights", true) && j->e == ERR_OK) {
        j->e = source_refuse(j->s, ERR_UNSUPPORTED,
                             "the field \"scale_attn_weights\" is false, "
                             "which cannot be packed");
    }
}

/* ---- together -------------------------------------------------------------------------------- */

/* Read tie_word_embeddings, which may be in the text part or in the whole model's object. If only
 * the text part says false, the tensors decide: Transformers 5 obeys the whole model's field, and
 * for some classes its default is true. */
static void read_tied(struct hf_json *j, const cJSON *root, struct hf_config *c)
{
    static const char field[] = "tie_word_embeddings";
    struct hf_json at = *j;

    if (hf_json_get(at.object, field) == NULL) {
        at.object = root;
    }
    c->tied_known = hf_json_get(at.object, field) != NULL;
    j->s->params.tied = hf_json_bool(&at, field, family_has(c->family, FAMILY_TIED));
    j->e = at.e;
    if (at.object != root && !j->s->params.tied && hf_json_is_true(root, field, true)) {
        c->tied_known = false;
    }
}

static void read_all(struct hf_json *j, struct hf_config *c)
{
    const struct hf_usual_sizes *usual;
    const cJSON *root = j->object;
    struct hf_json quantized = *j; /* the field is outside the text part */
    struct source *s = j->s;
    struct hf_text_part part;

    hf_text_part_find(j, &part);
    c->vision = part.vision || part.nested;
    c->family = find_family(j, &part);
    if (c->family == NULL) {
        return;
    }
    usual = hf_text_part_usual(&part, c->family);
    check_foreign(j, c->family);
    quantized.e = j->e;
    hf_quantized_read(&quantized, c);
    j->e = quantized.e;
    read_sizes(j, c->family, usual);
    if (j->e != ERR_OK) {
        return;
    }
    if (family_has(c->family, FAMILY_TWO_WIDTHS)) {
        hf_gemma4_read_widths(j);
    }
    family_set_params(s, c->family, false);
    hf_latent_read(j, c);
    check_activation(j, c->family);
    read_scales(j, c->family);
    hf_multipliers_read(j, c);
    hf_layers_read_experts(j, c->family);
    hf_layers_read_mixers(j, c->family);
    hf_rope_read_base(j, c->family);
    hf_window_read(j, c->family, usual->window);
    if (family_has(c->family, FAMILY_PER_LAYER)) {
        hf_gemma4_read_layers(j);
    }
    read_tied(j, root, c);
    if (j->e == ERR_OK) {
        j->e = source_check_params(s);
    }
    hf_rope_read_scaling(j);
    if (j->e == ERR_OK) {
        j->e = source_check_params(s);
    }
}

enum err hf_config_read(struct source *s, const uint8_t *text, size_t bytes, struct hf_config *c)
{
    enum err e;
    cJSON *root = hf_json_parse(s, text, bytes, &e);
    struct hf_json j = { s, root, ERR_OK };

    *c = (struct hf_config){ .family = NULL };
    if (root == NULL) {
        return e;
    }
    read_all(&j, c);
    s->params_known = j.e == ERR_OK;
    cJSON_Delete(root);
    return j.e;
}
