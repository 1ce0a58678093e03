/* Learning from a conversation: the last reply was good or bad, or an answer is taught. Only
 * with learn=on, because it changes what the model says. */
#ifndef INGOT_RUNTIME_CHAT_LEARN_H
#define INGOT_RUNTIME_CHAT_LEARN_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/chat/chat.h"
#include "runtime/features/feature.h"
#include "runtime/features/lessons/lessons.h"
#include "runtime/model/hidden_watch.h"
#include "runtime/saved/saved_chat.h"

enum {
    CHAT_LEARN_FELT = 512,        /* tokens of the model's own text, from which the EWC penalty is
                              * measured */
    CHAT_LEARN_TEXT = 64,         /* tokens of each of these texts */
    CHAT_LEARN_ROUNDS = 100,      /* steps of a lesson, at most */
    CHAT_LEARN_ANSWER_TOKENS = 64 /* tokens of an answer, with its end */
};

struct lessons_state {
    bool learns;   /* chat_learn_open */
    uint32_t room; /* the number of examples that the plan has room for */
    struct lessons lessons;
    uint32_t told_to_go; /* lessons that a refused command would drop; the same command again drops
                          * them */
    enum lesson_kind told_kind;            /* its kind */
    struct hidden_watch watch;             /* the lessons that adapt the model */
    uint32_t *kept_ids;                    /* (context) ids of the conversation, during a lesson */
    uint64_t began;                        /* when the steps of a lesson began, in ticks */
    uint64_t (*now)(const struct chat *c); /* the fabric's clock; NULL: no clock */
    void (*also_told)(struct chat *c);     /* /learned begins with this text of the policy; NULL:
                                        * none */
};

static inline struct lessons_state *lessons_of(const struct chat *c)
{
    return c->features->state[FEATURE_lessons];
}

struct chat_lesson {
    uint32_t tokens, rounds, steps, thrown;
    uint32_t to_go;    /* after ERR_NO_SPACE: earlier lessons that would have to be dropped; 0: none
                      * can be */
    uint64_t ticks;    /* time of the steps, with all logits that they need */
    bool apart;        /* for a fabric: every gate is open only for its own notes */
    bool wins;         /* every token of the answer is the most likely now, by CHAT_LEARN_MARGIN */
    bool only_watched; /* /good: no step was taken, because other answers would have become worse */
    bool taken_back;   /* nothing was changed, because other answers would have become worse */
    uint32_t halvings; /* how often the change (/good) or the places (/bad) were halved */
    bool by_words;     /* for a fabric: no room to learn the note by heart; it is only found by its
                   * words */
    bool takes_long;   /* for a fabric: practice would have taken too long; some notes are not fully
                     * practised */
    bool replaces;     /* for a fabric: the note replaces an earlier note */
    uint32_t examples,
        lost; /* for a fabric: tokens practised, and how many of them are not the most likely */
};

/* Open lessons for a model that planned room for them (model_setup.learns). False: the head is
 * streamed, so its rows are not in memory, and the model cannot learn. */
bool chat_learn_open(struct chat *c);

/* Make answer the answer of a fresh conversation to question, in as many steps as needed. The
 * current conversation stays; its tokens are computed again with the next line. ERR_TOO_LONG,
 * ERR_BAD_ARGUMENT: an empty answer; ERR_ABORTED by Ctrl-C, and what was learnt is dropped;
 * ERR_NO_SPACE: there is no room unless lesson->to_go earlier lessons are
 * dropped; a second call before the next turn drops them. Errors of session_run. */
enum err chat_learn_teach(struct chat *c, const char *question, size_t question_bytes,
                          const char *answer, size_t answer_bytes, struct chat_lesson *lesson);

/* Good: one step towards each token of the last reply, except where a nearby example of an earlier
 * lesson would lose its token; if another one loses, all steps are halved, or even taken back, and
 * the reply is only watched. Bad: at the first few places where another token was almost as likely,
 * that one wins from now on, by a little; others that have lost a token get it back, or half as
 * many places give way. If that does not help, it is undone. ERR_NOT_FOUND: there is no reply.
 * ERR_NO_SPACE: as above. */
enum err chat_learn_rate(struct chat *c, bool good, struct chat_lesson *lesson);

/* Save lessons to a file, or load them in place of the present ones. Errors of saved_chat_write
 * and saved_chat_read (saved_chat.h); io->error_message. */
enum err chat_learn_save(struct chat *c, struct saved_chat *io, const struct file *file,
                         saved_chat_progress_fn *progress, void *context);
enum err chat_learn_load(struct chat *c, struct saved_chat *io, const struct file *file,
                         saved_chat_progress_fn *progress, void *context);
uint64_t chat_learn_bytes(struct chat *c); /* size that the file must have in any case */

/* Seconds of the clock by which lessons age. */
static inline uint64_t chat_learn_now(const struct chat *c)
{
    return lessons_of(c)->now != NULL ? lessons_of(c)->now(c) : 0;
}

/* Print the lessons whose examples are kept, one line each, for /what. */
void chat_learn_list(struct chat *c);

extern const struct chat_command lesson_commands[];
enum { LESSON_COMMANDS = 4 };
extern const struct feature_saved lessons_saved;

#endif
