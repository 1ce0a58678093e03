/* Sizes of latent keys, and the matrix that makes keys and values from them. */
#include <math.h>

#include "flash_image/source/source.h"

void source_latent_params(struct source_params *p, uint32_t rope_dims)
{
    p->rope_dims = rope_dims;
    p->n_kv_heads = 1;
    p->head_dim = min_u32(p->latent.kv_rank, INGOT_MAX_HIDDEN) +
                  min_u32(rope_dims, INGOT_MAX_HIDDEN);
    p->attn_scale = 1.0f / sqrtf((float)p->latent.query_dim);
}

enum err source_split_latent(const struct source_params *p, const struct source_tensor *t,
                             struct source_tensor *k, struct source_tensor *v)
{
    uint32_t rank = p->latent.kv_rank, values = p->latent.value_dim;
    uint32_t keys = p->latent.query_dim - p->rope_dims, step = keys + values;

    if (t->scales != NULL || t->row_scales != NULL || rank == 0 || t->cols != rank ||
        t->rows != p->n_heads * step) {
        return ERR_BAD_MODEL;
    }
    *v = *k = *t;
    v->rows = p->n_heads * values;
    v->run = values;
    v->run_step = step;
    v->data += source_type_bytes(v->type, (uint64_t)keys * rank);
    k->rows = p->n_heads * rank;
    k->cols = keys;
    k->run = rank;
    k->run_step = step * rank;
    k->stride = rank;
    return ERR_OK;
}
