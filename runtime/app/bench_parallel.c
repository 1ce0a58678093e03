#include "runtime/app/bench_parallel.h"

#include <string.h>

#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

/* In each round the sequences begin with the same tokens. */
struct start {
    struct app *app;
    uint32_t length; /* tokens of the conversation */
    struct session_hash hash;
};

static void drop_text(void *context, const char *text, size_t bytes)
{
    (void)context;
    (void)text;
    (void)bytes;
}

static enum err put_prompt(const struct start *from, uint32_t i)
{
    struct session *s = app_sequence(from->app, i);
    uint32_t ids[BENCH_PARALLEL_PROMPT], vocab = s->model->image.header->params.vocab;

    if (i == 0) {
        (void)session_cut(s, from->length);
        s->hash = from->hash;
    } else {
        session_clear(s);
    }
    for (uint32_t k = 0; k < BENCH_PARALLEL_PROMPT; k++) {
        ids[k] = (k * 7919 + 13 + i * 101) % vocab;
    }
    return session_put(s, ids, BENCH_PARALLEL_PROMPT);
}

static void keep(struct bench_round *r, struct app *a, uint32_t i)
{
    const struct session *s = app_sequence(a, i);

    memcpy(r->ids[i], s->ids + a->replies.slots[i].result.first_new, sizeof r->ids[i]);
    r->hash[i] = s->hash.value;
}

/* Run sequences [first, first + n) in parallel. */
static enum err run_some(const struct start *from, uint32_t first, uint32_t n,
                         struct bench_round *round)
{
    static const struct sampler_params greedy = { .top_p = 1, .repeat = 1 };
    static const struct generate_sink sink = { .text = drop_text };
    struct app *a = from->app;
    struct generate_params params = { .limit = BENCH_PARALLEL_NEW, .whole = true };
    struct stop stop = { chat_wait_stop, &a->chat };
    enum err e = ERR_OK;

    for (uint32_t i = first; i < first + n && e == ERR_OK; i++) {
        e = put_prompt(from, i);
        if (e == ERR_OK) {
            replies_begin(&a->replies, i, &params, &greedy, &sink);
        }
    }
    while (e == ERR_OK && replies_busy(&a->replies) != 0) {
        e = replies_pass(&a->replies, &stop);
        if (e != ERR_OK && e != ERR_ABORTED) {
            format_text(a->chat.session->error_message, sizeof a->chat.session->error_message, "%s",
                        a->replies.error_message);
        }
    }
    for (uint32_t i = first; i < first + n; i++) {
        replies_leave(&a->replies, i);
        if (e == ERR_OK) {
            keep(round, a, i);
        }
    }
    return e;
}

static enum err run_round(const struct start *from, uint32_t n, uint32_t at_once,
                          struct bench_round *round)
{
    const struct platform_clock *clock = &from->app->setup.platform->clock;
    uint64_t start = platform_ticks(clock);
    enum err e = ERR_OK;

    from->app->replies.group.n_passes = 0;
    for (uint32_t i = 0; i < n && e == ERR_OK; i += at_once) {
        e = run_some(from, i, at_once, round);
    }
    round->ticks = platform_ticks(clock) - start;
    round->passes = from->app->replies.group.n_passes;
    return e;
}

enum err bench_parallel_run(struct app *a, struct bench_parallel *b)
{
    const struct session *s = a->chat.session;
    struct start from = { a, s->n_ids, s->hash };
    enum err e;

    memset(b, 0, sizeof *b);
    memset(&a->replies, 0, sizeof a->replies);
    a->sequences_version++;
    b->n = s->model->plan.sequences;
    a->replies.n = b->n;
    for (uint32_t i = 0; i < b->n; i++) {
        a->replies.slots[i].session = app_sequence(a, i);
    }
    e = run_round(&from, b->n, 1, &b->alone);
    if (e == ERR_OK) {
        e = run_round(&from, b->n, b->n, &b->parallel);
    }
    return e;
}

bool bench_parallel_agrees(const struct bench_parallel *b)
{
    return memcmp(b->alone.ids, b->parallel.ids, sizeof b->alone.ids) == 0 &&
           memcmp(b->alone.hash, b->parallel.hash, sizeof b->alone.hash) == 0;
}

static const char *rate_of(const struct app *a, const struct bench_parallel *b, uint64_t ticks,
                           char text[FORMAT_NUMBER_BYTES])
{
    uint64_t milli = 0;

    if (ticks != 0) {
        milli = b->n * BENCH_PARALLEL_NEW * 1000ull * a->setup.platform->clock.hz / ticks;
    }
    return format_milli(text, milli, 2);
}

static void print_ids(struct app *a, const struct bench_parallel *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        console_printf(a->setup.console, "sequence %u:", (unsigned)i + 1);
        for (uint32_t k = 0; k < BENCH_PARALLEL_NEW; k++) {
            console_printf(a->setup.console, " %u", (unsigned)b->parallel.ids[i][k]);
        }
        console_printf(a->setup.console, "; logits %016llx\n",
                       (unsigned long long)b->parallel.hash[i]);
    }
}

void bench_parallel_print(struct app *a, const struct bench_parallel *b)
{
    char parallel[FORMAT_NUMBER_BYTES], alone[FORMAT_NUMBER_BYTES];

    console_printf(a->setup.console,
                   "%u parallel sequences: %s tok/s in %u passes; one at a time: %s tok/s in "
                   "%u; each %u tokens after %u\n",
                   (unsigned)b->n, rate_of(a, b, b->parallel.ticks, parallel),
                   (unsigned)b->parallel.passes, rate_of(a, b, b->alone.ticks, alone),
                   (unsigned)b->alone.passes, (unsigned)BENCH_PARALLEL_NEW,
                   (unsigned)BENCH_PARALLEL_PROMPT);
    if (a->setup.options->show.ids) {
        print_ids(a, b);
    }
}
