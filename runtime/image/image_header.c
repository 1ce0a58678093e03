/* Check the header page, before any value of it is used. */
#include <string.h>

#include "board/min_max.h"
#include "flash_image/format/adapter.h"
#include "runtime/image/image_check.h"
#include "runtime/base/crc32c.h"

uint64_t image_meta_bytes(const struct ingot_header *h)
{
    return image_round_up(h->experts.offset + h->experts.bytes, INGOT_PAGE) - INGOT_PAGE;
}

static uint32_t header_crc(const struct ingot_header *h)
{
    return crc32c_of_header(h, sizeof *h, &h->header_crc32c);
}

/* Return true if a name is NUL-terminated and free of control characters, because it is written to
 * terminals. */
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

static enum err check_bounds(struct image *img, const struct image_bound *bounds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bounds[i].value > bounds[i].high) {
            return REFUSE(img, ERR_BAD_HEADER, "header: %s is %u, must be at most %u",
                          bounds[i].name, bounds[i].value, bounds[i].high);
        }
        if (bounds[i].value < bounds[i].low) {
            return REFUSE(img, ERR_BAD_HEADER, "header: %s is %u, must be at least %u",
                          bounds[i].name, bounds[i].value, bounds[i].low);
        }
    }
    return ERR_OK;
}

static enum err check_ranges(struct image *img, const struct image_range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!image_in_range(&ranges[i])) {
            return REFUSE(img, ERR_BAD_HEADER, "header: %s is out of its range", ranges[i].name);
        }
    }
    return ERR_OK;
}

enum err image_check_params(struct image *img, const struct ingot_params *p)
{
    const struct image_bound bounds[] = {
        { "dim", p->dim, 1, INGOT_MAX_DIM },
        { "n_layers", p->n_layers, 1, INGOT_MAX_LAYERS },
        { "vocab", p->vocab, 1, INGOT_MAX_VOCAB },
        { "context", p->context, 1, INGOT_MAX_CONTEXT },
        { "tied", p->tied, 0, p->target_dim == 0 },
        { "norm", p->norm, INGOT_NORM_RMS, INGOT_NORM_LAYER },
        { "n_ropes", p->n_ropes, 0, INGOT_MAX_ROPES },
        { "hidden", p->hidden, 1, INGOT_MAX_HIDDEN },
        { "n_heads", p->n_heads, 1, INGOT_MAX_HEADS },
        { "n_kv_heads", p->n_kv_heads, 1, INGOT_MAX_HEADS },
        { "head_dim", p->head_dim, 2, INGOT_MAX_DIM },
        { "per_layer_dim", p->per_layer_dim, 0, INGOT_MAX_HIDDEN / max_u32(p->n_layers, 1) },
        { "target_dim", p->target_dim, 0, INGOT_MAX_DIM },
        { "mtp", p->mtp, p->target_dim != 0, p->tied | (p->target_dim != 0) },
    };
    const struct image_range ranges[] = {
        { "norm_eps", p->norm_eps, 1e-30f, 0.99f },
        { "final_softcap", p->final_softcap, 0.0f, 1e6f },
        { "embedding_scale", p->embedding_scale, 1e-6f, 1e6f },
        { "logits_scale", p->logits_scale, 1e-6f, 1e6f },
    };
    enum err e = check_bounds(img, bounds, sizeof bounds / sizeof bounds[0]);

    if (e == ERR_OK) {
        e = check_ranges(img, ranges, sizeof ranges / sizeof ranges[0]);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (p->n_layers * p->per_layer_dim % INGOT_TABLE_ROWS != 0 || p->per_layer_dim > p->hidden) {
        return REFUSE(
            img, ERR_UNSUPPORTED,
            "header: per_layer_dim is %u: n_layers times it must be a multiple of %u, and it must "
            "not exceed hidden",
            p->per_layer_dim, (unsigned)INGOT_TABLE_ROWS);
    }
    return ERR_OK;
}

/* Unused fields must be zero. */
static enum err check_sampling(struct image *img, const struct ingot_sampling *s)
{
    const uint32_t given = s->given;
    const struct image_bound bounds[] = {
        { "sampling_given", given, 0, INGOT_ALL_SAMPLING },
        { "top_k", s->top_k, 0, (given & INGOT_SAMPLES_TOP_K) != 0 ? INGOT_MAX_VOCAB : 0 },
        { "repeat_last", s->repeat_last, 0,
          (given & INGOT_SAMPLES_REPEAT_LAST) != 0 ? INGOT_MAX_CONTEXT : 0 },
        { "sampling_reserved", s->reserved, 0, 0 },
    };
    const struct image_range ranges[] = {
        { "temp", s->temp, 0.0f, (given & INGOT_SAMPLES_TEMP) != 0 ? 100.0f : 0.0f },
        { "top_p", s->top_p, 0.0f, (given & INGOT_SAMPLES_TOP_P) != 0 ? 1.0f : 0.0f },
        { "min_p", s->min_p, 0.0f, (given & INGOT_SAMPLES_MIN_P) != 0 ? 1.0f : 0.0f },
        { "repeat", s->repeat, (given & INGOT_SAMPLES_REPEAT) != 0 ? 0.01f : 0.0f,
          (given & INGOT_SAMPLES_REPEAT) != 0 ? 100.0f : 0.0f },
    };
    enum err e = check_bounds(img, bounds, sizeof bounds / sizeof bounds[0]);

