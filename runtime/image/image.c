#include "runtime/image/image.h"

#include <string.h>

#include "runtime/image/image_check.h"
#include "runtime/base/crc32c.h"

enum { PLACE_BYTES = 32 };

/* What each type demands. */
static const struct type_rule {
    const char *name;
    uint32_t interleave;
    uint32_t chunk;
    uint32_t padding;     /* columns come in multiples of this */
    uint32_t block_bytes; /* of `padding` columns of one row */
    bool whole_blocks;    /* other columns are refused: they cannot be padded */
} type_rules[INGOT_N_TYPES] = {
    [INGOT_F32] = { "f32", 1, 0, 16, 64, false },
    [INGOT_F16] = { "f16", 1, 0, 32, 64, false },
    [INGOT_Q8_0] = { "q8_0", GROUP_ROWS, CHUNK_COLS, BLOCK_COLS, Q8X8_BYTES / GROUP_ROWS, false },
    [INGOT_Q4_0] = { "q4_0", GROUP_ROWS, CHUNK_COLS, BLOCK_COLS, Q4X8_BYTES / GROUP_ROWS, false },
    [INGOT_Q4_K] = { "q4_k", GROUP_ROWS, CHUNK_COLS, BLOCK_K_COLS, Q4K_BYTES / GROUP_ROWS, true },
    [INGOT_Q6_K] = { "q6_k", GROUP_ROWS, CHUNK_COLS, BLOCK_K_COLS, Q6K_BYTES / GROUP_ROWS, true },
};

static const struct type_rule *type_rule(unsigned type)
{
    static const struct type_rule unknown = { "unknown", 0, 0, 0, 0, false };

    return type < INGOT_N_TYPES ? &type_rules[type] : &unknown;
}

const char *image_type_name(unsigned type)
{
    return type_rule(type)->name;
}

const char *image_family_name(unsigned family)
{
    static const char *const names[INGOT_LAST_FAMILY + 1] = {
        [0] = "unknown",           [INGOT_LLAMA] = "llama",   [INGOT_MISTRAL] = "mistral",
        [INGOT_QWEN2] = "qwen2",   [INGOT_QWEN3] = "qwen3",   [INGOT_GEMMA] = "gemma",
        [INGOT_GEMMA2] = "gemma2", [INGOT_GEMMA3] = "gemma3", [INGOT_PHI3] = "phi3",
        [INGOT_GPT2] = "gpt2",
    };

    return names[family <= INGOT_LAST_FAMILY ? family : 0];
}

uint32_t image_type_interleave(unsigned type)
{
    return type_rule(type)->interleave;
}

uint32_t image_type_chunk(unsigned type)
{
    return type_rule(type)->chunk;
}

uint32_t image_type_padding(unsigned type)
{
    return type_rule(type)->padding;
}

bool image_type_takes(unsigned type, uint32_t cols)
{
    const struct type_rule *rule = type_rule(type);

    return rule->padding != 0 && !(rule->whole_blocks && cols % rule->padding != 0);
}

size_t image_type_row_bytes(unsigned type, uint32_t cols_padded)
{
    const struct type_rule *rule = type_rule(type);

    return rule->padding == 0 ? 0 : (size_t)(cols_padded / rule->padding) * rule->block_bytes;
}

uint64_t image_tensor_bytes(unsigned type, uint32_t rows, uint32_t cols)
{
    const struct type_rule *rule = type_rule(type);
    uint32_t padded;

    if (!image_type_takes(type, cols) || rows > INGOT_MAX_VOCAB || cols > INGOT_MAX_HIDDEN) {
        return 0;
    }
    padded = (uint32_t)image_round_up(cols, rule->padding);
    /* at most 2^20 rows of 2^20 bytes */
    return image_round_up(rows, rule->interleave) * image_type_row_bytes(type, padded);
}

uint64_t image_meta_bytes(const struct ingot_header *h)
{
    return image_round_up(h->segments.offset + h->segments.bytes, INGOT_PAGE) - INGOT_PAGE;
}

static enum err check_section_crc(struct image *img, const char *name,
                                  const struct ingot_section *s, const uint8_t *meta)
{
    const uint8_t *data = meta + (s->offset - INGOT_PAGE);
    size_t padding = (size_t)(image_round_up(s->bytes, INGOT_PAGE) - s->bytes);

    if (crc32c(0, data, (size_t)s->bytes) != s->crc32c) {
        return REFUSE(img, ERR_BAD_CHECKSUM, "section %s is damaged: its CRC does not match", name);
    }
    if (!image_all_zero(data + s->bytes, padding)) {
        return REFUSE(img, ERR_BAD_CHECKSUM, "the zeros after section %s are damaged", name);
    }
    return ERR_OK;
}

uint32_t image_segment_count(const struct image *img)
{
    return img->header->params.n_layers + 2;
}

