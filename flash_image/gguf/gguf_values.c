/* Reads the values of a GGUF from memory: every count is compared with the remaining bytes before
 * it is used; nothing recurses. */
#include <math.h>

#include "flash_image/gguf/gguf_private.h"

enum { MAX_TEXT_BYTES = 16 << 20 };

static const uint8_t value_bytes[VALUE_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

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

bool gguf_value_element(const struct gguf_value *v, uint64_t i, uint64_t *out)
{
    size_t bytes = value_bytes[v->element];
    struct gguf_value one = { v->element, VALUE_U8, 0, { v->data.data + i * bytes, bytes } };

    return bytes != 0 && value_to_u64(&one, out);
}

/* Take a list with one number per layer and set *largest to its largest number. A single number is
 * only stored in *largest. */
static bool take_list(const struct gguf_value *v, struct gguf_value *list, uint64_t *largest)
{
    uint64_t n;

    if (v->type != VALUE_ARRAY) {
        return gguf_value_number(v, largest);
    }
    *list = *v;
    *largest = 0;
    for (uint64_t i = 0; i < v->count; i++) {
        if (!gguf_value_element(v, i, &n)) {
            return false;
        }
        *largest = max_u64(*largest, n);
    }
    return true;
}

static bool take_number(struct gguf *g, enum gguf_number which, const struct gguf_value *v)
{
    if (which == N_KV_HEADS) {
        return take_list(v, &g->kv_heads, &g->number[which]);
    }
    if (which == N_HIDDEN) {
        return take_list(v, &g->hiddens, &g->number[which]);
    }
    return gguf_value_number(v, &g->number[which]);
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

/* True if a value is zero, false or empty, which means that the model lacks the feature. */
static bool is_nothing(const struct gguf_value *v)
{
    uint64_t whole = 1;
    double real = 1;

    return (value_to_u64(v, &whole) && whole == 0) || (value_to_real(v, &real) && real == 0) ||
           (v->type == VALUE_STRING && v->data.bytes == 0);
}

/* Note an unknown value of the architecture, because it may change the result. */
static enum err keep_unknown(struct gguf *g, struct source_text key, const struct gguf_value *v)
{
    if (g->family == NULL || !gguf_begins_with_architecture(g, key) ||
        key.data[g->architecture.bytes] != '.' || is_nothing(v)) {
        return ERR_OK;
    }
    if (gguf_is_idle(g, key)) {
        return ERR_OK;
    }
    return source_refuse(g->s, ERR_UNSUPPORTED, "the model sets %.*s, which is not supported",
                         SOURCE_SHOW(key));
}

static enum err refuse_twice(struct gguf *g, struct source_text key)
{
    return source_refuse(g->s, ERR_BAD_MODEL, "the value of %.*s appears twice", SOURCE_SHOW(key));
}

/* If the key is a sampling default of the publisher (named as in llama.cpp), store it and return
 * true. */
static bool keep_sampling(struct gguf *g, struct source_text key, const struct gguf_value *v)
{
    static const struct {
        const char *name;
        enum ingot_sampling_field field;
    } names[] = {
        { "general.sampling.temp", INGOT_SAMPLES_TEMP },
        { "general.sampling.top_p", INGOT_SAMPLES_TOP_P },
        { "general.sampling.min_p", INGOT_SAMPLES_MIN_P },
        { "general.sampling.penalty_repeat", INGOT_SAMPLES_REPEAT },
        { "general.sampling.top_k", INGOT_SAMPLES_TOP_K },
        { "general.sampling.penalty_last_n", INGOT_SAMPLES_REPEAT_LAST },
    };
    uint64_t whole;
    double value;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!source_text_is(key, names[i].name)) {
            continue;
        }
        if (value_to_u64(v, &whole)) {
            value = (double)(int64_t)whole;
        } else if (!value_to_real(v, &value)) {
            value = NAN;
        }
        source_sample(g->s, names[i].field, names[i].name, value);
        return true;
    }
    return false;
}

static enum err keep_number(struct gguf *g, struct source_text key, const struct gguf_value *v)
{
    size_t number = gguf_find_number(g, key), real = gguf_find_real(g, key);

    if (number < N_NUMBERS) {
        if (g->has_number[number]) {
            return refuse_twice(g, key);
        }
        g->has_number[number] = take_number(g, (enum gguf_number)number, v);
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
    if (source_text_is(key, "tokenizer.ggml.precompiled_charsmap")) {
        g->charsmap_bytes = v->data.bytes;
        return ERR_OK;
    }
    if (gguf_key_is(g, key, ".attention.sliding_window_pattern")) {
        g->pattern = *v;
        g->has_pattern = true;
        return ERR_OK;
    }
    if (g->family != NULL && g->family->mixer == INGOT_MIXER_DELTA &&
        gguf_key_is(g, key, ".attention.recurrent_layers")) {
        g->recurrent = *v;
        return ERR_OK;
    }
    return keep_sampling(g, key, v) ? ERR_OK : keep_unknown(g, key, v);
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
        if (gguf_key_is(g, key, texts[i].key)) {
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
        enum gguf_value_type element, or_element;
    } arrays[] = {
        { "tokenizer.ggml.tokens", &g->tokens, &g->has_tokens, VALUE_STRING, VALUE_STRING },
        { "tokenizer.ggml.scores", &g->scores, &g->has_scores, VALUE_F32, VALUE_F32 },
        /* MLX writes types without a sign */
        { "tokenizer.ggml.token_type", &g->types, &g->has_types, VALUE_I32, VALUE_U32 },
        { "tokenizer.ggml.merges", &g->merges, &g->has_merges, VALUE_STRING, VALUE_STRING },
    };

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        if (source_text_is(key, arrays[i].key)) {
            if (*arrays[i].has) {
                return refuse_twice(g, key);
            }
            if (v->type != VALUE_ARRAY ||
                (v->element != arrays[i].element && v->element != arrays[i].or_element)) {
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

/* Store a value if it says what kind of file this is. A value that should be a number but has
 * another type counts as missing. */
static enum err look_at(struct gguf *g, struct source_text key, const struct gguf_value *v)
{
    static const enum gguf_number looked[] = { N_SPLIT_PART, N_SPLIT_COUNT, N_SPLIT_TENSORS,
                                               N_ALIGNMENT };

    for (size_t i = 0; i < sizeof looked / sizeof looked[0]; i++) {
        enum gguf_number n = looked[i];

        if (source_text_is(key, gguf_number_name(n)) && !g->has_number[n]) {
            g->has_number[n] = gguf_value_number(v, &g->number[n]);
        }
    }
    if (source_text_is(key, "adapter.lora.alpha")) {
        (void)value_to_real(v, &g->lora_alpha);
    }
    if (source_text_is(key, "general.name") && v->type == VALUE_STRING) {
        g->name = v->data;
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
    struct gguf look = *g; /* a copy: the values are read again when they are stored */
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
            return source_refuse(g->s, ERR_BAD_MODEL,
                                 "the text of %.*s has %llu bytes, but may have at most %u",
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
