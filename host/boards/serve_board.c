/* Finds the board at a line, greets it, gives it jobs, and finds it again if it was gone. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/boards/serve_board_wire.h"
#include "host/boards/serve_boards_private.h"
#include "runtime/api/api_line.h"
#include "runtime/options/options.h"

enum {
    STEP_MS = 200,
    ASK_MS = 1500,      /* time between two questions whether the board is there */
    QUIET_MS = 700,     /* silence before a question: questions stop a starting board's loading */
    START_MS = 8000,    /* silence before a question to a starting board, which reports every 5 s */
    REFUSED_MS = 5000,  /* time without a question after a board failed to load a model */
    RETRY_MS = 500,     /* time between two attempts to open a board's line */
    SILENT_MS = 300000, /* time without an event in a reply, until the board is given up */
    LEAVE_MS = 2000,
    TRIES = 3,         /* attempts to send a request, if boards go away */
    LINE_LIMIT = 8191, /* bytes of a line if a board does not report its limit */
};

/* ---- a board --------------------------------------------------------------------------------- */

static void stop_reply(struct board *b)
{
    (void)serial_send(&b->line, "\3", 1);
}

/* Give up the board's request, if it has one. If nobody has seen a part of the reply, another board
 * gets the request. */
static void leave_work(struct board *b)
{
    struct waiting *w = b->work;
    bool seen;

    b->work = NULL;
    if (w == NULL) {
        return;
    }
    pthread_mutex_lock(&serve_pool.lock);
    serve_pool.stats.running--;
    b->past.n = 0;
    pthread_mutex_unlock(&serve_pool.lock);
    pthread_mutex_lock(&w->job->lock);
    seen = w->job->of.request.stream && w->job->of.text.n != 0;
    if (!seen) {
        serve_text_free(&w->job->of.text);
        serve_text_free(&w->job->of.scores);
        serve_text_free(&w->job->of.vectors);
        w->job->of.prompt_tokens = 0;
    }
    pthread_mutex_unlock(&w->job->lock);
    if (serve_pool_is_closing()) {
        serve_pool_end_with(w, 503, "the server is shutting down");
    } else if (seen || ++w->tries == TRIES) {
        serve_pool_end_with(w, 503, "the board disappeared: send the request again");
    } else {
        serve_pool_put_back(w);
    }
}

static void greet(struct board *b)
{
    static const char hello[] = "{\"hello\":2}\n";

    (void)serial_send(&b->line, hello, sizeof hello - 1);
    b->knows_said = false;
    b->knows_penalties = false;
    b->held = true; /* an earlier caller may have set a grammar: reset it */
    b->asked_ms = serial_millis();
    serve_pool_set_phase(b, GREETING);
}

/* Forget the board's facts, which were those of an earlier start or another model. */
static void begin_news(struct board *b, const struct board_event *e)
{
    struct api_figures now;

    api_line_figures(&now, e->root);
    pthread_mutex_lock(&serve_pool.lock);
    b->context = now.list[API_CONTEXT_LIMIT_TOKENS];
    b->plan[0] = b->stats[0] = b->models[0] = '\0';
    b->curious = true;
    pthread_mutex_unlock(&serve_pool.lock);
}

static void take_ready(struct board *b, const struct board_event *e)
{
    serve_board_be_patient(b, 0);
    b->line_limit = e->line_limit != 0 ? e->line_limit : LINE_LIMIT;
    begin_news(b, e);
    if (b->phase == AT_WORK) { /* the board restarted, or a Ctrl-C dropped the request on its way */
        leave_work(b);
    }
    if (b->phase == GREETING) {
        return;
    }
    serve_pool_set_phase(b, ASKING);
    if (serve_board_has_model(b, e)) {
        greet(b);
    }
}

static enum generate_end end_of(const char *reason)
{
    if (strcmp(reason, "end") == 0) {
        return GENERATE_ENDED;
    }
    return strcmp(reason, "stop") == 0 ? GENERATE_STOP : GENERATE_LIMIT;
}