uint32_t image_embedding_segment(const struct image *img)
{
    (void)img;
    return 0;
}

uint32_t image_layer_segment(const struct image *img, uint32_t layer)
{
    (void)img;
    return layer + 1;
}

uint32_t image_head_segment(const struct image *img)
{
    return img->header->params.n_layers + 1;
}

void image_segment_name(const struct image *img, unsigned segment, char *text, size_t text_bytes)
{
    unsigned n_layers = img->header->params.n_layers;

    if (segment == 0 || segment > n_layers) {
        format_text(text, text_bytes, "%s", segment == 0 ? "embedding" : "head");
        return;
    }
    format_text(text, text_bytes, "layer %u", segment - 1);
}

/* Segments follow the sections and each other without gaps to the end of the file. */
static enum err check_segments(struct image *img)
{
    const struct ingot_header *h = img->header;
    uint64_t end = INGOT_PAGE + image_meta_bytes(h);
    char place[PLACE_BYTES];

    for (unsigned i = 0; i < h->segments.count; i++) {
        const struct ingot_segment *x = &img->segments[i];
        bool layer = i > 0 && i <= h->params.n_layers;
        unsigned kind = layer    ? INGOT_SEGMENT_LAYER
                        : i == 0 ? INGOT_SEGMENT_EMBEDDING
                                 : INGOT_SEGMENT_HEAD;

        image_segment_name(img, i, place, sizeof place);
        if (x->kind != kind || x->layer != (layer ? i - 1 : INGOT_NO_LAYER)) {
            return REFUSE(img, ERR_BAD_HEADER, "segments: entry %u is not %s (kind %u, layer %u)",
                          i, place, x->kind, x->layer);
        }
        if (x->offset != end) {
            return REFUSE(img, ERR_BAD_HEADER, "segments: %s: offset is %llu, must be %llu", place,
                          (unsigned long long)x->offset, (unsigned long long)end);
        }
        if (x->bytes == 0 || x->bytes % INGOT_PAGE != 0 || x->bytes > h->file_bytes - end) {
            return REFUSE(img, ERR_BAD_HEADER,
                          "segments: %s: bytes is %llu, no page multiple up to %llu", place,
                          (unsigned long long)x->bytes, (unsigned long long)(h->file_bytes - end));
        }
        if (!image_all_zero(x->reserved, sizeof x->reserved)) {
            return REFUSE(img, ERR_BAD_HEADER, "segments: %s: reserved is not zero", place);
        }
        end += x->bytes;
    }
    if (end != h->file_bytes) {
        return REFUSE(img, ERR_BAD_HEADER, "segments: the last ends at %llu, the file at %llu",
                      (unsigned long long)end, (unsigned long long)h->file_bytes);
    }
    return ERR_OK;
}

static enum err refuse_field(struct image *img, const char *place, const char *field,
                             uint64_t value, uint64_t right)
{
    return REFUSE(img, ERR_BAD_HEADER, "tensors: %s: %s is %llu, must be %llu", place, field,
                  (unsigned long long)value, (unsigned long long)right);
}

/* Type, shape and everything that follows from them. */
static enum err check_tensor_shape(struct image *img, const struct ingot_tensor *t,
                                   enum ingot_role role, const char *place)
{
    const struct type_rule *rule = type_rule(t->type);
    uint32_t rows, cols;

    if (!image_role_is_matrix(role) && t->type != INGOT_F32 &&
        !(role == INGOT_POSITION_EMBEDDING && t->type == INGOT_F16)) {
        return REFUSE(img, ERR_UNSUPPORTED, "tensors: %s: type is %u (%s), it must be f32", place,
                      t->type, rule->name);
    }
    if (rule->padding == 0) {
        return REFUSE(img, ERR_UNSUPPORTED, "tensors: %s: type is %u, this program knows 0 to %u",
                      place, t->type, (unsigned)INGOT_N_TYPES - 1);
    }
    image_role_shape(&img->header->params, role, &rows, &cols);
    if (!image_type_takes(t->type, cols)) {
        return REFUSE(img, ERR_BAD_HEADER, "tensors: %s: cols is %u, %s demands a multiple of %u",
                      place, cols, rule->name, rule->padding);
    }
    const struct {
        const char *name;
        uint64_t value, right;
    } fields[] = {
        { "interleave", t->interleave, rule->interleave },
        { "chunk", t->chunk, rule->chunk },
        { "reserved", t->reserved0 | t->reserved[0] | t->reserved[1] | t->reserved[2], 0 },
        { "rows", t->rows, rows },
        { "cols", t->cols, cols },
        { "cols_padded", t->cols_padded, image_round_up(cols, rule->padding) },
        { "bytes", t->bytes, image_tensor_bytes(t->type, rows, cols) },
    };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].value != fields[i].right) {
            return refuse_field(img, place, fields[i].name, fields[i].value, fields[i].right);
        }
    }
    return ERR_OK;
}

