/* An adapter in a GGUF, as llama.cpp's convert_lora_to_gguf writes it: NAME.lora_a and NAME.lora_b
 * for tensors of the base; rows are in the order of the base's GGUF. */
#include <stdio.h>

#include "flash_image/adapter/adapter_private.h"
#include "flash_image/gguf/gguf_private.h"

static const char a_end[] = ".lora_a", b_end[] = ".lora_b";

static bool ends_with(struct source_text t, const char *end)
{
    size_t n = strlen(end);

    return t.bytes > n && memcmp(t.data + t.bytes - n, end, n) == 0;
}

static enum err take_tensor(struct gguf *g, void *context, struct source_text name,
                            const struct source_tensor *all, uint32_t n)
{
    struct adapter_build *b = context;
    size_t bytes = name.bytes - (sizeof a_end - 1);
    struct source_tensor *half;
    struct adapter_raw *raw;
    bool is_a = ends_with(name, a_end);

    if ((!is_a && !ends_with(name, b_end)) || bytes >= sizeof raw->name) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "the tensor %.*s is not half of a pair (NAME.lora_a, NAME.lora_b)",
                             SOURCE_SHOW(name));
    }
    if (n != 1) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "the tensor %.*s is for experts, which cannot have adapters here",
                             SOURCE_SHOW(name));
    }
    raw = adapter_raw_of(b, (const char *)name.data, bytes);
    if (raw == NULL) {
        return ERR_NO_SPACE;
    }
    half = is_a ? &raw->a : &raw->b;
    if (half->data != NULL) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the tensor %.*s appears twice",
                             SOURCE_SHOW(name));
    }
    *half = *all;
    return ERR_OK;
}

/* The base may have come from a folder, and its family may have no name in a GGUF. */
static enum err check_architecture(struct adapter_build *b, struct gguf *g)
{
    if (!source_text_is(g->type, "adapter")) {
        return source_refuse(g->s, ERR_UNSUPPORTED, "is not an adapter: its general.type is '%.*s'",
                             SOURCE_SHOW(g->type));
    }
    if (g->family == NULL ||
        (b->family->gguf != NULL && !source_text_is(g->architecture, b->family->gguf))) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "is for another model: its architecture is '%.*s', the model's is %s",
                             SOURCE_SHOW(g->architecture), b->family->name);
    }
    return ERR_OK;
}

static enum err place_raw(struct adapter_build *b, const struct gguf *g, struct adapter_raw *raw)
{
    struct source_text name = { (const uint8_t *)raw->name, strlen(raw->name) };
    struct adapter_place place = { .n = 1 };
    struct gguf_slot slot;

    if (!gguf_find_slot(g, name, &slot)) {
        return source_refuse(b->s, ERR_UNSUPPORTED,
                             "the tensor %.*s is not known in the architecture '%.*s'",
                             SOURCE_SHOW(name), SOURCE_SHOW(g->architecture));
    }
    place.role = slot.role;
    place.layer = slot.layer;
    switch (slot.fusion) {
    case GGUF_ALONE: break;
    case GGUF_QKV:
        place.fusion = ADAPTER_PARTS;
        place.n = 3;
        break;
    case GGUF_GATE_UP:
        place.fusion = ADAPTER_PARTS;
        place.n = 2;
        break;
    case GGUF_QUERY_GATE: place.fusion = ADAPTER_QUERY_GATE; break;
    case GGUF_IGNORED: return ERR_OK;
    default:
        return source_refuse(b->s, ERR_UNSUPPORTED, "the tensor %.*s cannot have an adapter here",
                             SOURCE_SHOW(name));
    }
    raw->alpha = (float)g->lora_alpha;
    return adapter_place(b, raw, &place);
}

enum err adapter_read_gguf(struct adapter_build *b, const uint8_t *data, size_t bytes)
{
    struct gguf g = { .s = b->s, .r = { data, bytes, false }, .file = data, .bytes = bytes };
    enum err e = gguf_read_header(&g);

    if (e == ERR_OK) {
        e = gguf_skip_values(&g);
    }
    if (e == ERR_OK) {
        e = check_architecture(b, &g);
    }
    if (e != ERR_OK) {
        return e;
    }
    g.n_blocks = b->s->params.n_layers;
    if (b->family->gguf != NULL) {
        g.family = b->family;
    }
    snprintf(b->name, sizeof b->name, "%.*s", SOURCE_SHOW(g.name));
    e = gguf_visit_tensors(&g, take_tensor, b);
    for (size_t i = 0; e == ERR_OK && i < b->n_raws; i++) {
        e = place_raw(b, &g, &b->raws[i]);
    }
    return e;
}
