#include "runtime/chat/chat_private.h"

#include <string.h>

#include "board/board.h"

#include "runtime/chat/chat_json.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/chat/repetition.h"
#include "runtime/chat/reply_text.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "runtime/console/trace_print.h"
#include "runtime/text/format_text.h"

static bool is_line_feeds(const struct chat *c, uint32_t id)
{
    size_t bytes;
    const char *text = tokenizer_piece(&c->session->model->tokenizer, id, INGOT_NO_TOKEN, &bytes);

    for (size_t i = 0; i < bytes; i++) {
        if (text[i] != '\n') {
            return false;
        }
    }
    return bytes != 0;
}

/* Thoughts are not part of the conversation: it goes back to where the last reply began, and what
 * that says after them is pending. */
static void forget_thoughts(struct chat *c)
{
    struct session *s = c->session;
    uint32_t end = s->n_ids, from = c->reply_start;

    if (c->think_end == INGOT_NO_TOKEN || !c->started) {
        return;
    }
    for (uint32_t i = c->reply_start; i < end; i++) {
        if (s->ids[i] == c->think_end) {
            from = i + 1;
        }
    }
    if (from == c->reply_start) {
        return;
    }
    while (from < end && is_line_feeds(c, s->ids[from])) {
        from++;
    }
    (void)session_cut(s, c->reply_start); /* the ids stay where they are */
    (void)session_put(s, s->ids + from, end - from);
}

static bool stop_requested(void *context)
{
    (void)context;
    return console_aborted();
}

static bool is_end(const struct chat *c, uint32_t id)
{
    return chat_is_stop(c->template, id) || id == c->session->model->tokenizer.head->bos;
}

struct reply {
    struct report_reply stats;
    struct reply_text text;
    uint32_t previous;
    uint32_t first_new; /* index in the cache of the first new token */
    struct repetition circles;
    const char *reason; /* why it ended */
};

static void print_token(const struct chat *c, struct reply *r, uint32_t id)
{
    size_t bytes;
    const char *text = chat_piece(c, id, r->previous, &bytes);

    console_token_begin(id);
    reply_text_put(&r->text, text, bytes);
    console_token_end();
    r->previous = id;
}

/* What was held back comes out; zeroed where it has not begun. */
static void end_text(struct reply *r)
{
    bool holds = r->text.stop.n + r->text.mark.n + r->text.writer.n_held != 0;

    if (holds) {
        console_token_begin(INGOT_NO_TOKEN);
    }
    reply_text_end(&r->text);
    if (holds) {
        console_token_end();
    }
}

/* The context is full in the middle of a reply, all of which is in the session. ERR_NO_SPACE: it has
 * no older turns to drop; told. Otherwise as session_run. */
static enum err make_room_for_reply(struct chat *c, struct reply *r)
{
    struct session *s = c->session;
    struct stop stop = { chat_wait_stop, c };
    uint32_t end = s->n_ids;
    enum err error;

    if (!chat_drop_oldest(c, 1)) {
        console_printf("\n(the context of %u tokens is full)", (unsigned)s->context);
        return ERR_NO_SPACE;
    }
    r->first_new -= end - s->n_ids;
    chat_wait_begin(c, "what is left", s->n_ids);
    error = session_run(s, &stop);
    console_progress_end();
    return error;
}

/* Sample, print and compute until an end. What was printed last and not computed is pending: the
 * next turn begins with it, so that no pass is spent on a token that may be the last. */
static enum err decode(struct chat *c, struct reply *r)
{
    static const struct stop stop = { stop_requested, NULL };
    struct session *s = c->session;
    const struct stream_stats *stats = &s->model->stream.stats;
    uint32_t limit = c->options->n != 0 ? c->options->n : UINT32_MAX;

