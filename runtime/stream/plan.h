/* Before any weights are read, the planner computes the size of every region, and which weights
 * stay in memory. It uses a model's header and tables, the context length and the available
 * memory. */
#ifndef INGOT_RUNTIME_PLAN_H
#define INGOT_RUNTIME_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/compute/kv_cache.h"
#include "runtime/image/image.h"

enum {
    PLAN_SLOTS = 2,              /* cores compute from one slot while the other fills; pinning a
                                  * layer saves more time than a third slot */
    PLAN_MOST_ROWS = 4,          /* groups of rows that are kept if the embedding streams */
    PLAN_EXPERT_BYTES = 20,      /* bytes of struct stream_expert, of which each expert has one */
    PLAN_TABLE_ROWS = 32,        /* number of tokens whose rows of the table per layer are kept */
    PLAN_DEFAULT_CHUNK = 128,    /* number of prompt tokens that pass the layers together */
    PLAN_DEFAULT_CONTEXT = 4096, /* the longest context without ctx= */
    PLAN_LEAST_CHUNK = 16,       /* the smallest chunk if memory is short */
    PLAN_LEARN_CHUNK = 2,        /* the smallest chunk with lessons, which compare two rows */
    PLAN_CACHED_CHUNK = 32,      /* the smallest chunk that is made to fit a core's cache */
    PLAN_ERROR_MESSAGE_BYTES = 256,
    PLAN_ADVICE_BYTES = 320,
};

enum plan_residency {
    PLAN_RESIDENT, /* all weights are read once into the arena */
    PLAN_IN_PLACE, /* weights in flash, an initrd or a mapped file are used in place */
    PLAN_STREAMED, /* some weights arrive again for every pass */
};

/* The speeds of card and cores, measured by runtime/stream/calibrate_storage.h and
 * runtime/model/calibrate_compute.h, or given. 0 means unknown, or none. */
struct plan_rates {
    uint64_t card;                   /* bytes a second */
    uint32_t io_core;                /* percentage of a transfer's time in which it occupies a
                                      * core */
    uint32_t cores;                  /* number of cores that computed during the measurement */
    const struct plan_rates *lent;   /* rates of computing without one core, if that core may move
                                      * the card's data; otherwise NULL */
    uint32_t decode[INGOT_N_TYPES];  /* picoseconds that all cores take for a byte of weights and
                                      * one token */
    uint32_t prefill[INGOT_N_TYPES]; /* picoseconds that all cores take for a byte of weights and
                                      * each token of a chunk */
    uint32_t layer;                  /* nanoseconds of a layer outside its matrices, for a token */
    uint32_t layer_prefill;          /* nanoseconds for each token of a chunk; 0: as
                                      * `layer` */
    uint32_t check;                  /* picoseconds that all cores take for the checksum of a
                                      * byte */
    bool disturbed; /* other programs used the cores during the measurement, so speeds may be far
                     * too low */
};

/* The experts of each layer are kept in an order. found[i] counts how often an expert that a token
 * took was at place i of this order, summed over all layers. A cache of n slots has the experts
 * before place n. total is 0 if the use is unknown. */
struct plan_use {
    uint64_t found[INGOT_MAX_EXPERTS];
    uint64_t total;
};

/* The user's limits for a plan. */
struct plan_limits {
    size_t weights;         /* mem=, bytes for pinned weights and slots; 0: all that is left */
    uint32_t context;       /* ctx=, tokens; 0: the model's context, at most usual_context */
    uint32_t usual_context; /* 0: PLAN_DEFAULT_CONTEXT */
    uint32_t chunk;         /* prompt tokens of a pass; 0: PLAN_DEFAULT_CHUNK */
    struct kv_types kv;     /* kv= */
    bool kv_card;           /* keys and values may spill to the card; weights get memory first, and
                         * `weights` limits both */
};

