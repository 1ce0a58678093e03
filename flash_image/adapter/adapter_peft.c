/* An adapter in a folder of PEFT: adapter_config.json, and adapter_model.safetensors with
 * base_model.model.MODULE.lora_A.weight (rank, in) and lora_B.weight (out, rank); an embedding has
 * lora_embedding_A (rank, vocab) and lora_embedding_B (dim, rank). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/adapter/adapter_config.h"
#include "flash_image/adapter/adapter_private.h"
#include "flash_image/hf/hf_names.h"
#include "flash_image/hf/safetensors.h"
#include "flash_image/source/map_file.h"

enum { PATH_BYTES = 1024 };

/* The folder at work. */
struct peft {
    struct adapter_build *b;
    struct adapter_config config;
};

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

/* Find which half a tensor's name ends with, before ".weight" and the adapter's own name (N_HALVES
 * if none), and set *bytes to the length of the module's name before it. */
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

/* True for a bias, "NAME.lora_B.bias"; the adapter's own name may come before ".bias". */
static bool is_bias(const char *name)
{
    static const char end[] = ".bias";
    size_t n = strlen(name), m = sizeof end - 1;

    return n >= m && strcmp(name + n - m, end) == 0;
}

/* For error messages: PEFT's name for a kind of tensor that is not half of a pair. */
static const char *other_of(const char *name)
{
    static const struct {
        const char *part, *what;
    } others[] = {
        { ".lora_magnitude_vector", " but of DoRA (\"use_dora\")" },
        { ".modules_to_save", " but a whole matrix (\"modules_to_save\")" },
        { ".base_layer", " but a part of the base, which was changed" },
        { ".trainable_tokens", " but rows of the embedding (\"trainable_token_indices\")" },
        { "embed_tokens.weight", " but a whole embedding" },
        { "lm_head.weight", " but a whole output matrix" },
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strstr(name, others[i].part) != NULL) {
            return others[i].what;
        }
    }
    return "";
}

/* A module's name without the part before the layers. */
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

/* An embedding's A is stored with one row per rank, and read with one row per token. */
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
        return source_refuse(s, ERR_UNSUPPORTED,
                             "the tensor %.120s is not a half of a LoRA pair%s: " ADAPTER_MERGE,
                             from->name, other_of(from->name));
    }
    if (is_bias(from->name)) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "the tensor %.120s is a bias (\"lora_bias\"), which cannot be added "
                             "here: " ADAPTER_MERGE,
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
                             "the tensor %.120s appears twice: give a folder with one adapter",
                             from->name);
    }
    *half = t;
    return ERR_OK;
}

/* fan_in_fan_out says that the base's matrix is transposed. If both halves are transposed too,
 * transpose them back. */
static void turn(const struct peft *p, struct adapter_raw *raw)
{
    if (p->config.transposed && raw->a.rows == raw->b.cols) {
        return;
    }
    if (p->config.transposed && raw->a.cols == raw->b.rows && raw->a.stride == 0) {
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
    if (p->config.ties && (rule->role == INGOT_TOKEN_EMBEDDING || rule->role == INGOT_OUTPUT)) {
        return source_refuse(
            b->s, ERR_UNSUPPORTED,
            "the field \"ensure_weight_tying\" is true, so two matrices share the adapter of the "
            "module %.120s, which is not supported: " ADAPTER_MERGE,
            raw->name);
    }
    turn(p, raw);
    raw->rslora = p->config.rslora;
    if (raw->a.data == NULL || raw->b.data == NULL) {
        return source_refuse(b->s, ERR_BAD_MODEL, "%s has only one half of a pair", raw->name);
    }
    e = adapter_config_module(b->s, &p->config, raw->name, raw->b.cols, &raw->alpha);
    if (e != ERR_OK) {
        return e;
    }
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

/* Name the adapter after the last part of the folder's path; for "." the current folder's path. */
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
        e = adapter_config_read(b->s, config.data, config.bytes, &p.config);
    }
    if (e == ERR_OK) {
        e = open_file(b, folder, "adapter_model.safetensors", path, &weights);
    }
    if (e == ERR_OK) {
        e = read_tensors(&p, &weights);
    }
    if (e == ERR_OK) {
        e = mapping_check(b->s->error_message, sizeof b->s->error_message);
    }
    b->s->path = b->o->input;
    adapter_config_free(&p.config);
    unmap_file(&config);
    unmap_file(&weights);
    return e;
}