    r->stats.first = board.ticks();
    for (;;) {
        uint64_t before = stats->bytes_streamed;
        uint32_t id;
        bool guessed;
        enum err error;

        if (s->n_ids == s->context) {
            error = make_room_for_reply(c, r);
            if (error != ERR_OK) {
                r->reason = "context";
                return error == ERR_NO_SPACE ? ERR_OK : error;
            }
        }
        id = speculative_pick(&c->speculative, &c->sampler);
        if (id == SAMPLER_NO_TOKEN) {
            format_text(s->problem, sizeof s->problem,
                        "the model gave no usable logits: check it with `ingot verify`");
            return ERR_BAD_MODEL;
        }
        if (is_end(c, id)) {
            return ERR_OK;
        }
        print_token(c, r, id);
        r->stats.new_tokens++;
        r->stats.end = board.ticks();
        guessed = session_put_next(s, id);
        if (r->text.stopped) {
            r->reason = "stop";
            return ERR_OK;
        }
        if (r->stats.new_tokens == limit) {
            r->reason = "limit";
            return ERR_OK;
        }
        if (limit == UINT32_MAX && repetition_add(&r->circles, s->ids + s->n_ids - 1)) {
            r->reason = "circle";
            end_text(r);
            console_printf(
                "\n(stopped: the reply goes in circles; repeat= above 1 helps, n= lets it)");
            return ERR_OK;
        }
        if (console_aborted()) {
            return ERR_ABORTED;
        }
        error = speculative_run(&c->speculative, &c->sampler, limit - r->stats.new_tokens, &stop);
        if (error != ERR_OK) {
            return error;
        }
        r->stats.passes += guessed ? 0 : 1;
        r->stats.decode_bytes += stats->bytes_streamed - before;
    }
}

static void print_ids(const struct chat *c, const struct reply *r)
{
    const struct session *s = c->session;

    console_printf("ids:");
    for (uint32_t i = 0; i < r->stats.new_tokens; i++) {
        console_printf(" %u", (unsigned)s->ids[r->first_new + i]);
    }
    console_printf("\nlogits: %016llx over %u positions\n", (unsigned long long)s->hash.value,
                   (unsigned)s->hash.rows);
}

/* For `make bench`: the figures before they are rounded. */
static void print_ticks(const struct reply *r)
{
    console_printf("ticks: prefill %llu decode %llu of %llu per second\n",
                   (unsigned long long)(r->stats.first - r->stats.start),
                   (unsigned long long)(r->stats.end - r->stats.first),
                   (unsigned long long)board.ticks_hz());
}

static void print_error(const struct chat *c, enum err error)
{
    if (error == ERR_ABORTED && !console_is_json()) {
        console_printf("\n(stopped)\n");
    } else if (error != ERR_OK && error != ERR_ABORTED) {
        console_printf("\nerror: %s\n",
                       c->session->problem[0] != '\0' ? c->session->problem : err_text(error));
    }
}

static void print_stats(const struct chat *c, const struct reply *r, enum err error)
{
    if (error == ERR_OK) {
        console_printf("\n");
    }
    if (!console_is_json() && !c->options->quiet) {
        report_stats(c->session->model, &r->stats);
    }
    if (c->options->ids) {
        print_ids(c, r);
    }
    if (c->options->ticks) {
        print_ticks(r);
    }
    if (c->options->trace != 0) {
        trace_print(c->session->model->transformer.workers->trace);
    }
}

static void close_reply(struct chat *c, struct reply *r, enum err error)
{
    end_text(r);
    console_style(CONSOLE_NORMAL);
    print_error(c, error);
    if (r->stats.end == 0) {
        r->stats.end = r->stats.first;
    }
    r->stats.speculates = c->speculative.on;
    r->stats.guessed = c->speculative.stats.guessed;
    r->stats.right = c->speculative.stats.right;
    if (r->stats.first != 0) { /* not stopped, nor failed, before the first token */
        print_stats(c, r, error);
    }
    if (console_is_json()) {
        chat_json_done(c, &r->stats,
                       error == ERR_OK        ? r->reason
                       : error == ERR_ABORTED ? "stopped"
                                              : "error");
    }
}

static enum err refuse_prompt(struct chat *c, enum err error)
{
    if (error == ERR_TOO_LONG) {
        console_printf("error: the prompt does not fit the context: room for %u of %u tokens; "
                       "shorten it, or raise ctx=\n",
                       (unsigned)(c->session->context - c->session->n_ids),
                       (unsigned)c->session->context);
    } else if (error == ERR_NO_SPACE) {
        console_printf("error: the prompt is longer than %u bytes: shorten it\n",
                       (unsigned)SESSION_TEXT_BYTES);
    } else {
        console_printf("error: %s\n", err_text(error));
    }
    if (console_is_json()) {
        chat_json_done(c, NULL, "error");
    }
    return error;
}

/* The turn's tokens after the conversation, the oldest of which gives way; *own: where they begin. A
 * quarter of the context is left for the reply where that is possible. */
