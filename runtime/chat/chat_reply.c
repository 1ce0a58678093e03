/* Answer a prompt on the console: generate()'s sink for a person or a program. */
#include "runtime/chat/chat_private.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/chat/chat_json.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/chat/report.h"
#include "runtime/chat/thoughts.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "runtime/console/trace_print.h"
#include "runtime/features/feature.h"
#include "runtime/session/generate.h"
#include "runtime/text/hidden_tags.h"
#include "runtime/text/plural.h"

static_assert((int)OPTIONS_STOPS <= (int)REPLY_TEXT_STOPS &&
                  (int)OPTIONS_STOP_BYTES == (int)REPLY_TEXT_STOP_BYTES,
              "a reply can look for every string of stop=");

struct reply {
    struct feature_turn turn;
    const char *ids;                   /* a list of tokens (json_ids.h), used in place
                                        * of the text */
    const struct token_scores *scores; /* scores of the next token; NULL: none */
    struct thoughts thoughts;
    struct hidden_tags tags;  /* takes the text that the features pass on */
    struct feature_text text; /* the first receiver of the reply's text */
};

/* ---- output of a reply ---------------------------------------------------------------------- */

static void reply_begin(void *context)
{
    struct reply *r = context;
    struct feature_turn *t = &r->turn;
    struct chat *c = t->chat;

    console_progress_end(c->console);
    c->started = true;
    c->reply_start = t->result.first_new;
    if (t->as_turn) {
        turns_push(&c->turns, t->own, t->result.first_new, t->text, t->bytes);
        turns_mark_said(&c->turns, t->said);
    }
    features_reply_begins(c->features, t);
    console_style(c->console, CONSOLE_REPLY);
}

static void reply_token_begin(void *context, uint32_t id)
{
    const struct reply *r = context;

    if (r->scores != NULL && id == r->scores->taken.id) {
        chat_json_scored_token(r->turn.chat, r->scores);
    } else {
        console_token_begin(r->turn.chat->console, id);
    }
}

static void reply_scores(void *context, const struct token_scores *scores)
{
    struct reply *r = context;

    r->scores = scores;
}

static void reply_token_end(void *context)
{
    struct reply *r = context;

    thoughts_end_token(&r->thoughts);
    console_token_end(r->turn.chat->console);
}

static void reply_text(void *context, const char *text, size_t bytes)
{
    struct reply *r = context;

    r->turn.thinks = r->thoughts.inside;
    r->text.write(r->text.context, text, bytes);
}

/* Take text that no feature has held back; its tags go to features and are never shown. */
static void reply_untagged(void *context, const char *text, size_t bytes)
{
    struct reply *r = context;

    hidden_tags_write(&r->tags, text, bytes);
}

static void reply_shown(void *context, const char *text, size_t bytes)
{
    struct reply *r = context;

    thoughts_write(&r->thoughts, text, bytes);
}

static void reply_tag(void *context, const struct hidden_tag *tag)
{
    struct reply *r = context;

    features_tagged(r->turn.chat->features, &r->turn, tag);
}

static void reply_think(void *context, bool begins)
{
    struct reply *r = context;

    hidden_tags_end(&r->tags);
    thoughts_turn(&r->thoughts, begins);
}

static void dim(void *context, bool on)
{
    console_style(context, on ? CONSOLE_DIM : CONSOLE_REPLY);
}

/* Make room in the middle of a reply whose tokens are all in the session: drop the oldest turns or,
 * with overflow=sinks, the oldest tokens, even of this reply. */
static enum err reply_make_room(void *context, uint32_t *first_new)
{
    struct reply *r = context;
    struct chat *c = r->turn.chat;
    struct stop stop = { chat_wait_stop, c };
    enum err error;

    if (!chat_drop_oldest(c, 1)) {
        return ERR_NO_SPACE;
    }
    *first_new = c->reply_start;
    if (c->session->n_cached == c->session->n_ids) {
        return ERR_OK;
    }
    chat_wait_begin(c, "what is left", c->session->n_ids);
    error = session_run(c->session, &stop);
    console_progress_end(c->console);
    return error;
}

