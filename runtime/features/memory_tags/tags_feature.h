/* The tags of the reply at work; the features that they are for read them when the turn has ended. */
#ifndef INGOT_RUNTIME_TAGS_FEATURE_H
#define INGOT_RUNTIME_TAGS_FEATURE_H

#include "runtime/chat/chat.h"
#include "runtime/features/feature.h"
#include "runtime/features/memory_tags/memory_tags.h"

static inline const struct memory_tags *memory_tags_of(const struct chat *c)
{
    return c->features->state[FEATURE_memory_tags];
}

#endif
