/* Functions of chat_practise.c for the rest of this folder; no other folder includes this header. */
#ifndef INGOT_RUNTIME_CHAT_FABRIC_PRIVATE_H
#define INGOT_RUNTIME_CHAT_FABRIC_PRIVATE_H

#include "runtime/features/fabric/chat_fabric.h"

/* Make the gates again, and practise the strong notes of a namespace. Practice ends when every
 * token of their answers wins by CHAT_LEARN_MARGIN, after CHAT_LEARN_ROUNDS, or when it takes too
 * long. Errors: ERR_ABORTED after Ctrl-C, and those of the head. */
enum err chat_fabric_learn(struct chat *c, enum fabric_name space, struct chat_lesson *lesson);

/* Practise the latest note, as chat_fabric_learn does. If practice takes too long, the note is
 * found only by its words. In that case and after an error, the other notes are unchanged. */
enum err chat_fabric_learn_latest(struct chat *c, struct chat_lesson *lesson);

/* Return true if the note's answer wins. The adapter of a faded note is weaker than in its practice,
 * so the answer is compared with the whole head; if it has lost, n->wins becomes false. */
bool chat_fabric_wins(struct chat *c, struct fabric_note *n);

#endif
