#include "runtime/chat/commands_system.h"

#include <string.h>

#include "board/board.h"
#include "board/min_max.h"
#include "runtime/chat/chat_private.h"
#include "runtime/chat/report.h"
#include "runtime/chat/saved_chat.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

static const char elsewhere[] = "error: there are no other models here\n";

enum command_result command_models(struct chat *c, char *argument)
{
    (void)argument;
    if (c->services->list_models == NULL) {
        console_printf(elsewhere);
    } else {
        c->services->list_models();
    }
    return COMMAND_DONE;
}

enum command_result command_model(struct chat *c, char *argument)
{
    if (c->services->change_model == NULL) {
        console_printf(elsewhere);
    } else if (argument[0] == '\0') {
        console_printf("error: which one? /models lists them\n");
    } else if (!c->services->change_model(argument)) {
        return COMMAND_ENDS;
    }
    return COMMAND_DONE;
}

static struct saved_chat_state state_of(struct chat *c)
{
    return (struct saved_chat_state){
        .session = c->session,
        .reply_start = c->reply_start,
        .started = c->started,
        .turns = &c->turns,
    };
}

/* The one buffer of a transfer: there is one console, and it waits for it. */
static struct saved_chat saved;

static const struct file *find_save(struct chat *c, const char *name, uint64_t bytes)
{
    const char *problem = "there is no card to save on";
    const struct file *file = NULL;

    if (c->services->find_save != NULL) {
        file = c->services->find_save(name[0] != '\0' ? name : "chat", bytes, &problem);
    }
    if (file == NULL) {
        console_printf("error: %s\n", problem);
    }
    return file;
}

enum command_result command_save(struct chat *c, char *argument)
{
    struct saved_chat_state state = state_of(c);
    const struct file *file = find_save(c, argument, saved_chat_most_bytes(&state));
    enum err e;

    if (file == NULL) {
        return COMMAND_DONE;
    }
    e = saved_chat_write(&saved, file, &state, console_progress_step, NULL);
    console_progress_end();
    if (e == ERR_ABORTED) {
        console_printf("(stopped: %s is as it was)\n", file->name);
    } else if (e != ERR_OK) {
        console_printf("error: %s\n", saved.problem);
    } else {
        console_printf("(%u tokens are saved in %s)\n", (unsigned)c->session->n_ids, file->name);
    }
    return COMMAND_DONE;
}

enum command_result command_load(struct chat *c, char *argument)
{
    const struct file *file = find_save(c, argument, 0);
    struct saved_chat_state state;
    enum err e;

    if (file == NULL) {
        return COMMAND_DONE;
    }
    chat_clear(c);
    state = state_of(c);
    e = saved_chat_read(&saved, file, &state, console_progress_step, NULL);
    console_progress_end();
    if (e != ERR_OK) {
        chat_clear(c);
        console_printf(e == ERR_ABORTED ? "(stopped: a new conversation)\n" : "error: %s\n",
                       saved.problem);
        return COMMAND_DONE;
    }
    c->started = state.started;
    c->reply_start = state.reply_start;
    console_printf("(%u tokens of %s, %u turns: go on)\n", (unsigned)c->session->n_ids, file->name,
                   c->turns.n);
    return COMMAND_DONE;
}

enum command_result command_stats(struct chat *c, char *argument)
{
    const struct session *s = c->session;
    char streamed[FORMAT_NUMBER_BYTES];

    (void)argument;
    console_printf("%u turns: %llu prompt and %llu new tokens, %s streamed; %u of %u tokens of the "
                   "context are taken\n",
                   (unsigned)c->totals.turns, (unsigned long long)c->totals.prompt_tokens,
                   (unsigned long long)c->totals.new_tokens,
                   format_bytes(streamed, s->model->stream.stats.bytes_streamed),
                   (unsigned)s->n_ids, (unsigned)s->context);
    report_high_water(s->model);
    report_health();
    return COMMAND_DONE;
}

enum command_result command_plan(struct chat *c, char *argument)
{
    (void)argument;
    report_model(c->session->model);
    report_plan(c->session->model);
    return COMMAND_DONE;
}

/* ---- the model's speed ---- */

