/* A cache of experts. Each layer has slots. If a router names an expert that is in no slot, the
 * expert is read into a slot. Results never depend on the cache's contents.
 *
 * The list of a layer in a pass has the experts that the tokens take, in ascending order. Core 0
 * requests all of them at once after the router; missing experts arrive in the order of the list.
 * An expert can lose its slot only if no token of the pass still needs it. The expert with the
 * smallest moving average of use loses its slot first. Core 0 only; other cores only read the
 * list. */
#ifndef INGOT_RUNTIME_STREAM_EXPERTS_H
#define INGOT_RUNTIME_STREAM_EXPERTS_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "flash_image/format/format.h"
#include "runtime/storage/file.h"

enum {
    STREAM_EXPERT_READS = 8,
    STREAM_NO_SLOT = UINT16_MAX,
    STREAM_NOT_LISTED = UINT16_MAX,
};

struct stream;

/* Facts about each expert of the model. */
struct stream_expert {
    uint32_t use;    /* moving average of the share of tokens that take the expert, times 2^16 */
    uint16_t slot;   /* slot, filled or being filled, or STREAM_NO_SLOT */
    uint16_t listed; /* index in the list while the expert is needed, otherwise
                      * STREAM_NOT_LISTED */
    uint32_t taken;  /* number of tokens that took the expert */
    /* found and order do not belong to this expert, but to the place that has this expert's number,
     * in the order of the layer's experts (stream_experts_count.c). They say how often a single
     * token's expert was at this place, and which expert is there now. */
    uint32_t found;
    uint16_t order;
    uint16_t flags; /* STREAM_EXPERT_PINNED, STREAM_EXPERT_COMING */
};

_Static_assert(sizeof(struct stream_expert) == 20, "PLAN_EXPERT_BYTES");

enum {
    STREAM_EXPERT_PINNED = 1, /* the expert keeps its slot */
    STREAM_EXPERT_COMING = 2, /* the expert was requested before a router named it */
};

enum stream_expert_state { STREAM_EXPERT_MISSING, STREAM_EXPERT_ARRIVING, STREAM_EXPERT_READY };

/* An expert of the list. */
struct stream_expert_wanted {
    uint16_t expert;
    uint8_t state;     /* enum stream_expert_state */
    bool there;        /* the expert was in the cache when the list was made */
    bool waited;       /* a core has waited for the expert */
    bool begun;        /* the first bytes are in use before all bytes have arrived */
    bool again;        /* the first bytes were read again after they were used */
    bool first_failed; /* the first bytes will not arrive; a separate flag, because core 0 may wait
                          for the rest before all cores have read this flag */
    bool failed;       /* the expert will not arrive */
    const uint8_t *at; /* address of the expert */
};

struct stream_expert_read {
    bool used, stopped; /* used: the read is in use; stopped: its expert was a wrong guess, so it
                         * was stopped */
    uint16_t item;      /* index in the list, or STREAM_NOT_LISTED if requested ahead */
    uint16_t expert;
    uint32_t layer;
    uint8_t *at;
    uint32_t tries;
    uint32_t crc; /* CRC of the first crc_bytes */
    uint64_t crc_bytes;
    uint64_t begun; /* when the read began, for the trace */
    struct file_read read;
};

/* Figures about the lists of a layer. */
struct stream_experts_figures {
    uint64_t stall_ticks;
    uint32_t lists;              /* number of passes */
    uint32_t kept, read, stalls; /* as in struct stream_stats */
};

struct stream_experts {
    struct stream_expert *all; /* (plan->experts.n) layer after layer, or NULL without a cache */
    uint8_t *slots[INGOT_MAX_LAYERS];
    struct stream_experts_figures figures[INGOT_MAX_LAYERS];
    uint32_t layer; /* layer of the list */
    uint32_t n;     /* experts of the list */
    enum err failure;
    struct stream_expert_wanted list[INGOT_MAX_EXPERTS];
    uint16_t counts[INGOT_MAX_EXPERTS]; /* tokens that take each expert; set before
                                         * stream_experts_ask */
    struct stream_expert_read reads[STREAM_EXPERT_READS];
    bool looks_ahead; /* experts=ahead */
    /* The experts that the next layer's router would choose from this layer's vector x. These
     * experts are requested while the card is idle. */
    struct {
        uint32_t layer, n;
        uint16_t experts[INGOT_MAX_EXPERTS];
        bool asked[INGOT_MAX_EXPERTS]; /* the expert was requested ahead */
    } next;
};

/* Make the list for n_tokens tokens, of the layer's experts whose counts are not 0, and request
 * missing experts. */
void stream_experts_ask(struct stream *s, uint32_t layer, uint32_t n_tokens);

/* Request the n experts in s->experts.next.experts, which `layer`, a later layer, probably needs.
 * Missing experts are read while the card would be idle. */
void stream_experts_look_ahead(struct stream *s, uint32_t layer, uint32_t n);

/* Let this many experts of each layer keep their slots from now on: those that the most tokens took
 * so far. */
void stream_experts_pin(struct stream *s, uint32_t n);

/* Wait for number i of the list. All cores look at the expert after a barrier. An error sets its
 * `failed`, and stream_layer_check reports the error. */
void stream_expert_need(struct stream *s, uint32_t i);

/* Wait only for the expert's first bytes, whose checksum is not known yet. An error sets its
 * `first_failed`. If `again` is set after stream_expert_need, results computed from these bytes
 * must be computed again. */
void stream_expert_need_first(struct stream *s, uint32_t i, uint64_t bytes);

/* Call when all cores are done with number i, which may then lose its slot. */
void stream_expert_done(struct stream *s, uint32_t i);

#endif
