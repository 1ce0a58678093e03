#include "host/api/serve_answer.h"

#include <stdio.h>
#include <string.h>

#include "host/api/serve_dialect.h"

/* Adds the object to the text and deletes it. event: it is one event of a stream. */
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

static const char *reason_of(const struct serve_job *j)
{
    static const char *const words[] = { "stop", "length", "tool_calls" };

    return words[serve_stream_reason(j)];
}

/* A prompt counts once, however many replies it has. Tokens of refused replies count, too. */
static cJSON *usage_of(struct serve_job *const *jobs, uint32_t n)
{
    cJSON *usage = cJSON_CreateObject(), *details;
    double prompt = 0, reply = 0;

    for (uint32_t i = 0; i < n; i++) {
        reply += serve_stream_tokens(jobs[i]);
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

/* Writes id, object, created, model and *choices, a list. */
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

/* Writes call i of a reply. In a stream this is its name first, and then its new arguments. */
static cJSON *call_object(const struct serve_answer *a, uint32_t index, const struct serve_call *c,
                          cJSON *arguments, bool first, bool streams, uint32_t i)
{
    cJSON *one = cJSON_CreateObject(), *function;
    char id[SERVE_ID_BYTES];

    serve_stream_id(id, "call", a, index, i);
    if (streams) {
        cJSON_AddNumberToObject(one, "index", i);
    }
    if (first) {
        cJSON_AddStringToObject(one, "id", id);
        cJSON_AddStringToObject(one, "type", "function");
    }
    function = cJSON_AddObjectToObject(one, "function");
    if (first) {
        cJSON_AddItemToObject(function, "name", serve_stream_text(c->name, c->name_bytes));
    }
    cJSON_AddItemToObject(function, "arguments", arguments);
    return one;
}

/* Writes all calls from the first one on. */
static cJSON *calls_of(const struct serve_answer *a, uint32_t index, const struct serve_job *j,
                       struct serve_call c)
{
    cJSON *list = cJSON_CreateArray();
    uint32_t i = 0;

    do {
        cJSON *arguments = serve_stream_text(c.arguments, c.arguments_bytes);

        cJSON_AddItemToArray(list, call_object(a, index, &c, arguments, true, false, i++));
    } while (c.whole && serve_call_next(&c, serve_text_shown(&j->text), j->text.n));
    return list;
}

static void add_content(cJSON *message, const struct serve_answer *a, uint32_t index,
                        const struct serve_job *j)
{
    struct serve_call c = serve_stream_call(j);

    if (c.found && c.content == 0) {
        cJSON_AddNullToObject(message, "content");
    } else {
        cJSON_AddItemToObject(message, "content",
                              serve_stream_text(serve_text_shown(&j->text), c.content));
    }
    if (c.found) {
        cJSON_AddItemToObject(message, "tool_calls", calls_of(a, index, j, c));
    }
}

/* Returns the prompt that the reply continues. */
static const char *prompt_of(const struct serve_job *j)
{
    return serve_text_shown(&j->request.turns[j->request.prompt].user);
}

/* Returns the text, with the prompt's echo in front if it is wanted. */
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
    cJSON_AddItemToObject(root, "figures", serve_stream_figures(jobs[0]));
    serve_stream_warnings(root, &jobs[0]->request);
    put(out, root, false);
}

/* ---- a stream -------------------------------------------------------------------------------- */

/* Writes one event with the scores that were not sent yet. name: the delta's member, or NULL; value
 * is deleted; reason: NULL before the end. */
static void say(const struct serve_stream *s, const char *name, cJSON *value, const char *reason)
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
            serve_stream_warnings(root, &s->j->request);
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
    cJSON_AddItemToObject(root, "figures", serve_stream_figures(jobs[0]));
    put(out, root, true);
}

/* Writes a name with the arguments that came with it, or more arguments. */
static void say_call(const struct serve_stream *s, const struct serve_piece *p)
{
    cJSON *list = cJSON_CreateArray();

    cJSON_AddItemToArray(list,
                         call_object(s->a, s->at->index, p->call, serve_stream_text(p->bytes, p->n),
                                     p->step == SERVE_OPENS, true, p->call_number));
    say(s, "tool_calls", list, NULL);
}

static void say_piece(const struct serve_stream *s, const struct serve_piece *p)
{
    if (p->step == SERVE_BEGINS && (s->a->kind == SERVE_CHAT || s->j->request.echo)) {
        say(s, "content", cJSON_CreateString(s->j->request.echo ? prompt_of(s->j) : ""), NULL);
    } else if (p->step == SERVE_FAILS) {
        put(s->out, error_of(&s->j->error), true);
    } else if (p->step == SERVE_ENDS) {
        say(s, NULL, NULL, reason_of(s->j));
    } else if (p->step != SERVE_OPENS && p->step != SERVE_GROWS) {
        return;
    } else if (p->item == SERVE_CALL_ITEM) {
        say_call(s, p);
    } else if (p->n != 0) {
        say(s, p->item == SERVE_TEXT_ITEM ? "content" : "reasoning_content",
            serve_stream_text(p->bytes, p->n), NULL);
    }
}

void serve_answer_events(struct serve_text *out, const struct serve_answer *a,
                         const struct serve_job *j, struct serve_events *at)
{
    const struct serve_stream s = { .out = out, .a = a, .j = j, .at = at };

    serve_stream_walk(&s, say_piece);
}

static void say_end(struct serve_text *out, const struct serve_answer *a,
                    struct serve_job *const *jobs, uint32_t n)
{
    if (n != 0 && jobs[0]->request.stream_usage) {
        say_usage(out, a, jobs, n);
    }
    (void)serve_text_say(out, "data: [DONE]\n\n");
}

const struct serve_writer serve_chat_writer = {
    .stream_type = "text/event-stream",
    .say = say_piece,
    .end = say_end,
    .whole = serve_answer_whole,
    .error = serve_answer_error,
};
