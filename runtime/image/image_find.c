/* Find tensors of an image by their role, and their types. */
#include "board/min_max.h"
#include "runtime/image/image.h"

/* Find the entries of the tensor table that may have the role: the entries of a layer, or the
 * entries before or after all layers. */
static void find_range(const struct image *img, enum ingot_role role, unsigned layer,
                       uint32_t *first, uint32_t *end)
{
    const struct ingot_layer *last = &img->layers[img->header->params.n_layers - 1];

    if (role < INGOT_ATTN_NORM) {
        *first = 0;
        *end = img->layers[0].first_tensor;
        return;
    }
    if (role >= INGOT_OUTPUT_NORM) {
        *first = last->first_tensor + last->n_tensors;
        *end = img->header->tensors.count;
        return;
    }
    *first = img->layers[layer].first_tensor;
    *end = *first + img->layers[layer].n_tensors;
}

const struct ingot_tensor *image_tensor(const struct image *img, enum ingot_role role,
                                        unsigned layer)
{
    uint32_t first, end;

    find_range(img, role, layer, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        if (img->tensors[i].role == role) {
            return &img->tensors[i];
        }
    }
    return NULL;
}

unsigned image_main_type(const struct image *img)
{
    for (uint32_t i = 0; i < img->header->tensors.count; i++) {
        if (img->tensors[i].role == INGOT_FFN_UP || img->tensors[i].role == INGOT_EXPERT_UP) {
            return img->tensors[i].type;
        }
    }
    return image_tensor(img, INGOT_OUTPUT, INGOT_NO_LAYER)->type;
}

uint32_t image_types(const struct image *img)
{
    uint32_t types = 0;

    for (uint32_t i = 0; i < img->header->tensors.count; i++) {
        types |= 1u << img->tensors[i].type;
    }
    return types;
}

uint32_t image_most_experts(const struct image *img)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        most = max_u32(most, img->layers[i].n_experts_used);
    }
    return most;
}

uint64_t image_table_row(const struct image *img, uint32_t token, size_t *bytes)
{
    const struct ingot_tensor *t = image_tensor(img, INGOT_PER_LAYER_EMBEDDING, INGOT_NO_LAYER);

    *bytes = INGOT_TABLE_ROWS * image_type_row_bytes(t->type, t->cols_padded);
    return img->segments[t->segment].offset + t->offset + token * (uint64_t)*bytes;
}

uint32_t image_table_crc(const struct image *img, uint32_t token)
{
    return img->expert_crcs[img->first_row + token];
}

uint32_t image_inner_dim(const struct image *img)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        most = max_u32(most, img->layers[i].inner_dim);
    }
    return most;
}

uint32_t image_long_context(const struct image *img)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < img->header->params.n_ropes; i++) {
        most = max_u32(most, img->header->ropes[i].long_context);
    }
    return most;
}

/* With latent keys, the input of ATTN_Q is stored where the heads' results will be. */
static uint32_t queries_of(const struct ingot_layer *l)
{
    if ((l->features & INGOT_LATENT_KV) == 0) {
        return l->n_heads * l->head_dim;
    }
    return max_u32(l->n_heads * max_u32(l->query_dim, l->value_dim), l->q_rank);
}

uint32_t image_queries(const struct image *img)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        most = max_u32(most, queries_of(&img->layers[i]));
    }
    return most;
}

static bool writes_state(const struct ingot_layer *l, unsigned mixer, uint32_t layer)
{
    return mixer != INGOT_MIXER_NONE && (mixer != INGOT_MIXER_ATTENTION || l->kv_layer == layer);
}

uint32_t image_last_written(const struct image *img)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        const struct ingot_layer *l = image_layer(img, i);

        if (writes_state(l, l->mixer, i) || writes_state(l, l->parallel, i)) {
            last = i;
        }
    }
    return last;
}
