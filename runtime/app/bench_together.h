/* The part of /bench that runs sequences in parallel, if together= planned several. */
#ifndef INGOT_RUNTIME_BENCH_TOGETHER_H
#define INGOT_RUNTIME_BENCH_TOGETHER_H

#include "runtime/app/app.h"

enum { BENCH_TOGETHER_PROMPT = 16, BENCH_TOGETHER_NEW = 16 };

/* The result of a round over all sequences. */
struct bench_round {
    uint64_t ticks, passes;
    uint64_t hash[GROUP_MOST];
    uint32_t ids[GROUP_MOST][BENCH_TOGETHER_NEW];
};

struct bench_together {
    uint32_t n; /* sequences */
    struct bench_round alone, beside;
};

/* Run prompts of BENCH_TOGETHER_PROMPT tokens and as many new ones, first one sequence after the
 * other, then in parallel. The conversation is one of the sequences; it must have no pending
 * tokens and a mark, and ends up longer. Errors of replies_pass; a->chat.session->error_message. */
enum err bench_together_run(struct app *a, struct bench_together *b);

/* Whether both rounds gave the same tokens with the same logits. */
bool bench_together_agrees(const struct bench_together *b);

void bench_together_print(struct app *a, const struct bench_together *b);

#endif
