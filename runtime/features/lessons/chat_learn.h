/* Learning from a conversation: a person says that the last reply was good or bad, or teaches an
 * answer. Learning needs learn=on, because it changes what the model says. */
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
    CHAT_LEARN_FELT = 512,        /* tokens of the model's own texts, which are the first task that
                                   * the EWC penalty protects */
    CHAT_LEARN_TEXT = 64,         /* tokens of each of the model's texts */
    CHAT_LEARN_ROUNDS = 100,      /* the most rounds of a lesson */
    CHAT_LEARN_ANSWER_TOKENS = 64 /* the most tokens of an answer, with its end */
};

struct lessons_state {
    bool learns;   /* chat_learn_open succeeded */
    uint32_t room; /* the number of examples for which the plan has room */
    struct lessons lessons;
    uint32_t told_to_go;        /* number of lessons that a refused command drops if it is
                          * repeated */
    enum lesson_kind told_kind; /* kind of that command */
    struct hidden_watch watch;  /* lets the lessons adapt the model */
    uint32_t *kept_ids;         /* (context) ids of the conversation, during a lesson */
    uint64_t began;             /* when the steps of a lesson began, in ticks */
    uint64_t (*now)(const struct chat *c); /* the fabric's clock, or NULL */
    void (*also_told)(struct chat *c);     /* prints the policy's text at the beginning of /learned;
                                            * NULL: no text */
};

static inline struct lessons_state *lessons_of(const struct chat *c)
{
    return c->features->state[FEATURE_lessons];
}

struct chat_lesson {
    uint32_t tokens, rounds, steps, thrown;
    uint32_t to_go;    /* after ERR_NO_SPACE, how many earlier lessons must be dropped; 0 if none
                        * can be dropped */
    uint64_t ticks;    /* time of the steps and of the logits for them */
    bool apart;        /* fabric: every gate is open only for its own notes */
    bool wins;         /* each token of the answer is now the likeliest, by CHAT_LEARN_MARGIN */
    bool only_watched; /* /good took no step, because other answers would have become worse */
    bool taken_back;   /* nothing was changed, because other answers would have become worse */
    uint32_t halvings; /* how often the change (/good) or the number of places (/bad) was halved */
    bool by_words;     /* fabric: the note does not fit and is found only by its words */
    bool takes_long;   /* fabric: practice took too long, so some notes are not fully
                     * practised */
    bool replaces;     /* fabric: the note replaces an earlier note */
    uint32_t examples,
        lost; /* how many tokens were practised, and how many of them are not the likeliest */
};

/* Open lessons for a model that planned room for them (model_setup.learns). Returns false if the
 * head is streamed: without its rows in memory the model cannot learn. */
bool chat_learn_open(struct chat *c);

/* Teach the model to answer `question`, in a fresh conversation, with `answer`. The current
 * conversation stays; its tokens are computed again when the next message comes. Errors: those of
 * session_run; ERR_TOO_LONG; ERR_BAD_ARGUMENT for an empty answer; ERR_ABORTED by Ctrl-C, which
 * drops what was learnt; ERR_NO_SPACE if lesson->to_go earlier lessons must be dropped first. A
 * second call before the next turn drops them. */
enum err chat_learn_teach(struct chat *c, const char *question, size_t question_bytes,
                          const char *answer, size_t answer_bytes, struct chat_lesson *lesson);

/* If `good` is true, take a step towards each token of the last reply, unless a nearby example of
 * an earlier lesson would lose its token. If another example then loses its token, halve the sum of
 * the steps, again if needed; if that does not help, take all steps back and only watch the reply.
 * If `good` is false, let another token win by a little at the first few places where it was almost
 * as likely. Examples that lose their token must regain it; if they cannot, half as many places
 * change, and at last none. ERR_NOT_FOUND: there is no reply. ERR_NO_SPACE: as in
 * chat_learn_teach. */
enum err chat_learn_rate(struct chat *c, bool good, struct chat_lesson *lesson);

/* Save lessons to a file, or load lessons in place of the present lessons. Errors: those of
 * saved_chat_write and saved_chat_read (saved_chat.h), with io->error_message. */
enum err chat_learn_save(struct chat *c, struct saved_chat *io, const struct file *file,
                         saved_chat_progress_fn *progress, void *context);
enum err chat_learn_load(struct chat *c, struct saved_chat *io, const struct file *file,
                         saved_chat_progress_fn *progress, void *context);
uint64_t chat_learn_bytes(struct chat *c); /* the smallest file that holds the lessons */

/* Return the seconds of the clock by which lessons age. */
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
