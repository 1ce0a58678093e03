/* config.json describes rotation with "rope_theta" and "rope_scaling" or, since Transformers 5,
 * with "rope_parameters", which may contain one object for full_attention and one for
 * sliding_attention. */
#include "flash_image/hf/hf_rope.h"

#include <math.h>
#include <string.h>

#include "flash_image/source/rope_factors.h"

#define TWO_PI 6.28318530717958647692
#define NO_TURN 1e30f /* a divisor so large that the pair does not rotate */

enum { GLOBAL_LAYERS, LOCAL_LAYERS };

/* Return the object with theta and scaling for a kind of layer; NULL: there is none. */
static const cJSON *parameters(const struct hf_json *config, int layers)
{
    const cJSON *all = hf_json_get(config->object, "rope_parameters");
    const cJSON *full = hf_json_get(all, "full_attention");

    if (layers == LOCAL_LAYERS) {
        return hf_json_get(all, "sliding_attention");
    }
    if (full == NULL) {
        return all;
    }
    return full;
}

/* Read a number from the layers' object, or from config.json itself. */
static float number(struct hf_json *config, int layers, const char *key, const char *outside,
                    float otherwise)
{
    struct hf_json inner = { config->s, parameters(config, layers), config->e };
    float value = hf_json_float(&inner, key, hf_json_float(config, outside, otherwise));

    if (config->e == ERR_OK) {
        config->e = inner.e;
    }
    return value;
}

static void read_partial(struct hf_json *config, const struct family *f)
{
    struct source_params *p = &config->s->params;
    float partial = number(config, GLOBAL_LAYERS, "partial_rotary_factor", "partial_rotary_factor",
                           family_has(f, FAMILY_GATED_QUERY) ? 0.25f : 1.0f);

    if (config->e != ERR_OK || partial == 1.0f || f->family == INGOT_GEMMA4) {
        return; /* for Gemma 4, scale_proportional() changes the frequencies */
    }
    if (!family_has(f, FAMILY_PARTIAL_ROPE) || !(partial > 0.0f && partial < 1.0f)) {
        config->e = source_refuse(config->s, ERR_UNSUPPORTED,
                                  "the field \"partial_rotary_factor\" "
                                  "is %g, which the family %s cannot have",
                                  (double)partial, f->name);
        return;
    }
    p->rope_dims = (uint32_t)((float)p->head_dim * partial);
}

void hf_rope_read_base(struct hf_json *config, const struct family *f)
{
    struct source_params *p = &config->s->params;

    if (p->rope == SOURCE_ROPE_NONE) {
        return;
    }
    p->rope_base = number(config, GLOBAL_LAYERS, "rope_theta", "rope_theta", f->rope_base);
    read_partial(config, f);
}

/* ---- factors ------------------------------------------------------------------------------- */

/* A scaling object while it is read: its fields, the model's fields, and the params to
 * fill. */
struct scaling {
    struct hf_json in;
    struct hf_json *config;
    struct source_params *p;
};

static bool fine(const struct scaling *k)
{
    return k->in.e == ERR_OK && k->config->e == ERR_OK;
}

static void refuse(struct scaling *k, enum err e, const char *what)
{
    if (fine(k)) {
        k->in.e = source_refuse(k->in.s, e, "the field \"rope_scaling\" %s", what);
    }
}

/* The context with which the model was trained before its context was stretched. As in
 * Transformers, the model's own field comes before the scaling's. */
static uint32_t trained_context(struct scaling *k, uint32_t otherwise)
{
    static const char field[] = "original_max_position_embeddings";
    struct hf_json *where = hf_json_get(k->config->object, field) != NULL ? k->config : &k->in;
    uint32_t context = hf_json_u32(where, field, otherwise);

    if (context < 2) {
        refuse(k, ERR_BAD_MODEL, "has an impossible original_max_position_embeddings");
    }
    return context;
}

static void scale_linear(struct scaling *k)
{
    float factor = hf_json_float(&k->in, "factor", 0.0f);

    if (fine(k)) {
        k->in.e = rope_factors_scale_all(k->in.s, factor);
    }
}

