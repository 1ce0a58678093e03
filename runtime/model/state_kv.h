/* The state of attention layers: keys and values. All layers are in one cache, which may spill to
 * the card (runtime/stream/kv_pages.h). The state can be cut at any token. */
#ifndef INGOT_RUNTIME_STATE_KV_H
#define INGOT_RUNTIME_STATE_KV_H

#include "runtime/compute/kv_cache.h"
#include "runtime/model/layer_state.h"

/* `self` is the open struct kv_cache. */
extern const struct layer_state_kind state_kv;

/* Move keys and values of tokens [first, end) of one layer; both are multiples of KV_TILE. The
 * cache must neither spill nor have tiers. For loading, tokens [0, first) must be there. Errors of
 * io->move. */
enum err state_kv_move_part(struct layer_state *st, uint32_t first, uint32_t end,
                            const struct layer_state_io *io);

#endif
