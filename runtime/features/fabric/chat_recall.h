/* Memories (runtime/features/fabric), found for a turn by the words of its text (recall.h), and put in front of it as a
 * sentence. Only with learn=on; a turn that finds nothing is as it would be without. */
#ifndef INGOT_RUNTIME_CHAT_RECALL_H
#define INGOT_RUNTIME_CHAT_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/features/fabric/fabric.h"
#include "runtime/features/fabric/recall.h"

struct chat;

enum {
    RECALL_NOTES = 4,        /* in front of a turn at most, ... */
    RECALL_NOTE_BYTES = 480, /* ... and bytes of theirs, an eighth of the context if that is less */
    RECALL_TOLD_BYTES = 9216, /* with the turn; a longer one gets none */
};

/* Work space, which the chat has. */
struct chat_recall {
    struct recall_text asked, memory;
    bool by_heart; /* the current turn asks as it was taught: adapters may speak */
    char told[RECALL_TOLD_BYTES];
};

/* text (bytes) with what is remembered about it in front, *told_bytes long, valid until the next call; NULL: nothing is, or what is
 * comes by heart: a first turn that asks as it was taught. Notes that are told count as needed. */
const char *chat_recall(struct chat *c, const char *text, size_t bytes, size_t *told_bytes);

/* The note that text (bytes), told to a namespace, would replace: of the same question, or, of sentences that are not episodic, of the
 * same subject. question: bytes of its question, as fabric_add_note has it. f->n_notes: there is none. */
uint32_t chat_recall_replaced(struct chat *c, enum fabric_name space, const char *text,
                              size_t bytes, size_t question);

/* The beginning of a conversation, and the model: a note that was learnt with another is not known by heart. */
uint32_t chat_recall_opening(struct chat *c);

#endif
