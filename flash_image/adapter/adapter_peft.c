/* An adapter in a folder of PEFT: adapter_config.json, and adapter_model.safetensors with
 * base_model.model.MODULE.lora_A.weight (rank, in) and lora_B.weight (out, rank); of an embedding
 * lora_embedding_A (rank, vocab) and lora_embedding_B (dim, rank). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/adapter/adapter_private.h"
#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_names.h"
#include "flash_image/hf/safetensors.h"
#include "flash_image/source/map_file.h"

enum { PATH_BYTES = 1024 };

/* The configuration, and what it says of all modules. */
struct peft {
    struct adapter_build *b;
    cJSON *config;
    float alpha;
    bool rslora, transposed;
};

/* ---- the configuration ----------------------------------------------------------------------- */

static enum err refuse_field(struct peft *p, const char *field, const char *what)
{
    return source_refuse(p->b->s, ERR_UNSUPPORTED, "the field \"%s\" %s", field, what);
}

static enum err check_config(struct peft *p)
{
    const char *bias = hf_json_string(hf_json_get(p->config, "bias"));

    if (!hf_json_is(p->config, "peft_type", "LORA")) {
        return refuse_field(p, "peft_type", "is not LORA, which alone can be read");
    }
    if (hf_json_is_true(p->config, "use_dora", false)) {
        return refuse_field(p, "use_dora",
                            "is true: DoRA changes lengths of rows too; merge it into its base");
    }
    if (bias != NULL && strcmp(bias, "none") != 0) {
        return refuse_field(p, "bias", "is not none: biases of adapters cannot be read; merge it");
    }
    return ERR_OK;
}

static enum err read_config(struct peft *p, const uint8_t *text, size_t bytes)
{
    struct hf_json j = { p->b->s, NULL, ERR_OK };
    enum err e;

    p->config = hf_json_parse(p->b->s, text, bytes, &e);
    if (p->config == NULL) {
        return e;
    }
    e = check_config(p);
    j.object = p->config;
    p->alpha = hf_json_float(&j, "lora_alpha", 8.0f); /* as PEFT has it where it is not given */
    p->rslora = hf_json_bool(&j, "use_rslora", false);
    p->transposed = hf_json_bool(&j, "fan_in_fan_out", false);
    return e == ERR_OK ? j.e : e;
}

/* A key of alpha_pattern is the end of a module's name; PEFT takes it as a regular expression. */
static bool names_module(const char *key, const char *module)
{
    size_t n = strlen(key), m = strlen(module);

    return n <= m && strcmp(module + m - n, key) == 0 && (n == m || module[m - n - 1] == '.');
}

/* What a module's own row of a pattern says, else `otherwise`. */
static enum err find_pattern(struct peft *p, const char *field, const char *module, float *value)
{
    const cJSON *pattern = hf_json_get(p->config, field), *entry;

    cJSON_ArrayForEach(entry, pattern)
    {
        if (entry->string == NULL || !cJSON_IsNumber(entry)) {
            return refuse_field(p, field, "has an entry that is no number of a module");
        }
        if (strpbrk(entry->string, "^$*+?()[]{}|\\") != NULL) {
            return refuse_field(p, field, "has a regular expression for a name: merge the adapter");
        }
        if (names_module(entry->string, module)) {
            *value = (float)entry->valuedouble;
        }
    }
    return ERR_OK;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const struct {
    const char *end;
    bool is_a, embeds;
} halves[] = {
    { ".lora_A", true, false },
    { ".lora_B", false, false },
    { ".lora_embedding_A", true, true },
    { ".lora_embedding_B", false, true },
};
enum { N_HALVES = sizeof halves / sizeof halves[0] };

/* Which half a tensor's name ends with, before ".weight" and the adapter's own name; N_HALVES: none.
 * *bytes: of the module's name before it. */
static size_t find_half(const char *name, size_t *bytes)
{
    for (size_t i = 0; i < N_HALVES; i++) {
        const char *at = strstr(name, halves[i].end);
        size_t n = strlen(halves[i].end);

        if (at != NULL && (at[n] == '\0' || at[n] == '.')) {
            *bytes = (size_t)(at - name);
            return i;
        }
    }
    return N_HALVES;
}

/* A module's name without what stands before the layers. */
static const char *bare_name(const char *name)
{
    static const char *const prefixes[] = { "base_model.", "model.", "transformer.", "backbone.",
                                            "language_model." };
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
            if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
                name += strlen(prefixes[i]);
                more = true;
            }
        }
    }
    return name;
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* An embedding's A lies by ranks, and is read by tokens. */
static void transpose(struct source_tensor *t)
{
    uint32_t cols = t->cols;

    t->stride = cols;
    t->cols = t->rows;
    t->rows = cols;
}

static enum err take_tensor(struct peft *p, const struct safetensors_tensor *from)
{
    struct source *s = p->b->s;
    struct source_tensor t = { .data = NULL }, *half;
    struct adapter_raw *raw;
    size_t bytes, which = find_half(from->name, &bytes);
    enum err e;

