/* A function that is called after each pass of session_run, when its tokens are cached:
 * runtime/features/kept then copies states of prompts, and an MTP head computes the same tokens. */
#ifndef INGOT_RUNTIME_SESSION_WATCH_H
#define INGOT_RUNTIME_SESSION_WATCH_H

#include <stdint.h>

struct session;

struct session_watch {
    uint32_t step; /* passes never cross a multiple of this; 0: no limit */
    void (*passed)(void *context, struct session *s);
    void *context;
};

/* Return how many of the next n tokens a pass may take. */
uint32_t session_watch_limit(const struct session *s, uint32_t n);

/* Call when a pass is over and its tokens are cached. */
void session_watch_passed(struct session *s);

#endif
