/* Run the operations of tags in a reply after the turn has ended. */
#ifndef INGOT_RUNTIME_TAGS_FEATURE_H
#define INGOT_RUNTIME_TAGS_FEATURE_H

#include "runtime/chat/chat.h"
#include "runtime/features/memory_tags/memory_tags.h"

/* Remember and forget, and log it; not during a lesson, nor on a locked line. */
void memory_tags_obey(struct chat *c, const struct memory_tags *tags);

#endif
