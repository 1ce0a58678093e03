/* The values of a GGUF, from memory: every count is compared with the bytes that are left before it
 * is believed; nothing recurses. */
#include "flash_image/gguf/gguf_private.h"

enum { MAX_TEXT_BYTES = 16 << 20 };

static const uint8_t value_bytes[VALUE_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

/* A name that begins with a dot follows the architecture's: "llama.context_length". */
static const char *const numbers[N_NUMBERS] = {
    [N_CONTEXT] = ".context_length",
    [N_DIM] = ".embedding_length",
    [N_LAYERS] = ".block_count",
    [N_VOCAB] = ".vocab_size",
    [N_HIDDEN] = ".feed_forward_length",
    [N_HEADS] = ".attention.head_count",
    [N_KV_HEADS] = ".attention.head_count_kv",
    [N_KEY_LENGTH] = ".attention.key_length",
    [N_VALUE_LENGTH] = ".attention.value_length",
    [N_ROPE_DIMS] = ".rope.dimension_count",
    [N_ROPE_CONTEXT] = ".rope.scaling.original_context_length",
    [N_WINDOW] = ".attention.sliding_window",
    [N_CAUSAL] = ".attention.causal",
    [N_ALIGNMENT] = "general.alignment",
    [N_BOS] = "tokenizer.ggml.bos_token_id",
    [N_EOS] = "tokenizer.ggml.eos_token_id",
    [N_UNK] = "tokenizer.ggml.unknown_token_id",
    [N_EOT] = "tokenizer.ggml.eot_token_id",
    [N_ADD_BOS] = "tokenizer.ggml.add_bos_token",
    [N_ADD_EOS] = "tokenizer.ggml.add_eos_token",
    [N_ADD_SPACE] = "tokenizer.ggml.add_space_prefix",
    [N_SPLIT_PART] = "split.no",
    [N_SPLIT_COUNT] = "split.count",
    [N_SPLIT_TENSORS] = "split.tensors.count",
};

static const char *const reals[N_REALS] = {
    [R_RMS_EPS] = ".attention.layer_norm_rms_epsilon",
    [R_LAYER_EPS] = ".attention.layer_norm_epsilon",
    [R_ROPE_BASE] = ".rope.freq_base",
    [R_ROPE_BASE_LOCAL] = ".rope.freq_base_swa",
    [R_ROPE_FACTOR] = ".rope.scaling.factor",
    [R_ROPE_LINEAR] = ".rope.scale_linear",
    [R_ROPE_MAGNITUDE] = ".rope.scaling.attn_factor",
    [R_BETA_FAST] = ".rope.scaling.yarn_beta_fast",
    [R_BETA_SLOW] = ".rope.scaling.yarn_beta_slow",
    [R_ATTN_SCALE] = ".attention.scale",
    [R_ATTN_SOFTCAP] = ".attn_logit_softcapping",
    [R_FINAL_SOFTCAP] = ".final_logit_softcapping",
};

/* Of the architecture's other values these change nothing that is computed. */
static const char *const idle[] = {
    ".tensor_data_layout",
    ".rope.scaling.finetuned",
    ".expert_used_count",
};

uint64_t gguf_number_or(const struct gguf *g, enum gguf_number which, uint64_t otherwise)
{
    if (g->has_number[which]) {
        return g->number[which];
    }
    return otherwise;
}

double gguf_real_or(const struct gguf *g, enum gguf_real which, double otherwise)
{
    if (g->has_real[which]) {
        return g->real[which];
    }
    return otherwise;
}

const char *gguf_number_name(enum gguf_number which)
{
    return numbers[which];
}

const char *gguf_real_name(enum gguf_real which)
{
    return reals[which];
}

static struct source_text text_after(struct source_text t, size_t bytes)
{
    return (struct source_text){ t.data + bytes, t.bytes - bytes };
}

static bool begins_with_architecture(const struct gguf *g, struct source_text key)
{
    return key.bytes > g->architecture.bytes &&
           memcmp(key.data, g->architecture.data, g->architecture.bytes) == 0;
}

static bool key_is(const struct gguf *g, struct source_text key, const char *name)
{
    if (name[0] != '.') {
        return source_text_is(key, name);
    }
    return begins_with_architecture(g, key) &&
           source_text_is(text_after(key, g->architecture.bytes), name);
}

static bool take_array(struct gguf_reader *r, struct gguf_value *v)
{
    const uint8_t *start;

    v->element = (enum gguf_value_type)gguf_take_u32(r);
    v->count = gguf_take_u64(r);
    start = r->at;
    if (v->element >= VALUE_TYPES || v->element == VALUE_ARRAY || v->count > r->left) {
        return false; /* an element has at least one byte */
    }
    if (v->element != VALUE_STRING) {
        gguf_take(r, v->count * value_bytes[v->element]);
    }
    for (uint64_t i = 0; v->element == VALUE_STRING && i < v->count && !r->bad; i++) {
        gguf_take_text(r);
    }
    v->data = (struct source_text){ start, (size_t)(r->at - start) };
    return !r->bad;
}

static bool take_value(struct gguf_reader *r, struct gguf_value *v)
{
    v->type = (enum gguf_value_type)gguf_take_u32(r);
    if (v->type >= VALUE_TYPES || r->bad) {
        return false;
    }
    if (v->type == VALUE_ARRAY) {
        return take_array(r, v);
    }
    if (v->type == VALUE_STRING) {
        v->data = gguf_take_text(r);
    } else {
        v->data.bytes = value_bytes[v->type];
        v->data.data = gguf_take(r, v->data.bytes);
    }
    return !r->bad;
}

static bool value_to_u64(const struct gguf_value *v, uint64_t *out)
{
    const uint8_t *p = v->data.data;

    switch (v->type) {
    case VALUE_U8:
    case VALUE_BOOL: *out = p[0]; return true;
    case VALUE_I8: *out = (uint64_t)(int8_t)p[0]; return true;
    case VALUE_U16: *out = load_u16(p); return true;
    case VALUE_I16: *out = (uint64_t)(int16_t)load_u16(p); return true;
    case VALUE_U32: *out = load_u32(p); return true;
    case VALUE_I32: *out = (uint64_t)(int32_t)load_u32(p); return true;
    case VALUE_U64:
    case VALUE_I64: *out = load_u64(p); return true;
    default: return false;
    }
}

bool gguf_value_number(const struct gguf_value *v, uint64_t *out)
{
    struct gguf_value one = { v->element, VALUE_U8, 0, { v->data.data, 0 } };
    size_t bytes;

    if (v->type != VALUE_ARRAY) {
        return value_to_u64(v, out);
    }
    bytes = value_bytes[v->element];
    if (v->count == 0 || bytes == 0) {
        return false;
    }
    for (uint64_t i = 1; i < v->count; i++) {
        if (memcmp(v->data.data, v->data.data + i * bytes, bytes) != 0) {
            return false;
        }
    }
    return value_to_u64(&one, out);
}

static bool value_to_real(const struct gguf_value *v, double *out)
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
    return source_refuse(g->s, ERR_UNSUPPORTED, "the value of %.*s is not %s", SOURCE_SHOW(key),
                         kind);
}