static void finish(struct board *b, const struct board_event *e)
{
    struct waiting *w = b->work;
    const char *reason = e->reason != NULL ? e->reason : "error";

    if (b->error.status == 0 && strcmp(reason, "error") == 0) {
        (void)api_refuse(&b->error, 500, NULL, NULL, "the board gave no reply");
    } else if (b->error.status == 0 && strcmp(reason, "stopped") == 0 && !b->stopped) {
        (void)api_refuse(&b->error, 503, NULL, NULL, "somebody at the board stopped the reply");
    }
    b->work = NULL;
    pthread_mutex_lock(&w->job->lock);
    w->job->of.end = end_of(reason);
    if (b->error.status == 0 && w->job->of.request.kind == API_EMBED &&
        (w->job->of.vectors.n == 0 ||
         w->job->of.vectors.n % (w->job->of.request.n_turns * sizeof(float)) != 0)) {
        (void)api_refuse(&b->error, 500, NULL, NULL, "the board's embeddings differ in length");
    }
    pthread_mutex_lock(&serve_pool.lock);
    serve_pool.stats.running--;
    serve_pool.stats.passes += e->passes;
    b->state.replies += b->error.status == 0;
    api_line_figures(&w->job->of.figures, e->root);
    w->job->of.figures.list[API_CONTEXT_LIMIT_TOKENS] = b->context;
    w->job->of.line = b->path;
    if (b->error.status == 0) {
        b->state.figures = w->job->of.figures;
    }
    b->curious = true;
    board_past_add(&b->past, api_text_shown(&w->job->of.text), w->job->of.text.n);
    if (b->error.status != 0) {
        b->past.n = 0;
    }
    b->phase = IDLE;
    pthread_mutex_unlock(&serve_pool.lock);
    pthread_mutex_unlock(&w->job->lock);
    serve_pool_end(w, b->error.status != 0 ? &b->error : NULL);
}

/* Drop the rest of the work, whether it has begun or not. */
static void cancel(struct board *b)
{
    char line[64];
    int n = snprintf(line, sizeof line, "{\"cancel\":%llu}\n", (unsigned long long)b->id);

    (void)serial_send(&b->line, line, (size_t)n);
}

/* Take an event of the reply. */
static void take_reply(struct board *b, const struct board_event *e)
{
    struct serve_job *j = b->work->job;

    if (e->kind == BOARD_ERROR && b->error.status == 0 && e->id == b->id) {
        board_error_read(&b->error, e);
    }
    if (e->id != b->id) {
        return;
    }
    if (e->kind == BOARD_DONE) {
        b->left--;
        if (b->left == 0) {
            finish(b, e);
        } else if (b->error.status != 0 && !b->stopped) { /* the board has refused the grammar */
            b->stopped = true;
            cancel(b);
        }
        return;
    }
    pthread_mutex_lock(&j->lock);
    if (e->kind == BOARD_TOKEN && e->text != NULL) {
        (void)serve_text_add(&j->of.text, e->text, strlen(e->text));
        board_scores_read(&j->of.scores, e);
    } else if (e->kind == BOARD_USAGE) {
        j->of.prompt_tokens = e->prompt_tokens;
        j->of.cached_tokens = e->cached_tokens;
        j->of.reply_tokens = e->completion_tokens;
    } else if (e->kind == BOARD_EMBEDDING) {
        j->of.prompt_tokens += e->tokens;
        if (!board_vector_read(&j->of.vectors, e) && b->error.status == 0) {
            (void)api_refuse(&b->error, 500, NULL, NULL,
                             "the board's embedding is not a list of numbers");
        }
    }
    pthread_mutex_unlock(&j->lock);
    serve_pool.wake.call(serve_pool.wake.context);
}

/* Take events about the board itself, which may come at any time. */
static void take_news(struct board *b, const struct board_event *e)
{
    struct api_figures now;

    pthread_mutex_lock(&serve_pool.lock);
    if (e->kind == BOARD_MODEL) {
        board_model_add(b->models, e);
    } else {
        board_event_text(e->kind == BOARD_PLAN ? b->plan : b->stats, e);
    }
    if (e->kind == BOARD_STATS) {
        api_line_figures(&now, e->root);
        b->state.figures.list[API_TEMPERATURE_C] = now.list[API_TEMPERATURE_C];
    }
    pthread_mutex_unlock(&serve_pool.lock);
}

/* The board takes requests now. Warn the user once if the board's version does not know
 * `said`. */
static void end_greeting(struct board *b)
{
    if (b->was_there) {
        serve_board_say(b, "the board is back");
    }
    b->was_there = true;
    if (!b->knows_said && !b->said_old) {
        b->said_old = true;
        serve_board_say(
            b, "the board's Ingot is older than this one: it treats every message as a person's "
               "words, even results of tools. Update it before you give it pins= or actions=");
    }
    serve_pool_set_phase(b, IDLE);
}

