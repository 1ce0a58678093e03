/* Functions that the files of lessons and chat_fabric.c share; no other folder includes this
 * header. */
#ifndef INGOT_RUNTIME_CHAT_LEARN_PRIVATE_H
#define INGOT_RUNTIME_CHAT_LEARN_PRIVATE_H

#include "runtime/features/lessons/chat_learn.h"

/* The margin by which a taught token wins. */
#define CHAT_LEARN_MARGIN 1.0f
/* A token of a bad reply gives way to another token that is at most this far behind, and then
 * falls this far behind that token. */
#define CHAT_LEARN_NEARLY 3.0f
#define CHAT_LEARN_BEHIND 0.5f

enum {
    CHAT_LEARN_YIELDS = 8,  /* places of a bad reply that are changed, at most */
    CHAT_LEARN_LOOKED = 32, /* places that are tried when the room for examples is full */
    CHAT_LEARN_NEARBY = 8,  /* examples of earlier lessons that are compared after each step */
    CHAT_LEARN_MENDS = 10,  /* rounds in which taught answers are practised after /bad */
};

/* Compute lessons_of(c)->lessons.error for the choice, from rows of the head. */
void chat_learn_make_error(struct chat *c, const struct micro_lora_choice *choice);
/* Compute c->lessons.error for the margin between two tokens with these logits: the derivative of
 * the margin. */
void chat_learn_make_margin(struct chat *c, uint32_t rival, float rival_logit, uint32_t target,
                            float target_logit);
/* Draw one of the most likely tokens with *seed. */
uint32_t chat_learn_draw(const struct chat *c, const float *logits, unsigned *seed);
/* Put the beginning of conversations, or BOS, into an empty session; *n: how many tokens, 0:
 * none. */
enum err chat_learn_begin_text(struct chat *c, size_t *n);
/* Compute the question as the first turn, except its last token, which is ids[0]; the answer's
 * tokens follow, *n in all, at most CHAT_LEARN_ANSWER_TOKENS. */
enum err chat_learn_put_answer(struct chat *c, const char *question, size_t question_bytes,
                               const char *answer, size_t answer_bytes, uint32_t *ids, size_t *n);
/* Return the token after an answer: the token that ends a turn. */
uint32_t chat_learn_end(const struct chat *c);

/* Take a step from h and its logits. feels: the EWC penalty counts the example. True: the target
 * wins already, so no step was taken. */
bool chat_learn_step(struct chat *c, const float *h, const float *logits, uint32_t target,
                     float sign, bool feels);
/* Practise every taught example once, also those of earlier lessons, which a step may have hurt.
 * ERR_ABORTED by Ctrl-C; errors of the head. */
enum err chat_learn_practise(struct chat *c, bool *all_win);
/* Whether a lesson of n examples may begin. ERR_NO_SPACE: lesson->to_go others would have to be
 * dropped; a second call drops them. */
enum err chat_learn_find_room(struct chat *c, uint32_t n, enum lesson_kind kind,
                              struct chat_lesson *lesson);
/* Set the lesson's steps and time: the totals since `before`. */
void chat_learn_settle(struct chat *c, const struct learner_totals *before,
                       struct chat_lesson *lesson);

/* Change a bad reply, the latest lesson, whose examples have its tokens as targets.
 * Up to CHAT_LEARN_YIELDS tokens give way to others; their examples stay without a target. Other
 * examples are dropped. Errors of the head. */
enum err chat_learn_yield(struct chat *c, uint32_t *yields);
/* Count the examples that have the right winner: the token that was taught, or of a good reply;
 * for a token that gave way, another token that the model might say. */
enum err chat_learn_count_well(struct chat *c, uint32_t *well);
/* Count the examples of rated replies whose most likely token the model would hardly say there. */
enum err chat_learn_count_strange(struct chat *c, uint32_t *strange);

/* Show the progress of a lesson to a person who waits at the line. label is constant.
 * console_progress_end() ends the wait. */
void chat_learn_tell(struct chat *c, const char *label, uint32_t done, uint32_t total);

#endif
