/* The check of the header page, before which nothing in it is believed. */
#include <string.h>

#include "runtime/image/image_check.h"
#include "runtime/base/crc32c.h"

static uint32_t header_crc(const struct ingot_header *h)
{
    static const uint8_t zero[sizeof h->header_crc32c];
    const size_t field = offsetof(struct ingot_header, header_crc32c);
    const uint8_t *bytes = (const uint8_t *)h;
    uint32_t crc = crc32c(0, bytes, field);

    crc = crc32c(crc, zero, sizeof zero);
    return crc32c(crc, bytes + field + sizeof zero, sizeof *h - field - sizeof zero);
}

/* Terminated, and no control characters: the name goes to terminals. */
static bool name_is_clean(const char *name, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)name[i];

        if (c == 0) {
            return true;
        }
        if (c < 32 || c == 127) {
            return false;
        }
    }
    return false;
}

enum err image_check_params(struct image *img, const struct ingot_params *p)
{
    const struct {
        const char *name;
        uint32_t value, low, high;
    } bounds[] = {
        { "dim", p->dim, 1, INGOT_MAX_DIM },
        { "hidden", p->hidden, 1, INGOT_MAX_HIDDEN },
        { "n_layers", p->n_layers, 1, INGOT_MAX_LAYERS },
        { "n_heads", p->n_heads, 1, INGOT_MAX_HEADS },
        { "n_kv_heads", p->n_kv_heads, 1, INGOT_MAX_HEADS },
        { "head_dim", p->head_dim, 2, INGOT_MAX_DIM },
        { "vocab", p->vocab, 1, INGOT_MAX_VOCAB },
        { "context", p->context, 1, INGOT_MAX_CONTEXT },
        { "rope", p->rope, INGOT_ROPE_PAIRS, INGOT_ROPE_NONE },
        { "rope_dims", p->rope_dims, 2, INGOT_MAX_DIM },
        { "rope_context", p->rope_context, 0, INGOT_MAX_CONTEXT },
        { "window", p->window, 0, INGOT_MAX_CONTEXT },
        { "global_every", p->global_every, 0, INGOT_MAX_LAYERS },
        { "features", p->features, 0, INGOT_ALL_FEATURES },
        { "tied", p->tied, 0, 1 },
    };
    /* Each must lie in its range; written so that a NaN fails too. */
    const struct {
        const char *name;
        float value;
        float low, high;
    } ranges[] = {
        { "rope_base", p->rope_base, 1.0f, 1e12f },
        { "rope_base_local", p->rope_base_local, p->window != 0 ? 1.0f : 0.0f, 1e12f },
        { "rope_magnitude", p->rope_magnitude, 1e-3f, 1e3f },
        { "norm_eps", p->norm_eps, 1e-30f, 0.99f },
        { "attn_scale", p->attn_scale, 1e-6f, 1e3f },
        { "attn_softcap", p->attn_softcap, 0.0f, 1e6f },
        { "final_softcap", p->final_softcap, 0.0f, 1e6f },
        { "embedding_scale", p->embedding_scale, 1e-6f, 1e6f },
    };

    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        if (bounds[i].value > bounds[i].high) {
            return REFUSE(img, ERR_BAD_HEADER, "header: %s is %u, at most %u", bounds[i].name,
                          bounds[i].value, bounds[i].high);
        }
        if (bounds[i].value < bounds[i].low) {
            return REFUSE(img, ERR_BAD_HEADER, "header: %s is %u, at least %u", bounds[i].name,
                          bounds[i].value, bounds[i].low);
        }
    }
    if (p->n_heads % p->n_kv_heads != 0) {
        return REFUSE(img, ERR_BAD_HEADER, "header: n_kv_heads is %u, no divisor of n_heads %u",
                      p->n_kv_heads, p->n_heads);
    }
    if (p->head_dim % 2 != 0 || p->head_dim > INGOT_MAX_DIM / p->n_heads) {
        return REFUSE(img, ERR_BAD_HEADER, "header: head_dim is %u, must be even and at most %u",
                      p->head_dim, INGOT_MAX_DIM / p->n_heads);
    }
    if ((p->features & INGOT_UNGATED) != 0 && (p->features & INGOT_GELU) == 0) {
        return REFUSE(img, ERR_BAD_HEADER,
                      "header: features ask for an ungated SiLU, which no "
                      "family has");
    }
    if (p->rope_dims % 2 != 0 || p->rope_dims > p->head_dim) {
        return REFUSE(img, ERR_BAD_HEADER, "header: rope_dims is %u, must be even and at most %u",
                      p->rope_dims, p->head_dim);
    }
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (!(ranges[i].value >= ranges[i].low && ranges[i].value <= ranges[i].high)) {
            return REFUSE(img, ERR_BAD_HEADER, "header: %s is out of its range", ranges[i].name);
        }
    }
    return ERR_OK;
}

/* The sections follow the header and each other without gaps, so one cursor proves that none
 * overlaps. On success *end is the next free page. */
