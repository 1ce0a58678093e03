/* The planner: from a model's header and tables, the context length and the available memory, it
 * computes every region's size and which weights stay in memory, before any of them is read. */
#ifndef INGOT_RUNTIME_PLAN_H
#define INGOT_RUNTIME_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/compute/kv_cache.h"
#include "runtime/image/image.h"

enum {
    PLAN_SLOTS = 2,              /* cores compute from one while the other fills; a pinned layer
                                  * saves more time than a third slot */
    PLAN_MOST_ROWS = 4,          /* groups of embedding rows kept, if the embedding streams */
    PLAN_EXPERT_BYTES = 20,      /* bytes of struct stream_expert, for each expert with a cache */
    PLAN_TABLE_ROWS = 32,        /* tokens whose rows of the table per layer are kept */
    PLAN_DEFAULT_CHUNK = 128,    /* prompt tokens that pass the layers together */
    PLAN_DEFAULT_CONTEXT = 4096, /* most tokens of a context if ctx= is not given */
    PLAN_LEAST_CHUNK = 16,       /* least chunk if memory is short */
    PLAN_CACHED_CHUNK = 32,      /* least chunk if it is made smaller to fit the core's cache */
    PLAN_ERROR_MESSAGE_BYTES = 256,
    PLAN_ADVICE_BYTES = 320,
};

enum plan_residency {
    PLAN_RESIDENT, /* all weights read once into the arena */
    PLAN_IN_PLACE, /* used in place: flash, initrd, a mapped file */
    PLAN_STREAMED, /* some weights arrive again for every pass */
};

/* The speeds of card and cores, measured by runtime/stream/calibrate_storage.h and
 * runtime/model/calibrate_compute.h, or given. 0: unknown, or none. */
struct plan_rates {
    uint64_t card;                   /* bytes a second */
    uint32_t io_core;                /* percent of a transfer's time for which a core moves it */
    uint32_t cores;                  /* cores that computed during the measurement */
    const struct plan_rates *lent;   /* rates of computing without one core, if it may move the
                                      * card's data; otherwise NULL */
    uint32_t decode[INGOT_N_TYPES];  /* picoseconds for a byte of weights and one token, by all
                                      * cores */
    uint32_t prefill[INGOT_N_TYPES]; /* picoseconds for a byte of weights and each token of a
                                      * chunk */
    uint32_t layer;                  /* nanoseconds of a layer outside its matrices, for a token */
    uint32_t layer_prefill;          /* nanoseconds for each token of a chunk; 0: as for one
                                      * token */
    uint32_t check;                  /* picoseconds of a byte's checksum, by all cores */
    bool disturbed; /* other programs used the cores during the measurement: speeds may be far too
                     * low */
};

/* How often a token's expert was found at each place of its layer's order of use, summed
 * over all layers (expert_use.h). A cache of n slots has the experts before place n. total 0:
 * unknown. */
struct plan_use {
    uint64_t found[INGOT_MAX_EXPERTS];
    uint64_t total;
};

/* The user's limits for a plan. */
struct plan_limits {
    size_t weights;     /* mem=: pinned weights and slots; 0: all that is left */
    uint32_t context;   /* ctx=, tokens; 0: the model's, at most PLAN_DEFAULT_CONTEXT */
    uint32_t chunk;     /* prompt tokens that pass together; 0: PLAN_DEFAULT_CHUNK */
    struct kv_types kv; /* kv= */
    bool kv_card;       /* keys and values may spill to the card: weights get memory first, and
                         * `weights` limits both */
};

/* Work space in addition to the activations. */
struct plan_work {
    size_t extra_scratch;    /* for tokenizer and sampler, in addition to the context's ids */
    uint32_t kept_sequences; /* number of sequences in addition to the current one */
    size_t line_bytes;       /* bytes that features need for each of these */
    uint64_t (*kept_bytes)(uint32_t context, uint32_t kept_sequences); /* for themselves */
    size_t learn_bytes;   /* memory for learning; 0: none */
    size_t states;        /* bytes of states other than keys and values, for a sequence */
    size_t work_bytes;    /* work space of a token, see activations.h */
    uint32_t logits_rows; /* tokens whose logits are computed together; 0: one */
    uint32_t sequences; /* parallel sequences, each with its own keys, values and states; 0: one */
    uint32_t spare_sequences; /* up to so many more, if weights lose hardly any memory to them */
};

