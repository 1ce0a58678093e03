#include "host/serve_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "host/serve_call.h"
#include "runtime/text/format_float.h"

/* The object goes into the text, and is gone; event: as one of a stream. */
static void put(struct serve_text *out, cJSON *object, bool event)
{
    (void)serve_text_say(out, "%s", event ? "data: " : "");
    serve_text_add_json(out, object);
    (void)serve_text_say(out, "%s", event ? "\n\n" : "\n");
}

static const char *type_of(int status)
{
    if (status == 429) {
        return "rate_limit_error";
    }
    return status >= 500 ? "server_error" : "invalid_request_error";
}

static void add_text(cJSON *object, const char *name, const char *text)
{
    bool some = text != NULL && text[0] != '\0';

    cJSON_AddItemToObject(object, name, some ? cJSON_CreateString(text) : cJSON_CreateNull());
}

static cJSON *error_of(const struct serve_error *e)
{
    cJSON *root = cJSON_CreateObject(), *error = cJSON_AddObjectToObject(root, "error");

    cJSON_AddStringToObject(error, "message", e->text);
    cJSON_AddStringToObject(error, "type", type_of(e->status));
    add_text(error, "param", e->param);
    add_text(error, "code", e->code);
    return root;
}

void serve_answer_error(struct serve_text *out, const struct serve_error *e)
{
    put(out, error_of(e), false);
}

static cJSON *model_object(const char *model, int64_t created)
{
    cJSON *one = cJSON_CreateObject();

    cJSON_AddStringToObject(one, "id", model);
    cJSON_AddStringToObject(one, "object", "model");
    cJSON_AddNumberToObject(one, "created", (double)created);
    cJSON_AddStringToObject(one, "owned_by", "ingot");
    return one;
}

void serve_answer_models(struct serve_text *out, const char *model, int64_t created)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "object", "list");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(root, "data"), model_object(model, created));
    put(out, root, false);
}

void serve_answer_model(struct serve_text *out, const char *model, int64_t created)
{
    put(out, model_object(model, created), false);
}

/* A prompt counts once, however many replies it has; tokens of replies that were refused count, too. */
static cJSON *usage_of(struct serve_job *const *jobs, uint32_t n)
{
    cJSON *usage = cJSON_CreateObject(), *details;
    double prompt = 0, reply = 0;

    for (uint32_t i = 0; i < n; i++) {
        reply += jobs[i]->reply_tokens + jobs[i]->spent_tokens;
        if (i == 0 || jobs[i]->request.prompt != jobs[i - 1]->request.prompt) {
            prompt += jobs[i]->prompt_tokens;
        }
    }
    cJSON_AddNumberToObject(usage, "prompt_tokens", prompt);
    cJSON_AddNumberToObject(usage, "completion_tokens", reply);
    cJSON_AddNumberToObject(usage, "total_tokens", prompt + reply);
    details = cJSON_AddObjectToObject(usage, "prompt_tokens_details");
    cJSON_AddNumberToObject(details, "cached_tokens", jobs[0]->cached_tokens);
    return usage;
}

/* How the first reply was made, and where; beside what OpenAI's objects have. */
static cJSON *figures_of(const struct serve_job *j)
{
    cJSON *figures = cJSON_CreateObject();

    if (j->line != NULL) {
        cJSON_AddStringToObject(figures, "line", j->line);
    } else {
        cJSON_AddNullToObject(figures, "line");
    }
    serve_figures_add(figures, &j->figures);
    return figures;
}

/* The reply's call, and how much of the text is none. */
static struct serve_call call_of(const struct serve_job *j)
{
    struct serve_call c = { .content = j->text.n };

    if (j->request.may_call) {
        serve_call_find(&c, serve_text_shown(&j->text), j->text.n, j->done);
    }
    return c;
}

static const char *reason_of(const struct serve_job *j)
{
    if (call_of(j).whole) {
        return "tool_calls";
    }
    return j->end == GENERATE_ENDED || j->end == GENERATE_STOP ? "stop" : "length";
}

/* What the request's schemas have and nobody holds, or only looks at afterwards. */
static void add_warnings(cJSON *root, const struct serve_request *q)
{
    struct serve_text list = { .n = 0 };

    if (q->warnings.n == 0) {
        return;
    }
    (void)serve_text_say(&list, "[");
    (void)serve_text_add(&list, q->warnings.bytes, q->warnings.n);
    (void)serve_text_say(&list, "]");
    cJSON_AddRawToObject(root, "warnings", serve_text_shown(&list));
    serve_text_free(&list);
}

/* id, object, created, model and *choices, a list. */
static cJSON *envelope(const struct serve_answer *a, const char *object, cJSON **choices)
{
    cJSON *root = cJSON_CreateObject();
    char id[40];

    snprintf(id, sizeof id, "%s-%llu", a->kind == SERVE_CHAT ? "chatcmpl" : "cmpl",
             (unsigned long long)a->number);
    cJSON_AddStringToObject(root, "id", id);
    cJSON_AddStringToObject(root, "object", object);
    cJSON_AddNumberToObject(root, "created", (double)a->created);
    cJSON_AddStringToObject(root, "model", a->model);
    *choices = cJSON_AddArrayToObject(root, "choices");
    return root;
}