    if (e == ERR_OK) {
        e = check_ranges(img, ranges, sizeof ranges / sizeof ranges[0]);
    }
    return e;
}

/* Check the ropes; their factors are in a section that is not read yet. */
static enum err check_rope(struct image *img, const struct ingot_rope *r, uint32_t n_factors)
{
    const struct image_bound bounds[] = {
        { "rope_kind", r->kind, INGOT_ROPE_PAIRS, INGOT_ROPE_HALVES },
        { "rope_dims", r->dims, 2, INGOT_MAX_DIM },
        { "rope_context", r->long_context, 0, INGOT_MAX_CONTEXT },
        { "rope_reserved", r->reserved, 0, 0 },
    };
    const struct image_range ranges[] = {
        { "rope_base", r->base, 1.0f, 1e12f },
        { "rope_magnitude", r->magnitude, 1e-3f, 1e3f },
    };
    const uint32_t factors[] = { r->factors, r->long_factors };
    enum err e = check_bounds(img, bounds, sizeof bounds / sizeof bounds[0]);

    if (e == ERR_OK) {
        e = check_ranges(img, ranges, sizeof ranges / sizeof ranges[0]);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (r->dims % 2 != 0) {
        return REFUSE(img, ERR_BAD_HEADER, "header: rope_dims is %u, must be even", r->dims);
    }
    for (unsigned set = 0; set < 2; set++) {
        if (factors[set] != INGOT_NO_FACTORS && (uint64_t)factors[set] + r->dims / 2 > n_factors) {
            return REFUSE(img, ERR_BAD_HEADER, "header: rope_factors is %u, but there are %u",
                          factors[set], n_factors);
        }
    }
    if ((r->long_factors != INGOT_NO_FACTORS) != (r->long_context != 0)) {
        return REFUSE(img, ERR_BAD_HEADER,
                      "header: rope_context is %u, but long factors are missing", r->long_context);
    }
    return ERR_OK;
}

enum err image_check_ropes(struct image *img, const struct ingot_rope *ropes, uint32_t n,
                           uint32_t n_factors)
{
    uint32_t limit = 0;

    for (uint32_t i = 0; i < n; i++) {
        enum err e = check_rope(img, &ropes[i], n_factors);

        if (e != ERR_OK) {
            return e;
        }
        if (limit != 0 && ropes[i].long_context != 0 && ropes[i].long_context != limit) {
            return REFUSE(img, ERR_BAD_HEADER, "header: rope_context is %u, but %u in another rope",
                          ropes[i].long_context, limit);
        }
        limit = max_u32(limit, ropes[i].long_context);
    }
    if (!image_all_zero(&ropes[n], (INGOT_MAX_ROPES - n) * sizeof ropes[0])) {
        return REFUSE(img, ERR_BAD_HEADER, "header: ropes beyond n_ropes are not zero");
    }
    return ERR_OK;
}

/* The rule for a section. The section is a table of `least` to `most` entries or, if entry_bytes is
 * 0, has at least `least` bytes. */
struct section_rule {
    const char *name;
    const struct ingot_section *section;
    uint32_t entry_bytes;
    uint32_t least, most;
};

static enum err check_size(struct image *img, const struct section_rule *r)
{
    const struct ingot_section *s = r->section;
    uint64_t bytes = (uint64_t)s->count * r->entry_bytes;

    if (r->entry_bytes == 0 && s->bytes < r->least) {
        return REFUSE(img, ERR_BAD_HEADER, "header: %s.bytes is %llu, must be at least %u", r->name,
                      (unsigned long long)s->bytes, r->least);
    }
    if (r->entry_bytes == 0 && s->count != 0) {
        return REFUSE(img, ERR_BAD_HEADER, "header: %s.count is %u, must be 0", r->name, s->count);
    }
    if (r->entry_bytes != 0 && (s->count < r->least || s->count > r->most)) {
        return REFUSE(img, ERR_BAD_HEADER, "header: %s.count is %u, must be %u to %u", r->name,
                      s->count, r->least, r->most);
    }
    if (r->entry_bytes != 0 && s->bytes != bytes) {
        return REFUSE(img, ERR_BAD_HEADER, "header: %s.bytes is %llu, must be exactly %llu",
                      r->name, (unsigned long long)s->bytes, (unsigned long long)bytes);
    }
    return ERR_OK;
}

/* Sections follow the header and each other without gaps, so one cursor shows that they do not
 * overlap. On success *end is the next free page. */
static enum err check_section(struct image *img, const struct section_rule *r, uint64_t *end)
{
    const struct ingot_section *s = r->section;
    uint64_t limit = img->header->file_bytes;
    enum err e;

