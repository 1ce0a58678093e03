/* Sees the hidden states after the last norm, or changes them before the head reads them: for
 * code that learns from a model and adapts it, without being part of it (transformer_watch). */
#ifndef INGOT_RUNTIME_HIDDEN_WATCH_H
#define INGOT_RUNTIME_HIDDEN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct hidden_watch {
    /* Sees the state (dim) of the token at `position` in a pass of one sequence, before it is
     * adapted; NULL: not wanted. */
    void (*see)(void *context, uint32_t position, const float *hidden);
    const bool *sees; /* whether it wants to see the passes now; NULL: always */
    /* Changes a state (dim) on its way to the head; NULL: changes none. */
    void (*adapt)(void *context, float *hidden);
    void *context;
    struct hidden_watch *next; /* the transformer's */
};

#endif
