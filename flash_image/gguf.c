/* GGUF versions 2 and 3 (ggml, docs/gguf.md) of the llama architecture, from memory. Every count
 * is compared with the bytes that are left before it is believed; nothing recurses. */
#include <stdio.h>
#include <string.h>

#include "flash_image/source.h"
#include "runtime/image.h"

enum {
    DEFAULT_ALIGNMENT = 32,
    MAX_VALUES = 65536,
};

enum value_type { /* as the file numbers them */
    VALUE_U8, VALUE_I8, VALUE_U16, VALUE_I16, VALUE_U32, VALUE_I32, VALUE_F32, VALUE_BOOL,
    VALUE_STRING, VALUE_ARRAY, VALUE_U64, VALUE_I64, VALUE_F64, VALUE_TYPES
};

static const uint8_t value_bytes[VALUE_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

/* What is left of the file. Reading past the end sets bad and gives zeros. */
struct reader {
    const uint8_t *at;
    size_t left;
    bool bad;
};

struct value {
    enum value_type type;
    enum value_type element; /* of an array */
    uint64_t count;          /* of an array's elements */
    struct source_text data; /* of a string, of an array, or the number's bytes */
};

/* The numbers that parameters are made of. */
enum number {
    N_CONTEXT, N_DIM, N_LAYERS, N_HIDDEN, N_HEADS, N_KV_HEADS, N_KEY_LENGTH, N_VALUE_LENGTH,
    N_ROPE_DIMS, N_ALIGNMENT, N_BOS, N_EOS, N_UNK, N_EOT, N_ADD_BOS, N_ADD_SPACE, N_NUMBERS
};
static const struct {
    const char *key;
    bool token; /* an id, of which -1 means none */
} numbers[N_NUMBERS] = {
    [N_CONTEXT] = { "llama.context_length", false },
    [N_DIM] = { "llama.embedding_length", false },
    [N_LAYERS] = { "llama.block_count", false },
    [N_HIDDEN] = { "llama.feed_forward_length", false },
    [N_HEADS] = { "llama.attention.head_count", false },
    [N_KV_HEADS] = { "llama.attention.head_count_kv", false },
    [N_KEY_LENGTH] = { "llama.attention.key_length", false },
    [N_VALUE_LENGTH] = { "llama.attention.value_length", false },
    [N_ROPE_DIMS] = { "llama.rope.dimension_count", false },
    [N_ALIGNMENT] = { "general.alignment", false },
    [N_BOS] = { "tokenizer.ggml.bos_token_id", true },
    [N_EOS] = { "tokenizer.ggml.eos_token_id", true },
    [N_UNK] = { "tokenizer.ggml.unknown_token_id", true },
    [N_EOT] = { "tokenizer.ggml.eot_token_id", true },
    [N_ADD_BOS] = { "tokenizer.ggml.add_bos_token", false },
    [N_ADD_SPACE] = { "tokenizer.ggml.add_space_prefix", false },
};

enum real { R_EPS, R_ROPE_BASE, R_ROPE_FACTOR, R_ROPE_LINEAR, N_REALS };
static const char *const reals[N_REALS] = {
    [R_EPS] = "llama.attention.layer_norm_rms_epsilon",
    [R_ROPE_BASE] = "llama.rope.freq_base",
    [R_ROPE_FACTOR] = "llama.rope.scaling.factor",
    [R_ROPE_LINEAR] = "llama.rope.scale_linear",
};

/* Models with these compute something else than this packer's llama. Zero or false is fine. */
static const char *const foreign[] = {
    "llama.expert_count",           "llama.logit_scale",           "llama.residual_scale",
    "llama.embedding_scale",        "llama.attention.scale",       "llama.attention.clamp_kqv",
    "llama.attention.sliding_window", "llama.attention.max_alibi_bias",
};

struct gguf {
    struct source *s;
    struct reader r;
    const uint8_t *file;
    size_t bytes;
    uint64_t n_tensors, n_values;
    uint64_t number[N_NUMBERS];
    bool has_number[N_NUMBERS];
    double real[N_REALS];
    bool has_real[N_REALS];
    struct source_text architecture, tokenizer, rope_scaling;
    struct value tokens, scores, types;
    bool has_tokens, has_scores, has_types;
};

static const uint8_t *take(struct reader *r, uint64_t bytes)
{
    static const uint8_t zeros[8];
    const uint8_t *at = r->at;

    if (bytes > r->left) {
        r->bad = true;
        r->left = 0;
        return zeros;
    }
    r->at += bytes;
    r->left -= (size_t)bytes;
    return at;
}

static uint32_t take_u32(struct reader *r)
{
    return load_u32(take(r, 4));
}

static uint64_t take_u64(struct reader *r)
{
    return load_u64(take(r, 8));
}

static struct source_text take_text(struct reader *r)
{
    uint64_t bytes = take_u64(r);
    const uint8_t *data = take(r, bytes);

    return r->bad ? (struct source_text){ data, 0 } : (struct source_text){ data, (size_t)bytes };
}

static bool text_is(struct source_text t, const char *text)
{
    return t.bytes == strlen(text) && memcmp(t.data, text, t.bytes) == 0;
}

/* For "%.*s": at most 60 bytes of what the file says. */
#define SHOW(t) ((t).bytes < 60 ? (int)(t).bytes : 60), (const char *)(t).data

static bool take_array(struct reader *r, struct value *v)
{
    const uint8_t *start;

    v->element = (enum value_type)take_u32(r);
    v->count = take_u64(r);
    start = r->at;
    if (v->element >= VALUE_TYPES || v->element == VALUE_ARRAY || v->count > r->left) {
        return false; /* an element has at least one byte */
    }
    if (v->element != VALUE_STRING) {
        take(r, v->count * value_bytes[v->element]);
    }
    for (uint64_t i = 0; v->element == VALUE_STRING && i < v->count && !r->bad; i++) {
        take_text(r);
    }
    v->data = (struct source_text){ start, (size_t)(r->at - start) };
    return !r->bad;
}

static bool take_value(struct reader *r, struct value *v)
{
    v->type = (enum value_type)take_u32(r);
    if (v->type >= VALUE_TYPES || r->bad) {
        return false;
    }
    if (v->type == VALUE_ARRAY) {
        return take_array(r, v);
    }
    if (v->type == VALUE_STRING) {
        v->data = take_text(r);
    } else {
        v->data.bytes = value_bytes[v->type];
        v->data.data = take(r, v->data.bytes);
    }
    return !r->bad;
}

/* A whole number; negative ones become huge. False: not one number. */
static bool value_to_u64(const struct value *v, uint64_t *out)
{
    const uint8_t *p = v->data.data;

    switch (v->type) {
    case VALUE_U8:
    case VALUE_BOOL:
        *out = p[0];
        return true;
    case VALUE_I8:
        *out = (uint64_t)(int8_t)p[0];
        return true;
    case VALUE_U16:
        *out = load_u16(p);
        return true;
    case VALUE_I16:
        *out = (uint64_t)(int16_t)load_u16(p);
        return true;
    case VALUE_U32:
        *out = load_u32(p);
        return true;
    case VALUE_I32:
        *out = (uint64_t)(int32_t)load_u32(p);
        return true;
    case VALUE_U64:
    case VALUE_I64:
        *out = load_u64(p);
        return true;
    default:
        return false;
    }
}

static bool value_to_real(const struct value *v, double *out)
{
    uint64_t bits;

    if (v->type == VALUE_F32) {
        *out = (double)load_f32(v->data.data);
        return true;
    }
    if (v->type != VALUE_F64) {
        return false;
    }
    bits = load_u64(v->data.data);
    memcpy(out, &bits, sizeof *out);
    return true;
}

static enum err refuse_kind(struct gguf *g, struct source_text key, const char *kind)
{
    return source_refuse(g->s, ERR_UNSUPPORTED, "the value of %.*s is not %s", SHOW(key), kind);
}

static enum err keep_number(struct gguf *g, struct source_text key, const struct value *v)
{
    for (size_t i = 0; i < N_NUMBERS; i++) {
        if (text_is(key, numbers[i].key)) {
            g->has_number[i] = value_to_u64(v, &g->number[i]);
            return g->has_number[i] ? ERR_OK : refuse_kind(g, key, "one whole number");
        }
    }
    for (size_t i = 0; i < N_REALS; i++) {
        if (text_is(key, reals[i])) {
            g->has_real[i] = value_to_real(v, &g->real[i]);
            return g->has_real[i] ? ERR_OK : refuse_kind(g, key, "a floating-point number");
        }
    }
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        uint64_t whole = 0;
        double real = 0;

        if (text_is(key, foreign[i]) &&
            ((value_to_u64(v, &whole) && whole != 0) || (value_to_real(v, &real) && real != 0) ||
             v->type == VALUE_ARRAY)) {
            return source_refuse(g->s, ERR_UNSUPPORTED, "the model sets %.*s, which cannot be "
                                 "packed yet", SHOW(key));
        }
    }
    return ERR_OK;
}