    if (s->offset != *end) {
        return REFUSE(img, ERR_BAD_HEADER, "header: %s.offset is %llu, must be %llu", r->name,
                      (unsigned long long)s->offset, (unsigned long long)*end);
    }
    if (s->bytes > limit - *end) {
        return REFUSE(img, ERR_BAD_HEADER, "header: %s.bytes is %llu, the file has %llu left",
                      r->name, (unsigned long long)s->bytes, (unsigned long long)(limit - *end));
    }
    e = check_size(img, r);
    if (e != ERR_OK) {
        return e;
    }
    /* The end stays within the file, whose size is also a multiple of the page. */
    *end = image_round_up(s->offset + s->bytes, INGOT_PAGE);
    return ERR_OK;
}

/* Return the largest possible number of extents, each of which has a checksum. An extent is an
 * expert, or the rows of one token in the table per layer. The actual number of experts is in the
 * table of layers. */
static uint32_t most_extents(const struct ingot_params *p)
{
    uint32_t rows = p->per_layer_dim != 0 ? p->vocab : 0;

    return p->n_layers * INGOT_MAX_EXPERTS + rows;
}

static enum err check_sections(struct image *img, const struct ingot_header *h)
{
    uint32_t n_layers = h->params.n_layers;
    uint32_t n_segments = image_front_segments(&h->params) + n_layers + 1;
    const struct section_rule rules[] = {
        { "tokenizer", &h->tokenizer, 0, sizeof(struct ingot_tokenizer), 0 },
        { "chat", &h->chat, 0, sizeof(struct ingot_chat), 0 },
        { "rope", &h->rope, sizeof(float), 0, INGOT_MAX_ROPES * INGOT_MAX_DIM },
        { "layers", &h->layers, sizeof(struct ingot_layer), n_layers, n_layers },
        { "segments", &h->segments, sizeof(struct ingot_segment), n_segments, n_segments },
        { "tensors", &h->tensors, sizeof(struct ingot_tensor), 1, INGOT_MAX_TENSORS },
        { "experts", &h->experts, sizeof(uint32_t), 0, most_extents(&h->params) },
    };
    uint64_t end = INGOT_PAGE;

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        enum err e = check_section(img, &rules[i], &end);

        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err check_identity(struct image *img, const struct ingot_header *h)
{
    if (memcmp(h->magic, ADAPTER_MAGIC, sizeof h->magic) == 0) {
        return REFUSE(img, ERR_BAD_MAGIC, "it is an adapter: name its model, and adapter=FILE");
    }
    if (memcmp(h->magic, INGOT_MAGIC, sizeof h->magic) != 0) {
        return REFUSE(img, ERR_BAD_MAGIC,
                      "not an .ingot file (its magic is another): make one with `ingot pack`");
    }
    if (h->version != INGOT_VERSION) {
        return REFUSE(img, ERR_BAD_VERSION,
                      "header: version is %u, this program reads %u: pack the model again",
                      h->version, (unsigned)INGOT_VERSION);
    }
    if (header_crc(h) != h->header_crc32c) {
        return REFUSE(img, ERR_BAD_CHECKSUM, "the header is damaged: its CRC does not match");
    }
    if (h->params.family < INGOT_LLAMA || h->params.family > INGOT_LAST_FAMILY) {
        return REFUSE(img, ERR_UNSUPPORTED, "header: family is %u, this program knows 1 to %u",
                      h->params.family, (unsigned)INGOT_LAST_FAMILY);
    }
    return ERR_OK;
}

enum err image_check_header(struct image *img, const struct ingot_header *h, uint64_t file_bytes)
{
    enum err e;

    memset(img, 0, sizeof *img);
    if (file_bytes < sizeof *h) {
        return REFUSE(img, ERR_TRUNCATED,
                      "the file has %u bytes, less than a header: copy it again, or make it with "
                      "`ingot pack`",
                      (unsigned)file_bytes);
    }
    e = check_identity(img, h);
    if (e != ERR_OK) {
        return e;
    }
    if (h->file_bytes > file_bytes) {
        return REFUSE(img, ERR_TRUNCATED,
                      "the file has %llu bytes of %llu: it is cut short, copy it again",
                      (unsigned long long)file_bytes, (unsigned long long)h->file_bytes);
    }
    if (h->file_bytes % INGOT_PAGE != 0 || h->file_bytes == 0) {
        return REFUSE(img, ERR_BAD_HEADER, "header: file_bytes is %llu, not a multiple of %u",
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
    if (e == ERR_OK) {
        e = check_sampling(img, &h->sampling);
    }
    if (e == ERR_OK) {
        e = check_sections(img, h);
    }
    if (e != ERR_OK) {
        return e;
    }
    return image_check_ropes(img, h->ropes, h->params.n_ropes, h->rope.count);
}