static bool stop_requested(void *context)
{
    return console_aborted(context);
}

static void set_params(const struct reply *r, struct generate_params *p)
{
    struct chat *c = r->turn.chat;
    const struct options *o = c->options;

    *p = (struct generate_params){ .limit = o->reply.n,
                                   .stops.n = o->reply.n_stops,
                                   .end_ids = c->template->stops,
                                   .n_end_ids = c->template->n_stops };
    for (uint32_t i = 0; i < o->reply.n_stops; i++) {
        p->stops.text[i] = o->reply.stop[i];
    }
    p->wants_scores = c->program.wants_scores && console_is_json(c->console);
    p->n_likeliest = c->program.n_likeliest;
    p->inside_thoughts = r->turn.as_turn && o->reply.think != THINK_OFF &&
                         chat_turn_opens_thoughts(c->template) &&
                         !features_is_quiet(c->features, true);
}

/* Connect the receivers of the reply's text in this order: features; the code that takes out tags;
 * thoughts; the console. */
static void open_text(struct reply *r)
{
    struct chat *c = r->turn.chat;

    r->thoughts = (struct thoughts){ .write = console_write_to, .dim = dim, .context = c->console };
    thoughts_open(&r->thoughts, c->options->reply.think);
    r->tags = (struct hidden_tags){ .write = reply_shown, .tag = reply_tag, .context = r };
    r->text = (struct feature_text){ reply_untagged, r };
    features_show(c->features, &r->turn, &r->text);
}

/* Features see the prompt before it is computed. Features may compute a part of a turn, but not of
 * a plain text or of a turn that looks back. */
static enum err prepare(struct reply *r, const struct stop *stop)
{
    struct features *f = r->turn.chat->features;

    features_prompt_built(f, &r->turn);
    if (!r->turn.as_turn || r->turn.looks_back) {
        return ERR_OK;
    }
    return features_pass_begins(f, &r->turn, stop);
}

/* Compute the pending tokens, and show the reply. An error in the prompt leaves everything as if
 * the turn had never begun. */
static enum err compute(struct reply *r)
{
    struct feature_turn *t = &r->turn;
    struct chat *c = t->chat;
    struct stop stop = { stop_requested, c->console };
    struct stop prompt_stop = { chat_wait_stop, c };
    struct generator generator = { c->session, &c->speculative, &c->sampler, NULL };
    struct generate_sink sink = { r,          reply_begin, reply_token_begin, reply_token_end,
                                  reply_text, reply_think, reply_make_room,   reply_scores };
    struct generate_params params;
    enum err error;

    open_text(r);
    if (c->options->show.trace != 0) {
        trace_start(c->session->model->transformer.workers->trace);
    }
    chat_wait_begin(c, "prompt", CHAT_WAIT_PENDING);
    error = prepare(r, &prompt_stop);
    set_params(r, &params);
    params.prompt_stop = &prompt_stop;
    params.stop = &stop;
    features_choose(c->features, t, &params, &generator);
    if (error == ERR_OK) {
        error = generate(&generator, &params, &sink, &t->result);
    }
    features_reply_ends(c->features, t, error);
    hidden_tags_end(&r->tags);
    console_progress_end(c->console);
    if (t->result.first == 0) {
        (void)session_cut(c->session, t->own);
    }
    return error;
}

/* ---- the end of a reply --------------------------------------------------------------------- */

/* Print remarks after the reply, on a separate line. Remarks are not part of the reply, so they go
 * to the log's destination, if the platform has one. */
static void print_end(const struct reply *r)
{
    struct console *c = r->turn.chat->console;

    console_to_log(c, true);
    if (r->turn.result.end == GENERATE_CONTEXT) {
        console_printf(c, "(the context of %u %s is full)\n",
                       (unsigned)r->turn.chat->session->context,
                       plural((unsigned)r->turn.chat->session->context, "token", "tokens"));
    } else if (r->turn.result.end == GENERATE_REPETITION) {
        console_printf(c, "(stopped: the reply was repeating itself; try /set repeat 1.1, or "
                          "/set n 200 to let it run)\n");
    }
    features_say_end(r->turn.chat->features, &r->turn);
    console_to_log(c, false);
}