static enum err keep_text(struct gguf *g, struct source_text key, const struct value *v)
{
    const struct {
        const char *key;
        struct source_text *to;
    } texts[] = {
        { "general.architecture", &g->architecture },
        { "general.name", &g->s->name },
        { "tokenizer.ggml.model", &g->tokenizer },
        { "tokenizer.chat_template", &g->s->chat_template },
        { "llama.rope.scaling.type", &g->rope_scaling },
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (text_is(key, texts[i].key)) {
            *texts[i].to = v->data;
            return v->type == VALUE_STRING ? ERR_OK : refuse_kind(g, key, "a text");
        }
    }
    return keep_number(g, key, v);
}

static enum err keep_array(struct gguf *g, struct source_text key, const struct value *v)
{
    const struct {
        const char *key;
        struct value *to;
        bool *has;
        enum value_type element;
    } arrays[] = {
        { "tokenizer.ggml.tokens", &g->tokens, &g->has_tokens, VALUE_STRING },
        { "tokenizer.ggml.scores", &g->scores, &g->has_scores, VALUE_F32 },
        { "tokenizer.ggml.token_type", &g->types, &g->has_types, VALUE_I32 },
    };

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        if (text_is(key, arrays[i].key)) {
            if (v->type != VALUE_ARRAY || v->element != arrays[i].element) {
                return refuse_kind(g, key, "an array of the right type");
            }
            *arrays[i].to = *v;
            *arrays[i].has = true;
            return ERR_OK;
        }
    }
    return keep_text(g, key, v);
}

