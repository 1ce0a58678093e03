/* Somebody sees the hidden states after the last norm, or changes them before the head takes them: what learns from a model, and
 * adapts it, without a part in it (transformer_watch). */
#ifndef INGOT_RUNTIME_HIDDEN_WATCH_H
#define INGOT_RUNTIME_HIDDEN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct hidden_watch {
    /* The state (dim) of the token at `position` of a pass of one sequence, before it is adapted; NULL: it sees none. */
    void (*see)(void *context, uint32_t position, const float *hidden);
    const bool *sees; /* whether it wants to see the passes now; NULL: it does */
    /* A state (dim) on its way to the head; NULL: it changes none. */
    void (*adapt)(void *context, float *hidden);
    void *context;
    struct hidden_watch *next; /* the transformer's */
};

#endif
