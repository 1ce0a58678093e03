/* Functions of chat_practise.c for chat_fabric.c; no other folder includes it. */
#ifndef INGOT_RUNTIME_CHAT_FABRIC_PRIVATE_H
#define INGOT_RUNTIME_CHAT_FABRIC_PRIVATE_H

#include "runtime/features/fabric/chat_fabric.h"

/* Make the gates again, and practise the strong notes of a namespace until every token of their
 * answers wins by CHAT_LEARN_MARGIN, or for CHAT_LEARN_ROUNDS, or until it takes too long.
 * ERR_ABORTED by Ctrl-C; errors of the head. */
enum err chat_fabric_learn(struct chat *c, enum fabric_name space, struct chat_lesson *lesson);

/* As above, for the latest note. If it takes too long, the note is found only by its words;
 * then, and after an error, the others are unchanged. */
enum err chat_fabric_learn_latest(struct chat *c, struct chat_lesson *lesson);

#endif