static enum err read_values(struct gguf *g)
{
    for (uint64_t i = 0; i < g->n_values; i++) {
        struct value v = { VALUE_U8, VALUE_U8, 0, { NULL, 0 } };
        struct source_text key = take_text(&g->r);
        enum err e;

        if (!take_value(&g->r, &v)) {
            return source_refuse(g->s, ERR_BAD_MODEL, "the GGUF is cut short or damaged in its "
                                 "value %llu (%.*s)", (unsigned long long)i, SHOW(key));
        }
        e = keep_array(g, key, &v);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static uint32_t token_id(const struct gguf *g, enum number which)
{
    return g->has_number[which] && g->number[which] < g->tokens.count
               ? (uint32_t)g->number[which] : INGOT_NO_TOKEN;
}

static enum err read_vocab(struct gguf *g)
{
    struct source *s = g->s;
    bool add_bos = !g->has_number[N_ADD_BOS] || g->number[N_ADD_BOS] != 0;
    bool add_space = !g->has_number[N_ADD_SPACE] || g->number[N_ADD_SPACE] != 0;

    if (!text_is(g->tokenizer, "llama")) {
        return source_refuse(s, ERR_UNSUPPORTED, "the tokenizer is of kind \"%.*s\"; only \"llama\" "
                             "(SentencePiece) can be packed", SHOW(g->tokenizer));
    }
    if (!g->has_tokens || g->tokens.count == 0 || g->tokens.count > INGOT_MAX_VOCAB) {
        return source_refuse(s, ERR_BAD_TOKENIZER, "tokenizer.ggml.tokens has %llu entries, must "
                             "be 1 to %u", (unsigned long long)g->tokens.count, INGOT_MAX_VOCAB);
    }
    if (!g->has_scores || g->scores.count != g->tokens.count ||
        (g->has_types && g->types.count != g->tokens.count)) {
        return source_refuse(s, ERR_BAD_TOKENIZER, "tokens, scores and types of the tokenizer "
                             "differ in number");
    }
    s->vocab = (struct source_vocab){
        .layout = SOURCE_GGUF_VOCAB,
        .n_tokens = (uint32_t)g->tokens.count,
        .texts = g->tokens.data.data,
        .texts_end = g->tokens.data.data + g->tokens.data.bytes,
        .scores = g->scores.data.data,
        .types = g->has_types ? g->types.data.data : NULL,
        .bos = token_id(g, N_BOS),
        .eos = token_id(g, N_EOS),
        .unk = token_id(g, N_UNK),
        .eot = token_id(g, N_EOT),
        .flags = add_space ? INGOT_ADD_SPACE_PREFIX : 0,
    };
    s->vocab.flags |= add_bos && s->vocab.bos != INGOT_NO_TOKEN ? INGOT_ADD_BOS : 0;
    return ERR_OK;
}

/* Numbers beyond 32 bits become the largest, which no bound lets pass. */
static uint32_t narrow(uint64_t n)
{
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static enum err check_rope(struct gguf *g)
{
    uint64_t head_dim = g->s->params.head_dim;

    if (g->has_number[N_VALUE_LENGTH] && g->number[N_VALUE_LENGTH] != head_dim) {
        return source_refuse(g->s, ERR_UNSUPPORTED, "value heads of another width than key heads "
                             "cannot be packed");
    }
    if (g->has_number[N_ROPE_DIMS] && g->number[N_ROPE_DIMS] != head_dim) {
        return source_refuse(g->s, ERR_UNSUPPORTED, "rope over %llu of a head's %llu dimensions "
                             "cannot be packed", (unsigned long long)g->number[N_ROPE_DIMS],
                             (unsigned long long)head_dim);
    }
    if (g->rope_scaling.bytes != 0 && !text_is(g->rope_scaling, "none") &&
        !(text_is(g->rope_scaling, "linear") && g->real[R_ROPE_FACTOR] == 1.0)) {
        return source_refuse(g->s, ERR_UNSUPPORTED, "rope scaling \"%.*s\" cannot be packed",
                             SHOW(g->rope_scaling));
    }
    if (g->has_real[R_ROPE_LINEAR] && g->real[R_ROPE_LINEAR] != 1.0) {
        return source_refuse(g->s, ERR_UNSUPPORTED, "llama.rope.scale_linear is not 1");
    }
    return ERR_OK;
}

static enum err read_params(struct gguf *g)
{
    static const enum number needed[] = { N_CONTEXT, N_DIM, N_LAYERS, N_HIDDEN, N_HEADS };
    struct ingot_params *p = &g->s->params;
    uint64_t heads = g->number[N_HEADS];
    enum err e;

    if (!text_is(g->architecture, "llama")) {
        return source_refuse(g->s, ERR_UNSUPPORTED, "the architecture is \"%.*s\"; only \"llama\" "
                             "can be packed", SHOW(g->architecture));
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!g->has_number[needed[i]]) {
            return source_refuse(g->s, ERR_BAD_MODEL, "%s is missing", numbers[needed[i]].key);
        }
    }
    if (!g->has_real[R_EPS]) {
        return source_refuse(g->s, ERR_BAD_MODEL, "%s is missing", reals[R_EPS]);
    }
    if (heads == 0 || (!g->has_number[N_KEY_LENGTH] && g->number[N_DIM] % heads != 0)) {
        return source_refuse(g->s, ERR_BAD_MODEL, "%llu heads do not divide a width of %llu",
                             (unsigned long long)heads, (unsigned long long)g->number[N_DIM]);
    }
    *p = (struct ingot_params){
        .family = INGOT_LLAMA,
        .dim = narrow(g->number[N_DIM]),
        .hidden = narrow(g->number[N_HIDDEN]),
        .n_layers = narrow(g->number[N_LAYERS]),
        .n_heads = narrow(heads),
        .n_kv_heads = narrow(g->has_number[N_KV_HEADS] ? g->number[N_KV_HEADS] : heads),
        .head_dim = narrow(g->has_number[N_KEY_LENGTH] ? g->number[N_KEY_LENGTH]
                                                       : g->number[N_DIM] / heads),
        .vocab = g->s->vocab.n_tokens,
        .context = narrow(g->number[N_CONTEXT]),
        .rope = INGOT_ROPE_PAIRS, /* q and k of llama come permuted to pairs */
        .rope_base = g->has_real[R_ROPE_BASE] ? (float)g->real[R_ROPE_BASE] : 10000.0f,
        .norm_eps = (float)g->real[R_EPS],
    };
    e = source_check_params(g->s);
    g->s->params_known = e == ERR_OK;
    return e == ERR_OK ? check_rope(g) : e;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static const char *const ggml_types[] = {
    "F32", "F16", "Q4_0", "Q4_1", "Q4_2", "Q4_3", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q2_K", "Q3_K",
    "Q4_K", "Q5_K", "Q6_K", "Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S",
    "IQ2_S", "IQ4_XS", "I8", "I16", "I32", "I64", "F64", "IQ1_M", "BF16",
};

static enum err source_type_of(struct gguf *g, struct source_text name, uint32_t type,
                               enum source_type *out)
{
    bool known = type < sizeof ggml_types / sizeof ggml_types[0];

    switch (type) {
    case 0:
        *out = SOURCE_F32;
        return ERR_OK;
    case 1:
        *out = SOURCE_F16;
        return ERR_OK;
    case 2:
        *out = SOURCE_Q4_0;
        return ERR_OK;
    case 8:
        *out = SOURCE_Q8_0;
        return ERR_OK;
    default:
        return source_refuse(g->s, ERR_UNSUPPORTED, "the tensor %.*s is %s (type %u); F32, F16, "
                             "Q8_0 and Q4_0 can be packed", SHOW(name),
                             known ? ggml_types[type] : "unknown", type);
    }
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
        if (text_is(name, outside[i].name)) {
            return source_tensor(g->s, outside[i].role, INGOT_NO_LAYER);
        }
    }
    if (!split_layer(name, &layer, &rest)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++) {
        if (text_is(rest, inside[i].name)) {
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

static bool take_info(struct reader *r, struct tensor_info *info)
{
    info->name = take_text(r);
    info->n_dims = take_u32(r);
    if (info->n_dims > 4) {
        return false;
    }
    for (uint32_t i = 0; i < 4; i++) {
        info->dims[i] = i < info->n_dims ? take_u64(r) : 1;
    }
    info->type = take_u32(r);
    info->offset = take_u64(r);
    return !r->bad;
}

static enum err place_tensor(struct gguf *g, const struct tensor_info *info, const uint8_t *data,
                             uint64_t data_bytes, uint64_t alignment)
{
    struct source_tensor *t = find_slot(g, info->name);
    uint64_t size;
    enum err e;

    if (t == NULL) {
        return source_refuse(g->s, ERR_UNSUPPORTED, "the tensor %.*s is none of the llama models "
                             "that can be packed", SHOW(info->name));
    }
    if (t->data != NULL) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the tensor %.*s comes twice", SHOW(info->name));
    }
    e = source_type_of(g, info->name, info->type, &t->type);
    if (e != ERR_OK) {
        return e;
    }
    if (info->n_dims < 1 || info->dims[0] < 1 || info->dims[0] > INGOT_MAX_HIDDEN ||
        info->dims[1] < 1 || info->dims[1] > INGOT_MAX_VOCAB || info->dims[2] != 1 ||
        info->dims[3] != 1) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the tensor %.*s has impossible dimensions",
                             SHOW(info->name));
    }
    if ((t->type == SOURCE_Q8_0 || t->type == SOURCE_Q4_0) && info->dims[0] % 32 != 0) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the tensor %.*s has %llu columns, no multiple "
                             "of 32", SHOW(info->name), (unsigned long long)info->dims[0]);
    }
    size = source_type_bytes(t->type, info->dims[0] * info->dims[1]);
    if (info->offset % alignment != 0 || info->offset > data_bytes ||
        size > data_bytes - info->offset) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the tensor %.*s does not lie inside the file: "
                             "it is cut short or damaged", SHOW(info->name));
    }
    t->cols = (uint32_t)info->dims[0];
    t->rows = (uint32_t)info->dims[1];
    t->data = data + info->offset;
    return ERR_OK;
}

