/* A watcher sees the hidden states after the last norm, or changes them before the head reads them.
 * Code that learns from a model, and adapts the model, uses watchers (transformer_watch). */
#ifndef INGOT_RUNTIME_HIDDEN_WATCH_H
#define INGOT_RUNTIME_HIDDEN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct hidden_watch {
    /* Gets the state (dim) of the token at `position` in a pass of one sequence, before it is
     * adapted; NULL if the watcher needs no states. */
    void (*see)(void *context, uint32_t position, const float *hidden);
    const bool *sees; /* `see` is called while this points to true; NULL means always */
    /* Changes a state (dim) on its way to the head; NULL if the watcher changes none. */
    void (*adapt)(void *context, float *hidden);
    void *context;
    struct hidden_watch *next; /* next watcher of the transformer */
};

#endif