/* Work space in addition to the activations. */
struct plan_work {
    size_t extra_scratch;    /* bytes for tokenizer and sampler, besides the context's ids */
    uint32_t kept_sequences; /* number of sequences besides the current one */
    size_t line_bytes;       /* bytes that features need for each kept sequence */
    uint64_t (*kept_bytes)(uint32_t context, uint32_t kept_sequences); /* bytes of kept sequences */
    size_t learn_bytes;   /* memory for learning, or 0 */
    size_t states;        /* bytes of a sequence's states other than keys and values */
    size_t work_bytes;    /* work space of a token (activations.h) */
    uint32_t logits_rows; /* tokens whose logits are computed together; 0 means one */
    uint32_t sequences; /* parallel sequences, each with its own keys, values and states; 0: one */
    uint32_t spare_sequences; /* add up to this many sequences, if they leave nearly as much memory
                               * for weights */
};

struct plan_request {
    const struct image *image;
    size_t arena_bytes; /* memory for all regions */
    size_t taken_bytes; /* memory in use before the plan, for messages */
    bool in_place;      /* the whole file is addressable */
    size_t cache_bytes; /* size of a core's second-level cache, or 0 */
    struct plan_limits limits;
    struct plan_work work;
    struct plan_rates rates;
    const struct plan_use *use; /* use of the experts, or NULL; outlives the plan */
};

/* The layers. plan->pinned says which layers stay in memory; `read` is for the others. */
struct plan_layers {
    uint32_t n_pinned, n_streamed;
    uint64_t read; /* bytes per pass */
};

/* A cache of experts, with slots for each layer. Other experts are read when a router names them,
 * and a layer's segment is the part before its experts. If all fields are 0, experts are loaded
 * together with their layers. */
struct plan_experts {
    uint32_t n_slots; /* slots of a layer, but at least one for each expert that a token takes
                     * there, and at most one for each expert */
    uint32_t n;       /* experts of all layers */
    uint64_t bytes;   /* bytes of all slots and of each struct stream_expert, part of
                       * memory.pinned */
    uint64_t read;    /* bytes read for a token, part of layers.read */
    const struct plan_use *use; /* the experts' use, or NULL: all count as equally used */
};

/* The output matrix. */
struct plan_head {
    bool tiled;         /* rows from first_row on pass through the slots in tiles; if false, all
                * other fields are 0 */
    uint32_t first_row; /* first row of the first tile, a multiple of 8; earlier rows stay */
    uint32_t tile_rows; /* rows of a full tile, a multiple of 8 */
    uint32_t n_tiles;
    uint32_t group_rows;
    uint64_t group_bytes; /* bytes of `group_rows` rows */
    uint64_t stays;       /* bytes of the segment's norm and of its rows before first_row, which
                     * stay in whole pages */
    uint64_t base;        /* file offset of first_row */
    uint64_t end;         /* file offset of the end of the head's segment */
    uint64_t read;        /* bytes read in passes that need logits */
};

/* The bytes of the arena's regions, and the parts of region io. */
struct plan_memory {
    size_t pinned;    /* region weights: segments read once, and a tiled head's part that stays */
    size_t io;        /* region io: slots, embedding rows and their checksums */
    size_t kv;        /* region kv: keys and values, states */
    size_t scratch;   /* region scratch */
    size_t learn;     /* region learn */
    uint32_t n_slots; /* PLAN_SLOTS, or 0 if no slots are needed */
    size_t slot;      /* bytes of one slot */
};

/* Rows of an embedding that streams. All fields are 0 if it is in memory. */
struct plan_rows {
    uint32_t n;   /* number of groups that are kept */
    size_t bytes; /* bytes of a group as it is read */
    size_t sums;  /* bytes of the groups' checksums, computed while loading */
};

/* The table per layer, which stays on the card. Each token's rows are read. All fields are 0 if the
 * model has no such table, or if the table is used in place. */
struct plan_table {
    uint32_t n;    /* number of tokens whose rows are kept */
    size_t bytes;  /* bytes read for a token */
    uint64_t card; /* bytes of the whole table */
};

