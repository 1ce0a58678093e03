/* The half of /bench that runs sequences side by side, where together= planned several. */
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

/* Prompts of BENCH_TOGETHER_PROMPT tokens and as many new ones: sequence by sequence, then side by side. The
 * conversation is one of them; it has no pending tokens, is marked, and is left longer. Errors of
 * replies_pass; a->chat.session->error_message. */
enum err bench_together_run(struct app *a, struct bench_together *b);

/* Whether both rounds said the same tokens, by the same logits. */
bool bench_together_agrees(const struct bench_together *b);

void bench_together_print(struct app *a, const struct bench_together *b);

#endif
