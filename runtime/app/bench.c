#include "runtime/app/bench.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/app/bench_parallel.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

enum { BENCH_PROMPT = 128, BENCH_NEW = 16, BENCH_LEAST = 8 };

struct bench {
    struct app *app;
    uint32_t prompt;          /* tokens */
    uint64_t prefill, decode; /* ticks */
    struct bench_parallel parallel;
};

static bool has_several(const struct session *s)
{
    return s->model->plan.sequences > 1;
}

/* Measure n tokens after the conversation, `step` at a time. */
static enum err bench_append(const struct bench *b, uint32_t n, uint32_t step, uint64_t *ticks)
{
    const struct platform_clock *clock = &b->app->setup.platform->clock;
    struct session *s = b->app->chat.session;
    struct stop stop = { chat_wait_stop, &b->app->chat };
    uint32_t ids[BENCH_PROMPT], vocab = s->model->image.header->params.vocab;
    uint64_t start = platform_ticks(clock);

    for (uint32_t i = 0; i < n; i++) {
        ids[i] = (i * 7919 + 13) % vocab;
    }
    for (uint32_t i = 0; i < n; i += step) {
        enum err e = session_append(s, ids + i, step, &stop);

        if (e != ERR_OK) {
            return e;
        }
    }
    *ticks = platform_ticks(clock) - start;
    return ERR_OK;
}

static enum err bench_both(struct bench *b)
{
    enum err e;

    chat_wait_begin(&b->app->chat, "bench", b->prompt + BENCH_NEW);
    e = bench_append(b, b->prompt, b->prompt, &b->prefill);
    if (e == ERR_OK) {
        e = bench_append(b, BENCH_NEW, 1, &b->decode);
    }
    console_progress_end(b->app->setup.console);
    return e;
}

/* Measure several sequences, after the conversation's first `length` tokens. */
static enum err bench_sequences(struct bench *b, struct session *s, uint32_t length,
                                const struct session_hash *hash)
{
    enum err e;

    if (!has_several(s)) {
        return ERR_OK;
    }
    (void)session_cut(s, length);
    s->hash = *hash;
    chat_wait_begin(&b->app->chat, "bench", BENCH_PARALLEL_PROMPT + BENCH_PARALLEL_NEW);
    e = bench_parallel_run(b->app, &b->parallel);
    console_progress_end(b->app->setup.console);
    return e;
}

/* Measure after the conversation, which stays; its pending tokens are saved and restored. */
static enum err bench_apart(struct bench *b, struct session *s)
{
    uint32_t length = s->n_cached, pending = s->n_ids - length, kept[BENCH_PROMPT];
    struct session_hash hash = s->hash;
    enum err e;

    memcpy(kept, s->ids + length, pending * sizeof *kept);
    (void)session_cut(s, length);
    session_mark(s); /* some states can only go back to a mark */
    e = bench_both(b);
    if (e == ERR_OK) {
        e = bench_sequences(b, s, length, &hash);
    }
    (void)session_cut(s, length);
    s->hash = hash;
    (void)session_put(s, kept, pending); /* cannot fail: there was room before */
    return e;
}

static const char *rate_of(const struct bench *b, char text[FORMAT_NUMBER_BYTES], uint32_t n,
                           uint64_t ticks)
{
    uint64_t milli = 0;

    if (ticks != 0) {
        milli = n * 1000ull * b->app->setup.platform->clock.hz / ticks;
    }
    return format_milli(text, milli, 2);
}

static void print_bench(const struct bench *b, uint32_t length)
{
    char prefill[FORMAT_NUMBER_BYTES], decode[FORMAT_NUMBER_BYTES];

    console_printf(b->app->setup.console,
                   "prefill of %u %s: %s tok/s; decode of %u: %s tok/s; after %u %s "
                   "of context\n",
                   (unsigned)b->prompt, plural((unsigned)b->prompt, "token", "tokens"),
                   rate_of(b, prefill, b->prompt, b->prefill), (unsigned)BENCH_NEW,
                   rate_of(b, decode, BENCH_NEW, b->decode), (unsigned)length,
                   plural((unsigned)length, "token", "tokens"));
}

/* Measure the session. ERR_NO_SPACE: the context has no room left. */
static enum err bench_measure(struct bench *b, struct session *s)
{
    uint32_t room = s->context - s->n_cached;

    if (room < BENCH_NEW + max_u32(BENCH_LEAST, BENCH_PARALLEL_PROMPT) ||
        s->n_ids - s->n_cached > BENCH_PROMPT) {
        return ERR_NO_SPACE;
    }
    b->prompt = min_u32(room - BENCH_NEW, BENCH_PROMPT);
    return bench_apart(b, s);
}

static void print_error(struct console *c, const struct session *s, enum err e)
{
    const char *error_message = s->error_message;

    if (error_message[0] == '\0' && e == ERR_NO_SPACE) {
        error_message =
            "the context has no room for a measurement: /reset frees it, ctx= makes it larger";
    } else if (error_message[0] == '\0') {
        error_message = err_text(e);
    }
    console_printf(c, "error: %s\n", error_message);
}

bool bench_print(struct app *a)
{
    struct session *s = a->chat.session;
    struct bench b = { .app = a };
    enum err e;

    s->error_message[0] = '\0';
    e = bench_measure(&b, s);
    if (e == ERR_ABORTED) {
        console_printf(a->setup.console, "(stopped)\n");
        return true;
    }
    if (e != ERR_OK) {
        print_error(a->setup.console, s, e);
        return false;
    }
    print_bench(&b, s->n_cached);
    if (!has_several(s)) {
        return true;
    }
    bench_parallel_print(a, &b.parallel);
    if (!bench_parallel_agrees(&b.parallel)) {
        console_printf(a->setup.console,
                       "error: parallel sequences give other tokens than one at a time\n");
    }
    return bench_parallel_agrees(&b.parallel);
}
