/* Commands that concern the models and the machine. */
#include "runtime/app/commands_private.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/app/app_private.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

/* ---- models --------------------------------------------------------------------------------- */

static void print_model(void *context, const char *name, uint64_t bytes)
{
    char size[FORMAT_NUMBER_BYTES];

    console_printf(context, "  %-40s %s\n", name, format_bytes(size, bytes));
}

enum command_result command_models(struct app *a, char *argument)
{
    const struct app_files *files = a->setup.files;

    (void)argument;
    if (files->list_models == NULL) {
        console_printf(a->setup.console, "error: there are no other models here\n");
    } else if (files->list_models(files->context, print_model, a->setup.console) != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", files->problem(files->context));
    }
    return COMMAND_DONE;
}

enum command_result command_model(struct app *a, char *argument)
{
    if (argument[0] == '\0') {
        console_printf(a->setup.console, "error: which one? /models lists them\n");
        return COMMAND_DONE;
    }
    if (!app_change_model(a, argument)) {
        return COMMAND_ENDS;
    }
    return COMMAND_DONE;
}

enum command_result command_stats(struct app *a, char *argument)
{
    const struct chat *c = &a->chat;
    const struct session *s = c->session;
    char streamed[FORMAT_NUMBER_BYTES];

    (void)argument;
    console_printf(a->setup.console,
                   "%u turns: %llu prompt and %llu new tokens, %s streamed; %u of %u tokens of the "
                   "context are taken\n",
                   (unsigned)c->totals.turns, (unsigned long long)c->totals.prompt_tokens,
                   (unsigned long long)c->totals.new_tokens,
                   format_bytes(streamed, s->model->stream.stats.bytes_streamed),
                   (unsigned)s->n_ids, (unsigned)s->context);
    report_high_water(a->setup.console, s->model);
    report_health(a->setup.console);
    return COMMAND_DONE;
}

enum command_result command_plan(struct app *a, char *argument)
{
    (void)argument;
    report_model(a->setup.console, a->chat.session->model);
    report_plan(a->setup.console, a->chat.session->model);
    return COMMAND_DONE;
}

/* ---- the model's speed ---------------------------------------------------------------------- */

enum { BENCH_PROMPT = 128, BENCH_NEW = 16, BENCH_LEAST = 8 };

struct bench {
    struct app *app;
    uint32_t prompt;          /* tokens */
    uint64_t prefill, decode; /* ticks */
};

/* n tokens after the conversation, `step` at once. */
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

/* After the conversation, which stays; its pending tokens are kept aside. */
static enum err bench_apart(struct bench *b, struct session *s)
{
    uint32_t length = s->n_cached, pending = s->n_ids - length, kept[BENCH_PROMPT];
    enum err e;

    memcpy(kept, s->ids + length, pending * sizeof *kept);
    s->problem[0] = '\0';
    (void)session_cut(s, length);
    e = bench_both(b);
    (void)session_cut(s, length);
    (void)session_put(s, kept, pending); /* there was room before */
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
                   "prefill of %u tokens: %s tok/s; decode of %u: %s tok/s; after %u tokens "
                   "of context\n",
                   (unsigned)b->prompt, rate_of(b, prefill, b->prompt, b->prefill),
                   (unsigned)BENCH_NEW, rate_of(b, decode, BENCH_NEW, b->decode), (unsigned)length);
}

enum command_result command_bench(struct app *a, char *argument)
{
    struct session *s = a->chat.session;
    uint32_t length = s->n_cached, room = s->context - length;
    struct bench b = { .app = a };
    enum err e;

    (void)argument;
    if (room < BENCH_NEW + BENCH_LEAST || s->n_ids - length > BENCH_PROMPT) {
        console_printf(a->setup.console,
                       "error: the context has no room for a measurement: /reset first\n");
        return COMMAND_DONE;
    }
    b.prompt = min_u32(room - BENCH_NEW, BENCH_PROMPT);
    e = bench_apart(&b, s);
    if (e == ERR_ABORTED) {
        console_printf(a->setup.console, "(stopped)\n");
    } else if (e != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n",
                       s->problem[0] != '\0' ? s->problem : err_text(e));
    } else {
        print_bench(&b, length);
    }
    return COMMAND_DONE;
}

/* ---- the machine ---------------------------------------------------------------------------- */

/* In the memory that the models have left. */
enum command_result command_selftest(struct app *a, char *argument)
{
    struct arena *arena = &a->target.model.arena;
    struct memory_range free = { arena->base + arena->reserved, arena_left(arena) };

    (void)argument;
    (void)report_selftest(a->setup.console, &a->kernels, app_cpu_features(a),
                          platform_ticks(&a->setup.platform->clock), free);
    return COMMAND_DONE;
}

enum command_result command_log(struct app *a, char *argument)
{
    (void)a;
    (void)argument;
    console_repeat_log(a->setup.console);
    return COMMAND_DONE;
}

enum command_result command_reboot(struct app *a, char *argument)
{
    const struct platform_power *power = &a->setup.platform->power;

    (void)argument;
    if (power->restart != NULL) {
        console_log(a->setup.console, "restart");
        power->restart(power->context);
    }
    console_printf(a->setup.console,
                   "error: /reboot is for a board that can restart itself: switch it off and on\n");
    return COMMAND_DONE;
}

enum command_result command_off(struct app *a, char *argument)
{
    (void)a;
    (void)argument;
    return COMMAND_ENDS;
}
