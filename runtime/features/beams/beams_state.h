/* Find the most likely of several replies, with beams= (runtime/session/beams.h has the search).
 * The sequences of beams are opened together with the sequences of branches. */
#ifndef INGOT_RUNTIME_BEAMS_STATE_H
#define INGOT_RUNTIME_BEAMS_STATE_H

#include "runtime/chat/chat.h"
#include "runtime/features/feature.h"
#include "runtime/session/beams.h"

static inline struct beams *beams_of(const struct chat *c)
{
    return c->features->state[FEATURE_beams];
}

#endif