struct plan_request {
    const struct image *image;
    size_t arena_bytes; /* memory for all regions */
    bool in_place;      /* the whole file is addressable */
    size_t cache_bytes; /* size of a core's second-level cache; 0: not known */
    struct plan_limits limits;
    struct plan_work work;
    struct plan_rates rates;
    const struct plan_use *use; /* use of its experts; NULL: unknown. It outlives the plan */
};

/* The layers. plan->pinned says which stay in memory; `read` counts the others. */
struct plan_layers {
    uint32_t n_pinned, n_streamed;
    uint64_t read; /* bytes per pass */
};

/* A cache of experts, with a number of slots for each layer; other experts are read when a
 * router names them. A layer's segment is then the part before its experts. All 0: experts are
 * loaded together with their layers. */
struct plan_experts {
    uint32_t n_slots; /* slots of each layer, at least the experts that a token takes there, and at
                     * most the layer's experts */
    uint32_t n;       /* experts of all layers */
    uint64_t bytes;   /* size of all slots and of the facts about each expert; part of
                       * memory.pinned */
    uint64_t read;    /* bytes read for a token; part of layers.read */
    const struct plan_use *use; /* the experts' use; NULL: unknown, so all count as equally used */
};

/* The output matrix. */
struct plan_head {
    bool tiled;         /* from first_row on it passes through the slots in tiles of rows; if false,
                * all other fields are 0 */
    uint32_t first_row; /* first row of the first tile, a multiple of 8: earlier rows stay */
    uint32_t tile_rows; /* rows of a full tile, a multiple of 8 */
    uint32_t n_tiles;
    uint32_t group_rows;
    uint64_t group_bytes; /* bytes of `group_rows` rows */
    uint64_t stays;       /* bytes of its segment that stay: rows before first_row and a norm. They
                     * take whole pages */
    uint64_t base;        /* file offset of first_row */
    uint64_t end;         /* file offset of the end of its segment */
    uint64_t read;        /* bytes read in passes that need logits */
};

/* The bytes of the arena's regions, and the parts of region io. */
struct plan_memory {
    size_t pinned;    /* region weights: segments read once, the part of a tiled head that stays */
    size_t io;        /* region io: slots, embedding rows and their checksums */
    size_t kv;        /* region kv: keys and values, states */
    size_t scratch;   /* region scratch */
    size_t learn;     /* region learn */
    uint32_t n_slots; /* PLAN_SLOTS, or 0: no slots needed */
    size_t slot;      /* bytes of one slot */
};

/* Rows of an embedding that streams; all 0: it is in memory. */
struct plan_rows {
    uint32_t n;   /* kept */
    size_t bytes; /* of one */
    size_t sums;  /* checksums of all groups of rows, computed while loading */
};

/* The table per layer, which stays on the card; each token's rows are read. All 0: no table, or
 * it is used in place. */
struct plan_table {
    uint32_t n;    /* tokens whose rows are kept */
    size_t bytes;  /* bytes read for a token */
    uint64_t card; /* bytes of the whole table */
};

/* Region kv: keys and values, and other states. */
struct plan_kv {
    size_t states;         /* bytes of a sequence for layers with other states */
    struct kv_types types; /* the requested types */
    uint32_t n_spilled;    /* layers whose keys and values are on the card; 0: none */
    uint64_t card;         /* bytes that they take on the card */
    uint64_t card_read;    /* bytes of them that are read for a token after a full context */
};

/* The time of a pass, predicted from plan->rates. */
struct plan_prediction {
    uint64_t decode_ns;  /* time of a token after a few others; 0: rates are unknown */
    uint64_t prefill_ns; /* time of a full chunk */
    bool lends_decode;   /* for single tokens the last core only moves the card's data */
    bool lends_prefill;  /* for chunks the last core only moves the card's data */
};

