/* Events of mode=json (docs/SERIAL.md) become an answer of OpenAI's API, whole or as a stream.
 * The head goes out with the first token, so that an earlier error has a status of its own. */
#include <string.h>

#include "runtime/api/api.h"
#include "runtime/text/format_text.h"
#include "runtime/text/json.h"

enum { PIECE_BYTES = API_EVENT_BYTES };

static const char *object_of(const struct api_work *w)
{
    if (w->request.kind == API_COMPLETION) {
        return "text_completion";
    }
    return w->request.streams ? "chat.completion.chunk" : "chat.completion";
}

static void put(struct api *a, const char *text, size_t n)
{
    struct api_work *w = &a->work;

    if (!w->failed && !api_out(a, text, n)) {
        w->failed = true;
    }
}

/* The beginning of each object of the answer. */
static void put_head(struct api *a, struct api_text *t)
{
    const struct api_work *w = &a->work;

    api_text_print(t, "%s{'id':'%s-%llu','object':'%s','created':%llu,'model':",
                   w->request.streams ? "data: " : "",
                   w->request.kind == API_CHAT ? "chatcmpl" : "cmpl", (unsigned long long)w->number,
                   object_of(w), (unsigned long long)platform_date(&a->setup.platform->clock));
    api_text_quoted(t, a->model, strlen(a->model));
}

static const char *type_of(const struct api_request *r)
{
    if (r->kind == API_LINE) {
        return "application/x-ndjson";
    }
    return r->streams ? "text/event-stream" : "application/json";
}

static void begin(struct api *a)
{
    struct api_work *w = &a->work;
    const struct http_answer head = {
        .status = 200,
        .type = type_of(&w->request),
        .fields = "cache-control: no-store\r\n",
        .streams = true,
    };
    char memory[PIECE_BYTES];
    struct api_text t;

    w->failed |= api_is_gone(a);
    if (w->begun || w->failed) {
        return;
    }
    w->begun = true;
    w->client->out_at = w->client->out_end = 0;
    w->client->last = false;
    http_connection_answer(w->client->http, &head);
    if (w->request.streams || w->request.kind == API_LINE) {
        return;
    }
    api_text_open(&t, memory, sizeof memory);
    put_head(a, &t);
    api_text_print(&t, w->request.kind == API_CHAT
                           ? ",'choices':[{'index':0,'message':{'role':'assistant','content':'"
                           : ",'choices':[{'index':0,'text':'");
    put(a, t.text, t.n);
}

static void put_piece(struct api *a, const char *text, size_t n)
{
    struct api_work *w = &a->work;
    char memory[PIECE_BYTES];
    struct api_text t;

    begin(a);
    api_text_open(&t, memory, sizeof memory);
    if (!w->request.streams) {
        api_text_escaped(&t, text, n);
        put(a, t.text, t.n);
        return;
    }
    put_head(a, &t);
    if (w->request.kind == API_COMPLETION) {
        api_text_print(&t, ",'choices':[{'index':0,'text':");
    } else {
        api_text_print(&t, ",'choices':[{'index':0,'delta':{%s'content':",
                       w->role_said ? "" : "'role':'assistant',");
    }
    api_text_quoted(&t, text, n);
    api_text_print(&t, "%s,'logprobs':null,'finish_reason':null}]}\n\n",
                   w->request.kind == API_COMPLETION ? "" : "}");
    w->role_said = true;
    put(a, t.text, t.n);
}

static void print_usage(const struct api_work *w, struct api_text *t)
{
    api_text_print(t,
                   "'usage':{'prompt_tokens':%u,'completion_tokens':%u,'total_tokens':%u,"
                   "'prompt_tokens_details':{'cached_tokens':%u}}",
                   (unsigned)w->prompt_tokens, (unsigned)w->new_tokens,
                   (unsigned)(w->prompt_tokens + w->new_tokens), (unsigned)w->cached_tokens);
}

static void end_stream(struct api *a)
{
    struct api_work *w = &a->work;
    char memory[PIECE_BYTES];
    struct api_text t;

    api_text_open(&t, memory, sizeof memory);
    put_head(a, &t);
    api_text_print(&t, ",'choices':[{'index':0,%s,'logprobs':null,'finish_reason':'%s'}]}\n\n",
                   w->request.kind == API_COMPLETION ? "'text':''" : "'delta':{}", w->finish);
    if (w->request.wants_usage) {
        put_head(a, &t);
        api_text_print(&t, ",'choices':[],");
        print_usage(w, &t);
        api_text_print(&t, "}\n\n");
    }
    api_text_print(&t, "data: [DONE]\n\n");
    put(a, t.text, t.n);
}