static cJSON *add_choice(cJSON *choices, uint32_t index)
{
    cJSON *choice = cJSON_CreateObject();

    cJSON_AddItemToArray(choices, choice);
    cJSON_AddNumberToObject(choice, "index", index);
    return choice;
}

/* ---- a reply --------------------------------------------------------------------------------- */

/* Some of a text. */
static cJSON *text_of(const char *bytes, size_t n)
{
    char *copy = malloc(n + 1);
    cJSON *value;

    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, bytes, n);
    copy[n] = '\0';
    value = cJSON_CreateString(copy);
    free(copy);
    return value;
}

/* A call, whole (at: NULL) or what was not said of it; i: which one of the reply. */
static cJSON *call_object(const struct serve_answer *a, uint32_t index, const struct serve_call *c,
                          const struct serve_events *at, uint32_t i)
{
    bool named = at == NULL || !at->called;
    size_t from = at != NULL ? at->arguments : 0;
    cJSON *one = cJSON_CreateObject(), *function;
    char id[64];

    snprintf(id, sizeof id, i == 0 ? "call_%llx_%llu_%u" : "call_%llx_%llu_%u_%u",
             (unsigned long long)a->created, (unsigned long long)a->number, (unsigned)index,
             (unsigned)i);
    if (at != NULL) {
        cJSON_AddNumberToObject(one, "index", i);
    }
    if (named) {
        cJSON_AddStringToObject(one, "id", id);
        cJSON_AddStringToObject(one, "type", "function");
    }
    function = cJSON_AddObjectToObject(one, "function");
    if (named) {
        cJSON_AddItemToObject(function, "name", text_of(c->name, c->name_bytes));
    }
    cJSON_AddItemToObject(function, "arguments",
                          text_of(c->arguments + from, c->arguments_bytes - from));
    return one;
}

/* All of them, from the first on. */
static cJSON *calls_of(const struct serve_answer *a, uint32_t index, const struct serve_job *j,
                       struct serve_call c)
{
    cJSON *list = cJSON_CreateArray();
    uint32_t i = 0;

    do {
        cJSON_AddItemToArray(list, call_object(a, index, &c, NULL, i++));
    } while (c.whole && serve_call_next(&c, serve_text_shown(&j->text), j->text.n));
    return list;
}

static void add_content(cJSON *message, const struct serve_answer *a, uint32_t index,
                        const struct serve_job *j)
{
    struct serve_call c = call_of(j);

    if (c.found && c.content == 0) {
        cJSON_AddNullToObject(message, "content");
    } else {
        cJSON_AddItemToObject(message, "content", text_of(serve_text_shown(&j->text), c.content));
    }
    if (c.found) {
        cJSON_AddItemToObject(message, "tool_calls", calls_of(a, index, j, c));
    }
}

/* The prompt that the reply continues. */
static const char *prompt_of(const struct serve_job *j)
{
    return serve_text_shown(&j->request.turns[j->request.prompt].user);
}

/* The text with what comes of it, or that alone. */
static cJSON *continued(const struct serve_job *j)
{
    const char *prompt = j->request.echo ? prompt_of(j) : "";
    struct serve_text both = { .n = 0 };
    cJSON *value;

    (void)serve_text_add(&both, prompt, strlen(prompt));
    (void)serve_text_add(&both, j->text.bytes, j->text.n);
    value = cJSON_CreateString(serve_text_shown(&both));
    serve_text_free(&both);
    return value;
}

static void add_reply(cJSON *choices, const struct serve_answer *a, uint32_t index,
                      const struct serve_job *j)
{
    cJSON *choice = add_choice(choices, index);
    struct serve_scores_at at = { .bytes = 0 };

    if (a->kind == SERVE_CHAT) {
        cJSON *message = cJSON_AddObjectToObject(choice, "message");

        cJSON_AddStringToObject(message, "role", "assistant");
        add_content(message, a, index, j);
        if (j->thoughts.n != 0) {
            cJSON_AddStringToObject(message, "reasoning_content", j->thoughts.bytes);
        }
    } else {
        cJSON_AddItemToObject(choice, "text", continued(j));
    }
    cJSON_AddItemToObject(choice, "logprobs", serve_scores_answer(a->kind, &j->scores, &at));
    cJSON_AddStringToObject(choice, "finish_reason", reason_of(j));
}

void serve_answer_whole(struct serve_text *out, const struct serve_answer *a,
                        struct serve_job *const *jobs, uint32_t n)
{
    bool chat = a->kind == SERVE_CHAT;
    cJSON *choices, *root;

