/* Functions that the files of lessons and chat_fabric.c share; no other folder includes this
 * header. */
#ifndef INGOT_RUNTIME_CHAT_LEARN_PRIVATE_H
#define INGOT_RUNTIME_CHAT_LEARN_PRIVATE_H

#include "runtime/features/lessons/chat_learn.h"

/* The margin by which a taught token wins. */
#define CHAT_LEARN_MARGIN 1.0f
/* A token of a bad reply gives way to another token that is at most this far behind, and then
 * falls this far behind the other one. */
#define CHAT_LEARN_NEARLY 3.0f
#define CHAT_LEARN_BEHIND 0.5f
/* A token of a good reply that no longer wins is made to win again by this margin. */
#define CHAT_LEARN_AHEAD 0.02f

enum {
    CHAT_LEARN_YIELDS = 8,   /* most places of a bad reply that are changed */
    CHAT_LEARN_LOOKED = 32,  /* places that are tried when the room for examples is full */
    CHAT_LEARN_NEARBY = 8,   /* examples of earlier lessons that are compared after each step */
    CHAT_LEARN_HALVINGS = 6, /* most halvings of what a good reply changed */
    CHAT_LEARN_REGAINS = 2,  /* rounds that make a good reply's tokens win again */
    CHAT_LEARN_MENDS = 10,   /* rounds that give other answers their tokens back after /bad */
};

/* Compute lessons_of(c)->lessons.error of the choice from rows of the head. */
void chat_learn_make_error(struct chat *c, const struct micro_lora_choice *choice);
/* Compute the same error as the derivative of the margin between two tokens, which have these
 * logits. */
void chat_learn_make_margin(struct chat *c, uint32_t rival, float rival_logit, uint32_t target,
                            float target_logit);
/* Draw one of the most likely tokens with *seed. */
uint32_t chat_learn_draw(const struct chat *c, const float *logits, unsigned *seed);
/* Put the beginning of conversations, or BOS, into an empty session; *n is its number of tokens,
 * which may be 0. */
enum err chat_learn_begin_text(struct chat *c, size_t *n);
/* Compute the question as the first turn, except its last token, which is ids[0]; the answer's
 * tokens follow, *n in all, at most CHAT_LEARN_ANSWER_TOKENS. */
enum err chat_learn_put_answer(struct chat *c, const char *question, size_t question_bytes,
                               const char *answer, size_t answer_bytes, uint32_t *ids, size_t *n);
/* Return the token after an answer: the token that ends a turn. */
uint32_t chat_learn_end(const struct chat *c);

/* Take a step from h and its logits. With `feels` the EWC penalty counts the example. Returns true
 * if the target wins already; then no step was taken. */
bool chat_learn_step(struct chat *c, const float *h, const float *logits, uint32_t target,
                     float sign, bool feels);
/* Practise every taught example once, also those of earlier lessons, which a step may have hurt.
 * ERR_ABORTED by Ctrl-C; errors of the head. */
enum err chat_learn_practise(struct chat *c, bool *all_win);
/* Find room for a lesson of n examples. ERR_NO_SPACE: lesson->to_go other lessons would have to be
 * dropped; a second call drops them. */
enum err chat_learn_find_room(struct chat *c, uint32_t n, enum lesson_kind kind,
                              struct chat_lesson *lesson);
/* Set the lesson's steps and time: the totals since `before`. */
void chat_learn_settle(struct chat *c, const struct learner_totals *before,
                       struct chat_lesson *lesson);

/* The watch set of a rating. */
struct chat_learn_watch {
    uint8_t well[LESSONS_MOST_ROOM / 8];  /* a bit for each earlier example that must stay well */
    uint32_t given_up[CHAT_LEARN_YIELDS]; /* tokens that may not win at the places of a bad reply */
};

/* Watch the examples that are well: where a taught token or one of a good reply wins, and where, in
 * place of a bad reply's token, one wins that the model might say. Errors of the head, as below. */
enum err chat_learn_watch(struct chat *c, struct chat_learn_watch *w);
/* Count the watched examples of earlier lessons that are not well any more. */
enum err chat_learn_count_lost(struct chat *c, const struct chat_learn_watch *w, uint32_t *lost);
/* Run one round. Each of these gets its token back by the shortest step; so does each place of the
 * latest lesson, a bad reply, at which a token wins that may not. *lost is the number of steps. */
enum err chat_learn_hold(struct chat *c, const struct chat_learn_watch *w, uint32_t *lost);

/* Change a bad reply, which is the latest lesson: its tokens are the targets of the examples. Up to
 * CHAT_LEARN_YIELDS tokens give way to others; their examples stay without a target. Other examples
 * are dropped. The tokens that gave way are noted in w; earlier examples of the same reply are no
 * longer watched. */
enum err chat_learn_yield(struct chat *c, struct chat_learn_watch *w, uint32_t *yields);
/* Count the examples of rated replies at which a token wins that the model would hardly say. */
enum err chat_learn_count_strange(struct chat *c, uint32_t *strange);

/* Show the progress of a lesson to a person who waits at the line. label is constant.
 * console_progress_end() ends the wait. */
void chat_learn_tell(struct chat *c, const char *label, uint32_t done, uint32_t total);

#endif