/* Zero, false or empty: a feature that is not there. */
static bool is_nothing(const struct gguf_value *v)
{
    uint64_t whole = 1;
    double real = 1;

    return (value_to_u64(v, &whole) && whole == 0) || (value_to_real(v, &real) && real == 0) ||
           (v->type == VALUE_STRING && v->data.bytes == 0);
}

/* A value of the architecture that this reader does not know: it may change the result. */
static enum err keep_unknown(struct gguf *g, struct source_text key, const struct gguf_value *v)
{
    if (g->family == NULL || !begins_with_architecture(g, key) ||
        key.data[g->architecture.bytes] != '.' || is_nothing(v)) {
        return ERR_OK;
    }
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++) {
        if (key_is(g, key, idle[i])) {
            return ERR_OK;
        }
    }
    return source_refuse(g->s, ERR_UNSUPPORTED, "the model sets %.*s, which is not supported",
                         SOURCE_SHOW(key));
}

static enum err refuse_twice(struct gguf *g, struct source_text key)
{
    return source_refuse(g->s, ERR_BAD_MODEL, "the value of %.*s comes twice", SOURCE_SHOW(key));
}

/* The name's place in names, or n. */
static size_t find_key(const struct gguf *g, struct source_text key, const char *const *names,
                       size_t n)
{
    size_t i = 0;

    while (i < n && !key_is(g, key, names[i])) {
        i++;
    }
    return i;
}

static enum err keep_number(struct gguf *g, struct source_text key, const struct gguf_value *v)
{
    size_t number = find_key(g, key, numbers, N_NUMBERS), real = find_key(g, key, reals, N_REALS);

    if (number < N_NUMBERS) {
        if (g->has_number[number]) {
            return refuse_twice(g, key);
        }
        g->has_number[number] = gguf_value_number(v, &g->number[number]);
        if (!g->has_number[number]) {
            return refuse_kind(g, key, "one whole number");
        }
        return ERR_OK;
    }
    if (real < N_REALS) {
        if (g->has_real[real]) {
            return refuse_twice(g, key);
        }
        g->has_real[real] = value_to_real(v, &g->real[real]);
        if (!g->has_real[real]) {
            return refuse_kind(g, key, "a floating-point number");
        }
        return ERR_OK;
    }
    if (key_is(g, key, ".attention.sliding_window_pattern")) {
        g->pattern = *v;
        g->has_pattern = true;
        return ERR_OK;
    }
    return keep_unknown(g, key, v);
}

