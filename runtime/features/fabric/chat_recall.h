/* Memories (runtime/features/fabric), found for a turn by the words of its text (recall.h), and
 * put in front of it as a sentence. Only with learn=on; a turn that finds nothing is unchanged. */
#ifndef INGOT_RUNTIME_CHAT_RECALL_H
#define INGOT_RUNTIME_CHAT_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/features/fabric/fabric.h"
#include "runtime/features/fabric/recall.h"

struct chat;

enum {
    RECALL_NOTES = 4,         /* memories in front of a turn at most, ... */
    RECALL_NOTE_BYTES = 480,  /* ... and their bytes, or an eighth of the context if that is less */
    RECALL_TOLD_BYTES = 9216, /* bytes with the turn; a longer turn gets no memories */
};

/* Work space, provided by the chat. */
struct chat_recall {
    struct recall_text asked, memory;
    bool by_heart; /* the current turn asks in the taught words: adapters may speak */
    char told[RECALL_TOLD_BYTES];
};

/* text (bytes) with the memories about it in front, *told_bytes long, valid until the next call;
 * NULL: there are none, or the adapter gives the answer: a first turn that asks in the taught
 * words. Notes that are told count as needed. */
const char *chat_recall(struct chat *c, const char *text, size_t bytes, size_t *told_bytes);

/* The note that text (bytes), told to a namespace, would replace: one with the same question,
 * or, for sentences that are not episodic, with the same subject. question: bytes of its
 * question, as in fabric_add_note. f->n_notes: there is none. */
uint32_t chat_recall_replaced(struct chat *c, enum fabric_name space, const char *text,
                              size_t bytes, size_t question);

/* The sum of the weights of a text's words, and *words: how many there are. */
float chat_recall_weight(struct chat *c, const char *text, size_t bytes, uint32_t *words);

/* A number for the opening of conversations and the model: a note that was learnt with another
 * number is not known by heart. */
uint32_t chat_recall_opening(struct chat *c);

#endif
