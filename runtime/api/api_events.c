/* Conversion of events of mode=json (docs/SERIAL.md) to an answer of OpenAI's API, whole or as a
 * stream (api_chat.h). The head is sent with the first piece, so that an earlier error can set the
 * status. Sent text is dropped, so that a reply may be longer than the memory for its text. */
#include <string.h>

#include "runtime/api/api.h"
#include "runtime/api/api_json.h"
#include "runtime/api/api_line.h"
#include "runtime/api/api_vectors.h"

/* Memory for a reply's values. The reply's text gets all remaining memory. */
enum { EVENT_VALUES_BYTES = 12 * 1024, TEXT_LEAST_BYTES = 8 * 1024 };

static void put(struct api *a, const char *text, size_t n)
{
    struct api_work *w = a->work;

    if (!w->failed && !api_out(a, text, n)) {
        w->failed = true;
    }
}

static const char *type_of(const struct api_request *r)
{
    if (r->kind == API_LINE) {
        return "application/x-ndjson";
    }
    return r->stream ? "text/event-stream" : "application/json";
}

static void begin(struct api *a)
{
    struct api_work *w = a->work;
    const struct http_answer head = {
        .status = 200,
        .type = type_of(&w->job.request),
        .fields = "cache-control: no-store\r\n",
        .streams = true,
    };

    w->failed |= api_is_gone(a);
    if (w->begun || w->failed) {
        return;
    }
    w->begun = true;
    w->client->out_at = w->client->out_end = 0;
    w->client->last = false;
    http_connection_answer(w->client->http, &head);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void send_piece(struct api *a)
{
    struct api_work *w = a->work;

    if (w->out.n != 0) {
        begin(a);
        put(a, w->out.bytes, w->out.n);
        w->out.n = 0;
    }
}

/* Send a full piece, and begin a new one. */
static bool send_full(struct api_text *t, size_t room)
{
    size_t wanted = room - t->n;

    send_piece(t->memory);
    return wanted <= t->room;
}

/* Forget the bytes that were sent, unless they may be part of a call. */
static void forget_sent(struct api_job *j, struct api_events *at)
{
    struct api_call c = api_stream_call(j);

    if (at->scores.bytes == j->scores.n && at->scores.bytes != 0) {
        j->scores.n = at->scores.bytes = 0;
    }
    if (at->text == 0 || (j->request.may_call && c.content != j->text.n)) {
        return;
    }
    memmove(j->text.bytes, j->text.bytes + at->text, j->text.n - at->text);
    j->text.n -= at->text;
    at->from = at->text = 0;
}

void api_reply_walk(struct api *a)
{
    struct api_work *w = a->work;
    const struct api_stream s = { .out = &w->out, .a = &w->answer, .j = &w->job, .at = &w->at };

    if (!w->job.request.stream && w->number_of_reply == 0 && !w->at.begun) {
        api_chat_begin(&w->out, &w->answer);
    }
    api_stream_walk(&s, w->job.request.stream ? api_chat_say : api_chat_part);
    send_piece(a);
    forget_sent(&w->job, &w->at);
}

/* ---- a reply --------------------------------------------------------------------------------- */

void api_reply_begin(struct api *a, uint32_t i)
{
    struct api_work *w = a->work;
    struct api_job *j = &w->job;
    size_t left;

    w->number_of_reply = i;
    w->at = (struct api_events){ .index = i };
    w->memory.used = w->request_bytes;
    j->done = false;
    j->end = GENERATE_ENDED;
    j->error.status = 0;
    j->prompt_tokens = j->cached_tokens = j->reply_tokens = 0;
    api_figures_clear(&j->figures);
    left = w->memory.room - w->memory.used - EVENT_VALUES_BYTES;
    if (j->request.kind == API_EMBED) {
        api_text_open(&j->vectors, api_memory_take(&w->memory, left), left);
        w->in_values = false;
        return;
    }
    left = j->request.wants_scores ? TEXT_LEAST_BYTES : left;
    api_text_open(&j->text, api_memory_take(&w->memory, left), left);
    left = w->memory.room - w->memory.used - EVENT_VALUES_BYTES;
    j->scores = (struct api_text){ .bytes = w->memory.block + w->memory.used, .room = left };
    w->memory.used += left;
}

/* Bytes for the score of one token, which is in the reply or is one of the likeliest. */
enum { SCORE_BYTES = 32 };

bool api_reply_has_room(struct api *a)
{
    const struct api_memory *m = &a->work->memory;
    struct api_request *q = &a->work->job.request;
    size_t left = m->room - m->used;

    if (left < EVENT_VALUES_BYTES + 2 * TEXT_LEAST_BYTES) {
        return false;
    }
    if (q->wants_scores && !q->stream) { /* a whole answer keeps its scores until its end */
        left -= EVENT_VALUES_BYTES + TEXT_LEAST_BYTES;
        left /= SCORE_BYTES * (1u + q->n_likeliest);
        q->n = q->n != 0 && q->n < left ? q->n : (uint32_t)left;
    }
    return true;
}

void api_reply_end(struct api *a)
{
    struct api_work *w = a->work;

    w->job.done = true;
    if (!w->failed && w->job.request.kind != API_EMBED) {
        api_reply_walk(a);
        api_usage_add(&w->usage, &w->job);
        w->first = w->number_of_reply == 0 ? w->job.figures : w->first;
    }
    w->failed |= w->job.error.status != 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

void api_reply_fail(struct api *a, const struct api_error *e)
{
    struct api_work *w = a->work;

    if (w->failed || w->job.error.status != 0) {
        return;
    }
    w->job.error = *e;
    if (!w->begun && !api_is_gone(a)) { /* the error is the answer */
        w->failed = true;
        api_answer_error(w->client, e->status, e->text, e->param, e->code);
    } else if (!w->job.request.stream) { /* a partial answer must not be taken for a complete one */
        w->failed = true;
    }
}

void api_reply_is_long(struct api *a)
{
    struct api_error e;

    (void)api_refuse(&e, 500, NULL, "too_long",
                     "the reply is longer than this board can keep: ask for a stream, or for "
                     "fewer tokens");
    api_reply_fail(a, &e);
}

static void take_token(struct api *a, const struct api_json *event)
{
    struct api_job *j = &a->work->job;
    const struct api_json *text = api_json_get(event, "text");

    if ((api_json_is(text, JSON_TEXT) && !api_text_put(&j->text, text->text, text->bytes)) ||
        (j->request.wants_scores && !api_line_scores(&j->scores, event))) {
        api_reply_is_long(a);
    } else if (j->text.n != 0 || a->work->at.begun) {
        api_reply_walk(a);
    }
}

static void take_usage(struct api_job *j, const struct api_json *event)
{
    const char *finish = api_json_text_of(event, "finish_reason");

    j->prompt_tokens = api_line_count(event, "prompt_tokens");
    j->cached_tokens = api_line_count(event, "cached_tokens");
    j->reply_tokens = api_line_count(event, "completion_tokens");
    j->end = finish != NULL && strcmp(finish, "length") == 0 ? GENERATE_LIMIT : GENERATE_ENDED;
}

/* Take the end of a vector. Its numbers came before. */
static void take_vector(struct api *a, const struct api_json *event)
{
    struct api_work *w = a->work;
    struct api_job *j = &w->job;
    size_t width = j->vectors.n / sizeof(float);
    struct api_error e;

    if (j->vectors.failed || width == 0) {
        (void)api_refuse(&e, 500, NULL, NULL,
                         "the embedding does not fit the memory of this board");
        api_reply_fail(a, &e);
    } else if (!api_vectors_check(&j->request, width, &e)) {
        api_reply_fail(a, &e);
    }
    if (w->failed) {
        return;
    }
    if (w->number_of_reply == 0) {
        api_vectors_begin(&w->out);
    }
    w->embedded += api_line_count(event, "tokens");
    api_vectors_put(&w->out, &j->request, w->number_of_reply, (float *)(void *)j->vectors.bytes,
                    width);
    send_piece(a);
}

static void take_event(struct api *a, const struct api_json *event)
{
    struct api_job *j = &a->work->job;
    const char *name = api_json_text_of(event, "event");
    struct api_error e;

    if (name == NULL) {
        return;
    }
    if (strcmp(name, "token") == 0) {
        take_token(a, event);
    } else if (strcmp(name, "error") == 0) {
        api_line_error(&e, api_json_text_of(event, "name"), api_json_text_of(event, "text"),
                       api_json_text_of(event, "field"));
        api_reply_fail(a, &e);
    } else if (strcmp(name, "embedding") == 0) {
        take_vector(a, event);
    } else if (strcmp(name, "usage") == 0) {
        take_usage(j, event);
    } else if (strcmp(name, "done") == 0) {
        api_line_figures(&j->figures, event);
    }
}

/* Read an event, which lies in memory that the reply does not use. */
static void read_event(struct api *a)
{
    struct api_work *w = a->work;
    struct api_json *event;
    struct api_memory m;
    size_t at;

    api_memory_open(&m, w->memory.block + w->memory.used, w->memory.room - w->memory.used);
    if (api_json_read(&event, w->event, w->event_bytes, &m, &at) == API_JSON_GOOD) {
        take_event(a, event);
    }
}

/* Pass on a byte of an event. A whole event is sent at once, a long event in parts. */
static void pass_byte(struct api *a, char byte)
{
    struct api_work *w = a->work;

    w->event[w->event_bytes++] = byte;
    if (byte == '\n' || w->event_bytes == API_EVENT_BYTES) {
        begin(a);
        put(a, w->event, w->event_bytes);
        w->event_bytes = 0;
    }
}

/* Take a number of a vector as soon as it ends, because `event` does not hold all of them. */
static void take_number(struct api_work *w)
{
    const struct api_json number = { .kind = JSON_NUMBER,
                                     .text = w->event + w->number_at,
                                     .bytes = w->event_bytes - w->number_at };
    float value = (float)api_json_number(&number);

    (void)api_text_put(&w->job.vectors, (const char *)&value, sizeof value);
    w->event_bytes = w->number_at;
}

/* Take a byte of an event `embedding`. Returns false if it is not part of a vector's numbers. */
static bool take_value(struct api_work *w, char byte)
{
    static const char begins[] = "\"values\":[";
    enum { N = sizeof begins - 1 };

    if (w->in_values && (byte == ',' || byte == ']')) {
        take_number(w);
        w->in_values = byte == ',';
    } else if (!w->in_values && byte == '[' && w->event_bytes >= N - 1 &&
               w->event_bytes < API_EVENT_BYTES &&
               memcmp(w->event + w->event_bytes - (N - 1), begins, N - 1) == 0) {
        w->in_values = true;
        w->number_at = w->event_bytes + 1;
        return false;
    }
    return w->in_values && byte == ',';
}

void api_event_byte(struct api *a, char byte)
{
    struct api_work *w = a->work;

    if (w->job.request.kind == API_LINE) {
        pass_byte(a, byte);
        return;
    }
    if (w->job.request.kind == API_EMBED && take_value(w, byte)) {
        return;
    }
    if (byte != '\n') {
        if (w->event_bytes < API_EVENT_BYTES) {
            w->event[w->event_bytes] = byte;
        }
        w->event_bytes++;
        return;
    }
    if (w->event_bytes <= API_EVENT_BYTES) {
        w->event[w->event_bytes] = '\0';
        read_event(a);
    }
    w->event_bytes = 0;
}

/* ---- the answer ------------------------------------------------------------------------------ */

void api_event_begin(struct api *a)
{
    struct api_work *w = a->work;

    api_text_open(&w->out, w->piece, sizeof w->piece);
    w->out.grow = send_full;
    w->out.memory = a;
    w->request_bytes = w->memory.used;
    w->answer = (struct api_answer){ .kind = w->job.request.kind,
                                     .number = w->number,
                                     .created = (int64_t)platform_date(&a->setup.platform->clock),
                                     .model = a->model };
}

static void end_answer(struct api *a)
{
    struct api_work *w = a->work;
    bool failed = w->failed;

    w->job.figures = w->first;
    if (w->job.request.stream && (!failed || w->job.error.status != 0)) {
        w->failed = false; /* the error was sent, and the stream ends properly */
        api_chat_say_end(&w->out, &w->answer, &w->usage, failed ? NULL : &w->job);
    } else if (!failed && w->job.request.kind == API_EMBED) {
        api_vectors_end(&w->out, a->model, w->embedded);
    } else if (!failed) {
        api_chat_end(&w->out, &w->usage, &w->job);
    }
    send_piece(a);
}

void api_event_end(struct api *a)
{
    struct api_work *w = a->work;
    struct api_client *k = w->client;

    if (w->job.request.kind != API_LINE && (w->begun || !w->failed)) {
        end_answer(a);
    } else if (!w->failed) {
        begin(a); /* the line of mode=json had no event */
    }
    if (api_is_gone(a)) {
        return;
    }
    if (w->failed && w->begun) {
        k->cut = true; /* close the connection, so that a partial answer is not taken for a complete
                        * one */
    }
    k->stage = API_ANSWERS;
    k->last = true;
}