/* The data begins after the last info, so the infos are walked twice. */
static enum err read_tensors(struct gguf *g)
{
    uint64_t alignment = g->has_number[N_ALIGNMENT] ? g->number[N_ALIGNMENT] : DEFAULT_ALIGNMENT;
    struct reader walk = g->r;
    struct tensor_info info;
    uint64_t start;

    if (alignment == 0 || alignment > 1 << 20 || (alignment & (alignment - 1)) != 0) {
        return source_refuse(g->s, ERR_BAD_MODEL, "general.alignment is %llu, no power of two",
                             (unsigned long long)alignment);
    }
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        if (!take_info(&walk, &info)) {
            return source_refuse(g->s, ERR_BAD_MODEL, "the GGUF is cut short or damaged in its "
                                 "tensor %llu", (unsigned long long)i);
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

/* An output matrix that is the embedding again, byte for byte, needs no second place. */
static bool output_is_embedding(struct source *s)
{
    const struct source_tensor *e = source_tensor(s, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER);
    const struct source_tensor *o = source_tensor(s, INGOT_OUTPUT, INGOT_NO_LAYER);

    if (o->data == NULL) {
        return true;
    }
    return e->data != NULL && o->type == e->type && o->rows == e->rows && o->cols == e->cols &&
           memcmp(o->data, e->data,
                  (size_t)source_type_bytes(e->type, (uint64_t)e->rows * e->cols)) == 0;
}

bool gguf_is(const uint8_t *data, size_t bytes)
{
    return bytes >= 4 && memcmp(data, "GGUF", 4) == 0;
}

enum err gguf_parse(struct source *s, const uint8_t *data, size_t bytes, bool vocab_only)
{
    struct gguf g = { .s = s, .r = { data, bytes, false }, .file = data, .bytes = bytes };
    uint32_t version;
    enum err e;

    take(&g.r, 4);
    version = take_u32(&g.r);
    g.n_tensors = take_u64(&g.r);
    g.n_values = take_u64(&g.r);
    if (g.r.bad) {
        return source_refuse(s, ERR_BAD_MODEL, "the GGUF ends inside its header");
    }
    if (version != 2 && version != 3) {
        return source_refuse(s, ERR_UNSUPPORTED, "GGUF version %u; versions 2 and 3, "
                             "little-endian, can be packed", version);
    }
    if (g.n_values > MAX_VALUES || g.n_tensors > INGOT_MAX_TENSORS) {
        return source_refuse(s, ERR_BAD_MODEL, "the GGUF counts %llu values and %llu tensors, "
                             "more than any model has", (unsigned long long)g.n_values,
                             (unsigned long long)g.n_tensors);
    }
    e = read_values(&g);
    if (e == ERR_OK && !vocab_only && !text_is(g.architecture, "llama")) {
        e = read_params(&g); /* which says so, before the tokenizer complains */
    }
    if (e == ERR_OK) {
        e = read_vocab(&g);
    }
    if (e != ERR_OK || vocab_only) {
        return e;
    }
    e = read_params(&g);
    if (e == ERR_OK && g.n_tensors == 0) {
        e = source_refuse(s, ERR_BAD_MODEL, "the GGUF holds a vocabulary and no weights");
    }
    if (e == ERR_OK) {
        e = read_tensors(&g);
    }
    if (e != ERR_OK) {
        return e;
    }
    s->params.tied = output_is_embedding(s);
    return source_check_tensors(s);
}
