/* With learn=on, find memories (runtime/features/fabric) for a turn by the words of its text
 * (recall.h), and put them in front of the turn as a sentence. A turn that finds nothing is
 * unchanged. */
#ifndef INGOT_RUNTIME_CHAT_RECALL_H
#define INGOT_RUNTIME_CHAT_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/features/fabric/fabric.h"
#include "runtime/features/fabric/recall.h"

struct chat;

enum {
    RECALL_NOTES = 4,         /* the most memories in front of a turn */
    RECALL_NOTE_BYTES = 480,  /* the most bytes of these memories, unless 1/8 of the context is
                               * less */
    RECALL_TOLD_BYTES = 9216, /* the most bytes of a turn with memories; a longer turn gets none */
};

/* Work space, provided by the chat. */
struct chat_recall {
    struct recall_text asked, memory;
    bool by_heart; /* the current turn asks in the same words that were taught, so adapters may
                    * answer */
    char told[RECALL_TOLD_BYTES];
};

/* Return `text` (bytes) with the memories about it in front. The result is *told_bytes long and
 * valid until the next call. Returns NULL if there are no memories, or if a first turn asks in the
 * same words that were taught; then the adapter answers. The result's notes are marked as
 * needed. */
const char *chat_recall(struct chat *c, const char *text, size_t bytes, size_t *told_bytes);

/* Return the note that text (bytes) would replace in a namespace: a note with the same question,
 * or, for sentences that are not episodic, with the same subject. `question` is the length of
 * text's question, as in fabric_add_note. Returns the fabric's n_notes if no note is replaced. */
uint32_t chat_recall_replaced(struct chat *c, enum fabric_name space, const char *text,
                              size_t bytes, size_t question);

/* Return the sum of the weights of a text's words, and their number in *words. */
float chat_recall_weight(struct chat *c, const char *text, size_t bytes, uint32_t *words);

/* Return a number that identifies the model and the tokens with which conversations begin. A note
 * that was learnt with another number is not known by heart. */
uint32_t chat_recall_opening(struct chat *c);

#endif