enum { BENCH_PROMPT = 128, BENCH_NEW = 16, BENCH_LEAST = 8 };

/* n tokens after the conversation, at once or one by one. */
static enum err bench_append(struct chat *c, uint32_t n, bool at_once, uint64_t *ticks)
{
    struct stop stop = { chat_wait_stop, c };
    uint32_t vocab = c->session->model->image.header->params.vocab, step = at_once ? n : 1;
    uint64_t start = board.ticks();
    uint32_t ids[BENCH_PROMPT];
    enum err error = ERR_OK;

    for (uint32_t i = 0; i < n; i++) {
        ids[i] = (i * 7919 + 13) % vocab;
    }
    for (uint32_t i = 0; error == ERR_OK && i < n; i += step) {
        error = session_append(c->session, ids + i, step, &stop);
    }
    *ticks = board.ticks() - start;
    return error;
}

static const char *rate_of(char text[FORMAT_NUMBER_BYTES], uint32_t n, uint64_t ticks)
{
    return format_milli(text, ticks != 0 ? n * 1000ull * board.ticks_hz() / ticks : 0, 2);
}

static enum err bench_both(struct chat *c, uint32_t prompt, uint64_t *prefill, uint64_t *decode)
{
    enum err error;

    chat_wait_begin(c, "bench", prompt + BENCH_NEW);
    error = bench_append(c, prompt, true, prefill);
    if (error == ERR_OK) {
        error = bench_append(c, BENCH_NEW, false, decode);
    }
    console_progress_end();
    return error;
}

/* After the conversation, which stays; its pending tokens are kept aside. */
enum command_result command_bench(struct chat *c, char *argument)
{
    struct session *s = c->session;
    uint32_t length = s->n_cached, pending = s->n_ids - length, room = s->context - length;
    uint32_t prompt, kept[BENCH_PROMPT];
    char prefill[FORMAT_NUMBER_BYTES], decode[FORMAT_NUMBER_BYTES];
    uint64_t prefill_ticks = 0, decode_ticks = 0;
    enum err error;

    (void)argument;
    if (room < BENCH_NEW + BENCH_LEAST || pending > BENCH_PROMPT) {
        console_printf("error: the context has no room for a measurement: /reset first\n");
        return COMMAND_DONE;
    }
    prompt = min_u32(room - BENCH_NEW, BENCH_PROMPT);
    memcpy(kept, s->ids + length, pending * sizeof *kept);
    s->problem[0] = '\0';
    (void)session_cut(s, length);
    error = bench_both(c, prompt, &prefill_ticks, &decode_ticks);
    (void)session_cut(s, length);
    (void)session_put(s, kept, pending); /* there was room before */
    if (error == ERR_ABORTED) {
        console_printf("(stopped)\n");
    } else if (error != ERR_OK) {
        console_printf("error: %s\n", s->problem[0] != '\0' ? s->problem : err_text(error));
    } else {
        console_printf("prefill of %u tokens: %s tok/s; decode of %u: %s tok/s; behind %u in the "
                       "context\n",
                       (unsigned)prompt, rate_of(prefill, prompt, prefill_ticks),
                       (unsigned)BENCH_NEW, rate_of(decode, BENCH_NEW, decode_ticks),
                       (unsigned)length);
    }
    return COMMAND_DONE;
}

/* ---- the machine ---- */

enum command_result command_selftest(struct chat *c, char *argument)
{
    (void)argument;
    if (c->services->check_kernels == NULL) {
        console_printf("error: /selftest has no kernels to check here\n");
    } else {
        c->services->check_kernels();
    }
    return COMMAND_DONE;
}

enum command_result command_log(struct chat *c, char *argument)
{
    (void)c;
    (void)argument;
    console_repeat_log();
    return COMMAND_DONE;
}

enum command_result command_reboot(struct chat *c, char *argument)
{
    (void)argument;
    if (c->services->restart != NULL) {
        c->services->restart();
    }
    console_printf("error: /reboot is for a board that can restart itself: switch it off and on\n");
    return COMMAND_DONE;
}

enum command_result command_off(struct chat *c, char *argument)
{
    (void)c;
    (void)argument;
    return COMMAND_ENDS;
}
