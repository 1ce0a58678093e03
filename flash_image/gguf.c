/* GGUF versions 2 and 3 (ggml, docs/gguf.md) of the llama architecture, from memory. Every count
 * is compared with the bytes that are left before it is believed; nothing recurses. */
#include "flash_image/gguf.h"

enum { MAX_VALUES = 65536 };

static const uint8_t value_bytes[VALUE_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

static const char *const numbers[N_NUMBERS] = {
    [N_CONTEXT] = "llama.context_length",
    [N_DIM] = "llama.embedding_length",
    [N_LAYERS] = "llama.block_count",
    [N_HIDDEN] = "llama.feed_forward_length",
    [N_HEADS] = "llama.attention.head_count",
    [N_KV_HEADS] = "llama.attention.head_count_kv",
    [N_KEY_LENGTH] = "llama.attention.key_length",
    [N_VALUE_LENGTH] = "llama.attention.value_length",
    [N_ROPE_DIMS] = "llama.rope.dimension_count",
    [N_ALIGNMENT] = "general.alignment",
    [N_BOS] = "tokenizer.ggml.bos_token_id",
    [N_EOS] = "tokenizer.ggml.eos_token_id",
    [N_UNK] = "tokenizer.ggml.unknown_token_id",
    [N_EOT] = "tokenizer.ggml.eot_token_id",
    [N_ADD_BOS] = "tokenizer.ggml.add_bos_token",
    [N_ADD_EOS] = "tokenizer.ggml.add_eos_token",
    [N_ADD_SPACE] = "tokenizer.ggml.add_space_prefix",
};

static const char *const reals[N_REALS] = {
    [R_EPS] = "llama.attention.layer_norm_rms_epsilon",
    [R_ROPE_BASE] = "llama.rope.freq_base",
    [R_ROPE_FACTOR] = "llama.rope.scaling.factor",
    [R_ROPE_LINEAR] = "llama.rope.scale_linear",
};

/* Models with these compute something else than this packer's llama. Zero or false is fine. */
static const char *const foreign[] = {
    "llama.expert_count",
    "llama.logit_scale",
    "llama.residual_scale",
    "llama.embedding_scale",
    "llama.attention.scale",
    "llama.attention.clamp_kqv",
    "llama.attention.sliding_window",
    "llama.attention.max_alibi_bias",
};

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

/* A whole number; negative ones become huge. False: not one number. */
static bool value_to_u64(const struct gguf_value *v, uint64_t *out)
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
    return source_refuse(g->s, ERR_UNSUPPORTED, "the value of %.*s is not %s", GGUF_SHOW(key),
                         kind);
}

static enum err keep_number(struct gguf *g, struct source_text key, const struct gguf_value *v)
{
    for (size_t i = 0; i < N_NUMBERS; i++) {
        if (gguf_text_is(key, numbers[i])) {
            g->has_number[i] = value_to_u64(v, &g->number[i]);
            return g->has_number[i] ? ERR_OK : refuse_kind(g, key, "one whole number");
        }
    }
    for (size_t i = 0; i < N_REALS; i++) {
        if (gguf_text_is(key, reals[i])) {
            g->has_real[i] = value_to_real(v, &g->real[i]);
            return g->has_real[i] ? ERR_OK : refuse_kind(g, key, "a floating-point number");
        }
    }
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        uint64_t whole = 0;
        double real = 0;

        if (gguf_text_is(key, foreign[i]) &&
            ((value_to_u64(v, &whole) && whole != 0) || (value_to_real(v, &real) && real != 0) ||
             v->type == VALUE_ARRAY)) {
            return source_refuse(g->s, ERR_UNSUPPORTED,
                                 "the model sets %.*s, which cannot be packed yet",
                                 GGUF_SHOW(key));
        }
    }
    return ERR_OK;
}