    if (a->kind == SERVE_EMBED) {
        put(out, serve_vectors_answer(a->model, jobs[0]), false);
        return;
    }
    root = envelope(a, chat ? "chat.completion" : "text_completion", &choices);
    for (uint32_t i = 0; i < n; i++) {
        add_reply(choices, a, i, jobs[i]);
    }
    cJSON_AddItemToObject(root, "usage", usage_of(jobs, n));
    cJSON_AddItemToObject(root, "figures", figures_of(jobs[0]));
    add_warnings(root, &jobs[0]->request);
    put(out, root, false);
}

/* ---- a stream -------------------------------------------------------------------------------- */

struct event_stream {
    struct serve_text *out;
    const struct serve_answer *a;
    const struct serve_job *j;
    struct serve_events *at;
};

/* One event, with the scores that were not said; name: of the delta's member, NULL: none; value is gone; reason: NULL before the
 * end. */
static void say(const struct event_stream *s, const char *name, cJSON *value, const char *reason)
{
    bool chat = s->a->kind == SERVE_CHAT;
    cJSON *choices, *choice,
        *root = envelope(s->a, chat ? "chat.completion.chunk" : "text_completion", &choices);

    choice = add_choice(choices, s->at->index);
    if (chat) {
        cJSON *delta = cJSON_AddObjectToObject(choice, "delta");

        if (!s->at->begun) {
            cJSON_AddStringToObject(delta, "role", "assistant");
        }
        if (name != NULL) {
            cJSON_AddItemToObject(delta, name, value);
        }
    } else {
        cJSON_AddItemToObject(choice, "text", value != NULL ? value : cJSON_CreateString(""));
    }
    cJSON_AddItemToObject(choice, "logprobs",
                          s->at->begun
                              ? serve_scores_answer(s->a->kind, &s->j->scores, &s->at->scores)
                              : cJSON_CreateNull());
    if (reason != NULL) {
        cJSON_AddStringToObject(choice, "finish_reason", reason);
        if (s->at->index == 0) {
            add_warnings(root, &s->j->request);
        }
    } else {
        cJSON_AddNullToObject(choice, "finish_reason");
    }
    put(s->out, root, true);
}

static void say_usage(struct serve_text *out, const struct serve_answer *a,
                      struct serve_job *const *jobs, uint32_t n)
{
    bool chat = a->kind == SERVE_CHAT;
    cJSON *none, *root = envelope(a, chat ? "chat.completion.chunk" : "text_completion", &none);

    cJSON_AddItemToObject(root, "usage", usage_of(jobs, n));
    cJSON_AddItemToObject(root, "figures", figures_of(jobs[0]));
    put(out, root, true);
}

/* What has come of a call. */
static void say_call(const struct event_stream *s, const struct serve_call *c)
{
    cJSON *list;

    if (s->at->called && c->arguments_bytes == s->at->arguments) {
        return;
    }
    list = cJSON_CreateArray();
    cJSON_AddItemToArray(list, call_object(s->a, s->at->index, c, s->at, s->at->calls));
    say(s, "tool_calls", list, NULL);
    s->at->called = true;
    s->at->arguments = c->arguments_bytes;
}

/* Of the calls of a reply those that were not said to their end. */
static void say_calls(const struct event_stream *s, struct serve_call c)
{
    const char *text = serve_text_shown(&s->j->text);

    for (uint32_t i = 0; c.found; i++) {
        if (i == s->at->calls) {
            say_call(s, &c);
            if (!c.whole) {
                return;
            }
            s->at->calls++;
            s->at->called = false;
            s->at->arguments = 0;
        }
        if (!serve_call_next(&c, text, s->j->text.n)) {
            return;
        }
    }
}

void serve_answer_events(struct serve_text *out, const struct serve_answer *a,
                         const struct serve_job *j, struct serve_events *at)
{
    const struct event_stream s = { out, a, j, at };
    struct serve_call c = call_of(j);

    if (at->ended) {
        return;
    }
    if (!at->begun && a->kind == SERVE_CHAT) {
        say(&s, "content", cJSON_CreateString(""), NULL);
    }
    if (!at->begun && j->request.echo) {
        say(&s, "content", cJSON_CreateString(prompt_of(j)), NULL);
    }
    at->begun = true;
    if (j->thoughts.n > at->thoughts && a->kind == SERVE_CHAT) {
        say(&s, "reasoning_content", cJSON_CreateString(j->thoughts.bytes + at->thoughts), NULL);
        at->thoughts = j->thoughts.n;
    }
    if (c.content > at->text) {
        say(&s, "content", text_of(j->text.bytes + at->text, c.content - at->text), NULL);
        at->text = c.content;
    }
    say_calls(&s, c);
    if (!j->done) {
        return;
    }
    at->ended = true;
    if (j->error.status != 0) {
        put(out, error_of(&j->error), true);
    } else {
        say(&s, NULL, NULL, reason_of(j));
    }
}

void serve_answer_end(struct serve_text *out, const struct serve_answer *a,
                      struct serve_job *const *jobs, uint32_t n)
{
    if (n != 0 && jobs[0]->request.stream_usage) {
        say_usage(out, a, jobs, n);
    }
    (void)serve_text_say(out, "data: [DONE]\n\n");
}