/* Llama 3.1's scaling: slow rotations become slower, fast rotations do not change, and a ramp
 * connects them. */
static void scale_llama3(struct scaling *k)
{
    float factors[SOURCE_MAX_FACTORS];
    double factor = hf_json_float(&k->in, "factor", 8.0f);
    double low = hf_json_float(&k->in, "low_freq_factor", 1.0f);
    double high = hf_json_float(&k->in, "high_freq_factor", 4.0f);
    double context = trained_context(k, 8192);

    if (!(low > 0.0 && high > low)) {
        refuse(k, ERR_BAD_MODEL, "has a high_freq_factor not above its low_freq_factor");
    }
    if (!fine(k)) {
        return;
    }
    for (uint32_t i = 0; i < k->p->rope_dims / 2; i++) {
        double wave = TWO_PI * pow((double)k->p->rope_base, 2.0 * i / k->p->rope_dims);
        double smooth = (context / wave - low) / (high - low);

        smooth = fmin(fmax(smooth, 0.0), 1.0);
        factors[i] = (float)(1.0 / ((1.0 - smooth) / factor + smooth));
    }
    k->in.e = rope_factors_multiply_all(k->in.s, factors);
}

/* Return a value's number, or 0 if it is not a number: 0 is out of a factor's bounds. */
static float number_of(const cJSON *value)
{
    if (!cJSON_IsNumber(value)) {
        return 0.0f;
    }
    return (float)value->valuedouble;
}

static void multiply_listed(struct scaling *k, const char *key, enum source_rope_set set)
{
    float factors[SOURCE_MAX_FACTORS];
    const cJSON *list = hf_json_get(k->in.object, key);
    uint32_t n = 0, i = 0;
    const cJSON *value;

    if (!fine(k)) {
        return;
    }
    if (cJSON_IsArray(list)) {
        n = (uint32_t)cJSON_GetArraySize(list);
    }
    if (n != k->p->rope_dims / 2) {
        k->in.e = source_refuse(k->in.s, ERR_BAD_MODEL,
                                "the field \"rope_scaling\" has %u numbers in \"%s\", but %u are "
                                "needed",
                                n, key, k->p->rope_dims / 2);
        return;
    }
    cJSON_ArrayForEach(value, list)
    {
        factors[i++] = number_of(value);
    }
    k->in.e = rope_factors_multiply(k->in.s, set, factors);
}

/* Phi-3's scaling: sequences longer than the original context have other factors; in all sequences,
 * queries and keys are multiplied by a magnitude. "factor" only changes the magnitude. */
static void scale_long(struct scaling *k)
{
    uint32_t trained = trained_context(k, HF_NEEDED);
    double ratio = hf_json_float(&k->in, "factor", (float)k->p->context / (float)trained);
    double magnitude = 1.0;

    if (ratio > 1.0) {
        magnitude = sqrt(1.0 + log(ratio) / log((double)trained));
    }

    if (k->p->window != 0) {
        refuse(k, ERR_UNSUPPORTED,
               "asks for longrope with a sliding window, which cannot be "
               "packed");
    }
    if (hf_json_get(k->in.object, "long_mscale") != NULL) {
        refuse(k, ERR_UNSUPPORTED, "has \"long_mscale\": such a model cannot be packed");
    }
    multiply_listed(k, "short_factor", SOURCE_ROPE_GLOBAL);
    multiply_listed(k, "long_factor", SOURCE_ROPE_LONG);
    k->p->rope_context = trained;
    k->p->rope_magnitude = hf_json_float(&k->in, "attention_factor", (float)magnitude);
}

/* If mscale and mscale_all_dim are given, cosines and sines are scaled by the value for mscale
 * divided by the value for mscale_all_dim. DeepSeek also scales the scores by the square of the
 * value for mscale_all_dim. */
static double yarn_magnitude(struct scaling *k, double factor)
{
    double growth = log(fmax(factor, 1.0)) / 10;
    double mscale = hf_json_float(&k->in, "mscale", 0.0f);
    double all = hf_json_float(&k->in, "mscale_all_dim", 0.0f);
    double scores = 1.0 + growth * all;

    if (k->p->latent.kv_rank != 0) {
        k->p->attn_scale *= (float)(scores * scores);
    }
    if (mscale != 0.0 && all != 0.0) {
        return (1.0 + growth * mscale) / scores;
    }
    return rope_yarn_magnitude(factor);
}

