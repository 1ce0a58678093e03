/* Functions of chat_learn.c for chat_fabric.c as well; nobody else includes it. */
#ifndef INGOT_RUNTIME_CHAT_LEARN_PRIVATE_H
#define INGOT_RUNTIME_CHAT_LEARN_PRIVATE_H

#include "runtime/features/lessons/chat_learn.h"

/* By how much a token that is taught wins. */
#define CHAT_LEARN_MARGIN 1.0f
/* A token of a bad reply gives way to one that is at most so far behind it, and falls so far behind that. */
#define CHAT_LEARN_NEARLY 3.0f
#define CHAT_LEARN_BEHIND 0.5f

enum {
    CHAT_LEARN_YIELDS = 8, /* places of a bad reply that are changed at most, ... */
    CHAT_LEARN_LOOKED =
        32, /* ... of so many that are looked at when the room for examples is full */
    CHAT_LEARN_MENDS = 10, /* rounds in which what is taught is practised after that */
};

/* lessons_of(c)->lessons.error of the choice: rows of the head. */
void chat_learn_make_error(struct chat *c, const struct micro_lora_choice *choice);
/* c->lessons.error of the margin between two tokens with these logits: how fast it changes. */
void chat_learn_make_margin(struct chat *c, uint32_t rival, float rival_logit, uint32_t target,
                            float target_logit);
/* One of the likeliest tokens, drawn by *seed. */
uint32_t chat_learn_draw(const struct chat *c, const float *logits, unsigned *seed);
/* An empty session has what conversations begin with, or BOS; *n: tokens, 0: there is nothing. */
enum err chat_learn_begin_text(struct chat *c, size_t *n);
/* The question as the first turn, computed but for its last token: ids[0]; the answer's after it, *n in all,
 * at most CHAT_LEARN_ANSWER_TOKENS. */
enum err chat_learn_put_answer(struct chat *c, const char *question, size_t question_bytes,
                               const char *answer, size_t answer_bytes, uint32_t *ids, size_t *n);
/* The token after an answer: the token that ends a turn. */
uint32_t chat_learn_end(const struct chat *c);

/* Each example of the latest lesson, a bad reply, has a token as its target; up to CHAT_LEARN_YIELDS of them give way to others and stay,
 * without a target, and the rest go. Errors of the head. */
enum err chat_learn_yield(struct chat *c, uint32_t *yields);
/* How many examples of rated replies have a token as the likeliest now that the model would hardly say there. */
enum err chat_learn_count_strange(struct chat *c, uint32_t *strange);

/* A lesson is so far; who waits at the line is told. label is constant. console_progress_end() ends the wait. */
void chat_learn_tell(struct chat *c, const char *label, uint32_t done, uint32_t total);

#endif
