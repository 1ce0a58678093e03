#ifdef INGOT_HTTP

#include "host/serve/serve_ws.h"

#include <stdlib.h>
#include <string.h>

#include "host/serve/serve_line.h"
#include "host/api/serve_worker.h"
#include "runtime/http/http_frames.h"
#include "runtime/text/utf8.h"

struct serve_ws {
    struct serve_task
        task; /* while a message is being read, the worker's thread owns everything below */
    bool
        reads; /* a message is being read; the server's thread checks this instead of asking task */
    const struct serve_setup *setup;
    struct api_defaults defaults; /* the defaults at the time of the message */
    struct serve_line line;
    struct api_text in, out; /* the incoming message; lines, each of which is sent as a message */
    size_t in_whole;         /* bytes of `in` that are known to be whole UTF-8 characters */
    size_t said;             /* bytes of out that were sent */
    struct serve_job *job;   /* at work; NULL: none */
    struct api_events events;
};

static void leave_job(struct serve_ws *s)
{
    struct serve_backend *b = s->setup->backend;

    if (s->job != NULL) {
        b->cancel(b->context, s->job);
        serve_job_release(s->job);
        s->job = NULL;
    }
}

/* ---- in a worker's thread -------------------------------------------------------------------- */

/* Starts the requested reply. j: the request. */
static void submit(struct serve_ws *s, struct serve_job *j)
{
    struct serve_backend *b = s->setup->backend;
    struct api_error e = { .status = 0 };

    if (b->submit(b->context, j)) {
        s->job = j;
        s->events = (struct api_events){ .begun = true };
        return;
    }
    (void)api_refuse(&e, 429, NULL, "queue_full", "too many requests wait");
    serve_line_error(&s->out, &s->line, &e);
    serve_job_release(j);
}

/* Reads a whole message. */
static void read_message(struct serve_task *t)
{
    struct serve_ws *s = (struct serve_ws *)t;
    struct serve_backend *b = s->setup->backend;
    struct api_error e = { .status = 0 };
    struct serve_job *j = serve_job_new();
    enum serve_line_kind kind;

    if (j == NULL) {
        s->out.failed = true;
        return;
    }
    kind = serve_line_take(&s->line, api_text_shown(&s->in), s->in.n, s->job != NULL,
                           &j->of.request, &s->defaults, &e);
    if (kind == SERVE_LINE_REPLY) {
        submit(s, j);
        return;
    }
    serve_job_release(j);
    if (kind == SERVE_LINE_REFUSED) {
        serve_line_error(&s->out, &s->line, &e);
        return;
    }
    if (kind == SERVE_LINE_CANCEL && s->job != NULL) {
        b->cancel(b->context, s->job);
    }
    serve_line_done(&s->out, &s->line, "command");
}

static void drop(struct serve_task *t)
{
    struct serve_ws *s = (struct serve_ws *)t;

    leave_job(s);
    serve_line_free(&s->line);
    serve_text_free(&s->in);
    serve_text_free(&s->out);
    free(s);
}

/* ---- in the server's thread ------------------------------------------------------------------ */

enum {
    MESSAGES_BYTES = 64 << 20 /* limit for the messages, of all sockets together, that arrive or
                                    are being read */
};

static struct {
    size_t bytes; /* of all messages */
} kept;

struct serve_ws *serve_ws_open(const struct serve_setup *setup)
{
    struct serve_ws *s = calloc(1, sizeof *s);

    if (s != NULL) {
        s->task = (struct serve_task){ .run = read_message, .drop = drop };
        s->setup = setup;
        serve_line_ready(&s->out, setup->defaults.model);
    }
    return s;
}

/* Frees a message's memory, because most sockets are quiet and the others need memory. */
static void forget_message(struct serve_ws *s)
{
    kept.bytes -= s->in.n;
    s->in_whole = 0;
    serve_text_free(&s->in);
}

void serve_ws_leave(struct serve_ws *s)
{
    kept.bytes -= s->in.n; /* even if a worker still reads the message */
    (void)serve_worker_leave(&s->task);
}

/* True if the text so far is UTF-8. Before the last piece, the text may end inside a
 * character. */
static bool is_utf8(struct serve_ws *s, bool last)
{
    const char *rest = s->in.bytes + s->in_whole;
    size_t n = s->in.n - s->in_whole, whole = utf8_whole_bytes(rest, n);

    s->in_whole += whole;
    return whole == n || (!last && utf8_check((const uint8_t *)rest + whole, n - whole) == 0);
}

/* A caller that asks but does not read is dropped at this limit, before its answers fill the
 * memory. */
enum { UNHEARD_BYTES = 1 << 18 };

uint16_t serve_ws_take(struct serve_ws *s, const char *bytes, size_t n, bool last, bool text)
{
    if (s->out.n - s->said > UNHEARD_BYTES) {
        return HTTP_CLOSE_AT_ONCE;
    }
    if (s->in.n + n > SERVE_BODY_BYTES) {
        return HTTP_CLOSE_TOO_LONG;
    }
    if (kept.bytes + n > MESSAGES_BYTES) {
        return HTTP_CLOSE_FULL;
    }
    if (!serve_text_add(&s->in, bytes, n)) {
        return HTTP_CLOSE_FAILED;
    }
    kept.bytes += n;
    if (text && s->in.n != 0 && !is_utf8(s, last)) {
        return HTTP_CLOSE_NOT_TEXT;
    }
    if (!last) {
        return 0;
    }
    s->defaults = s->setup->defaults;
    s->reads = true;
    serve_worker_put(&s->task);
    return 0;
}

bool serve_ws_is_busy(const struct serve_ws *s)
{
    return s->reads || s->job != NULL;
}

bool serve_ws_is_reading(const struct serve_ws *s)
{
    return s->reads;
}

bool serve_ws_woken(struct serve_ws *s)
{
    struct serve_job *j;

    if (s->reads) {
        if (!serve_worker_take(&s->task)) {
            return true;
        }
        forget_message(s);
        s->reads = false;
    }
    j = s->job;
    if (j != NULL) {
        pthread_mutex_lock(&j->lock);
        serve_line_events(&s->out, &s->line, j, &s->events);
        pthread_mutex_unlock(&j->lock);
    }
    if (j != NULL && s->events.ended) {
        serve_job_release(j);
        s->job = NULL;
    }
    return !s->out.failed;
}

const char *serve_ws_say(struct serve_ws *s, size_t *n)
{
    const char *line, *end;

    *n = 0;
    if (s->reads || s->said == s->out.n) {
        return NULL;
    }
    line = s->out.bytes + s->said;
    end = memchr(line, '\n', s->out.n - s->said);
    *n = end != NULL ? (size_t)(end - line) : s->out.n - s->said;
    return line;
}

void serve_ws_said(struct serve_ws *s)
{
    const char *end = memchr(s->out.bytes + s->said, '\n', s->out.n - s->said);

    s->said = end != NULL ? (size_t)(end + 1 - s->out.bytes) : s->out.n;
    if (s->said == s->out.n || s->said > UNHEARD_BYTES / 4) {
        memmove(s->out.bytes, s->out.bytes + s->said, s->out.n - s->said);
        s->out.n -= s->said;
        s->said = 0;
    }
}
#endif
