#include "flash_image/adapter/adapter_config.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "flash_image/hf/hf_json.h"

enum { DEFAULT_NUMBER = 8 /* default of r and of lora_alpha, in PEFT */, PATTERN_BYTES = 512 };

static enum err refuse_field(struct source *s, const char *field, const char *what)
{
    return source_refuse(s, ERR_UNSUPPORTED, "the field \"%s\" %s", field, what);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* True if a field is not used: null, false, or a list or an object without members. */
static bool is_unset(const cJSON *value)
{
    return value == NULL || cJSON_IsNull(value) || cJSON_IsFalse(value) ||
           ((cJSON_IsArray(value) || cJSON_IsObject(value)) && value->child == NULL);
}

/* True for a factor that is finite as a float, and not 0: with 0 the adapter would do nothing. */
static bool is_scale(const cJSON *value)
{
    return cJSON_IsNumber(value) && fabs(value->valuedouble) <= 1e9 &&
           fabs(value->valuedouble) >= 1e-9;
}

static bool is_rank(const cJSON *value)
{
    return hf_json_whole(value, UINT32_MAX) && value->valuedouble >= 1.0;
}

/* ---- the allowed values of a field -------------------------------------------------------- */

enum rule {
    HARMLESS, /* the field describes only the training, or repeats facts of the tensors */
    OBEYED,   /* the field is read below and not checked here */
    TRUTH,    /* true or false; read below */
    UNSET,    /* the field must not be set; the advice is to merge */
    ALORA,    /* must not be set; there is no advice, because a merged model would be wrong too */
    RANK,
    SCALE,
    RANKS,
    SCALES, /* a number, or an object that maps modules to numbers */
    INIT,
    BIAS,
    PEFT,
    TASK
};

static const struct {
    const char *name;
    enum rule rule;
    const char *why; /* UNSET: the text after "is set: " */
} fields[] = {
    { "peft_type", PEFT, NULL },
    { "task_type", TASK, NULL },
    { "r", RANK, NULL },
    { "lora_alpha", SCALE, NULL },
    { "rank_pattern", RANKS, NULL },
    { "alpha_pattern", SCALES, NULL },
    { "target_modules", OBEYED, NULL },
    { "exclude_modules", OBEYED, NULL },
    { "layers_to_transform", OBEYED, NULL },
    { "use_rslora", TRUTH, NULL },
    { "fan_in_fan_out", TRUTH, NULL },
    { "ensure_weight_tying", TRUTH, NULL },
    { "bias", BIAS, NULL },
    { "init_lora_weights", INIT, NULL },
    { "use_dora", UNSET, "DoRA changes the lengths of rows too" },
    { "lora_bias", UNSET, "lora_B has a bias, which cannot be added here" },
    { "modules_to_save", UNSET, "whole matrices were trained in addition to the adapter" },
    { "trainable_token_indices", UNSET,
      "rows of the embedding were trained in addition to the adapter" },
    { "layer_replication", UNSET, "it is for a base whose layers are repeated" },
    { "target_parameters", UNSET, "parameters that are not modules (experts) were trained" },
    { "alora_invocation_tokens", ALORA, NULL },
    { "use_qalora", UNSET, "QALoRA averages groups of inputs first" },
    { "use_bdlora", UNSET, "its matrices are made of blocks" },
    { "arrow_config", UNSET, "it is a router of several adapters" },
    { "megatron_config", UNSET, "its layers are Megatron's, split among processors" },
    { "layers_pattern", HARMLESS, NULL },
    { "lora_dropout", HARMLESS, NULL },
    { "megatron_core", HARMLESS, NULL },
    { "loftq_config", HARMLESS, NULL }, /* used only with init_lora_weights; so are the next
                                           two */
    { "eva_config", HARMLESS, NULL },
    { "corda_config", HARMLESS, NULL },
    { "lora_ga_config", HARMLESS, NULL },
    { "qalora_group_size", HARMLESS, NULL },
    { "runtime_config", HARMLESS, NULL },
    { "base_model_name_or_path", HARMLESS, NULL },
    { "base_model_class", HARMLESS, NULL },
    { "parent_library", HARMLESS, NULL },
    { "revision", HARMLESS, NULL },
    { "inference_mode", HARMLESS, NULL },
    { "auto_mapping", HARMLESS, NULL },
    { "peft_version", HARMLESS, NULL },
};

enum { N_FIELDS = sizeof fields / sizeof fields[0] };

static size_t find_field(const char *name)
{
    size_t i = 0;

    while (i < N_FIELDS && strcmp(fields[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* ---- init_lora_weights ----------------------------------------------------------------------- */

/* True if init_lora_weights has a value that replaces the base's weights before training. */
static bool changes_base(const char *init)
{
    static const char *const names[] = { "olora", "pissa", "corda", "loftq", "lora_ga" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i]);

        if (strncmp(init, names[i], n) == 0 && (init[n] == '\0' || init[n] == '_')) {
            return true; /* "pissa_niter_16" */
        }
    }
    return false;
}

static enum err check_init(struct source *s, const cJSON *value)
{
    static const char *const harmless[] = { "gaussian", "orthogonal", "eva" };
    const char *init = hf_json_string(value);

    if (cJSON_IsBool(value) || cJSON_IsNull(value)) {
        return ERR_OK;
    }
    for (size_t i = 0; init != NULL && i < sizeof harmless / sizeof harmless[0]; i++) {
        if (strcmp(init, harmless[i]) == 0) {
            return ERR_OK;
        }
    }
    if (init != NULL && changes_base(init)) {
        return source_refuse(
            s, ERR_UNSUPPORTED,
            "the field \"init_lora_weights\" is \"%.40s\", which changed the base "
            "before training, so the adapter does not fit the original base: convert "
            "it (PEFT: save_pretrained with path_initial_model_for_weight_conversion)",
            init);
    }
    return source_refuse(
        s, ERR_UNSUPPORTED,
        "the field \"init_lora_weights\" is \"%.40s\", which is not known: " ADAPTER_MERGE,
        init == NULL ? "?" : init);
}

/* ---- the other fields ------------------------------------------------------------------------ */

static enum err check_text(struct source *s, const cJSON *value, size_t field)
{
    const char *text = hf_json_string(value);

    if (fields[field].rule == PEFT) {
        return text != NULL && strcmp(text, "LORA") == 0
                   ? ERR_OK
                   : refuse_field(s, "peft_type",
                                  "is not LORA, the only kind that can be read "
                                  "here");
    }
    if (fields[field].rule == BIAS) {
        return cJSON_IsNull(value) || (text != NULL && strcmp(text, "none") == 0)
                   ? ERR_OK
                   : refuse_field(
                         s, "bias",
                         "is not none: the model's biases were trained too; " ADAPTER_MERGE);
    }
    return cJSON_IsNull(value) || (text != NULL && strcmp(text, "CAUSAL_LM") == 0)
               ? ERR_OK
               : refuse_field(s, "task_type",
                              "is not CAUSAL_LM: the adapter is not for a model that writes text");
}

static enum err check_number(struct source *s, const cJSON *value, size_t field)
{
    if (fields[field].rule == RANK) {
        return is_rank(value)
                   ? ERR_OK
                   : refuse_field(s, fields[field].name, "is not a whole number of at least 1");
    }
    return is_scale(value)
               ? ERR_OK
               : refuse_field(s, fields[field].name, "is 0, out of bounds, or not a number");
}

/* A pattern is an object that maps modules to numbers. */
static enum err check_pattern(struct source *s, const cJSON *pattern, size_t field)
{
    const cJSON *entry;

    if (is_unset(pattern)) {
        return ERR_OK;
    }
    if (!cJSON_IsObject(pattern)) {
        return refuse_field(s, fields[field].name, "is not an object that maps modules to numbers");
    }
    cJSON_ArrayForEach(entry, pattern)
    {
        bool good = fields[field].rule == RANKS ? is_rank(entry) : is_scale(entry);

        if (!good) {
            return source_refuse(
                s, ERR_UNSUPPORTED,
                "the field \"%s\" has an entry that is not a number in bounds: %.80s",
                fields[field].name, entry->string);
        }
    }
    return ERR_OK;
}

static enum err check_unset(struct source *s, const cJSON *value, size_t field)
{
    if (is_unset(value)) {
        return ERR_OK;
    }
    return source_refuse(s, ERR_UNSUPPORTED, "the field \"%s\" is set: %s; " ADAPTER_MERGE,
                         fields[field].name, fields[field].why);
}

static enum err check_field(struct source *s, const cJSON *value)
{
    size_t field = find_field(value->string);

    if (field == N_FIELDS) {
        return is_unset(value)
                   ? ERR_OK
                   : source_refuse(
                         s, ERR_UNSUPPORTED,
                         "the field \"%.60s\" is not known, and may change what the adapter "
                         "does: " ADAPTER_MERGE,
                         value->string);
    }
    switch (fields[field].rule) {
    case HARMLESS:
    case OBEYED: return ERR_OK;
    case TRUTH:
        return cJSON_IsBool(value) || cJSON_IsNull(value)
                   ? ERR_OK
                   : refuse_field(s, fields[field].name, "is neither true nor false");
    case UNSET: return check_unset(s, value, field);
    case ALORA:
        return is_unset(value)
                   ? ERR_OK
                   : refuse_field(
                         s, fields[field].name,
                         "is set (aLoRA): the adapter acts only after these tokens, but here it "
                         "would act everywhere; train it without them");
    case RANK:
    case SCALE: return check_number(s, value, field);
    case RANKS:
    case SCALES: return check_pattern(s, value, field);
    case INIT: return check_init(s, value);
    default: return check_text(s, value, field);
    }
}

enum err adapter_config_read(struct source *s, const uint8_t *text, size_t bytes,
                             struct adapter_config *c)
{
    const cJSON *value;
    enum err e = ERR_OK;

    c->root = hf_json_parse(s, text, bytes, &e);
    if (c->root == NULL) {
        return e;
    }
    if (hf_json_get(c->root, "peft_type") == NULL) {
        return refuse_field(s, "peft_type", "is missing: only LORA can be read");
    }
    cJSON_ArrayForEach(value, c->root)
    {
        e = check_field(s, value);
        if (e != ERR_OK) {
            return e;
        }
    }
    c->rslora = hf_json_is_true(c->root, "use_rslora", false);
    c->transposed = hf_json_is_true(c->root, "fan_in_fan_out", false);
    c->ties = hf_json_is_true(c->root, "ensure_weight_tying", false);
    return ERR_OK;
}

void adapter_config_free(struct adapter_config *c)
{
    cJSON_Delete(c->root);
    c->root = NULL;
}

/* ---- modules --------------------------------------------------------------------------------- */

/* True if name is `end`, or ends with "." and `end`. */
static bool is_end_of(const char *end, const char *name)
{
    size_t n = strlen(end), m = strlen(name);

    return n <= m && strcmp(name + m - n, end) == 0 && (n == m || name[m - n - 1] == '.');
}

/* True if the key uses only syntax that Python's and POSIX's regular expressions share. */
static bool is_plain_regex(const char *key)
{
    for (const char *c = key; *c != '\0'; c++) {
        bool escape = *c == '\\' && c[1] != '.';
        bool extended = (*c == '(' || *c == '*' || *c == '+' || *c == '?') && c[1] == '?';

        if (escape || extended || *c == '{' || *c == '}') {
            return false;
        }
    }
    return strlen(key) + 16 < PATTERN_BYTES;
}

/* PEFT matches with re.match(rf"(.*\.)?({key})$", module). A name whose only special character is
 * the dot needs no regular expression. */
static enum err match_key(struct source *s, const char *field, const char *key, const char *module,
                          bool *matches)
{
    char pattern[PATTERN_BYTES];
    regex_t regex;

    if (strpbrk(key, "^$*+?()[]{}|\\") == NULL) {
        *matches = is_end_of(key, module);
        return ERR_OK;
    }
    snprintf(pattern, sizeof pattern, "^(.*\\.)?(%s)$", key);
    if (!is_plain_regex(key) || regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
        return source_refuse(
            s, ERR_UNSUPPORTED,
            "the field \"%s\" of adapter_config.json has a regular expression that cannot be read here "
            "(%.80s): write module names instead",
            field, key);
    }
    *matches = regexec(&regex, module, 0, NULL, 0) == 0;
    regfree(&regex);
    return ERR_OK;
}

/* Read the first entry of a pattern that names the module into *value; without such an entry *value
 * does not change. */
static enum err find_pattern(struct source *s, const cJSON *root, const char *field,
                             const char *module, double *value)
{
    const cJSON *entry;

    cJSON_ArrayForEach(entry, hf_json_get(root, field))
    {
        bool matches;
        enum err e = match_key(s, field, entry->string, module, &matches);

        if (e != ERR_OK) {
            return e;
        }
        if (matches) {
            *value = entry->valuedouble;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

/* True if a list of modules' names contains the module. */
static bool lists_module(const cJSON *list, const char *module)
{
    const cJSON *entry;

    cJSON_ArrayForEach(entry, hf_json_list(list))
    {
        if (cJSON_IsString(entry) && is_end_of(entry->valuestring, module)) {
            return true;
        }
    }
    return false;
}

/* Return 12 for "model.layers.12.mlp.up_proj", or -1 for a module outside layers. */
static double layer_of(const char *module)
{
    for (const char *c = module; *c != '\0'; c++) {
        double n = 0.0;
        const char *digit = c + 1;

        if (*c != '.' || *digit < '0' || *digit > '9') {
            continue;
        }
        for (; *digit >= '0' && *digit <= '9'; digit++) {
            n = n * 10.0 + (*digit - '0');
        }
        if (*digit == '.') {
            return n;
        }
    }
    return -1.0;
}

/* `layers` is a number or a list of numbers. */
static bool lists_layer(const cJSON *layers, double layer)
{
    const cJSON *entry;

    if (cJSON_IsNumber(layers)) {
        return layers->valuedouble == layer;
    }
    cJSON_ArrayForEach(entry, layers)
    {
        if (cJSON_IsNumber(entry) && entry->valuedouble == layer) {
            return true;
        }
    }
    return false;
}

static enum err refuse_module(struct source *s, const char *field, const char *module)
{
    return source_refuse(
        s, ERR_UNSUPPORTED,
        "the field \"%s\" of adapter_config.json leaves out the module %.120s, but the file has its matrices: one of the two belongs to another adapter",
        field, module);
}

/* Refuse a module that the configuration excludes: PEFT would ignore its tensors. */
static enum err check_left_out(struct source *s, const cJSON *root, const char *module)
{
    const cJSON *targets = hf_json_list(hf_json_get(root, "target_modules"));
    const cJSON *layers = hf_json_get(root, "layers_to_transform");

    if (!is_unset(targets) && !lists_module(targets, module)) {
        return refuse_module(s, "target_modules", module);
    }
    if (lists_module(hf_json_get(root, "exclude_modules"), module)) {
        return refuse_module(s, "exclude_modules", module);
    }
    if (!is_unset(layers) && !lists_layer(layers, layer_of(module))) {
        return refuse_module(s, "layers_to_transform", module);
    }
    return ERR_OK;
}

static double number_or(const cJSON *root, const char *field, double otherwise)
{
    const cJSON *value = hf_json_get(root, field);

    return value != NULL ? value->valuedouble : otherwise;
}

enum err adapter_config_module(struct source *s, const struct adapter_config *c, const char *module,
                               uint32_t rank, float *alpha)
{
    static const char wrapper[] = "base_model.model.";
    double r = number_or(c->root, "r", DEFAULT_NUMBER);
    double scale = number_or(c->root, "lora_alpha", DEFAULT_NUMBER);
    enum err e;

    if (strncmp(module, wrapper, sizeof wrapper - 1) == 0) {
        module += sizeof wrapper - 1;
    }
    e = check_left_out(s, c->root, module);
    if (e == ERR_OK) {
        e = find_pattern(s, c->root, "rank_pattern", module, &r);
    }
    if (e == ERR_OK) {
        e = find_pattern(s, c->root, "alpha_pattern", module, &scale);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (r != rank) {
        return source_refuse(
            s, ERR_BAD_MODEL,
            "the field \"r\" or \"rank_pattern\" of adapter_config.json says %.0f for the module %.120s, "
            "whose matrices have the rank %u: one of the two belongs to another "
            "adapter",
            r, module, rank);
    }
    *alpha = (float)scale;
    return ERR_OK;
}