/* Tensors of an segment ascend; *end is where the one before ended in the same segment. */
static enum err check_tensor_place(struct image *img, const struct ingot_tensor *t,
                                   uint32_t segment, const char *place, uint64_t *end)
{
    uint64_t limit;

    if (t->segment != segment) {
        return refuse_field(img, place, "segment", t->segment, segment);
    }
    limit = img->segments[segment].bytes;
    if (t->offset % INGOT_TENSOR_ALIGN != 0 || t->offset < *end) {
        return REFUSE(img, ERR_BAD_HEADER, "tensors: %s: offset %llu is unaligned or below %llu",
                      place, (unsigned long long)t->offset, (unsigned long long)*end);
    }
    if (t->offset > limit || t->bytes > limit - t->offset) {
        return REFUSE(img, ERR_BAD_HEADER,
                      "tensors: %s: offset %llu leaves the segment's %llu bytes", place,
                      (unsigned long long)t->offset, (unsigned long long)limit);
    }
    *end = t->offset + t->bytes;
    return ERR_OK;
}

static enum err check_tensor(struct image *img, enum ingot_role role, unsigned layer,
                             uint32_t segment, uint64_t *end)
{
    const struct ingot_tensor *t = image_tensor(img, role, layer);
    const struct ingot_tensor *embedding = img->tensors;
    char place[PLACE_BYTES];
    enum err e;

    if (layer == INGOT_NO_LAYER) {
        format_text(place, sizeof place, "%s", image_role_name(role));
    } else {
        format_text(place, sizeof place, "layer %u %s", layer, image_role_name(role));
    }
    if (t->role != role || t->layer != layer) {
        return REFUSE(img, ERR_BAD_HEADER, "tensors: in place of %s stands role %u of layer %u",
                      place, t->role, t->layer);
    }
    e = check_tensor_shape(img, t, role, place);
    if (e != ERR_OK) {
        return e;
    }
    if (role != INGOT_OUTPUT || !img->header->params.tied) {
        return check_tensor_place(img, t, segment, place, end);
    }
    if (t->segment != 0 || t->offset != embedding->offset || t->type != embedding->type) {
        return REFUSE(img, ERR_BAD_HEADER, "tensors: output is tied and not the token_embedding");
    }
    return ERR_OK;
}

/* Nothing but the padding of a page follows an segment's last tensor, which ends at `end`: the
 * planner's buffers count on it. */
static enum err check_segment_end(struct image *img, unsigned segment, uint64_t end)
{
    char place[PLACE_BYTES];

    if (img->segments[segment].bytes == image_round_up(end, INGOT_PAGE)) {
        return ERR_OK;
    }
    image_segment_name(img, segment, place, sizeof place);
    return REFUSE(img, ERR_BAD_HEADER, "segments: %s: bytes is %llu, the tensors end at %llu",
                  place, (unsigned long long)img->segments[segment].bytes, (unsigned long long)end);
}

/* Those of the roles [first, last) that are there. */
static enum err check_roles(struct image *img, unsigned first, unsigned last, unsigned layer,
                            uint32_t segment, uint64_t *end)
{
    enum err e = ERR_OK;

    for (unsigned role = first; e == ERR_OK && role < last; role++) {
        if (image_has_role(&img->header->params, (enum ingot_role)role)) {
            e = check_tensor(img, (enum ingot_role)role, layer, segment, end);
        }
    }
    return e;
}

static enum err check_tensors(struct image *img)
{
    uint32_t n_layers = img->header->params.n_layers;
    uint64_t end = 0;
    enum err e = check_roles(img, INGOT_TOKEN_EMBEDDING, INGOT_POSITION_EMBEDDING, INGOT_NO_LAYER,
                             0, &end);

    e = e == ERR_OK ? check_segment_end(img, 0, end) : e;
    end = 0;
    if (e == ERR_OK) { /* at the start of layer 0's segment, where they are added */
        e = check_roles(img, INGOT_POSITION_EMBEDDING, INGOT_ATTN_NORM, INGOT_NO_LAYER, 1, &end);
    }
    for (unsigned layer = 0; e == ERR_OK && layer < n_layers; layer++) {
        e = check_roles(img, INGOT_ATTN_NORM, INGOT_OUTPUT_NORM, layer, layer + 1, &end);
        e = e == ERR_OK ? check_segment_end(img, layer + 1, end) : e;
        end = 0;
    }
    if (e == ERR_OK) {
        e = check_roles(img, INGOT_OUTPUT_NORM, INGOT_N_ROLES, INGOT_NO_LAYER, n_layers + 1, &end);
    }
    return e == ERR_OK ? check_segment_end(img, n_layers + 1, end) : e;
}