static void scale_yarn(struct scaling *k)
{
    uint32_t trained = trained_context(k, k->p->context);
    struct rope_yarn yarn = {
        .factor = hf_json_float(&k->in, "factor", (float)k->p->context / (float)trained),
        .context = trained,
        .beta_fast = hf_json_float(&k->in, "beta_fast", 32.0f),
        .beta_slow = hf_json_float(&k->in, "beta_slow", 1.0f),
        .exact = !hf_json_bool(&k->in, "truncate", true),
    };
    double usual = yarn_magnitude(k, yarn.factor);

    if (!(yarn.factor > 0.0 && yarn.beta_fast > 0.0 && yarn.beta_slow > 0.0)) {
        refuse(k, ERR_BAD_MODEL, "has an impossible \"factor\" or \"beta_fast\" or \"beta_slow\"");
    }
    if (fine(k)) {
        k->in.e = rope_factors_yarn_all(k->in.s, &yarn);
    }
    k->p->rope_magnitude = hf_json_float(&k->in, "attention_factor", (float)usual);
}

/* gpt-oss's scaling if config.json has none. */
static void scale_gpt_oss(struct scaling *k)
{
    static const struct rope_yarn yarn = {
        .factor = 32.0, .context = 4096, .beta_fast = 32.0, .beta_slow = 1.0, .exact = true
    };

    k->in.e = rope_factors_take(k->in.s);
    if (fine(k)) {
        k->in.e = rope_factors_yarn_all(k->in.s, &yarn);
    }
    k->p->rope_magnitude = (float)rope_yarn_magnitude(yarn.factor);
}

/* Hunyuan's scaling: the base changes by a factor derived from alpha. */
static void scale_dynamic(struct scaling *k)
{
    struct source_params *p = k->p;
    double alpha = hf_json_float(&k->in, "alpha", 0.0f), dims = p->rope_dims;

    if (!(alpha >= 1.0 && dims > 2.0)) {
        refuse(k, ERR_UNSUPPORTED, "is dynamic without an \"alpha\" of 1 or more");
        return;
    }
    p->rope_base = (float)((double)p->rope_base * pow(alpha, dims / (dims - 2.0)));
}

/* Gemma 4's scaling: frequencies are those of the whole head, but only its first part
 * rotates. */
static void scale_proportional(struct scaling *k)
{
    float factors[SOURCE_MAX_FACTORS];
    float turning = hf_json_float(&k->in, "partial_rotary_factor",
                                  k->in.object == NULL ? 0.25f : 1.0f);
    float factor = hf_json_float(&k->in, "factor", 1.0f);

    if (!(turning > 0.0f && turning <= 1.0f)) {
        refuse(k, ERR_BAD_MODEL, "has an impossible partial_rotary_factor");
    }
    if (!fine(k)) {
        return;
    }
    for (uint32_t i = 0; i < k->p->rope_dims / 2; i++) {
        bool turns = i < (uint32_t)(turning * (float)k->p->rope_dims) / 2;

        factors[i] = turns ? factor : NO_TURN;
    }
    k->in.e = rope_factors_multiply_all(k->in.s, factors);
}

static void scale(struct scaling *k, const char *type)
{
    static const struct {
        const char *name;
        void (*scale)(struct scaling *k);
        enum ingot_family only; /* 0: any family */
    } types[] = {
        { "linear", scale_linear, 0 },
        { "llama3", scale_llama3, 0 },
        { "longrope", scale_long, 0 },
        { "su", scale_long, 0 },
        { "yarn", scale_yarn, 0 },
        { "dynamic", scale_dynamic, INGOT_HUNYUAN },
        { "proportional", scale_proportional, INGOT_GEMMA4 },
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        bool knows = types[i].only == 0 || k->p->family == types[i].only;

        if (knows && strcmp(type, types[i].name) == 0) {
            k->in.e = rope_factors_take(k->in.s);
            types[i].scale(k);
            return;
        }
    }
    k->in.e = source_refuse(k->in.s, ERR_UNSUPPORTED,
                            "rope scaling '%.40s' is not supported; "
                            "supported: linear, llama3, longrope, yarn",
                            type);
}

