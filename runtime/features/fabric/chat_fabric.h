/* The memory fabric in a conversation (runtime/features/fabric/fabric.h) stores text in its
 * namespaces and chooses the namespaces that contribute to a reply. It is used only with
 * learn=on. */
#ifndef INGOT_RUNTIME_CHAT_FABRIC_H
#define INGOT_RUNTIME_CHAT_FABRIC_H

#include "runtime/features/lessons/chat_learn.h"
#include "runtime/features/fabric/fabric.h"
#include "runtime/features/fabric/chat_recall.h"

struct fabric_state {
    struct fabric fabric;        /* the memory in which /remember stores text */
    struct fabric_room room;     /* planned room of the fabric */
    struct chat_recall recall;   /* work space to find memories */
    struct fabric_note replaced; /* the note that the current note replaces; Ctrl-C restores
                                  * it */
    struct hidden_watch watch;
    uint64_t budget, budget_heads; /* limits of practice, of which the higher applies:
                                    * multiplications, and passes of the head */
    uint64_t epoch; /* seconds on the fabric's clock at the machine's start; the clock continues
                * when the model changes */
};

static inline struct fabric_state *fabric_of(const struct chat *c)
{
    return c->features->state[FEATURE_fabric];
}

/* Practice of a memory may take this many multiplications, half a second on a PC's core. */
#define CHAT_FABRIC_BUDGET 16000000000u
enum {
    CHAT_FABRIC_HEADS = 8 /* practice may always take 8 passes over the whole head for a token */
};

/* Set up the fabric after chat_learn_open returned true. */
void chat_fabric_open(struct chat *c);

/* Return the seconds since the start, or the time of day that /time set. The first setting corrects
 * the clock. A later setting means that time has passed, for example while a board was switched
 * off. */
uint64_t chat_fabric_now(const struct chat *c);
void chat_fabric_set_time(struct chat *c, uint64_t seconds);

/* Remember "QUESTION = ANSWER", or a sentence, whose last word is the answer to the words before
 * it. The current conversation stays; its tokens are computed again in the next turn. Errors: those
 * of session_run, ERR_TOO_LONG, ERR_BAD_ARGUMENT without a text, ERR_ABORTED by Ctrl-C. After an
 * error nothing is remembered. */
enum err chat_fabric_remember(struct chat *c, enum fabric_name space, const char *text,
                              size_t bytes, struct chat_lesson *lesson);

/* "QUESTION += MORE" adds to a memory whose answer is a list. `list` becomes "QUESTION = ANSWER,
 * MORE" with the answer so far, or "QUESTION = MORE" if there is no answer yet. Returns the length,
 * which may be too long for `list`, or 0 if `text` has no "+=". */
size_t chat_fabric_add_to_list(struct chat *c, enum fabric_name space, const char *text,
                               char list[FABRIC_TEXT_BYTES + 1]);

/* Forget note i, and practise the other notes of its namespace again. Errors: those of
 * chat_fabric_remember. */
enum err chat_fabric_forget(struct chat *c, uint32_t i, struct chat_lesson *lesson);
/* Forget a namespace, or all namespaces. The texts that the model wrote for the background stay. */
void chat_fabric_forget_space(struct chat *c, enum fabric_name space);
void chat_fabric_clear(struct chat *c);
/* Save the namespaces to a file, or load namespaces in place of the present ones. Errors: those of
 * chat_learn_save and chat_learn_load. */
enum err chat_fabric_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
enum err chat_fabric_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
uint64_t chat_fabric_bytes(struct chat *c); /* the least size of the file */
/* Move the notes of src to dst, and practise them there. */
enum err chat_fabric_promote(struct chat *c, enum fabric_name dst, enum fabric_name src,
                             struct chat_lesson *lesson);

extern const struct chat_command fabric_commands[];
enum { FABRIC_COMMANDS = 6 };
extern const struct feature_saved fabric_saved;

/* The hooks of a turn. */
/* Put memories in front of the turn (chat_recall.h). */
const char *fabric_told(void *state, struct feature_turn *t, size_t *bytes);
void fabric_turn_built(void *state, struct feature_turn *t);
void fabric_reply_begins(void *state, struct feature_turn *t);
void fabric_reply_ends(void *state, struct feature_turn *t, enum err error);

#endif