/* Positive and finite; a NaN fails both comparisons. */
static enum err check_rope(struct image *img)
{
    uint32_t n = img->header->rope.count;

    for (uint32_t i = 0; i < n; i++) {
        if (!(img->rope[i] >= 0.5f && img->rope[i] <= 1e6f)) {
            return REFUSE(img, ERR_BAD_HEADER, "rope: factor %u is not between 0.5 and 1e6", i);
        }
    }
    return ERR_OK;
}

static enum err check_chat_numbers(struct image *img)
{
    const struct ingot_chat *chat = img->chat;
    uint32_t n_tokens = img->header->params.vocab;

    if ((chat->flags & ~(uint32_t)INGOT_ALL_CHAT_FLAGS) != 0) {
        return REFUSE(img, ERR_BAD_HEADER, "chat: flags are %u, this program knows %u", chat->flags,
                      (unsigned)INGOT_ALL_CHAT_FLAGS);
    }
    if (chat->n_stops > INGOT_MAX_STOPS) {
        return REFUSE(img, ERR_BAD_HEADER, "chat: n_stops is %u, more than %u", chat->n_stops,
                      (unsigned)INGOT_MAX_STOPS);
    }
    for (uint32_t i = 0; i < INGOT_MAX_STOPS; i++) {
        if (i < chat->n_stops ? chat->stops[i] >= n_tokens : chat->stops[i] != 0) {
            return REFUSE(img, ERR_BAD_HEADER, "chat: stops[%u] is %u, with %u of %u tokens", i,
                          chat->stops[i], chat->n_stops, n_tokens);
        }
    }
    return image_all_zero(chat->reserved, sizeof chat->reserved)
               ? ERR_OK
               : REFUSE(img, ERR_BAD_HEADER, "chat: reserved is not zero");
}

static enum err check_chat(struct image *img)
{
    uint64_t left = img->header->chat.bytes - sizeof *img->chat;

    for (size_t i = 0; i < INGOT_CHAT_STRINGS; i++) {
        if (img->chat->bytes[i] > left) {
            return REFUSE(img, ERR_BAD_HEADER, "chat: string %u has %u bytes, %llu are left",
                          (unsigned)i, img->chat->bytes[i], (unsigned long long)left);
        }
        left -= img->chat->bytes[i];
    }
    if (left != 0) {
        return REFUSE(img, ERR_BAD_HEADER, "chat: bytes after the strings");
    }
    return check_chat_numbers(img);
}

const char *image_chat_text(const struct ingot_chat *chat, enum ingot_chat_string which,
                            uint32_t *bytes)
{
    const char *text = (const char *)(chat + 1);

    for (unsigned i = 0; i < (unsigned)which; i++) {
        text += chat->bytes[i];
    }
    *bytes = chat->bytes[which];
    return text;
}

const char *image_chat_string(const struct image *img, enum ingot_chat_string which,
                              uint32_t *bytes)
{
    return image_chat_text(img->chat, which, bytes);
}

enum err image_check_meta(struct image *img, const uint8_t *meta)
{
    const struct ingot_header *h = img->header;
    const struct {
        const char *name;
        const struct ingot_section *section;
    } sections[] = {
        { "tokenizer", &h->tokenizer }, { "chat", &h->chat },         { "rope", &h->rope },
        { "tensors", &h->tensors },     { "segments", &h->segments },
    };
    enum err e;

    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        e = check_section_crc(img, sections[i].name, sections[i].section, meta);
        if (e != ERR_OK) {
            return e;
        }
    }
    img->tokenizer = meta + (h->tokenizer.offset - INGOT_PAGE);
    img->chat = (const void *)(meta + (h->chat.offset - INGOT_PAGE));
    img->rope = h->rope.count == 0 ? NULL : (const void *)(meta + (h->rope.offset - INGOT_PAGE));
    img->tensors = (const void *)(meta + (h->tensors.offset - INGOT_PAGE));
    img->segments = (const void *)(meta + (h->segments.offset - INGOT_PAGE));
    e = check_segments(img);
    if (e == ERR_OK) {
        e = check_tensors(img);
    }
    if (e == ERR_OK) {
        e = image_check_tokenizer(img, img->tokenizer, h->tokenizer.bytes, h->params.vocab);
    }
    e = e == ERR_OK ? check_rope(img) : e;
    return e == ERR_OK ? check_chat(img) : e;
}

enum err image_check_segment(struct image *img, unsigned segment, uint32_t crc)
{
    char place[PLACE_BYTES];

    if (crc == img->segments[segment].crc32c) {
        return ERR_OK;
    }
    image_segment_name(img, segment, place, sizeof place);
    return REFUSE(img, ERR_BAD_CHECKSUM, "%s is damaged: its CRC does not match", place);
}