static enum err keep_text(struct gguf *g, struct source_text key, const struct gguf_value *v)
{
    const struct {
        const char *key;
        struct source_text *to;
    } texts[] = {
        { "general.architecture", &g->architecture },
        { "general.name", &g->s->name },
        { "tokenizer.ggml.model", &g->tokenizer },
        { "tokenizer.ggml.pre", &g->pre },
        { "tokenizer.chat_template", &g->s->chat_template },
        { "llama.rope.scaling.type", &g->rope_scaling },
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (gguf_text_is(key, texts[i].key)) {
            *texts[i].to = v->data;
            return v->type == VALUE_STRING ? ERR_OK : refuse_kind(g, key, "a text");
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
        if (gguf_text_is(key, arrays[i].key)) {
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
        struct gguf_value v = { VALUE_U8, VALUE_U8, 0, { NULL, 0 } };
        struct source_text key = gguf_take_text(&g->r);
        enum err e;

        if (!take_value(&g->r, &v)) {
            return source_refuse(g->s, ERR_BAD_MODEL,
                                 "the GGUF is cut short or damaged in its value %llu (%.*s)",
                                 (unsigned long long)i, GGUF_SHOW(key));
        }
        e = keep_array(g, key, &v);
        if (e != ERR_OK) {
            return e;
        }
    }
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
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "value heads of another width than key heads cannot be packed");
    }
    if (g->has_number[N_ROPE_DIMS] && g->number[N_ROPE_DIMS] != head_dim) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "rope over %llu of a head's %llu dimensions cannot be packed",
                             (unsigned long long)g->number[N_ROPE_DIMS],
                             (unsigned long long)head_dim);
    }
    if (g->rope_scaling.bytes != 0 && !gguf_text_is(g->rope_scaling, "none") &&
        !(gguf_text_is(g->rope_scaling, "linear") && g->real[R_ROPE_FACTOR] == 1.0)) {
        return source_refuse(g->s, ERR_UNSUPPORTED, "rope scaling \"%.*s\" cannot be packed",
                             GGUF_SHOW(g->rope_scaling));
    }
    if (g->has_real[R_ROPE_LINEAR] && g->real[R_ROPE_LINEAR] != 1.0) {
        return source_refuse(g->s, ERR_UNSUPPORTED, "llama.rope.scale_linear is not 1");
    }
    return ERR_OK;
}

static enum err read_params(struct gguf *g)
{
    static const enum gguf_number needed[] = { N_CONTEXT, N_DIM, N_LAYERS, N_HIDDEN, N_HEADS };
    struct ingot_params *p = &g->s->params;
    uint64_t heads = g->number[N_HEADS];
    enum err e;

    if (!gguf_text_is(g->architecture, "llama")) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "the architecture is \"%.*s\"; only \"llama\" can be packed",
                             GGUF_SHOW(g->architecture));
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!g->has_number[needed[i]]) {
            return source_refuse(g->s, ERR_BAD_MODEL, "%s is missing", numbers[needed[i]]);
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
    source_default_params(p);
    e = source_check_params(g->s);
    g->s->params_known = e == ERR_OK;
    return e == ERR_OK ? check_rope(g) : e;
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

    gguf_take(&g.r, 4);
    version = gguf_take_u32(&g.r);
    g.n_tensors = gguf_take_u64(&g.r);
    g.n_values = gguf_take_u64(&g.r);
    if (g.r.bad) {
        return source_refuse(s, ERR_BAD_MODEL, "the GGUF ends inside its header");
    }
    if (version != 2 && version != 3) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "GGUF version %u; versions 2 and 3, little-endian, can be packed",
                             version);
    }
    if (g.n_values > MAX_VALUES || g.n_tensors > INGOT_MAX_TENSORS) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the GGUF counts %llu values and %llu tensors, more than any model "
                             "has",
                             (unsigned long long)g.n_values, (unsigned long long)g.n_tensors);
    }
    e = read_values(&g);
    if (e == ERR_OK && !vocab_only && !gguf_text_is(g.architecture, "llama")) {
        e = read_params(&g); /* which says so, before the tokenizer complains */
    }
    if (e == ERR_OK) {
        e = gguf_read_vocab(&g);
    }
    if (e != ERR_OK || vocab_only) {
        return e;
    }
    e = read_params(&g);
    if (e == ERR_OK && g.n_tensors == 0) {
        e = source_refuse(s, ERR_BAD_MODEL, "the GGUF holds a vocabulary and no weights");
    }
    if (e == ERR_OK) {
        e = gguf_read_tensors(&g);
    }
    if (e != ERR_OK) {
        return e;
    }
    s->params.tied = output_is_embedding(s);
    return source_check_tensors(s);
}
