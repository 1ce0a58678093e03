/* The tensor table of a GGUF: names to slots, and every byte of data inside the file. */
#include "flash_image/gguf.h"

enum { DEFAULT_ALIGNMENT = 32 };

static const char *const ggml_types[] = {
    "F32", "F16", "Q4_0", "Q4_1", "Q4_2", "Q4_3", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q2_K", "Q3_K",
    "Q4_K", "Q5_K", "Q6_K", "Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S",
    "IQ2_S", "IQ4_XS", "I8", "I16", "I32", "I64", "F64", "IQ1_M", "BF16",
};

static enum err source_type_of(struct gguf *g, struct source_text name, uint32_t type,
                               enum source_type *out)
{
    static const struct {
        uint32_t type;
        enum source_type to;
    } readable[] = {
        { 0, SOURCE_F32 },   { 1, SOURCE_F16 },   { 2, SOURCE_Q4_0 },  { 8, SOURCE_Q8_0 },
        { 12, SOURCE_Q4_K }, { 14, SOURCE_Q6_K }, { 30, SOURCE_BF16 },
    };
    bool known = type < sizeof ggml_types / sizeof ggml_types[0];

    for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
        if (readable[i].type == type) {
            *out = readable[i].to;
            return ERR_OK;
        }
    }
    return source_refuse(g->s, ERR_UNSUPPORTED,
                         "the tensor %.*s is %s (type %u); F32, F16, BF16, Q8_0, Q4_0, Q4_K and "
                         "Q6_K can be packed",
                         GGUF_SHOW(name), known ? ggml_types[type] : "unknown", type);
}

/* "blk.12.attn_q.weight" to 12 and the rest; false: no such name. */
static bool split_layer(struct source_text name, unsigned *layer, struct source_text *rest)
{
    size_t at = 4;
    unsigned n = 0;

    if (name.bytes < 6 || memcmp(name.data, "blk.", 4) != 0) {
        return false;
    }
    for (; at < name.bytes && name.data[at] >= '0' && name.data[at] <= '9' && n < 1000; at++) {
        n = n * 10 + (unsigned)(name.data[at] - '0');
    }
    if (at == 4 || at >= name.bytes || name.data[at] != '.' || n >= INGOT_MAX_LAYERS) {
        return false;
    }
    *layer = n;
    *rest = (struct source_text){ name.data + at + 1, name.bytes - at - 1 };
    return true;
}

/* The slot of a name; NULL: none of llama's. */
static struct source_tensor *find_slot(struct gguf *g, struct source_text name)
{
    static const struct {
        const char *name;
        enum ingot_role role;
    } outside[] = {
        { "token_embd.weight", INGOT_TOKEN_EMBEDDING },
        { "output_norm.weight", INGOT_OUTPUT_NORM },
        { "output.weight", INGOT_OUTPUT },
    }, inside[] = {
        { "attn_norm.weight", INGOT_ATTN_NORM }, { "attn_q.weight", INGOT_ATTN_Q },
        { "attn_k.weight", INGOT_ATTN_K },       { "attn_v.weight", INGOT_ATTN_V },
        { "attn_output.weight", INGOT_ATTN_OUT }, { "ffn_norm.weight", INGOT_FFN_NORM },
        { "ffn_gate.weight", INGOT_FFN_GATE },   { "ffn_up.weight", INGOT_FFN_UP },
        { "ffn_down.weight", INGOT_FFN_DOWN },
    };
    struct source_text rest;
    unsigned layer;

    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        if (gguf_text_is(name, outside[i].name)) {
            return source_tensor(g->s, outside[i].role, INGOT_NO_LAYER);
        }
    }
    if (!split_layer(name, &layer, &rest)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++) {
        if (gguf_text_is(rest, inside[i].name)) {
            return source_tensor(g->s, inside[i].role, layer);
        }
    }
    return NULL;
}

/* One entry of the file's tensor table. */
struct tensor_info {
    struct source_text name;
    uint64_t dims[4];
    uint32_t n_dims, type;
    uint64_t offset;
};

static bool take_info(struct gguf_reader *r, struct tensor_info *info)
{
    info->name = gguf_take_text(r);
    info->n_dims = gguf_take_u32(r);
    if (info->n_dims > 4) {
        return false;
    }
    for (uint32_t i = 0; i < 4; i++) {
        info->dims[i] = i < info->n_dims ? gguf_take_u64(r) : 1;
    }
    info->type = gguf_take_u32(r);
    info->offset = gguf_take_u64(r);
    return !r->bad;
}

static enum err place_tensor(struct gguf *g, const struct tensor_info *info, const uint8_t *data,
                             uint64_t data_bytes, uint64_t alignment)
{
    struct source_tensor *t = find_slot(g, info->name);
    uint64_t size;
    enum err e;

    if (t == NULL) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "the tensor %.*s is none of the llama models that can be packed",
                             GGUF_SHOW(info->name));
    }
    if (t->data != NULL) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the tensor %.*s comes twice",
                             GGUF_SHOW(info->name));
    }
    e = source_type_of(g, info->name, info->type, &t->type);
    if (e != ERR_OK) {
        return e;
    }
    if (info->n_dims < 1 || info->dims[0] < 1 || info->dims[0] > INGOT_MAX_HIDDEN ||
        info->dims[1] < 1 || info->dims[1] > INGOT_MAX_VOCAB || info->dims[2] != 1 ||
        info->dims[3] != 1) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the tensor %.*s has impossible dimensions",
                             GGUF_SHOW(info->name));
    }
    if (info->dims[0] % source_type_block(t->type) != 0) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "the tensor %.*s has %llu columns, no multiple of %u",
                             GGUF_SHOW(info->name), (unsigned long long)info->dims[0],
                             source_type_block(t->type));
    }
    size = source_type_bytes(t->type, info->dims[0] * info->dims[1]);
    if (info->offset % alignment != 0 || info->offset > data_bytes ||
        size > data_bytes - info->offset) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "the tensor %.*s does not lie inside the file: it is cut short or "
                             "damaged",
                             GGUF_SHOW(info->name));
    }
    t->cols = (uint32_t)info->dims[0];
    t->rows = (uint32_t)info->dims[1];
    t->data = data + info->offset;
    return ERR_OK;
}

/* The data begins after the last info, so the infos are walked twice. */
enum err gguf_read_tensors(struct gguf *g)
{
    uint64_t alignment = g->has_number[N_ALIGNMENT] ? g->number[N_ALIGNMENT] : DEFAULT_ALIGNMENT;
    struct gguf_reader walk = g->r;
    struct tensor_info info;
    uint64_t start;

    if (alignment == 0 || alignment > 1 << 20 || (alignment & (alignment - 1)) != 0) {
        return source_refuse(g->s, ERR_BAD_MODEL, "general.alignment is %llu, no power of two",
                             (unsigned long long)alignment);
    }
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        if (!take_info(&walk, &info)) {
            return source_refuse(g->s, ERR_BAD_MODEL,
                                 "the GGUF is cut short or damaged in its tensor %llu",
                                 (unsigned long long)i);
        }
    }
    start = ((uint64_t)(walk.at - g->file) + alignment - 1) / alignment * alignment;
    if (start > g->bytes) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the GGUF ends before its tensors begin");
    }
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        enum err e;

        take_info(&g->r, &info);
        e = place_tensor(g, &info, g->file + start, g->bytes - start, alignment);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}