static void print_error(const struct chat *c, enum err error)
{
    const char *error_message = c->session->error_message;

    if (error == ERR_ABORTED && console_is_json(c->console)) {
        return;
    }
    console_printf(c->console, "\n");
    console_to_log(c->console, true);
    if (error == ERR_ABORTED) {
        console_printf(c->console, "(stopped)\n");
    } else {
        console_printf(c->console, "error: %s\n",
                       error_message[0] != '\0' ? error_message : err_text(error));
    }
    console_to_log(c->console, false);
}

static void print_stats(const struct reply *r)
{
    const struct chat *c = r->turn.chat;
    const struct options *o = c->options;

    console_whole_lines(c->console, true);
    if (!console_is_json(c->console) && !o->show.quiet) {
        console_to_log(c->console, true);
        report_stats(c->console, c->session->model, &r->turn.result);
        console_to_log(c->console, false);
    }
    if (o->show.ids) {
        report_ids(r->turn.chat->console, r->turn.chat->session, &r->turn.result);
    }
    if (o->show.ticks) {
        report_ticks(r->turn.chat->console, &r->turn.result);
    }
    if (o->show.trace != 0) {
        trace_print(c->console, c->session->model->transformer.workers->trace);
    }
    console_whole_lines(c->console, false);
}

static const char *reason_text(const struct reply *r, enum err error)
{
    static const char *const reasons[] = {
        [GENERATE_ENDED] = "end",
        [GENERATE_LIMIT] = "limit",
        [GENERATE_STOP] = "stop",
        [GENERATE_CONTEXT] = "context",
        [GENERATE_REPETITION] = "repetition",
        [GENERATE_NO_WAY_ON] = "grammar",
    };

    if (error == ERR_ABORTED) {
        return "stopped";
    }
    if (error != ERR_OK) {
        return "error";
    }
    if (r->turn.reason != NULL) {
        return r->turn.reason;
    }
    return reasons[r->turn.result.end];
}

static void close_reply(struct reply *r, enum err error)
{
    struct chat *c = r->turn.chat;

    console_style(c->console, CONSOLE_NORMAL);
    c->totals.turns++;
    c->totals.prompt_tokens += r->turn.result.prompt_tokens;
    c->totals.new_tokens += r->turn.result.new_tokens;
    if (r->turn.leads_on) { /* another turn follows without a person */
        return;
    }
    if (error != ERR_OK) {
        print_error(c, error);
    } else {
        if (!r->turn.hidden) {
            console_printf(c->console, "\n");
        }
        print_end(r);
    }
    if (r->turn.result.first != 0) { /* the first token came before any stop or failure */
        print_stats(r);
    }
    if (console_is_json(c->console)) {
        chat_json_done(c, &r->turn.result, reason_text(r, error));
    }
}

static enum err refuse_prompt(struct chat *c, enum err error)
{
    if (error == ERR_TOO_LONG) {
        chat_say_too_long(c, NULL);
    } else if (error == ERR_NO_SPACE) {
        console_printf(c->console, "error: the prompt is longer than %u bytes: shorten it\n",
                       (unsigned)SESSION_TEXT_BYTES);
    } else {
        console_printf(c->console, "error: %s\n", err_text(error));
    }
    if (console_is_json(c->console)) {
        chat_json_done(c, NULL, "error");
    }
    return error;
}

/* ---- the reply ------------------------------------------------------------------------------ */

void chat_say_no_model(struct console *c)
{
    console_printf(c, "error: no model is loaded: /model NAME loads one, /models lists them\n");
}

