/* Computes the places of the embedding's rows in the file, and the bytes of all segments in another
 * type. */
#include "board/block_device.h"
#include "board/min_max.h"
#include "runtime/stream/plan.h"

/* Return how many bytes are read for a token. The number is the same for all tokens, so that reads
 * can be planned. A group of g bytes begins at most s - 1 bytes after the start of a sector of s
 * bytes, so ceil((g + s - 1) / s) sectors hold it. */
static size_t embedding_row_bytes(const struct image *image)
{
    const struct ingot_tensor *t = image_tensor(image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER);
    size_t group = image_type_row_bytes(t->type, t->cols_padded) * t->interleave;

    if (group % SECTOR_BYTES == 0 && t->offset % SECTOR_BYTES == 0) {
        return group;
    }
    return (group + 2 * SECTOR_BYTES - 2) / SECTOR_BYTES * SECTOR_BYTES;
}

size_t plan_row_group_bytes(const struct image *image)
{
    const struct ingot_tensor *t = image_tensor(image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER);

    return image_type_row_bytes(t->type, t->cols_padded) * t->interleave;
}

uint32_t plan_row_groups(const struct image *image)
{
    const struct ingot_tensor *t = image_tensor(image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER);

    return (t->rows + t->interleave - 1) / t->interleave;
}

void plan_embedding_range(const struct image *image, uint32_t token, uint64_t *offset,
                          size_t *bytes)
{
    const struct ingot_tensor *t = image_tensor(image, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER);
    uint64_t group = image_type_row_bytes(t->type, t->cols_padded) * (uint64_t)t->interleave;
    uint64_t first = image->segments[t->segment].offset + t->offset + token / t->interleave * group;

    *offset = first / SECTOR_BYTES * SECTOR_BYTES; /* the group begins somewhere in this sector */
    *bytes = embedding_row_bytes(image);
}

uint64_t plan_layer_bytes(const struct image *image, uint32_t layer, bool cached)
{
    const struct ingot_layer *l = image_layer(image, layer);

    if (cached && l->ffn == INGOT_FFN_EXPERTS) {
        return l->expert_offset;
    }
    return image->segments[l->segment].bytes;
}

/* Every layer has the same number of slots, but at most one for each expert, and at least one for
 * each expert of a token:
 *
 *   slots(layer) = min(experts, max(n_slots, experts of a token))
 */
uint32_t plan_experts_slots(const struct image *image, uint32_t layer, uint32_t n_slots)
{
    const struct ingot_layer *l = image_layer(image, layer);

    if (n_slots == 0 || l->ffn != INGOT_FFN_EXPERTS) {
        return 0;
    }
    return min_u32(l->n_experts, max_u32(n_slots, l->n_experts_used));
}

/* Return how many tensors an entry of the table stands for. One entry stands for all experts of a
 * layer. */
static uint64_t copies_of(const struct image *image, const struct ingot_tensor *t)
{
    if (!image_role_is_expert((enum ingot_role)t->role)) {
        return 1;
    }
    return image_layer(image, t->layer)->n_experts;
}

/* Return how many pieces of the file are padded to whole pages: the segments, and the experts. */
static uint64_t count_padded(const struct image *image)
{
    uint64_t n = image_segment_count(image);

    for (uint32_t i = 0; i < image->header->params.n_layers; i++) {
        const struct ingot_layer *l = image_layer(image, i);

        n += l->ffn == INGOT_FFN_EXPERTS ? l->n_experts : 0;
    }
    return n;
}

/* Count a page of padding for each segment and each expert, so that no model that is already of
 * this type seems to become smaller. Norms and biases keep their type. A tied output counts only as
 * the embedding. The table per layer never needs memory. */
uint64_t plan_bytes_as(const struct image *image, unsigned type)
{
    const struct ingot_params *p = &image->header->params;
    uint64_t bytes = count_padded(image) * INGOT_PAGE;

    for (uint32_t i = 0; i < image->header->tensors.count; i++) {
        const struct ingot_tensor *t = &image->tensors[i];
        bool matrix = image_role_is_matrix((enum ingot_role)t->role);

        if ((t->role == INGOT_OUTPUT && p->tied) || t->role == INGOT_PER_LAYER_EMBEDDING) {
            continue;
        }
        if (matrix && !image_type_takes(type, t->cols)) {
            return 0;
        }
        if (matrix) {
            bytes += copies_of(image, t) * image_tensor_bytes(type, t->rows, t->cols);
        } else {
            bytes += copies_of(image, t) * t->bytes;
        }
    }
    return bytes;
}
