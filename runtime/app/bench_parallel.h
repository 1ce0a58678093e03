/* The part of /bench that runs sequences in parallel, if together= planned several. */
#ifndef INGOT_RUNTIME_BENCH_PARALLEL_H
#define INGOT_RUNTIME_BENCH_PARALLEL_H

#include "runtime/app/app.h"

enum { BENCH_PARALLEL_PROMPT = 16, BENCH_PARALLEL_NEW = 16 };

/* The result of a round over all sequences. */
struct bench_round {
    uint64_t ticks, passes;
    uint64_t hash[GROUP_MOST];
    uint32_t ids[GROUP_MOST][BENCH_PARALLEL_NEW];
};

struct bench_parallel {
    uint32_t n; /* sequences */
    struct bench_round alone, parallel;
};

/* Run prompts of BENCH_PARALLEL_PROMPT tokens and as many new tokens, first one sequence after
 * another, then all in parallel. The conversation is one of the sequences: it must have a mark and
 * no pending tokens, and it grows. Returns errors of replies_pass, with a message in
 * a->chat.session->error_message. */
enum err bench_parallel_run(struct app *a, struct bench_parallel *b);

/* Return true if both rounds gave the same tokens with the same logits. */
bool bench_parallel_agrees(const struct bench_parallel *b);

void bench_parallel_print(struct app *a, const struct bench_parallel *b);

#endif
