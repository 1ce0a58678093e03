/* Keeps keys and values in a file of the card if memory is too small for all layers (kv=card).
 *
 * A page has the keys of all heads, then their values, for one tile of positions (KV_TILE) of a
 * layer. A layer that spills has its full pages in the file and the last, partial page in memory.
 * In a pass a layer's pages arrive in one of two slots while the previous layer is computed. Pages
 * that became full are written to the file before another layer gets the slot. So attention always
 * finds a layer in memory. A layer with a window reads only the pages that the next query sees.
 *
 * Memory keeps the CRC-32C of each page. If a page cannot be read, the cache ends before it, and
 * later positions are computed again from their tokens. The file keeps its size and place. The
 * file's contents are not used after a restart. The stream polls and resets the reads of the pages,
 * which are its guest (struct stream_guest). Core 0 only. */
#ifndef INGOT_RUNTIME_KV_PAGES_H
#define INGOT_RUNTIME_KV_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/base/arena.h"
#include "runtime/compute/kv_cache.h"
#include "runtime/image/image.h"
#include "runtime/storage/file.h"

enum {
    KV_PAGES_SLOTS = 2,
    KV_PAGES_LEAST = KV_PAGES_SLOTS + 1, /* the fewest layers worth spilling: the slots take the
                                          * memory of two */
};

struct stream;

struct kv_pages_layer {
    bool spills;    /* otherwise the layer is in memory, or keeps nothing of its
                     * own */
    uint8_t *place; /* place of the layer in memory */
    size_t page_bytes;
    uint8_t *tail;   /* partial page, number on_card, of a layer that spills */
    uint32_t *sums;  /* (n_tiles) checksums of the pages on the card */
    uint64_t offset; /* offset of the layer's pages in the file */
    uint32_t number;
    uint32_t on_card; /* number of full pages in the file */
};

struct kv_pages_slot {
    uint8_t *buffer; /* (n_tiles, page_bytes) of the layer with the largest pages */
    bool used;       /* a layer's pages are or will be here */
    bool bad;        /* the page after the checked ones has a wrong checksum */
    struct kv_pages_layer *layer;
    uint32_t first, n; /* pages [first, n) are requested */
    uint32_t checked;  /* requested pages before this number have right CRCs */
    uint64_t begun;    /* when the read began, for the trace */
    struct file_read read;
};

struct kv_pages {
    struct kv_cache *kv;
    const struct image *image;
    bool all;          /* also read pages that no query sees */
    uint32_t position; /* position where the run began */
    uint32_t valid;    /* positions left after a loss, or UINT32_MAX */
    const struct file *file;
    struct stream *stream; /* polls these reads; its stats and error message include them */
    uint32_t n_layers;
    uint32_t next; /* layer that is requested next */
    struct kv_pages_slot slots[KV_PAGES_SLOTS];
    struct kv_pages_slot *turn; /* slot of the current or next spilled layer */
    struct kv_pages_layer layers[INGOT_MAX_LAYERS];
    struct file_read write;
};

/* kv_pages_file_bytes returns the bytes of n_spilled layers in the file. kv_pages_memory_bytes
 * returns the bytes that all layers then take in memory. n_spilled is 0 (kv_cache_bytes() in
 * memory) or at least KV_PAGES_LEAST. */
uint64_t kv_pages_file_bytes(const struct image *image, uint32_t context, struct kv_types types,
                             uint32_t n_spilled);
uint64_t kv_pages_memory_bytes(const struct image *image, uint32_t context, struct kv_types types,
                               uint32_t n_spilled);

/* Return the bytes that are read for a token after a full context. */
uint64_t kv_pages_read_bytes(const struct image *image, uint32_t context, struct kv_types types,
                             uint32_t n_spilled);

/* Make `kv`, which was opened without memory, a cache whose layers spill to the file. The file is
 * writable and has kv_pages_file_bytes(); ARENA_KV is reserved. All pointers must outlive the
 * pages. Call stream_open before. */
void kv_pages_open(struct kv_pages *s, struct kv_cache *kv, const struct image *image,
                   uint32_t n_spilled, const struct file *file, struct stream *stream,
                   struct arena *arena);

/* The next three functions do nothing if s is NULL, because all layers are in memory.
 *
 * Begin a run through all layers in order, with `position` positions in the cache. If `all` is
 * true, the run also reads pages that no later query sees. */
void kv_pages_begin(struct kv_pages *s, uint32_t position, bool all);

/* Wait until the layer's keys and values may be read, and may be written from the run's position
 * on. After errors of file.h and ERR_BAD_CHECKSUM the stream has the message, the pass is over, and
 * kv_pages_take_valid returns how many positions are left. */
enum err kv_pages_enter(struct kv_pages *s, uint32_t layer);

/* Call when the layer has `end` positions. Errors: those of kv_pages_enter, but no earlier position
 * is lost. */
enum err kv_pages_leave(struct kv_pages *s, uint32_t layer, uint32_t end);

/* Return how many positions are left after a loss, or UINT32_MAX if nothing was lost since the last
 * call. */
uint32_t kv_pages_take_valid(struct kv_pages *s);

/* Give up the pass. Waits for requests in flight, and empties the slots. */
void kv_pages_reset(struct kv_pages *s);

#endif
