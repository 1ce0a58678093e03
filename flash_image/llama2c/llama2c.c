/* Reads llama2.c checkpoints (karpathy/llama2.c, export.py). Version 0 has seven int32, then
 * floats; the number of tokens is negative if the classifier is a separate matrix. Versions 1
 * (float) and 2 (int8 in groups) have a magic, a header of 256 bytes, and the norms first. The
 * file's size must match exactly, because nothing else distinguishes version 0 from other files. */
#include "flash_image/llama2c/llama2c.h"

#include "runtime/text/plural.h"

enum {
    MAGIC = 0x616b3432,         /* "ak42" */
    SWAPPED_MAGIC = 0x32346b61, /* MAGIC as a big-endian program or an old converter writes it */
    HEADER_V0 = 28,
    HEADER_V1 = 256,
};

struct reader {
    struct source *s;
    const uint8_t *data;
    size_t bytes;
    uint64_t at;    /* may exceed the file's size, which is checked at the end */
    uint32_t group; /* 0: floats */
};

/* Put the next tensor of the file into the role's slot. At most 2^40 elements. */
static void take(struct reader *r, enum ingot_role role, unsigned layer, uint32_t rows,
                 uint32_t cols, bool grouped)
{
    struct source_tensor *t = source_tensor(r->s, role, layer);
    uint64_t elements = (uint64_t)rows * cols;
    uint64_t scales;

    t->type = SOURCE_F32;
    if (grouped) {
        t->type = SOURCE_GROUPED;
    }
    t->rows = rows;
    t->cols = cols;
    t->group = r->group;
    scales = r->at + source_type_bytes(t->type, elements);
    if (scales <= r->bytes) {
        t->data = r->data + r->at;
    }
    r->at = scales;
    if (grouped) {
        r->at += elements / r->group * 4;
        if (r->at <= r->bytes) {
            t->scales = r->data + scales;
        }
    }
}

static void take_layers(struct reader *r, enum ingot_role role, uint32_t rows, uint32_t cols,
                        bool grouped)
{
    for (unsigned layer = 0; layer < r->s->params.n_layers; layer++) {
        take(r, role, layer, rows, cols, grouped);
    }
}

static void take_attention(struct reader *r, bool grouped)
{
    const struct source_params *p = &r->s->params;
    uint32_t kv_dim = p->n_kv_heads * p->head_dim;

    take_layers(r, INGOT_ATTN_Q, p->dim, p->dim, grouped);
    take_layers(r, INGOT_ATTN_K, kv_dim, p->dim, grouped);
    take_layers(r, INGOT_ATTN_V, kv_dim, p->dim, grouped);
    take_layers(r, INGOT_ATTN_OUT, p->dim, p->dim, grouped);
}

static void take_feed_forward(struct reader *r, bool grouped)
{
    const struct source_params *p = &r->s->params;

    take_layers(r, INGOT_FFN_GATE, p->hidden, p->dim, grouped);
    take_layers(r, INGOT_FFN_DOWN, p->dim, p->hidden, grouped);
    take_layers(r, INGOT_FFN_UP, p->hidden, p->dim, grouped);
}

static void take_output(struct reader *r, bool grouped)
{
    if (!r->s->params.tied) {
        take(r, INGOT_OUTPUT, INGOT_NO_LAYER, r->s->params.vocab, r->s->params.dim, grouped);
    }
}

static void take_version_0(struct reader *r)
{
    const struct source_params *p = &r->s->params;

    take(r, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER, p->vocab, p->dim, false);
    take_layers(r, INGOT_ATTN_NORM, 1, p->dim, false);
    take_attention(r, false);
    take_layers(r, INGOT_FFN_NORM, 1, p->dim, false);
    take_feed_forward(r, false);
    take(r, INGOT_OUTPUT_NORM, INGOT_NO_LAYER, 1, p->dim, false);
    r->at += (uint64_t)p->context * p->head_dim * 4; /* skip the cosines and sines of a head's
                                                        pairs */
    take_output(r, false);
}

static void take_version_1(struct reader *r, bool grouped)
{
    const struct source_params *p = &r->s->params;

    take_layers(r, INGOT_ATTN_NORM, 1, p->dim, false);
    take_layers(r, INGOT_FFN_NORM, 1, p->dim, false);
    take(r, INGOT_OUTPUT_NORM, INGOT_NO_LAYER, 1, p->dim, false);
    take(r, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER, p->vocab, p->dim, grouped);
    take_attention(r, grouped);
    take_feed_forward(r, grouped);
    take_output(r, grouped);
}

/* Read the seven numbers, and compute head_dim. The numbers are checked before they are
 * multiplied. */
static enum err read_params(struct source *s, const uint8_t *p, bool version_0)
{
    int32_t n[7];
    int64_t vocab;
    bool tied;