/* Check that the text fits, before anything is dropped for it. */
static enum err check_fits(const struct reply *r)
{
    struct chat *c = r->turn.chat;
    struct chat_said said = { .text = r->turn.told,
                              .bytes = r->turn.told_bytes,
                              .as_turn = r->turn.as_turn };

    if (r->turn.n_led != 0) { /* the previous turn, which led to this one, stays */
        said.kept = c->session->n_ids - c->turns.list[c->turns.n - 1].start +
                    max_size(chat_encode_opening(c), 1);
    }
    return chat_check_fits(c, &said);
}

static enum err put(struct reply *r)
{
    enum err e;

    if (r->ids != NULL) {
        return chat_put_list(r->turn.chat, r->ids);
    }
    r->turn.told = r->turn.text;
    r->turn.told_bytes = r->turn.bytes;
    if (r->turn.as_turn && r->turn.n_led == 0 && !r->turn.looks_back) {
        features_tell(r->turn.chat->features, &r->turn);
    }
    e = check_fits(r);
    if (e == ERR_TOO_LONG && r->turn.told != r->turn.text) { /* try again without the text that
                                                              * features put in front */
        r->turn.told = r->turn.text;
        r->turn.told_bytes = r->turn.bytes;
        e = check_fits(r);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (r->turn.as_turn) {
        chat_settle_reply(r->turn.chat);
        if (r->turn.n_led == 0) { /* a question stays with the turns that it led to */
            chat_keep_turns(r->turn.chat);
        }
        return chat_put_turn(r->turn.chat, r->turn.told, r->turn.told_bytes, r->turn.n_led != 0,
                             &r->turn.own);
    }
    return chat_put_text(r->turn.chat, r->turn.text, r->turn.bytes);
}

static enum err answer(struct reply *r)
{
    struct feature_turn *t = &r->turn;
    struct chat *c = t->chat;
    enum err error;

    if (c->session == NULL) {
        chat_say_no_model(c->console);
        return ERR_NOT_FOUND;
    }
    c->session->error_message[0] = '\0';
    t->as_turn = t->as_turn && chat_has_template(c->template);
    error = put(r);
    if (error != ERR_OK) {
        return refuse_prompt(c, error);
    }
    error = compute(r);
    close_reply(r, error);
    if (error == ERR_OK && t->result.end == GENERATE_STOP) {
        generate_keep_shown(c->session, &t->result);
    }
    features_turn_ended(c->features, t, reason_text(r, error));
    return error;
}

enum err chat_reply(struct chat *c, const char *text, size_t bytes, bool as_turn)
{
    return chat_reply_said(c, text, bytes, as_turn, bytes);
}

enum err chat_reply_said(struct chat *c, const char *text, size_t bytes, bool as_turn, size_t said)
{
    struct reply r = { .turn = { .chat = c,
                                 .text = text,
                                 .bytes = bytes,
                                 .said = said,
                                 .as_turn = as_turn,
                                 .leads = true } };
    char next[FEATURE_TURN_BYTES];
    enum err e = answer(&r);

    while (e == ERR_OK && r.turn.leads_on) {
        unsigned n = r.turn.n_led + 1;

        bytes = features_next_turn(c->features, &r.turn, next);
        r = (struct reply){ .turn = { .chat = c,
                                      .text = next,
                                      .bytes = bytes,
                                      .as_turn = true,
                                      .leads = true,
                                      .n_led = n } };
        e = answer(&r);
    }
    return e;
}

enum err chat_reply_ids(struct chat *c, const char *ids)
{
    struct reply r = { .turn = { .chat = c, .text = "" }, .ids = ids };

    return answer(&r);
}

enum err chat_reply_aside(struct chat *c, const char *text, size_t bytes)
{
    struct reply r = {
        .turn = { .chat = c, .text = text, .bytes = bytes, .as_turn = true, .looks_back = true }
    };
    enum err e;

    if (c->turns.n == 0) {
        return ERR_NOT_FOUND;
    }
    e = answer(&r);
    if (r.turn.result.first != 0) { /* the turn is part of the conversation */
        (void)chat_take_back(c);
    }
    return e;
}
