/* Keys and values of every position so far, fp16. Per layer and kv head the positions lie one
 * after the other, so that attention reads both straight through. */
#ifndef INGOT_RUNTIME_KV_CACHE_H
#define INGOT_RUNTIME_KV_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "flash_image/format.h"

struct kv_cache {
    uint16_t *keys;   /* (n_layers, n_kv_heads, context, head_dim) */
    uint16_t *values;
    uint32_t n_kv_heads;
    uint32_t head_dim;
    uint32_t context;
    uint32_t length;  /* positions that are valid in every layer */
};

size_t kv_cache_bytes(const struct ingot_params *p, uint32_t context);

/* memory: kv_cache_bytes() bytes, 64-byte aligned. */
void kv_cache_open(struct kv_cache *c, const struct ingot_params *p, uint32_t context,
                   void *memory);

/* Row 0 of one head of one layer: (context, head_dim). */
uint16_t *kv_cache_keys(const struct kv_cache *c, uint32_t layer, uint32_t head);
uint16_t *kv_cache_values(const struct kv_cache *c, uint32_t layer, uint32_t head);

#endif