    if (which == N_HALVES || bytes >= sizeof raw->name) {
        return source_refuse(
            s, ERR_UNSUPPORTED,
            "the tensor %.120s is no half of a LoRA pair: merge the adapter into its "
            "base (PEFT: merge_and_unload)",
            from->name);
    }
    e = safetensors_as_source(s, from, &t);
    if (e != ERR_OK) {
        return e;
    }
    raw = adapter_raw_of(p->b, from->name, bytes);
    if (raw == NULL) {
        return ERR_NO_SPACE;
    }
    if (halves[which].embeds && halves[which].is_a) {
        transpose(&t);
    }
    half = halves[which].is_a ? &raw->a : &raw->b;
    if (half->data != NULL) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the tensor %.120s comes twice: a folder of one adapter is wanted",
                             from->name);
    }
    *half = t;
    return ERR_OK;
}

/* fan_in_fan_out is about the base's matrix; but where both halves lie the other way, they are turned. */
static void turn(const struct peft *p, struct adapter_raw *raw)
{
    if (p->transposed && raw->a.rows == raw->b.cols) {
        return;
    }
    if (p->transposed && raw->a.cols == raw->b.rows && raw->a.stride == 0) {
        transpose(&raw->a);
        transpose(&raw->b);
    }
}

static enum err place_raw(struct peft *p, struct adapter_raw *raw)
{
    struct adapter_build *b = p->b;
    struct adapter_place place = { .fusion = ADAPTER_ALONE, .n = 1 };
    const struct hf_name_rule *rule;
    char name[256];
    uint32_t expert;
    enum err e;

    snprintf(name, sizeof name, "%s.weight", bare_name(raw->name));
    rule = hf_find_rule(name, &place.layer, &expert);
    if (rule == NULL || (rule->kind & ~(uint32_t)HF_TRANSPOSED) != 0) {
        return source_refuse(b->s, ERR_UNSUPPORTED, "the module %s cannot have an adapter here",
                             raw->name);
    }
    raw->alpha = p->alpha;
    raw->rslora = p->rslora;
    e = find_pattern(p, "alpha_pattern", raw->name, &raw->alpha);
    if (e != ERR_OK) {
        return e;
    }
    turn(p, raw);
    place.role = rule->role;
    place.n = rule->parts;
    if (rule->parts > 1) {
        place.fusion = ADAPTER_PARTS;
    } else if (rule->role == INGOT_ATTN_Q && family_has(b->family, FAMILY_GATED_QUERY)) {
        place.fusion = ADAPTER_QUERY_GATE;
    }
    return adapter_place(b, raw, &place);
}

static enum err read_tensors(struct peft *p, const struct mapping *m)
{
    struct safetensors file = { NULL, NULL, 0 };
    enum err e = safetensors_parse(p->b->s, m->data, m->bytes, &file);

    for (size_t i = 0; e == ERR_OK && i < file.n_tensors; i++) {
        e = take_tensor(p, &file.tensors[i]);
    }
    for (size_t i = 0; e == ERR_OK && i < p->b->n_raws; i++) {
        e = place_raw(p, &p->b->raws[i]);
    }
    safetensors_free(&file);
    return e;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static enum err open_file(struct adapter_build *b, const char *folder, const char *name,
                          char path[PATH_BYTES], struct mapping *m)
{
    char why[160];
    enum err e;

    if (snprintf(path, PATH_BYTES, "%s/%s", folder, name) >= PATH_BYTES) {
        return source_refuse(b->s, ERR_TOO_LONG, "the path is too long");
    }
    b->s->path = path;
    e = mapping_open(m, path, why, sizeof why);
    return e == ERR_OK ? ERR_OK : source_refuse(b->s, e, "%s", why);
}

/* The last part of a folder's path, or of the current one's. */
static void take_name(struct adapter_build *b, const char *folder)
{
    char whole[PATH_BYTES];
    size_t n;

    if (realpath(folder, whole) == NULL) {
        return;
    }
    n = strlen(whole);
    while (n > 0 && whole[n - 1] != '/') {
        n--;
    }
    snprintf(b->name, sizeof b->name, "%.60s", whole + n);
}

enum err adapter_read_peft(struct adapter_build *b, const char *folder)
{
    struct mapping config = { NULL, 0 }, weights = { NULL, 0 };
    struct peft p = { .b = b };
    char path[PATH_BYTES];
    enum err e = open_file(b, folder, "adapter_config.json", path, &config);

    b->peft = true;
    take_name(b, folder);
    if (e == ERR_OK) {
        e = read_config(&p, config.data, config.bytes);
    }
    if (e == ERR_OK) {
        e = open_file(b, folder, "adapter_model.safetensors", path, &weights);
    }
    if (e == ERR_OK) {
        e = read_tensors(&p, &weights);
    }
    b->s->path = b->o->input;
    cJSON_Delete(p.config);
    unmap_file(&config);
    unmap_file(&weights);
    return e;
}
