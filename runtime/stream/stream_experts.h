/* A cache of experts: slots for each layer, filled when a router names an expert that is in none.
 * Results never depend on its contents.
 *
 * The list of a pass's layer has the experts that its tokens take, ascending. Core 0 requests
 * all of them at once after the router; missing ones arrive in the order of the list. An expert
 * loses its slot to another only if no token of the pass still needs it, and the one with the
 * smallest moving average of use goes first. Core 0 only, except stream_expert_at and
 * stream_expert_there. */
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
    uint32_t use;    /* moving average of the share of tokens that take it, times 2^16 */
    uint16_t slot;   /* slot of its layer, filled or being filled; STREAM_NO_SLOT: none */
    uint16_t listed; /* where in the list, while it is still needed there; else STREAM_NOT_LISTED */
    uint32_t taken;  /* tokens that took it */
    /* For the order of the layer's experts (stream_experts_count.c), the place with this one's
     * number: how often a single token's expert was there, and which one is there now. */
    uint32_t found;
    uint16_t order;
    uint16_t flags; /* STREAM_EXPERT_PINNED, STREAM_EXPERT_COMING */
};

_Static_assert(sizeof(struct stream_expert) == 20, "PLAN_EXPERT_BYTES");

enum {
    STREAM_EXPERT_PINNED = 1, /* it keeps its slot */
    STREAM_EXPERT_COMING = 2, /* asked for before a router named it */
};

enum stream_expert_state { STREAM_EXPERT_MISSING, STREAM_EXPERT_ARRIVING, STREAM_EXPERT_READY };

/* An expert of the list. */
struct stream_expert_wanted {
    uint16_t expert;
    uint8_t state;     /* enum stream_expert_state */
    bool there;        /* it was in the cache when the list was made */
    bool waited;       /* somebody has waited for it */
    bool begun;        /* its first bytes are in use, before all of it is there */
    bool again;        /* these have been read once more since */
    bool first_failed; /* its first bytes will not come; a flag of its own, as core 0 may be at the
                          rest before all have looked */
    bool failed;       /* it will not come */
    const uint8_t *at; /* its extent */
};

struct stream_expert_read {
    bool used, stopped; /* stopped: of one that nobody named after all */
    uint16_t item;      /* item of the list; STREAM_NOT_LISTED: asked for ahead */
    uint16_t expert;
    uint32_t layer;
    uint8_t *at;
    uint32_t tries;
    uint32_t crc; /* of the first crc_bytes */
    uint64_t crc_bytes;
    uint64_t begun; /* of the trace */
    struct file_read read;
};

/* The result of a layer's lists. */
struct stream_experts_figures {
    uint64_t stall_ticks;
    uint32_t lists;              /* passes */
    uint32_t kept, read, stalls; /* as in struct stream_stats */
};

struct stream_experts {
    struct stream_expert *all; /* (plan->experts.n), layer after layer; NULL: there is no cache */
    uint8_t *slots[INGOT_MAX_LAYERS];
    struct stream_experts_figures figures[INGOT_MAX_LAYERS];
    uint32_t layer; /* of the list */
    uint32_t n;     /* experts of the list */
    enum err failure;
    struct stream_expert_wanted list[INGOT_MAX_EXPERTS];
    uint16_t counts[INGOT_MAX_EXPERTS]; /* tokens that take each expert, by who makes the list */
    struct stream_expert_read reads[STREAM_EXPERT_READS];
    bool looks_ahead; /* experts=ahead */
    /* The experts of the next layer that its router names when given this layer's x, to be
     * requested while the card is idle. */
    struct {
        uint32_t layer, n;
        uint16_t experts[INGOT_MAX_EXPERTS];
        bool asked[INGOT_MAX_EXPERTS]; /* and were read for that */
    } next;
};

/* Make the list: the experts of the layer whose counts are not 0, of n_tokens tokens. Missing
 * experts are asked for. */
void stream_experts_ask(struct stream *s, uint32_t layer, uint32_t n_tokens);

/* The experts of a layer that is not computed yet but is likely to need them: n of
 * x->next.experts. Missing ones are read while the card would be idle. */
void stream_experts_look_ahead(struct stream *s, uint32_t layer, uint32_t n);

/* In each layer, so many keep their slots from now on: those that most tokens took, as far as
 * that is known. */
void stream_experts_pin(struct stream *s, uint32_t n);

/* Wait for number i of the list; all cores look at it after a barrier. An error sets its
 * `failed`, and stream_layer_check reports it. */
void stream_expert_need(struct stream *s, uint32_t i);

/* The same for its first bytes alone, whose checksum is not known yet: an error sets its
 * `first_failed`. If, after stream_expert_need, its `again` is set, what was computed from them
 * must be computed again. */
void stream_expert_need_first(struct stream *s, uint32_t i, uint64_t bytes);

/* All cores are done with number i: it may lose its slot. */
void stream_expert_done(struct stream *s, uint32_t i);

#endif
