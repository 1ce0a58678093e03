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
/* A token of a good reply that was pushed back goes ahead again by this much. */
#define CHAT_LEARN_AHEAD 0.02f

enum {
    CHAT_LEARN_YIELDS = 8,   /* places of a bad reply that are changed at most, ... */
    CHAT_LEARN_LOOKED = 32,  /* ... how many are tried when the room for examples is full */
    CHAT_LEARN_NEARBY = 8,   /* examples of earlier lessons that are compared after each step */
    CHAT_LEARN_HALVINGS = 6, /* times that what a good reply changed is halved */
    CHAT_LEARN_REGAINS = 2,  /* rounds in which its tokens that were pushed back win again */
    CHAT_LEARN_MENDS = 10, /* rounds in which other answers get their tokens back after a bad one */
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
/* The steps of a lesson begin. The second function sets the lesson's steps, the totals since
 * `before`, and its time. */
void chat_learn_begin(struct chat *c);
void chat_learn_settle(struct chat *c, const struct learner_totals *before,
                       struct chat_lesson *lesson);

/* The watch set of a rating. */
struct chat_learn_watch {
    uint8_t well[LESSONS_MOST_ROOM / 8];  /* a bit for each example that must stay well */
    uint32_t given_up[CHAT_LEARN_YIELDS]; /* tokens that may not win at the places of a bad reply */
};

/* Watch the examples that are well: a taught token, or one of a good reply, wins; where a bad
 * reply gave way, a token that the model might say does. Errors of the head, as below. */
enum err chat_learn_watch(struct chat *c, struct chat_learn_watch *w);
static inline void chat_learn_watch_one(struct chat_learn_watch *w, uint32_t example)
{
    w->well[example / 8] |= (uint8_t)(1u << example % 8);
}

/* How many of the examples [from, to) that are watched are not well. */
enum err chat_learn_count_lost(struct chat *c, const struct chat_learn_watch *w, uint32_t from,
                               uint32_t to, uint32_t *lost);
/* One round: each of them gets its token back by the shortest step; so does each place of the
 * latest lesson, a bad reply, where a token that may not win does. *lost: how many steps that took. */
enum err chat_learn_hold(struct chat *c, const struct chat_learn_watch *w, uint32_t *lost);

/* Take a step towards each token of a good reply, the latest lesson, by which no watched example
 * nearby loses its token. */
enum err chat_learn_favor(struct chat *c, const struct chat_learn_watch *w);
/* Change a bad reply, the latest lesson, whose examples have its tokens as targets.
 * Up to CHAT_LEARN_YIELDS tokens give way to others; their examples stay without a target. Other
 * examples are dropped. The tokens that gave way are noted in w; examples of the same reply are
 * watched no more. */
enum err chat_learn_yield(struct chat *c, struct chat_learn_watch *w, uint32_t *yields);
/* Count the examples of rated replies whose most likely token the model would hardly say there. */
enum err chat_learn_count_strange(struct chat *c, uint32_t *strange);

/* Show the progress of a lesson to a person who waits at the line. label is constant.
 * console_progress_end() ends the wait. */
void chat_learn_tell(struct chat *c, const char *label, uint32_t done, uint32_t total);

#endif
