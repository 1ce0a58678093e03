/* Run the operations of tags in a reply after the turn has ended. */
#ifndef INGOT_RUNTIME_TAGS_FEATURE_H
#define INGOT_RUNTIME_TAGS_FEATURE_H

#include "runtime/chat/chat.h"
#include "runtime/features/memory_tags/memory_tags.h"

/* Run and log the operations if lessons are open (chat_learn_open) and the line is not locked. */
void memory_tags_obey(struct chat *c, const struct memory_tags *tags);

#endif