static void take_line(void *context, char *line, size_t bytes)
{
    struct board *b = context;
    struct board_event e;

    if (!board_event_read(&e, line, bytes)) {
        b->starts = true; /* a line of the firmware, or of a board that talks to people */
        return;
    }
    b->starts = e.kind == BOARD_OTHER;
    if (e.kind == BOARD_READY) {
        take_ready(b, &e);
    } else if (b->phase == GREETING && e.kind == BOARD_HELLO) {
        b->knows_said = e.knows_said;
        b->knows_penalties = e.knows_penalties;
    } else if (b->phase == GREETING && e.kind == BOARD_DONE && e.id == 0) {
        end_greeting(b);
    } else if (e.kind == BOARD_PLAN || e.kind == BOARD_STATS || e.kind == BOARD_MODEL) {
        take_news(b, &e);
    } else if (b->phase == ASKING && e.kind == BOARD_ERROR && e.id == b->load_id && e.id != 0) {
        serve_board_say(b, e.text != NULL ? e.text : "it cannot load the model");
        serve_board_be_patient(b, serial_millis() + REFUSED_MS);
    } else if (b->phase == AT_WORK) {
        take_reply(b, &e);
    } else if (b->phase == ASKING && e.kind == BOARD_TOKEN &&
               serial_millis() - b->asked_ms > ASK_MS) {
        b->asked_ms = serial_millis();
        stop_reply(b); /* the caller has left */
    }
    board_event_free(&e);
}

/* True if the board supports what the request asks for. */
static bool can_take(const struct board *b, const struct api_request *q, struct api_error *e)
{
    const char *penalty = board_penalty_of(q);

    for (uint32_t i = 0; i < q->n_turns && q->kind == API_EMBED; i++) {
        if (q->turns[i].tokens.n != 0) {
            return api_refuse(e, 400, "input", NULL,
                              "input: a board embeds texts, not token numbers");
        }
    }
    if (q->n_stops > OPTIONS_STOPS) {
        return api_refuse(e, 400, "stop", NULL, "stop has %u texts: a board takes %d",
                          (unsigned)q->n_stops, OPTIONS_STOPS);
    }
    if (penalty != NULL && !b->knows_penalties) {
        return api_refuse(e, 400, penalty, NULL,
                          "%s: the board's version of Ingot does not know it: update the board",
                          penalty);
    }
    return true;
}

/* Write the request of b->work. Returns false if it cannot be written; *e says why. */
static bool write_request(struct board *b, struct api_error *e)
{
    const struct api_request *q = &b->work->job->of.request;
    struct api_request request = *q; /* its texts belong to the job */
    struct api_text out = { .n = 0 };
    size_t longest;
    bool good = true;

    if (!can_take(b, q, e)) {
        return false;
    }
    serve_board_suit(b, &request);
    pthread_mutex_lock(&serve_pool.lock);
    b->id = ++serve_pool.next_id;
    pthread_mutex_unlock(&serve_pool.lock);
    if (q->grammar != NULL || (b->held && q->kind != API_EMBED)) {
        b->left += board_grammar_write(&out, q, b->id);
        b->held = q->grammar != NULL;
    }
    board_request_write(&out, &request, b->id, &longest);
    if (longest > b->line_limit) {
        good = api_refuse(e, 400, "messages", "context_length_exceeded",
                          "the request is longer than the board's line allows: shorten it");
    } else if (out.failed || !serial_send(&b->line, api_text_shown(&out), out.n)) {
        good = api_refuse(e, 500, NULL, NULL, "out of memory");
    }
    serve_text_free(&out);
    return good;
}

static void begin_work(struct board *b)
{
    struct api_error e = { .status = 0 };
    struct waiting *w = serve_pool_take(b);

    if (w == NULL) {
        return;
    }
    b->work = w;
    b->left = w->job->of.request.kind == API_EMBED ? w->job->of.request.n_turns : 1;
    b->stopped = false;
    b->error = e;
    if (!serve_job_is_cancelled(w->job) && write_request(b, &e)) {
        return;
    }
    b->work = NULL;
    pthread_mutex_lock(&serve_pool.lock);
    serve_pool.stats.running--;
    b->past.n = 0;
    b->phase = IDLE;
    pthread_mutex_unlock(&serve_pool.lock);
    serve_pool_end(w, e.status != 0 ? &e : NULL);
}

/* Ask an idle board for its state; requests that come meanwhile wait. */
static void ask_news(struct board *b)
{
    struct api_text line = { .n = 0 };

    pthread_mutex_lock(&serve_pool.lock);
    if (b->curious) {
        b->curious = false;
        b->told_ms = serial_millis();
        board_news_write(&line, ++serve_pool.next_id, b->plan[0] == '\0');
    }
    pthread_mutex_unlock(&serve_pool.lock);
    if (line.n != 0 && !line.failed) {
        (void)serial_send(&b->line, api_text_shown(&line), line.n);
    }
    serve_text_free(&line);
}

