/* Check the table of segments: which bytes of the file are read together. */
#include "runtime/image/image_check.h"

uint32_t image_segment_count(const struct image *img)
{
    return img->header->segments.count;
}

uint32_t image_embedding_segment(const struct image *img)
{
    return image_tensor(img, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER)->segment;
}

uint32_t image_layer_segment(const struct image *img, uint32_t layer)
{
    return img->layers[layer].segment;
}

uint32_t image_head_segment(const struct image *img)
{
    return image_tensor(img, INGOT_OUTPUT_NORM, INGOT_NO_LAYER)->segment;
}

uint64_t image_phase_end(const struct image *img, uint32_t layer, unsigned phase)
{
    return img->segments[image_layer_segment(img, layer)].phase_end[phase];
}

static void name_segment(unsigned kind, unsigned layer, char *text, size_t text_bytes)
{
    static const char *const names[] = {
        [INGOT_SEGMENT_EMBEDDING] = "embedding",
        [INGOT_SEGMENT_HEAD] = "head",
        [INGOT_SEGMENT_TABLE] = "per-layer table",
    };

    if (kind == INGOT_SEGMENT_LAYER) {
        format_text(text, text_bytes, "layer %u", layer);
        return;
    }
    format_text(text, text_bytes, "%s", names[kind]);
}

void image_segment_name(const struct image *img, unsigned segment, char *text, size_t text_bytes)
{
    const struct ingot_segment *s = &img->segments[segment];

    name_segment(s->kind, s->layer, text, text_bytes);
}

/* Only layers are computed in phases, and the last phase ends with the segment. */
static enum err check_phases(struct image *img, const struct ingot_segment *s, const char *place)
{
    uint64_t least = 0;

    for (unsigned i = 0; i < INGOT_PHASES; i++) {
        bool whole = s->kind != INGOT_SEGMENT_LAYER || i == INGOT_PHASES - 1;
        uint64_t end = s->phase_end[i];

        if (end < least || end > s->bytes || end % INGOT_TENSOR_ALIGN != 0 ||
            (whole && end != s->bytes)) {
            return REFUSE(img, ERR_BAD_HEADER, "segments: %s: phase_end[%u] is %llu", place, i,
                          (unsigned long long)end);
        }
        least = end;
    }
    return ERR_OK;
}

uint32_t image_front_segments(const struct ingot_params *p)
{
    return p->per_layer_dim != 0 ? 2 : 1;
}

/* The order of segments: embedding, optionally the table of embeddings per layer, layers, head. */
static unsigned kind_at(uint32_t i, const struct ingot_params *p)
{
    uint32_t front = image_front_segments(p);

    if (i == 0) {
        return INGOT_SEGMENT_EMBEDDING;
    }
    if (i < front) {
        return INGOT_SEGMENT_TABLE;
    }
    if (i < front + p->n_layers) {
        return INGOT_SEGMENT_LAYER;
    }
    return INGOT_SEGMENT_HEAD;
}

/* Check entry number i, which begins at `at`. */
static enum err check_segment(struct image *img, uint32_t i, uint64_t at)
{
    const struct ingot_segment *s = &img->segments[i];
    const struct ingot_params *p = &img->header->params;
    unsigned kind = kind_at(i, p), layer = i - image_front_segments(p);
    uint64_t left = img->header->file_bytes - at;
    char place[IMAGE_PLACE_BYTES];

    if (kind != INGOT_SEGMENT_LAYER) {
        layer = INGOT_NO_LAYER;
    }
    name_segment(kind, layer, place, sizeof place);
    if (s->kind != kind || s->layer != layer) {
        return REFUSE(img, ERR_BAD_HEADER, "segments: entry %u is not %s (kind %u, layer %u)", i,
                      place, s->kind, s->layer);
    }
    if (s->offset != at) {
        return REFUSE(img, ERR_BAD_HEADER, "segments: %s: offset is %llu, must be %llu", place,
                      (unsigned long long)s->offset, (unsigned long long)at);
    }
    if (s->bytes == 0 || s->bytes % INGOT_PAGE != 0 || s->bytes > left) {
        return REFUSE(img, ERR_BAD_HEADER,
                      "segments: %s: bytes is %llu, not a multiple of a page up to %llu", place,
                      (unsigned long long)s->bytes, (unsigned long long)left);
    }
    if (s->reserved0 != 0 || s->reserved != 0) {
        return REFUSE(img, ERR_BAD_HEADER, "segments: %s: reserved is not zero", place);
    }
    return check_phases(img, s, place);
}

enum err image_check_segments(struct image *img)
{
    const struct ingot_header *h = img->header;
    uint64_t end = INGOT_PAGE + image_meta_bytes(h);

    for (uint32_t i = 0; i < h->segments.count; i++) {
        enum err e = check_segment(img, i, end);

        if (e != ERR_OK) {
            return e;
        }
        end += img->segments[i].bytes;
    }
    if (end != h->file_bytes) {
        return REFUSE(img, ERR_BAD_HEADER, "segments: the last ends at %llu, the file at %llu",
                      (unsigned long long)end, (unsigned long long)h->file_bytes);
    }
    return ERR_OK;
}

enum err image_check_segment(struct image *img, unsigned segment, uint32_t crc)
{
    char place[IMAGE_PLACE_BYTES];

    if (crc == img->segments[segment].crc32c) {
        return ERR_OK;
    }
    image_segment_name(img, segment, place, sizeof place);
    return REFUSE(img, ERR_BAD_CHECKSUM, "%s is damaged: its CRC does not match", place);
}
