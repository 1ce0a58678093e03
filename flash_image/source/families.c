#include "flash_image/source/families.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct family *family_of_gguf(struct source_text architecture)
{
    for (size_t i = 0; i < FAMILY_ROWS; i++) {
        const char *name = family_rows[i].gguf;

        if (name != NULL && source_text_is(architecture, name)) {
            return &family_rows[i];
        }
    }
    return NULL;
}

/* True for "gemma3", and for "gemma3_text": the text part of a larger model. */
static bool is_model_type(const char *type, const char *name)
{
    size_t n = strlen(name);

    return strncmp(type, name, n) == 0 && (type[n] == '\0' || strcmp(type + n, "_text") == 0);
}

/* True if a configuration is of the family; without architectures, model_type decides. */
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
    for (size_t i = 0; i < FAMILY_ROWS; i++) {
        if (is_configured(&family_rows[i], architecture, model_type)) {
            return &family_rows[i];
        }
    }
    return NULL;
}

const struct family *family_find(enum ingot_family family)
{
    for (size_t i = 0; i < FAMILY_ROWS; i++) {
        if (family_rows[i].family == family) {
            return &family_rows[i];
        }
    }
    return NULL;
}

/* Families with several rows are listed once. */
static bool is_listed(size_t row, bool gguf)
{
    const struct family *f = &family_rows[row];

    if (row > 0 && f->family == f[-1].family) {
        return false;
    }
    return gguf || f->architecture != NULL;
}

enum err family_refuse(struct source *s, const char *architecture, size_t bytes, bool gguf)
{
    char names[FAMILY_ROWS * 20] = "";
    const char *comma = "";
    size_t used = 0;

    for (size_t i = 0; i < FAMILY_ROWS; i++) {
        if (is_listed(i, gguf)) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", comma,
                                     family_rows[i].name);
            comma = ", ";
        }
    }
    return source_refuse(s, ERR_UNSUPPORTED, "architecture '%.*s' is not supported; supported: %s",
                         (int)min_size(bytes, 60), architecture, names);
}

static uint32_t rope_of(const struct family *f, bool gguf)
{
    if (family_has(f, FAMILY_NO_ROPE)) {
        return SOURCE_ROPE_NONE;
    }
    if (family_has(f, gguf ? FAMILY_GGUF_PAIRS : FAMILY_PAIRS)) {
        return INGOT_ROPE_PAIRS;
    }
    return INGOT_ROPE_HALVES;
}

/* If `every` is n, every n-th layer does not rotate; if it is 0, all layers rotate. */
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
    p->rope_base = gguf ? 10000.0f : f->rope_base; /* GGUF files of all families use this default */
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
        p->features |= SOURCE_TILED_GROUPS; /* the family's GGUF converter reorders the heads */
    }
    skip_rotations(p, f->no_rope_every);
}

/* True if local layers differ in more than the window: then even a long window is not dropped. */
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
