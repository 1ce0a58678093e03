/* The memory fabric in a conversation (runtime/features/fabric/fabric.h): what is remembered in its namespaces, and
 * which of them speak in a reply. Only with learn=on. */
#ifndef INGOT_RUNTIME_CHAT_FABRIC_H
#define INGOT_RUNTIME_CHAT_FABRIC_H

#include "runtime/features/lessons/chat_learn.h"
#include "runtime/features/fabric/fabric.h"
#include "runtime/features/fabric/chat_recall.h"

struct fabric_state {
    struct fabric fabric;        /* what /remember puts there */
    struct fabric_room room;     /* as planned */
    struct chat_recall recall;   /* work space to find it */
    struct fabric_note replaced; /* what the note at work takes the place of, for Ctrl-C */
    struct hidden_watch watch;
    uint64_t budget, budget_heads; /* of a memory's practice */
    uint64_t
        epoch; /* seconds on its clock when the machine started: it goes on when the model changes */
};

static inline struct fabric_state *fabric_of(const struct chat *c)
{
    return c->features->state[FEATURE_fabric];
}

/* Multiplications of the head's kernel for a memory: about half a second of one core of a PC. */
#define CHAT_FABRIC_BUDGET 16000000000u
enum {
    CHAT_FABRIC_HEADS = 8 /* ... and so many times the whole head for a token, if that is more */
};

/* After chat_learn_open, where that is true. */
void chat_fabric_open(struct chat *c);

/* The clock: seconds since the start, or of the day that /time set. The first setting corrects it; set
 * again, time has gone by, as a board was switched off. */
uint64_t chat_fabric_now(const struct chat *c);
void chat_fabric_set_time(struct chat *c, uint64_t seconds);

/* text is "QUESTION = ANSWER", or an error message, which comes as the answer to itself without its last word.
 * The current conversation stays; its tokens are computed again with the next line. ERR_BAD_ARGUMENT:
 * nothing to remember; ERR_TOO_LONG; ERR_ABORTED by Ctrl-C, and nothing of it is remembered; errors of
 * session_run. */
enum err chat_fabric_remember(struct chat *c, enum fabric_name space, const char *text,
                              size_t bytes, struct chat_lesson *lesson);

/* Note i is forgotten, and the others of its namespace are practised again. Errors as above. */
enum err chat_fabric_forget(struct chat *c, uint32_t i, struct chat_lesson *lesson);
/* All of a namespace, or of all of them. Answers that the model gives anyhow stay known. */
void chat_fabric_forget_space(struct chat *c, enum fabric_name space);
void chat_fabric_clear(struct chat *c);
/* The namespaces go to a file, and come back, in place of what is there; errors as chat_learn_save's and
 * chat_learn_load's. */
enum err chat_fabric_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
enum err chat_fabric_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
uint64_t chat_fabric_bytes(struct chat *c); /* that the file has to have, whatever comes */
/* Notes of src become those of dst, and are practised. */
enum err chat_fabric_promote(struct chat *c, enum fabric_name dst, enum fabric_name src,
                             struct chat_lesson *lesson);

extern const struct chat_command fabric_commands[];
enum { FABRIC_COMMANDS = 6 };
extern const struct feature_saved fabric_saved;

/* A turn of the chat at its fixed points. */
/* Put memories in front of the turn (chat_recall.h). */
const char *fabric_told(void *state, struct feature_turn *t, size_t *bytes);
void fabric_turn_built(void *state, struct feature_turn *t);
void fabric_reply_begins(void *state, struct feature_turn *t);
void fabric_reply_ends(void *state, struct feature_turn *t, enum err error);

#endif