/* Ask whether a board is there. If the board talks to people, switch it to programs. */
static void ask_again(struct board *b)
{
    char mode[32];

    b->asked_ms = b->stayed_ms = serial_millis();
    if (strstr(b->line.in, "> ") == NULL) {
        serial_ask(&b->line);
        return;
    }
    (void)serial_send(&b->line, mode, serial_mode_line(mode, SERIAL_SILENCE_S, b->n_mode++));
}

/* True if asking would not interrupt the board. */
static bool may_ask(const struct board *b, uint64_t now)
{
    bool starts = b->starts && strstr(b->line.in, "> ") == NULL;

    return now >= b->patient_ms && now - b->asked_ms > ASK_MS &&
           now - b->line.heard_ms > (starts ? START_MS : QUIET_MS);
}

/* From time to time, tell a board in the mode for programs that the program is there. A board that
 * switched back after a silence, because the computer slept for example, is switched again. */
static void stay(struct board *b)
{
    uint64_t now = serial_millis();

    if (b->n_mode == 0) {
        return;
    }
    if (b->phase == IDLE && strncmp(b->line.in, "> ", 2) == 0) {
        b->lost = true;
    } else if (now - b->stayed_ms >= SERIAL_STAY_MS) {
        b->stayed_ms = now;
        (void)serial_send(&b->line, "\n", 1);
    }
}

/* Stop the board's work because the server ends, and switch it back to people if needed. */
static void leave(struct board *b)
{
    static const char chat[] = "{\"command\":\"/mode chat\"}\n";
    uint64_t start = serial_millis();

    if (b->phase == AT_WORK || b->n_mode != 0) {
        stop_reply(b);
    }
    if (b->n_mode != 0) {
        (void)serial_send(&b->line, chat, sizeof chat - 1);
    }
    while (b->line.n_out != 0 && serial_millis() - start < LEAVE_MS &&
           serial_step(&b->line, STEP_MS, NULL, take_line, b)) {
    }
    (void)serial_step(&b->line, STEP_MS, NULL, take_line, b);
}

/* Do work that is due without an event. */
static void look_after(struct board *b)
{
    uint64_t now = serial_millis();

    if (b->phase == IDLE) {
        serve_board_load_chosen(b);
    }
    if (b->phase == IDLE) {
        begin_work(b);
        if (b->phase == IDLE) {
            ask_news(b);
        }
    } else if (b->phase == AT_WORK && !b->stopped && serve_job_is_cancelled(b->work->job)) {
        b->stopped = true;
        stop_reply(b);
    } else if (b->phase == AT_WORK && now - b->line.heard_ms > SILENT_MS) {
        b->lost = true;
    } else if (b->phase == GREETING && now - b->asked_ms > SILENT_MS) {
        b->lost = true;
    } else if (b->phase == ASKING && may_ask(b, now)) {
        ask_again(b);
    }
}

static void talk(struct board *b)
{
    serve_pool_set_phase(b, ASKING);
    serve_board_be_patient(b, 0);
    b->asked_ms = 0;
    b->load_tried = 0;
    b->starts = false;
    while (!serve_pool_is_closing() && !b->lost) {
        bool woken = false;
        uint64_t times;

        if (!serial_step(&b->line, STEP_MS, &woken, take_line, b)) {
            break;
        }
        if (woken) {
            (void)!read(b->wake, &times, sizeof times);
        }
        look_after(b);
        stay(b);
    }
    if (serve_pool_is_closing()) {
        leave(b);
    }
    if (!serve_pool_is_closing() && b->was_there) {
        serve_board_say(b, b->lost ? "the board is silent" : "the board is gone");
    }
}

void *serve_board_work(void *context)
{
    struct board *b = context;
    struct pollfd wake = { .fd = b->wake, .events = POLLIN };

    while (!serve_pool_is_closing()) {
        b->lost = false;
        if (serial_open(&b->line, b->path, serve_pool.baud)) {
            b->line.watched = b->wake;
            talk(b);
            serve_pool_set_phase(b, AWAY);
            leave_work(b);
            close(b->line.fd);
        }
        serve_pool_end_hopeless(false);
        (void)poll(&wake, 1, RETRY_MS);
        if (wake.revents != 0 && !serve_pool_is_closing()) {
            uint64_t times;

            (void)!read(b->wake, &times, sizeof times);
            (void)poll(NULL, 0, RETRY_MS);
        }
    }
    return NULL;
}
