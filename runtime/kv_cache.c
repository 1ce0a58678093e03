#include "runtime/kv_cache.h"

static size_t half_items(const struct ingot_params *p, uint32_t context)
{
    return (size_t)p->n_layers * p->n_kv_heads * context * p->head_dim;
}

size_t kv_cache_bytes(const struct ingot_params *p, uint32_t context)
{
    return 2 * half_items(p, context) * sizeof(uint16_t);
}

void kv_cache_open(struct kv_cache *c, const struct ingot_params *p, uint32_t context,
                   void *memory)
{
    c->keys = memory;
    c->values = c->keys + half_items(p, context);
    c->n_kv_heads = p->n_kv_heads;
    c->head_dim = p->head_dim;
    c->context = context;
    c->length = 0;
}

static size_t row_offset(const struct kv_cache *c, uint32_t layer, uint32_t head)
{
    return ((size_t)layer * c->n_kv_heads + head) * c->context * c->head_dim;
}

uint16_t *kv_cache_keys(const struct kv_cache *c, uint32_t layer, uint32_t head)
{
    return c->keys + row_offset(c, layer, head);
}

uint16_t *kv_cache_values(const struct kv_cache *c, uint32_t layer, uint32_t head)
{
    return c->values + row_offset(c, layer, head);
}
