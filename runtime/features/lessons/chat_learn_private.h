/* Functions that the files of lessons share with the memory fabric; apart from these two features,
 * only tests include this header. */
#ifndef INGOT_RUNTIME_CHAT_LEARN_PRIVATE_H
#define INGOT_RUNTIME_CHAT_LEARN_PRIVATE_H

#include "runtime/features/lessons/chat_learn.h"

/* The margin by which a taught token wins. */
#define CHAT_LEARN_MARGIN 1.0f
/* A token of a bad reply gives way to another token whose logit is at most CHAT_LEARN_NEARLY lower.
 * The step aims at a logit that is 2 * CHAT_LEARN_BEHIND below the other token's logit. If that
 * step is rejected, a second step aims at CHAT_LEARN_BEHIND / 2 below the other's. */
#define CHAT_LEARN_NEARLY 3.0f
#define CHAT_LEARN_BEHIND 0.5f
/* If a token no longer wins, a step raises its logit above the winner's by this much. */
#define CHAT_LEARN_AHEAD 0.02f

enum {
    CHAT_LEARN_YIELDS = 8,   /* the most places of a bad reply that are changed */
    CHAT_LEARN_LOOKED = 32,  /* places that are tried even without room for examples */
    CHAT_LEARN_NEARBY = 8,   /* examples of earlier lessons that are compared after each step */
    CHAT_LEARN_HALVINGS = 6, /* how often the change by a good reply is halved */
    CHAT_LEARN_REGAINS = 2,  /* rounds in which tokens of a good reply win again */
    CHAT_LEARN_MENDS = 10,   /* rounds in which other answers regain tokens after a bad reply */
};

/* Compute lessons_of(c)->lessons.error for the choice, from rows of the head. */
void chat_learn_make_error(struct chat *c, const struct micro_lora_choice *choice);
/* Compute lessons_of(c)->lessons.error, the derivative of the margin between two tokens that have
 * these logits. */
void chat_learn_make_margin(struct chat *c, uint32_t rival, float rival_logit, uint32_t target,
                            float target_logit);
/* Draw one of the most likely tokens with *seed. */
uint32_t chat_learn_draw(const struct chat *c, const float *logits, unsigned *seed);
/* Put the beginning of conversations, or BOS, into an empty session. *n becomes the number of
 * these tokens, or 0. */
enum err chat_learn_begin_text(struct chat *c, size_t *n);
/* Encode an answer without its end. ids has room for CHAT_LEARN_ANSWER_TOKENS - 1. Errors:
 * ERR_TOO_LONG, and ERR_BAD_ARGUMENT for an answer without tokens. */
enum err chat_learn_encode_answer(struct chat *c, const char *answer, size_t bytes, uint32_t *ids,
                                  size_t *n);
/* Compute the question as the first turn, except its last token. ids gets this last token and the
 * answer's tokens, *n <= CHAT_LEARN_ANSWER_TOKENS in all. */
enum err chat_learn_put_answer(struct chat *c, const char *question, size_t question_bytes,
                               const char *answer, size_t answer_bytes, uint32_t *ids, size_t *n);
/* Return the token that follows an answer and ends the turn. */
uint32_t chat_learn_end(const struct chat *c);

/* Take a step from h and its logits. If `feels` is true, the EWC penalty counts the example.
 * Returns true, without a step, if the target wins already. */
bool chat_learn_step(struct chat *c, const float *h, const float *logits, uint32_t target,
                     float sign, bool feels);
/* Practise every taught example once. This includes the examples of earlier lessons, because a step
 * may have made them worse. Errors: ERR_ABORTED by Ctrl-C, and those of the head. */
enum err chat_learn_practise(struct chat *c, bool *all_win);
/* Check whether a lesson of n examples may begin. ERR_NO_SPACE: lesson->to_go other lessons have to
 * go; a second call drops them. */
enum err chat_learn_find_room(struct chat *c, uint32_t n, enum lesson_kind kind,
                              struct chat_lesson *lesson);
/* Call _begin before the steps of a lesson and _settle after them. _settle sets the lesson's time,
 * and its steps, which are the totals less those in `before`. */
void chat_learn_begin(struct chat *c);
void chat_learn_settle(struct chat *c, const struct learner_totals *before,
                       struct chat_lesson *lesson);

/* The examples that a rating must not harm. */
struct chat_learn_watch {
    uint8_t well[LESSONS_MOST_ROOM / 8];  /* a bit for each example that must stay well */
    uint32_t given_up[CHAT_LEARN_YIELDS]; /* tokens that must not win at the places of a bad
                                           * reply */
};

/* Watch the examples that are well. An example is well if the token with the largest logit is the
 * taught token, the good reply's token or, where a bad reply gave way, a token that the model might
 * say. Errors here and below: those of the head. */
enum err chat_learn_watch(struct chat *c, struct chat_learn_watch *w);
static inline void chat_learn_watch_one(struct chat_learn_watch *w, uint32_t example)
{
    w->well[example / 8] |= (uint8_t)(1u << example % 8);
}

/* Set *lost to how many of the watched examples in [from, to) are not well. */
enum err chat_learn_count_lost(struct chat *c, const struct chat_learn_watch *w, uint32_t from,
                               uint32_t to, uint32_t *lost);
/* Do one round: for each watched example that is not well, take the shortest step that makes it
 * well. This includes the places where a bad reply gave way. *lost becomes the number of steps. */
enum err chat_learn_hold(struct chat *c, const struct chat_learn_watch *w, uint32_t *lost);

/* If the latest lesson is a good reply, take a step towards each of its tokens, unless a watched
 * example nearby would lose its token. */
enum err chat_learn_favor(struct chat *c, const struct chat_learn_watch *w);
/* The latest lesson is a bad reply whose tokens are its examples' targets. Let up to
 * CHAT_LEARN_YIELDS of these tokens give way to others; their examples stay without a target. Drop
 * the lesson's other examples. w notes the tokens that gave way, and no longer watches earlier
 * examples of the same reply. */
enum err chat_learn_yield(struct chat *c, struct chat_learn_watch *w, uint32_t *yields);
/* Count the examples of rated replies where the winning token is one that the model without the
 * adapter would hardly say. */
enum err chat_learn_count_strange(struct chat *c, uint32_t *strange);

/* Show the progress of a lesson to a person who waits at the console. label is constant.
 * console_progress_end() ends the wait. */
void chat_learn_tell(struct chat *c, const char *label, uint32_t done, uint32_t total);

#endif
