#include "flash_image/gguf/gguf.h"

#include "flash_image/gguf/gguf_private.h"
#include "flash_image/quantize/equal_tensors.h"
#include "runtime/text/plural.h"

enum { MAX_VALUES = 65536 };

/* True if the output matrix equals the embedding byte for byte; then it is stored only once. */
static bool output_is_embedding(struct source *s)
{
    const struct source_tensor *o = source_tensor(s, INGOT_OUTPUT, INGOT_NO_LAYER);

    return o->data == NULL ||
           tensors_same_bytes(o, source_tensor(s, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER));
}

bool gguf_is(const uint8_t *data, size_t bytes)
{
    return bytes >= 4 && memcmp(data, "GGUF", 4) == 0;
}

static enum err check_version(struct source *s, uint32_t version)
{
    uint32_t swapped = __builtin_bswap32(version);
    const char *order = "";

    if (version == 2 || version == 3) {
        return ERR_OK;
    }
    if (swapped >= 1 && swapped <= 3) {
        version = swapped;
        order = ", big-endian";
    }
    return source_refuse(s, ERR_UNSUPPORTED,
                         "GGUF version %u%s; versions 2 and 3, little-endian, "
                         "can be packed: convert the model again",
                         version, order);
}

enum err gguf_read_header(struct gguf *g)
{
    uint32_t version;
    enum err e;

    gguf_take(&g->r, 4);
    version = gguf_take_u32(&g->r);
    g->n_tensors = gguf_take_u64(&g->r);
    g->n_values = gguf_take_u64(&g->r);
    if (g->r.bad) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the GGUF ends inside its header");
    }
    e = check_version(g->s, version);
    if (e != ERR_OK) {
        return e;
    }
    if (g->n_values > MAX_VALUES || g->n_tensors > INGOT_MAX_TENSORS) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "the GGUF claims %llu values and %llu tensors, more than any model "
                             "has",
                             (unsigned long long)g->n_values, (unsigned long long)g->n_tensors);
    }
    return ERR_OK;
}

/* Parse everything up to the tensor table, and extract the vocabulary. */
static enum err read_front(struct gguf *g, size_t n, bool vocab_only)
{
    enum err e = gguf_read_header(g);

    if (e != ERR_OK) {
        return e;
    }
    e = gguf_read_architecture(g);
    if (e != ERR_OK) {
        return e;
    }
    if (g->family == NULL && !vocab_only) {
        return family_refuse(g->s, (const char *)g->architecture.data, g->architecture.bytes, true);
    }
    e = gguf_read_values(g);
    if (e == ERR_OK) {
        e = gguf_check_part(g, 0, n);
    }
    if (e != ERR_OK) {
        return e;
    }
    return gguf_read_vocab(g, vocab_only);
}

/* The first of several parts may contain only values, and end after them. */
static enum err read_table(struct gguf *g)
{
    if (g->n_tensors == 0) {
        return ERR_OK;
    }
    return gguf_read_tensors(g);
}

/* Read the tensor tables of all parts; g is at the first part's table. The values of later parts
 * only describe the split, so only the tensors of these parts are read. */
static enum err read_tables(struct gguf *g, const struct gguf_part *parts, size_t n)
{
    const char *input = g->s->path;
    uint64_t total = g->n_tensors, wanted = gguf_number_or(g, N_SPLIT_TENSORS, 0);
    enum err e = read_table(g);

    for (size_t i = 1; e == ERR_OK && i < n; i++) {
        g->s->path = parts[i].path;
        e = gguf_open_part(g, &parts[i], i, n);
        total += g->n_tensors;
        if (e == ERR_OK) {
            e = read_table(g);
        }
    }
    if (e != ERR_OK) {
        return e;
    }
    g->s->path = input;
    if (g->has_number[N_SPLIT_TENSORS] && wanted != total) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "split.tensors.count is %llu, but the model's parts have %llu %s: "
                             "fetch all parts again",
                             (unsigned long long)wanted, (unsigned long long)total,
                             plural((unsigned long long)total, "tensor", "tensors"));
    }
    return e;
}

static enum err read_weights(struct gguf *g, const struct gguf_part *parts, size_t n)
{
    enum err e = gguf_read_params(g);

    if (e != ERR_OK) {
        return e;
    }
    if (g->n_tensors == 0 && n == 1) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the GGUF holds a vocabulary and no weights");
    }
    e = read_tables(g, parts, n);
    if (e != ERR_OK) {
        return e;
    }
    e = gguf_finish_params(g);
    if (e != ERR_OK) {
        return e;
    }
    g->s->params.tied = g->s->wants_mtp ||
                        (g->s->params.target_dim == 0 && output_is_embedding(g->s));
    return source_check_tensors(g->s);
}

enum err gguf_parse_parts(struct source *s, const struct gguf_part *parts, size_t n,
                          bool vocab_only)
{
    struct gguf g = { .s = s,
                      .r = { parts->data, parts->bytes, false },
                      .file = parts->data,
                      .bytes = parts->bytes };
    enum err e = read_front(&g, n, vocab_only);

    if (e != ERR_OK || vocab_only) {
        return e;
    }
    return read_weights(&g, parts, n);
}

enum err gguf_parse(struct source *s, const uint8_t *data, size_t bytes, bool vocab_only)
{
    const struct gguf_part whole = { s->path, data, bytes };

    return gguf_parse_parts(s, &whole, 1, vocab_only);
}