struct plan {
    enum plan_residency residency;
    uint32_t context;
    uint32_t chunk;
    uint32_t logits_rows;            /* at least `sequences`, at most chunk */
    uint32_t sequences;              /* at least 1; parallel sequences in region kv */
    bool pinned[INGOT_MAX_SEGMENTS]; /* by segment */
    struct plan_layers layers;
    struct plan_experts experts;
    struct plan_head head;
    struct plan_memory memory;
    struct plan_rows rows;
    struct plan_table table;
    struct plan_kv kv;
    struct plan_rates rates;
    struct plan_prediction prediction;
    char advice[PLAN_ADVICE_BYTES]; /* how the model could become resident; empty if it is, or
                                     * cannot be */
    bool mem_is_short;              /* after an error: there is more room without mem= */
    char error_message
        [PLAN_ERROR_MESSAGE_BYTES]; /* after an error: a message about what does not fit and what
                                     * to change */
};

/* Fill *plan. ERR_NO_SPACE: the model does not fit, see plan->error_message.
 * ERR_BAD_ARGUMENT: a context beyond the model's. */
enum err plan_make(struct plan *plan, const struct plan_request *request);

/* Fill plan->prediction from its rates: simulate a pass segment by segment, with card and cores
 * working in parallel. If a core moves the card's data, that is core 0 between other work, or the
 * last core, which then does only this; the faster way is chosen. */
void plan_predict(struct plan *plan, const struct image *image);

/* Return the bytes of a layer's segment that stay or stream, without its experts if these are
 * cached. */
uint64_t plan_layer_bytes(const struct image *image, uint32_t layer, bool cached);

/* Slots of the cache for a layer's experts, from plan->experts.n_slots; 0 if the layer has no
 * experts. */
uint32_t plan_experts_slots(const struct image *image, uint32_t layer, uint32_t n_slots);

/* Return how many of a token's experts in a layer are missing in a cache with this many slots, on
 * average, times 2^16. */
uint64_t plan_experts_missing(const struct plan_use *use, const struct image *image, uint32_t layer,
                              uint32_t n_slots);

/* Return the cores' time for the matrices of a layer that begin in [from, to) of its segment. */
uint64_t plan_matrices_ns(const struct plan_rates *rates, const struct image *image, uint32_t layer,
                          uint64_t from, uint64_t to, uint32_t n_tokens);

/* Return the bytes of all segments if their matrices had `type`; 0 if some matrix cannot have
 * it. */
uint64_t plan_bytes_as(const struct image *image, unsigned type);

/* Return the name of a residency: "resident", "in place", "streamed". */
const char *plan_residency_text(enum plan_residency r);

/* The sector-aligned file range with the row of `token` in a streamed embedding. */
void plan_embedding_range(const struct image *image, uint32_t token, uint64_t *offset,
                          size_t *bytes);

/* Return the bytes of a group of embedding rows, which are read and checked together, and the
 * number of these groups. */
size_t plan_row_group_bytes(const struct image *image);
uint32_t plan_row_groups(const struct image *image);

/* Return the bytes of a tiled head that stay, in whole pages of memory and of the file. */
size_t plan_head_bytes(const struct plan *plan);

/* Return the part of the head that stays, in percent: 100 if it is not tiled. */
unsigned plan_head_percent(const struct plan *plan, const struct image *image);

/* Head tile number i: its rows, and the sector-aligned file range that holds them. The first row
 * begins `skip` bytes into the range. */
struct plan_tile {
    uint32_t first_row;
    uint32_t n_rows;
    uint64_t offset;
    size_t bytes;
    size_t skip;
};
void plan_head_tile(const struct plan *plan, const struct image *image, uint32_t i,
                    struct plan_tile *tile);

/* Return the resident rows that are computed just before tile number i, so that cores have work,
 * and a slot is free, while the next tiles arrive. These are whole groups; if few rows are
 * resident, some tiles have none. */
struct plan_share {
    uint32_t first_row;
    uint32_t n_rows;
};
struct plan_share plan_head_share(const struct plan *plan, uint32_t i);

#endif