static void end_whole(struct api *a)
{
    struct api_work *w = &a->work;
    char memory[PIECE_BYTES];
    struct api_text t;

    api_text_open(&t, memory, sizeof memory);
    api_text_print(&t, "'%s,'logprobs':null,'finish_reason':'%s'}],",
                   w->request.kind == API_CHAT ? ",'refusal':null}" : "", w->finish);
    print_usage(w, &t);
    api_text_print(&t, "}\n");
    put(a, t.text, t.n);
}

/* ---- events ---- */

/* The members of an event that are read. */
struct event {
    const char *name, *text, *field, *finish;
    size_t text_bytes;
    const char *prompt, *cached, *new;
};

static void read_event(char *line, size_t bytes, struct event *e)
{
    struct json_value v;
    struct json j;

    memset(e, 0, sizeof *e);
    json_open(&j, line, bytes);
    while (json_member(&j, &v) > JSON_END) {
        const struct {
            const char *name, **to;
        } members[] = { { "event", &e->name },
                        { "field", &e->field },
                        { "finish_reason", &e->finish },
                        { "prompt_tokens", &e->prompt },
                        { "cached_tokens", &e->cached },
                        { "completion_tokens", &e->new },
                        { "text", &e->text } };

        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
            if (strcmp(v.key, members[i].name) == 0 && v.text != NULL) {
                *members[i].to = v.text;
                e->text_bytes = members[i].to == &e->text ? v.bytes : e->text_bytes;
            }
        }
    }
}

static uint32_t number_of(const char *text)
{
    uint32_t n = 0;

    for (; text != NULL && *text >= '0' && *text <= '9'; text++) {
        n = n * 10 + (uint32_t)(*text - '0');
    }
    return n;
}

/* Before the first token the error is the answer; later it ends the answer. */
static void take_error(struct api *a, const struct event *e)
{
    struct api_work *w = &a->work;

    if (w->begun || w->failed || api_is_gone(a)) {
        w->failed = true;
        return;
    }
    w->failed = true;
    api_answer_error(w->client, 400, e->text != NULL ? e->text : "the request failed",
                     e->field != NULL ? api_request_param(w->request.kind, e->field) : "", "");
}

static void take_event(struct api *a)
{
    struct api_work *w = &a->work;
    struct event e;

    read_event(w->event, w->event_bytes, &e);
    if (e.name == NULL) {
        return;
    }
    if (strcmp(e.name, "token") == 0 && e.text != NULL && e.text_bytes != 0) {
        put_piece(a, e.text, e.text_bytes);
    } else if (strcmp(e.name, "error") == 0) {
        take_error(a, &e);
    } else if (strcmp(e.name, "usage") == 0) {
        w->prompt_tokens = number_of(e.prompt);
        w->cached_tokens = number_of(e.cached);
        w->new_tokens = number_of(e.new);
        (void)format_text(w->finish, sizeof w->finish, "%s", e.finish != NULL ? e.finish : "stop");
    }
}

/* A whole event, or a part of a long one. */
static void pass_byte(struct api *a, char byte)
{
    struct api_work *w = &a->work;

    w->event[w->event_bytes++] = byte;
    if (byte == '\n' || w->event_bytes == API_EVENT_BYTES) {
        begin(a);
        put(a, w->event, w->event_bytes);
        w->event_bytes = 0;
    }
}

void api_event_byte(struct api *a, char byte)
{
    struct api_work *w = &a->work;

    if (w->request.kind == API_LINE) {
        pass_byte(a, byte);
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
        take_event(a);
    }
    w->event_bytes = 0;
}

void api_event_end(struct api *a)
{
    struct api_work *w = &a->work;
    struct api_client *k = w->client;

    if (w->finish[0] == '\0') {
        (void)format_text(w->finish, sizeof w->finish, "stop");
    }
    if (!w->failed) {
        begin(a); /* a reply without a token */
    }
    if (!w->failed && w->request.streams) {
        end_stream(a);
    } else if (!w->failed && w->request.kind != API_LINE) {
        end_whole(a);
    }
    if (api_is_gone(a)) {
        return;
    }
    if (w->failed && w->begun) {
        k->cut = true; /* close the connection, so that nobody takes a part for the whole */
    }
    k->stage = API_ANSWERS;
    k->last = true;
}