/* Return the type of a scaling object; NULL: there is no scaling. */
static const char *scaling_type(struct hf_json *in)
{
    const char *type = hf_json_text(in, "rope_type");

    if (type == NULL) {
        type = hf_json_text(in, "type");
    }
    if (type == NULL || strcmp(type, "default") == 0) {
        return NULL;
    }
    return type;
}

/* True if a field of one scaling does not contradict its twin in the other (NULL: absent). The
 * kinds are compared elsewhere. The base and the partial factor may also stand outside. */
static bool agrees(const cJSON *field, const cJSON *twin, bool scales)
{
    const char *name = field->string;

    if (cJSON_IsNull(field) || strcmp(name, "type") == 0 || strcmp(name, "rope_type") == 0 ||
        strncmp(name, "mrope_", 6) == 0) {
        return true;
    }
    if (strcmp(name, "rope_theta") == 0 || strcmp(name, "partial_rotary_factor") == 0) {
        return twin == NULL || cJSON_Compare(field, twin, true);
    }
    return !scales || cJSON_Compare(field, twin, true);
}

static bool all_agree(const cJSON *a, const cJSON *b, bool scales)
{
    const cJSON *field;

    cJSON_ArrayForEach(field, a)
    {
        if (!agrees(field, hf_json_get(b, field->string), scales)) {
            return false;
        }
    }
    return true;
}

/* Refuse a "rope_scaling" that says something else than "rope_parameters", as after an edit by hand:
 * Transformers obeys only the former, other programs only the latter. */
static void check_repeated(struct scaling *k)
{
    const cJSON *now = k->in.object, *other = hf_json_get(k->config->object, "rope_scaling");
    struct hf_json old = { k->in.s, other, ERR_OK };
    const char *type = scaling_type(&k->in), *old_type = scaling_type(&old);
    bool scales = type != NULL;

    if (other == NULL) {
        return;
    }
    if (!cJSON_IsObject(other) || scales != (old_type != NULL) ||
        (scales && strcmp(type, old_type) != 0) || !all_agree(other, now, scales) ||
        !all_agree(now, other, scales)) {
        refuse(k, ERR_BAD_MODEL,
               "differs from \"rope_parameters\": readers use one or the other, so take the wrong "
               "one out of config.json");
    }
}

static enum err first_error(enum err a, enum err b)
{
    if (a != ERR_OK) {
        return a;
    }
    return b;
}

void hf_rope_read_scaling(struct hf_json *config)
{
    struct source_params *p = &config->s->params;
    const cJSON *inside = parameters(config, GLOBAL_LAYERS);
    struct hf_json local = { config->s, parameters(config, LOCAL_LAYERS), config->e };
    struct scaling k = { .in = { config->s, inside, config->e }, .config = config, .p = p };
    const char *type;

    if (p->rope == SOURCE_ROPE_NONE || config->e != ERR_OK) {
        return;
    }
    if (p->window != 0) {
        p->rope_base_local = number(config, LOCAL_LAYERS, "rope_theta", "rope_local_base_freq",
                                    p->rope_base_local);
    }

    if (inside == NULL) {
        k.in.object = hf_json_get(config->object, "rope_scaling");
    } else {
        check_repeated(&k);
    }
    if (scaling_type(&local) != NULL) {
        refuse(&k, ERR_UNSUPPORTED, "scales the local layers: such a model cannot be packed");
    }
    type = scaling_type(&k.in);
    if (p->family == INGOT_GEMMA4 && hf_json_get(config->object, "rope_parameters") == NULL) {
        type = "proportional";
    }
    if (type != NULL && fine(&k)) {
        scale(&k, type);
    } else if (p->family == INGOT_GPT_OSS && k.in.object == NULL) {
        scale_gpt_oss(&k);
    }
    config->e = first_error(config->e, first_error(k.in.e, local.e));
}
