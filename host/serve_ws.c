#ifdef INGOT_WEBSOCKETS

#include "host/serve_ws.h"

#include <stdlib.h>
#include <string.h>

static void leave_job(struct serve_ws *s, const struct serve_setup *setup)
{
    if (s->job != NULL) {
        setup->backend->cancel(setup->backend->context, s->job);
        serve_job_release(s->job);
        s->job = NULL;
    }
}

/* A reply is asked for; j: the request. */
static void submit(struct serve_ws *s, struct serve_job *j, const struct serve_setup *setup)
{
    struct serve_error e = { .status = 0 };

    if (setup->backend->submit(setup->backend->context, j)) {
        s->job = j;
        s->events = (struct serve_events){ .begun = true };
        return;
    }
    (void)serve_refuse(&e, 429, NULL, "queue_full", "too many requests wait");
    serve_line_error(&s->out, &s->line, &e);
    serve_job_release(j);
}

/* A whole message. */
static void take(struct serve_ws *s, const struct serve_setup *setup)
{
    struct serve_error e = { .status = 0 };
    struct serve_job *j = serve_job_new();
    enum serve_line_kind kind;

    if (j == NULL) {
        s->out.failed = true;
        return;
    }
    kind = serve_line_take(&s->line, serve_text_shown(&s->in), s->in.n, s->job != NULL, &j->request,
                           &setup->defaults, &e);
    if (kind == SERVE_LINE_REPLY) {
        submit(s, j, setup);
        return;
    }
    serve_job_release(j);
    if (kind == SERVE_LINE_REFUSED) {
        serve_line_error(&s->out, &s->line, &e);
        return;
    }
    if (kind == SERVE_LINE_CANCEL && s->job != NULL) {
        setup->backend->cancel(setup->backend->context, s->job);
    }
    serve_line_done(&s->out, &s->line, "command");
}

/* A caller that asks and does not listen is let go before its answers take the memory. */
enum { UNHEARD_BYTES = 1 << 18 };

static int receive(struct lws *wsi, struct serve_ws *s, const void *in, size_t n,
                   const struct serve_setup *setup)
{
    if (s->out.n > UNHEARD_BYTES || s->in.n + n > SERVE_BODY_BYTES ||
        !serve_text_add(&s->in, in, n)) {
        return -1;
    }
    if (lws_is_final_fragment(wsi) && lws_remaining_packet_payload(wsi) == 0) {
        take(s, setup);
        s->in.n = 0;
        lws_callback_on_writable(wsi);
    }
    return 0;
}

/* The first line of what goes, as a message. */
static int write_line(struct lws *wsi, struct serve_text *out)
{
    char *end = memchr(out->bytes, '\n', out->n);
    size_t n = (size_t)(end - out->bytes);
    unsigned char *room = malloc(LWS_PRE + n + 1);
    int sent;

    if (room == NULL) {
        return -1;
    }
    memcpy(room + LWS_PRE, out->bytes, n);
    sent = lws_write(wsi, room + LWS_PRE, n, LWS_WRITE_TEXT);
    free(room);
    out->n -= n + 1;
    memmove(out->bytes, end + 1, out->n);
    return sent < (int)n ? -1 : 0;
}

static int write_more(struct lws *wsi, struct serve_ws *s)
{
    struct serve_job *j = s->job;

    if (j != NULL) {
        pthread_mutex_lock(&j->lock);
        serve_line_events(&s->out, &s->line, j, &s->events);
        pthread_mutex_unlock(&j->lock);
    }
    if (s->events.ended && j != NULL) {
        serve_job_release(j);
        s->job = NULL;
    }
    if (s->out.failed || (s->out.n != 0 && write_line(wsi, &s->out) != 0)) {
        return -1;
    }
    if (s->out.n != 0) {
        lws_callback_on_writable(wsi);
    }
    return 0;
}

int serve_ws_event(struct lws *wsi, enum lws_callback_reasons reason, struct serve_ws *s,
                   const void *in, size_t n, const struct serve_setup *setup)
{
    switch (reason) {
    case LWS_CALLBACK_ESTABLISHED:
        memset(s, 0, sizeof *s);
        serve_line_ready(&s->out, setup->defaults.model);
        lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_RECEIVE: return receive(wsi, s, in, n, setup);
    case LWS_CALLBACK_SERVER_WRITEABLE: return write_more(wsi, s);
    case LWS_CALLBACK_CLOSED:
        leave_job(s, setup);
        serve_line_free(&s->line);
        serve_text_free(&s->in);
        serve_text_free(&s->out);
        return 0;
    default: return 0;
    }
}

#endif