/* Region kv: keys and values, and other states. */
struct plan_kv {
    size_t states;         /* bytes of a sequence's other states */
    struct kv_types types; /* the requested types */
    uint32_t n_spilled;    /* number of layers whose keys and values are on the card */
    uint64_t card;         /* bytes of these keys and values */
    uint64_t card_read;    /* bytes of these that are read for a token after a full context */
};

/* The time of a pass, predicted from plan->rates. */
struct plan_prediction {
    uint64_t decode_ns;  /* time of a token after a few others, or 0 if rates are unknown */
    uint64_t prefill_ns; /* time of a full chunk */
    bool lends_decode;   /* for single tokens the last core only moves the card's data */
    bool lends_prefill;  /* for chunks the last core only moves the card's data */
};

struct plan {
    enum plan_residency residency;
    uint32_t context;
    uint32_t chunk;
    uint32_t logits_rows;            /* at least `sequences`, at most chunk */
    uint32_t sequences;              /* parallel sequences in region kv, at least 1 */
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
    char advice[PLAN_ADVICE_BYTES]; /* how the model could become resident, or "" if it already is
                                     * or cannot be resident */
    bool mem_is_short;              /* after an error: without mem= there would be more room */
    char error_message
        [PLAN_ERROR_MESSAGE_BYTES]; /* after an error, a sentence about what does not fit and what
                                     * to change */
};

/* Fill *plan. ERR_NO_SPACE: the model does not fit, as plan->error_message says. ERR_BAD_ARGUMENT:
 * the context is longer than the model's context. */
enum err plan_make(struct plan *plan, const struct plan_request *request);

/* Fill plan->prediction from plan->rates by simulating a pass segment by segment, with card and
 * cores working in parallel. If a core must move the card's data, the faster way is chosen: core 0
 * moves them between other work, or the last core does nothing else. */
void plan_predict(struct plan *plan, const struct image *image);

/* Return the bytes of a layer's segment that stay or stream, without its experts if these are
 * cached. */
uint64_t plan_layer_bytes(const struct image *image, uint32_t layer, bool cached);

/* Return how many slots the cache has for a layer's experts, or 0 if the layer has no experts.
 * n_slots is plan->experts.n_slots. */
uint32_t plan_experts_slots(const struct image *image, uint32_t layer, uint32_t n_slots);

/* Return how many experts of a layer a token needs on average that are not in the cache, times
 * 2^16. n_slots is plan->experts.n_slots. */
uint64_t plan_experts_missing(const struct plan_use *use, const struct image *image, uint32_t layer,
                              uint32_t n_slots);

/* Return the cores' time for the matrices of a layer that begin in [from, to) of its segment. */
uint64_t plan_matrices_ns(const struct plan_rates *rates, const struct image *image, uint32_t layer,
                          uint64_t from, uint64_t to, uint32_t n_tokens);

/* Return the bytes of all segments if their matrices had `type`, or 0 if some matrix cannot have
 * it. */
uint64_t plan_bytes_as(const struct image *image, unsigned type);

/* Return the name of a residency: "resident", "in place", "streamed". */
const char *plan_residency_text(enum plan_residency r);

/* Set the sector-aligned file range of the row of `token` in a streamed embedding. */
void plan_embedding_range(const struct image *image, uint32_t token, uint64_t *offset,
                          size_t *bytes);

/* Embedding rows are read and checked together in groups. Return the bytes of a group, and the
 * number of groups. */
size_t plan_row_group_bytes(const struct image *image);
uint32_t plan_row_groups(const struct image *image);

/* Return the bytes of a tiled head that stay, in whole pages of memory and of the file. */
size_t plan_head_bytes(const struct plan *plan);

/* Return the percentage of the head that stays, which is 100 if it is not tiled. */
unsigned plan_head_percent(const struct plan *plan, const struct image *image);

/* A tile of the head: rows, and the sector-aligned file range that has them. The first row begins
 * `skip` bytes into the range. */
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
 * and a slot is free, while the next tiles arrive. The rows are whole groups. If few are resident,
 * some tiles have no share. */
struct plan_share {
    uint32_t first_row;
    uint32_t n_rows;
};
struct plan_share plan_head_share(const struct plan *plan, uint32_t i);

#endif