static enum err check_section(struct image *img, const char *name, const struct ingot_section *s,
                              uint64_t least_bytes, uint32_t count, uint64_t *end)
{
    uint64_t limit = img->header->file_bytes;

    if (s->offset != *end) {
        return REFUSE(img, ERR_BAD_HEADER, "header: %s.offset is %llu, must be %llu", name,
                      (unsigned long long)s->offset, (unsigned long long)*end);
    }
    if (s->bytes > limit - *end) {
        return REFUSE(img, ERR_BAD_HEADER, "header: %s.bytes is %llu, the file has %llu left", name,
                      (unsigned long long)s->bytes, (unsigned long long)(limit - *end));
    }
    if (s->bytes < least_bytes || (count != 0 && s->bytes != least_bytes)) {
        return REFUSE(img, ERR_BAD_HEADER, "header: %s.bytes is %llu, must be %s %llu", name,
                      (unsigned long long)s->bytes, count != 0 ? "exactly" : "at least",
                      (unsigned long long)least_bytes);
    }
    if (s->count != count) {
        return REFUSE(img, ERR_BAD_HEADER, "header: %s.count is %u, must be %u", name, s->count,
                      count);
    }
    /* Stays within the file, whose size is a multiple of the page as well. */
    *end = image_round_up(s->offset + s->bytes, INGOT_PAGE);
    return ERR_OK;
}

static enum err check_sections(struct image *img, const struct ingot_header *h)
{
    uint32_t n_tensors = image_tensor_count(&h->params);
    uint32_t n_factors = INGOT_ROPE_SETS * (h->params.rope_dims / 2);
    uint32_t n_segments = h->params.n_layers + 2;
    uint64_t end = INGOT_PAGE;
    enum err e;

    e = check_section(img, "tokenizer", &h->tokenizer, sizeof(struct ingot_tokenizer), 0, &end);
    if (e != ERR_OK) {
        return e;
    }
    e = check_section(img, "chat", &h->chat, sizeof(struct ingot_chat), 0, &end);
    if (e != ERR_OK) {
        return e;
    }
    n_factors = h->rope.bytes == 0 ? 0 : n_factors;
    e = check_section(img, "rope", &h->rope, n_factors * sizeof(float), n_factors, &end);
    if (e != ERR_OK) {
        return e;
    }
    e = check_section(img, "tensors", &h->tensors, n_tensors * sizeof(struct ingot_tensor),
                      n_tensors, &end);
    if (e != ERR_OK) {
        return e;
    }
    return check_section(img, "segments", &h->segments, n_segments * sizeof(struct ingot_segment),
                         n_segments, &end);
}

enum err image_check_header(struct image *img, const struct ingot_header *h, uint64_t file_bytes)
{
    enum err e;

    memset(img, 0, sizeof *img);
    if (file_bytes < sizeof *h) {
        return REFUSE(img, ERR_TRUNCATED, "the file has %u bytes, less than a header",
                      (unsigned)file_bytes);
    }
    if (memcmp(h->magic, INGOT_MAGIC, sizeof h->magic) != 0) {
        return REFUSE(img, ERR_BAD_MAGIC,
                      "not an .ingot file (its magic is another): make one with `ingot pack`");
    }
    if (h->version != INGOT_VERSION) {
        return REFUSE(img, ERR_BAD_VERSION,
                      "header: version is %u, this program reads %u: pack "
                      "the model again",
                      h->version, (unsigned)INGOT_VERSION);
    }
    if (header_crc(h) != h->header_crc32c) {
        return REFUSE(img, ERR_BAD_CHECKSUM, "the header is damaged: its CRC does not match");
    }
    if (h->params.family < INGOT_LLAMA || h->params.family > INGOT_LAST_FAMILY) {
        return REFUSE(img, ERR_UNSUPPORTED, "header: family is %u, this program knows 1 to %u",
                      h->params.family, (unsigned)INGOT_LAST_FAMILY);
    }
    if (h->file_bytes > file_bytes) {
        return REFUSE(img, ERR_TRUNCATED,
                      "the file has %llu bytes of %llu: it is cut short, copy it again",
                      (unsigned long long)file_bytes, (unsigned long long)h->file_bytes);
    }
    if (h->file_bytes % INGOT_PAGE != 0 || h->file_bytes == 0) {
        return REFUSE(img, ERR_BAD_HEADER, "header: file_bytes is %llu, no multiple of %u",
                      (unsigned long long)h->file_bytes, (unsigned)INGOT_PAGE);
    }
    if (!name_is_clean(h->name, sizeof h->name)) {
        return REFUSE(img, ERR_BAD_HEADER,
                      "header: name is not terminated, or has control characters");
    }
    if (!image_all_zero(h->params.reserved, sizeof h->params.reserved) ||
        !image_all_zero(h->reserved, sizeof h->reserved)) {
        return REFUSE(img, ERR_BAD_HEADER, "header: reserved bytes are not zero");
    }
    img->header = h;
    e = image_check_params(img, &h->params);
    return e == ERR_OK ? check_sections(img, h) : e;
}