static enum err put_turn(struct chat *c, const char *text, size_t bytes, uint32_t *own)
{
    struct session *s = c->session;

    for (bool dropped = false;; dropped = true) {
        uint32_t room, *ids = session_room(s, &room);
        size_t n = 0;
        enum err error = chat_encode(c, text, bytes, true, !c->started, ids, room, &n);
        bool tight = s->n_ids + n > s->context / 4 * 3;

        *own = s->n_ids;
        if (error != ERR_OK && error != ERR_TOO_LONG) {
            return error;
        }
        if (error == ERR_OK && (dropped || !tight)) {
            return session_put(s, ids, n);
        }
        if (!chat_drop_oldest(c, 0)) {
            return error == ERR_OK ? session_put(s, ids, n) : error;
        }
    }
}

/* A text as it stands, from an empty context. */
static enum err put_text(struct chat *c, const char *text, size_t bytes)
{
    uint32_t room, *ids;
    size_t n;
    enum err error;

    chat_clear(c);
    ids = session_room(c->session, &room);
    error = chat_encode(c, text, bytes, false, true, ids, room, &n);
    if (error != ERR_OK) {
        return error;
    }
    return session_put(c->session, ids, n);
}

static void dim(bool on)
{
    console_style(on ? CONSOLE_DIM : CONSOLE_REPLY);
}

static void open_text(const struct chat *c, struct reply *r, bool as_turn)
{
    uint32_t bytes;
    const char *prefix = image_chat_text(c->template, INGOT_CHAT_REPLY_PREFIX, &bytes);
    bool inside = as_turn && c->options->think != THINK_OFF && reply_text_opens(prefix, bytes);

    reply_text_open(&r->text, c->options, inside, console_write_to, dim);
}

void chat_say_no_model(void)
{
    console_printf("error: no model is loaded: /model NAME loads one, /models lists them\n");
}

/* The sequence ends with a prompt, of whose tokens `own` is the first that is new: compute it. */
static enum err run_prompt(struct chat *c, struct reply *r, uint32_t own)
{
    struct session *s = c->session;
    struct stop stop = { chat_wait_stop, c };
    enum err error;

    r->stats.prompt_tokens = s->n_ids - s->n_cached;
    r->stats.before = s->model->stream.stats;
    c->speculative.stats = (struct speculative_stats){ 0 };
    r->stats.start = board.ticks();
    r->first_new = s->n_ids;
    r->previous = s->n_ids != 0 ? s->ids[s->n_ids - 1] : INGOT_NO_TOKEN;
    if (c->options->trace != 0) {
        trace_start(s->model->transformer.workers->trace);
    }
    chat_wait_begin(c, "prompt", r->stats.prompt_tokens);
    session_mark(s);
    error = session_run(s, &stop);
    console_progress_end();
    if (error != ERR_OK) {
        (void)session_cut(s, own); /* as if the turn had never begun */
    }
    return error;
}

enum err chat_reply(struct chat *c, const char *text, size_t bytes, bool as_turn)
{
    static const struct stop stop = { stop_requested, NULL };
    struct reply r = { .reason = "end" };
    uint32_t own;
    enum err error;

    if (c->session == NULL) {
        chat_say_no_model();
        return ERR_NOT_FOUND;
    }
    c->session->problem[0] = '\0';
    as_turn = as_turn && chat_has_template(c->template);
    if (as_turn) {
        forget_thoughts(c);
        error = put_turn(c, text, bytes, &own);
    } else {
        own = 0;
        error = put_text(c, text, bytes);
    }
    if (error != ERR_OK) {
        return refuse_prompt(c, error);
    }
    error = run_prompt(c, &r, own);
    if (error == ERR_OK) {
        c->started = true;
        c->reply_start = r.first_new;
        if (as_turn) {
            turns_push(&c->turns, own, r.first_new, text, bytes);
        }
        speculative_follow(&c->speculative, &stop);
        console_style(CONSOLE_REPLY);
        open_text(c, &r, as_turn);
        error = decode(c, &r);
    }
    c->totals.turns++;
    c->totals.prompt_tokens += r.stats.prompt_tokens;
    c->totals.new_tokens += r.stats.new_tokens;
    close_reply(c, &r, error);
    if (r.text.stopped) {
        chat_cut_reply(c, r.text.bytes, r.text.shown);
    }
    return error;
}
