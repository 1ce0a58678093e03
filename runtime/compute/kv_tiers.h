/* Tiers by age: the newest positions are stored in the most bits, older ones in fewer. A tile's
 * type depends only on its age at the pass, counted in tiles from the pass's own tile; so a pass
 * must lie within one tile, and no bit depends on how earlier tokens were cut into passes.
 *
 *   hot tier:   ages 0 to hot_tiles - 1, in tiles.
 *   warm tier:  ages up to hot_tiles + warm_tiles - 1. The cold tier has older tiles.
 *
 * Before a pass in a new tile the oldest warm tile becomes cold, then the oldest hot tile becomes
 * warm: a tile moves twice at most. Hot and warm tiles lie in rings with room for KV_TIERS_KEPT
 * more tiles, so that a sequence can be cut back over that many tile borders and find its old
 * tiles. A sequence that is cut back farther is computed anew. */
#ifndef INGOT_RUNTIME_KV_TIERS_H
#define INGOT_RUNTIME_KV_TIERS_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/compute/kv_cache.h"

enum kv_tier { KV_TIER_HOT, KV_TIER_WARM, KV_TIER_COLD };
enum { KV_TIERS_KEPT = 4 };

/* Return the types of one tier as if it were the whole cache; without tiers, the first tier is the
 * whole cache. */
struct kv_types kv_tier_types(struct kv_types types, enum kv_tier tier);

/* Return how many tiles of a head a tier has room for, in a context of n_tiles. */
size_t kv_tier_slots(struct kv_types types, enum kv_tier tier, uint32_t n_tiles);

/* Begin with an empty sequence. */
void kv_tiers_open(struct kv_cache *c);

/* Return the location of tile i < n_tiles during a pass in `tile` >= i. */
struct kv_tile kv_tiers_keys(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i,
                             uint32_t tile);
struct kv_tile kv_tiers_values(const struct kv_cache *c, uint32_t layer, uint32_t head, uint32_t i,
                               uint32_t tile);

/* Return how many of n tokens a pass from this position on may have. */
uint32_t kv_tiers_limit(const struct kv_cache *c, uint32_t position, uint32_t n);

/* Call before a pass from `position` on: moves tiles that have become too old. work: (3, d) of
 * the widest head, 16-byte aligned. Core 0 only. */
void kv_tiers_begin(struct kv_cache *c, const struct kernels *k, uint32_t position, float *work);

/* Cut the cache to n positions. Returns how many are left: n, or 0 if the old tiles are gone. */
uint32_t kv_tiers_cut(struct kv_cache *c, uint32_t n);

/* Return the tile of the pass that computed the last of n positions: the tiers of a saved cache are
 * as they were after that pass. The second function marks n positions as loaded in this state. */
uint32_t kv_tiers_tile(uint32_t n);
void kv_tiers_loaded(struct kv_cache *c, uint32_t n);

#endif