static enum err keep_text(struct gguf *g, struct source_text key, const struct gguf_value *v)
{
    const struct {
        const char *key;
        struct source_text *to;
    } texts[] = {
        { "general.name", &g->s->name },
        { "tokenizer.ggml.model", &g->tokenizer },
        { "tokenizer.ggml.pre", &g->pre },
        { "tokenizer.chat_template", &g->s->chat_template },
        { ".rope.scaling.type", &g->rope_scaling },
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (key_is(g, key, texts[i].key)) {
            if (texts[i].to->data != NULL) {
                return refuse_twice(g, key);
            }
            if (v->type != VALUE_STRING) {
                return refuse_kind(g, key, "a text");
            }
            *texts[i].to = v->data;
            return ERR_OK;
        }
    }
    return keep_number(g, key, v);
}

static enum err keep_array(struct gguf *g, struct source_text key, const struct gguf_value *v)
{
    const struct {
        const char *key;
        struct gguf_value *to;
        bool *has;
        enum gguf_value_type element;
    } arrays[] = {
        { "tokenizer.ggml.tokens", &g->tokens, &g->has_tokens, VALUE_STRING },
        { "tokenizer.ggml.scores", &g->scores, &g->has_scores, VALUE_F32 },
        { "tokenizer.ggml.token_type", &g->types, &g->has_types, VALUE_I32 },
        { "tokenizer.ggml.merges", &g->merges, &g->has_merges, VALUE_STRING },
    };

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        if (source_text_is(key, arrays[i].key)) {
            if (*arrays[i].has) {
                return refuse_twice(g, key);
            }
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

static enum err refuse_cut(struct gguf *g, uint64_t i, struct source_text key)
{
    return source_refuse(g->s, ERR_BAD_MODEL,
                         "the GGUF is cut short or damaged in its value %llu (%.*s)",
                         (unsigned long long)i, SOURCE_SHOW(key));
}

/* Of the values that say what kind of file this is; numbers of another type stay unknown. */
static enum err look_at(struct gguf *g, struct source_text key, const struct gguf_value *v)
{
    static const enum gguf_number looked[] = { N_SPLIT_PART, N_SPLIT_COUNT, N_SPLIT_TENSORS,
                                               N_ALIGNMENT };

    for (size_t i = 0; i < sizeof looked / sizeof looked[0]; i++) {
        enum gguf_number n = looked[i];

        if (source_text_is(key, numbers[n]) && !g->has_number[n]) {
            g->has_number[n] = gguf_value_number(v, &g->number[n]);
        }
    }
    if (source_text_is(key, "general.type") && v->type == VALUE_STRING) {
        g->type = v->data;
    } else if (source_text_is(key, "general.architecture") && v->data.bytes <= MAX_TEXT_BYTES) {
        if (v->type != VALUE_STRING) {
            return refuse_kind(g, key, "a text");
        }
        g->architecture = v->data;
        g->family = family_of_gguf(v->data);
    }
    return ERR_OK;
}

enum err gguf_skip_values(struct gguf *g)
{
    enum err e = ERR_OK;

    for (uint64_t i = 0; e == ERR_OK && i < g->n_values; i++) {
        struct gguf_value v = { VALUE_U8, VALUE_U8, 0, { NULL, 0 } };
        struct source_text key = gguf_take_text(&g->r);

        if (!take_value(&g->r, &v)) {
            return refuse_cut(g, i, key);
        }
        e = look_at(g, key, &v);
    }
    return e;
}

enum err gguf_read_architecture(struct gguf *g)
{
    struct gguf look = *g; /* so that the values count anew when they are kept */
    enum err e = gguf_skip_values(&look);

    g->type = look.type;
    g->architecture = look.architecture;
    g->family = look.family;
    if (e == ERR_OK) {
        e = gguf_check_kind(g);
    }
    if (e == ERR_OK && g->architecture.data == NULL) {
        e = source_refuse(g->s, ERR_BAD_MODEL, "general.architecture is missing");
    }
    return e;
}

enum err gguf_read_values(struct gguf *g)
{
    for (uint64_t i = 0; i < g->n_values; i++) {
        struct gguf_value v = { VALUE_U8, VALUE_U8, 0, { NULL, 0 } };
        struct source_text key = gguf_take_text(&g->r);
        enum err e;

        if (!take_value(&g->r, &v)) {
            return refuse_cut(g, i, key);
        }
        if (v.type == VALUE_STRING && v.data.bytes > MAX_TEXT_BYTES) {
            return source_refuse(g->s, ERR_BAD_MODEL, "the text of %.*s has %llu bytes, at most %u",
                                 SOURCE_SHOW(key), (unsigned long long)v.data.bytes,
                                 MAX_TEXT_BYTES);
        }
        e = keep_array(g, key, &v);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}
