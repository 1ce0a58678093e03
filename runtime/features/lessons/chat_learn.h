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
    CHAT_LEARN_FELT = 512,        /* tokens that the model writes on its own, to measure the EWC
                              * penalty */
    CHAT_LEARN_TEXT = 64,         /* tokens of each text that it writes */
    CHAT_LEARN_ROUNDS = 100,      /* steps of a lesson, at most */
    CHAT_LEARN_ANSWER_TOKENS = 64 /* tokens of an answer, with its end */
};

struct lessons_state {
    bool learns;   /* chat_learn_open */
    uint32_t room; /* the number of examples that the plan has room for */
    struct lessons lessons;
    uint32_t told_to_go;        /* lessons that a refused command has to drop; if repeated, it drops
                          * them */
    enum lesson_kind told_kind; /* its kind */
    struct hidden_watch watch;  /* adapts the model's hidden states with the lessons */
    uint32_t *kept_ids;         /* (context) ids of the conversation, during a lesson */
    uint64_t ticks;             /* ticks that steps took */
    uint64_t (*now)(const struct chat *c); /* the fabric's clock; NULL: no clock */
    void (*also_told)(struct chat *c);     /* /learned first prints this text of the policy; NULL:
                                        * none */
};

static inline struct lessons_state *lessons_of(const struct chat *c)
{
    return c->features->state[FEATURE_lessons];
}

struct chat_lesson {
    uint32_t tokens, rounds, steps, thrown;
    uint32_t to_go;    /* after ERR_NO_SPACE: number of earlier lessons to drop first; 0: none can
                      * be */
    uint64_t ticks;    /* time of the steps: choosing candidates, rows of the head, the gradient */
    bool apart;        /* for a fabric: each gate is open for its own notes only */
    bool wins;         /* every token of the answer is the most likely now, by CHAT_LEARN_MARGIN */
    bool taken_back;   /* nothing was changed, because other answers would have become worse */
    uint32_t halvings; /* how often the change (/good) or the places (/bad) were halved */
    bool by_words;     /* for a fabric: the note is only found by its words, because there was no
                   * room to learn it by heart */
    bool takes_long;   /* for a fabric: some notes are not fully practised, because that takes too
                     * long */
    bool replaces;     /* for a fabric: the note replaces an earlier note */
    uint32_t examples,
        lost; /* for a fabric: tokens practised, and how many of them are not the most likely */
};

/* Open lessons for a model that planned room for them (model_setup.learns). Returns false if the
 * model cannot learn, because its head is streamed: the rows are not in memory. */
bool chat_learn_open(struct chat *c);

/* Teach the model to answer `question` with `answer` in a fresh conversation. The current
 * conversation stays; its tokens are computed again with the next line. ERR_TOO_LONG,
 * ERR_BAD_ARGUMENT: an empty answer; ERR_ABORTED by Ctrl-C: what was learnt is dropped;
 * ERR_NO_SPACE: there is no room unless lesson->to_go earlier lessons are dropped; a second call
 * before the next turn drops them. Errors of session_run. */
enum err chat_learn_teach(struct chat *c, const char *question, size_t question_bytes,
                          const char *answer, size_t answer_bytes, struct chat_lesson *lesson);

/* Rate the last reply. Good: take a step towards each of its tokens that does not make another
 * token win; if taught answers or other rated replies lose a token, the steps are halved. Bad: at
 * the first few places where another token was almost as likely, that token wins from now on;
 * answers that lost a token by this get it back, or half as many places change. If that does not
 * help, all is undone. ERR_NOT_FOUND: there is no reply. ERR_NO_SPACE: as above. */
enum err chat_learn_rate(struct chat *c, bool good, struct chat_lesson *lesson);

/* Save lessons to a file, or load them in place of the present ones. Errors of saved_chat_write
 * and saved_chat_read (saved_chat.h); io->error_message. */
enum err chat_learn_save(struct chat *c, struct saved_chat *io, const struct file *file,
                         saved_chat_progress_fn *progress, void *context);
enum err chat_learn_load(struct chat *c, struct saved_chat *io, const struct file *file,
                         saved_chat_progress_fn *progress, void *context);
uint64_t chat_learn_bytes(struct chat *c); /* size that the file must have in any case */

/* Return the time of the clock by which lessons age, in seconds. */
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