    for (size_t i = 0; i < 7; i++) {
        n[i] = (int32_t)load_u32(p + 4 * i);
    }
    vocab = n[5];
    if (version_0 && vocab < 0) {
        vocab = -vocab;
    }
    tied = version_0 && n[5] > 0;
    s->params = (struct source_params){
        .family = INGOT_LLAMA,
        .dim = (uint32_t)n[0],
        .hidden = (uint32_t)n[1],
        .n_layers = (uint32_t)n[2],
        .n_heads = (uint32_t)n[3],
        .n_kv_heads = (uint32_t)n[4],
        .vocab = (uint32_t)vocab,
        .context = (uint32_t)n[6],
        .rope = INGOT_ROPE_PAIRS,
        .tied = tied,
        .rope_base = 10000.0f, /* llama2.c fixes these two */
        .norm_eps = 1e-5f,
    };
    s->params_known = true;
    if (n[0] <= 0 || n[3] <= 0 || n[0] % n[3] != 0) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "neither a GGUF nor a llama2.c file (read as llama2.c, it has %d "
                             "heads in a width of %d, which is impossible)",
                             n[3], n[0]);
    }
    s->params.head_dim = s->params.dim / s->params.n_heads;
    source_default_params(&s->params);
    return source_check_params(s);
}

/* Read the header of versions 1 and 2: magic, version, the seven numbers, "shared classifier",
 * group size. */
static enum err read_header(struct reader *r)
{
    struct source *s = r->s;
    uint32_t version = load_u32(r->data + 4);
    enum err e = read_params(s, r->data + 8, false);

    if (e != ERR_OK) {
        return e;
    }
    if (version != 1 && version != 2) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "llama2.c version %u; versions 0, 1 and 2 can be "
                             "packed",
                             version);
    }
    s->params.tied = r->data[36] != 0;
    if (version == 1) {
        return ERR_OK;
    }
    r->group = load_u32(r->data + 37);
    if (r->group == 0 || s->params.dim % r->group != 0 || s->params.hidden % r->group != 0) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "groups of %u do not divide the dimensions %u and "
                             "%u: export the model with a group size that divides both",
                             r->group, s->params.dim, s->params.hidden);
    }
    return ERR_OK;
}

static enum err take_file(struct reader *r, bool version_0)
{
    enum err e;

    if (version_0) {
        e = read_params(r->s, r->data, true);
    } else {
        e = read_header(r);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (version_0) {
        r->at = HEADER_V0;
        take_version_0(r);
    } else {
        take_version_1(r, r->group != 0);
    }
    return ERR_OK;
}

enum err llama2c_parse(struct source *s, const uint8_t *data, size_t bytes)
{
    struct reader r = { .s = s, .data = data, .bytes = bytes, .at = HEADER_V1 };
    bool version_0;
    enum err e;

    if (bytes < HEADER_V0) {
        return source_refuse(s, ERR_BAD_MODEL, "neither a GGUF nor a llama2.c file: %zu %s", bytes,
                             plural(bytes, "byte", "bytes"));
    }
    if (load_u32(data) == SWAPPED_MAGIC) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "the bytes of the llama2.c magic are swapped: "
                             "export the model again on a little-endian computer");
    }
    version_0 = load_u32(data) != MAGIC;
    if (!version_0 && bytes < HEADER_V1) {
        return source_refuse(s, ERR_BAD_MODEL, "the llama2.c file ends inside its header");
    }
    e = take_file(&r, version_0);
    if (e != ERR_OK) {
        return e;
    }
    if (r.at != bytes) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the file has %zu %s, its llama2.c header "
                             "demands %llu: it is cut short, or another format",
                             bytes, plural(bytes, "byte", "bytes"), (unsigned long long)r.at);
    }
    return source_check_tensors(s);
}

enum err llama2c_parse_vocab(struct source *s, const char *path, const uint8_t *data, size_t bytes,
                             uint32_t n_tokens)
{
    uint32_t n = 0;
    size_t at = 4; /* the length of the longest token comes first */

    while (at < bytes && n < INGOT_MAX_VOCAB) {
        uint32_t text_bytes;

        if (bytes - at < 8) {
            break;
        }
        text_bytes = load_u32(data + at + 4);
        if (text_bytes > bytes - at - 8) {
            break;
        }
        at += 8 + (size_t)text_bytes;
        n++;
    }
    if (at != bytes) {
        return source_refuse(s, ERR_BAD_TOKENIZER, "the tokenizer %.120s is cut short in token %u",
                             path, n);
    }
    if (n != n_tokens) {
        return source_refuse(s, ERR_BAD_TOKENIZER,
                             "the tokenizer %.120s has %u %s, but the model has %u: name the "
                             "model's own tokenizer with --tokenizer",
                             path, n, plural(n, "token", "tokens"), n_tokens);
    }
    s->vocab = (struct source_vocab){
        .layout = SOURCE_LLAMA2C_VOCAB,
        .n_tokens = n,
        .texts = data + 4,
        .bos = INGOT_NO_TOKEN,
        .eos = INGOT_NO_TOKEN,
        .unk = 0,
        .eot = INGOT_NO_TOKEN,
        .flags = INGOT_ADD_SPACE_PREFIX,
    };
    if (n > 1) {
        s->vocab.bos = 1;
        s->vocab.flags |= INGOT_ADD_BOS;
    }
    if (n > 2) {
        s->vocab.eos = 2;
    }
    return ERR_OK;
}
