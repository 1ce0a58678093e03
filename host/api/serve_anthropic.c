/* Answers of Anthropic's /v1/messages: its object `message`, and the events that compose one. */
#include <string.h>

#include "host/api/serve_dialect.h"

/* ---- blocks ------------------------------------------------------------------------------------ */

static cJSON *typed(const char *type)
{
    cJSON *one = cJSON_CreateObject();

    cJSON_AddStringToObject(one, "type", type);
    return one;
}

/* Makes the block of an item's first n bytes; if n is 0, the block with which the item begins. The
 * input of a complete call is an object. */
static cJSON *block_of(const struct api_stream *s, const struct api_piece *p, size_t n)
{
    cJSON *block, *input = NULL;
    char id[API_ID_BYTES];

    if (p->item == API_TEXT_ITEM) {
        block = typed("text");
        cJSON_AddItemToObject(block, "text", serve_stream_text(p->bytes, n));
        return block;
    }
    if (p->item == API_THOUGHTS_ITEM) {
        block = typed("thinking");
        cJSON_AddItemToObject(block, "thinking", serve_stream_text(p->bytes, n));
        cJSON_AddStringToObject(block, "signature", "");
        return block;
    }
    block = typed("tool_use");
    api_stream_id(id, "toolu", s->a, s->at->index, p->call_number);
    cJSON_AddStringToObject(block, "id", id);
    cJSON_AddItemToObject(block, "name", serve_stream_text(p->call->name, p->call->name_bytes));
    if (n != 0) {
        struct api_text text = { .n = 0 };

        (void)serve_text_add(&text, p->bytes, n);
        input = cJSON_Parse(api_text_shown(&text));
        serve_text_free(&text);
    }
    cJSON_AddItemToObject(block, "input", input != NULL ? input : cJSON_CreateObject());
    return block;
}

/* Collects the blocks; a call that was cut is left out, because it has no valid input. */
static void collect(const struct api_stream *s, const struct api_piece *p)
{
    if (p->step == API_CLOSES && (p->item != API_CALL_ITEM || p->call->whole)) {
        cJSON_AddItemToArray(s->context, block_of(s, p, p->n));
    }
}

/* ---- the message ------------------------------------------------------------------------------- */

/* Makes the usage; tokens that an earlier request had computed are counted separately. */
static cJSON *usage_of(const struct api_job *j)
{
    cJSON *usage = cJSON_CreateObject();
    uint32_t cached = j->cached_tokens < j->prompt_tokens ? j->cached_tokens : j->prompt_tokens;

    cJSON_AddNumberToObject(usage, "input_tokens", j->prompt_tokens - cached);
    cJSON_AddNumberToObject(usage, "cache_creation_input_tokens", 0);
    cJSON_AddNumberToObject(usage, "cache_read_input_tokens", cached);
    cJSON_AddNumberToObject(usage, "output_tokens", api_stream_tokens(j));
    return usage;
}

/* Adds why the reply ended. */
static void add_stop(cJSON *to, const struct api_job *j)
{
    enum api_reason reason = api_stream_reason(j);
    bool by_text = reason == API_STOPPED && j->end == GENERATE_STOP && j->request.n_stops != 0;
    uint32_t which = j->request.n_stops == 1 ? 1 : j->stop;

    cJSON_AddStringToObject(to, "stop_reason",
                            by_text                 ? "stop_sequence"
                            : reason == API_STOPPED ? "end_turn"
                            : reason == API_CUT     ? "max_tokens"
                                                    : "tool_use");
    if (by_text && which != 0 && which <= j->request.n_stops) {
        cJSON_AddStringToObject(to, "stop_sequence", j->request.stops[which - 1]);
    } else {
        cJSON_AddNullToObject(to, "stop_sequence");
    }
}

/* Makes the message as it begins, without content. */
static cJSON *message_of(const struct api_answer *a)
{
    cJSON *root = cJSON_CreateObject();
    char id[API_ID_BYTES];

    api_stream_id(id, "msg", a, 0, 0);
    cJSON_AddStringToObject(root, "id", id);
    cJSON_AddStringToObject(root, "type", "message");
    cJSON_AddStringToObject(root, "role", "assistant");
    cJSON_AddStringToObject(root, "model", a->model);
    return root;
}

static void whole(struct api_text *out, const struct api_answer *a,
                  const struct api_job *const *jobs, uint32_t n)
{
    const struct api_job *j = jobs[0];
    cJSON *root = message_of(a), *content = cJSON_AddArrayToObject(root, "content");

    (void)n;
    serve_stream_all(a, j, collect, content);
    add_stop(root, j);
    cJSON_AddItemToObject(root, "usage", usage_of(j));
    serve_stream_warnings(root, &j->request);
    serve_text_add_json(out, root);
    (void)serve_text_add(out, "\n", 1);
}

/* ---- errors ------------------------------------------------------------------------------------ */

static const char *type_of(int status)
{
    static const struct {
        int status;
        const char *type;
    } types[] = { { 401, "authentication_error" }, { 403, "permission_error" },
                  { 404, "not_found_error" },      { 413, "request_too_large" },
                  { 429, "rate_limit_error" },     { 503, "overloaded_error" } };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].status == status) {
            return types[i].type;
        }
    }
    return status >= 500 ? "api_error" : "invalid_request_error";
}

static cJSON *error_of(const struct api_error *e)
{
    cJSON *root = typed("error"), *error = typed(type_of(e->status));

    cJSON_AddStringToObject(error, "message", e->text);
    if (e->code != NULL) {
        cJSON_AddStringToObject(cJSON_AddObjectToObject(error, "details"), "error_code", e->code);
    }
    cJSON_AddItemToObject(root, "error", error);
    return root;
}

static void say_error(struct api_text *out, const struct api_error *e)
{
    serve_text_add_json(out, error_of(e));
    (void)serve_text_add(out, "\n", 1);
}

/* ---- events ------------------------------------------------------------------------------------ */

/* Writes an event and deletes its object, which has the event's type. */
static void say_event(const struct api_stream *s, cJSON *body)
{
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItem(body, "type"));

    (void)serve_text_say(s->out, "event: %s\ndata: ", type != NULL ? type : "error");
    serve_text_add_json(s->out, body);
    (void)serve_text_add(s->out, "\n\n", 2);
}

static void say_start(const struct api_stream *s)
{
    cJSON *body = typed("message_start"), *message = message_of(s->a);

    cJSON_AddArrayToObject(message, "content");
    cJSON_AddNullToObject(message, "stop_reason");
    cJSON_AddNullToObject(message, "stop_sequence");
    cJSON_AddItemToObject(message, "usage", usage_of(s->j));
    cJSON_AddItemToObject(body, "message", message);
    say_event(s, body);
}

static cJSON *of_block(const char *type, const struct api_piece *p)
{
    cJSON *body = typed(type);

    cJSON_AddNumberToObject(body, "index", p->number);
    return body;
}

static void say_delta(const struct api_stream *s, const struct api_piece *p)
{
    static const char *const names[][2] = {
        [API_THOUGHTS_ITEM] = { "thinking_delta", "thinking" },
        [API_TEXT_ITEM] = { "text_delta", "text" },
        [API_CALL_ITEM] = { "input_json_delta", "partial_json" },
    };
    cJSON *body = of_block("content_block_delta", p), *delta = typed(names[p->item][0]);

    cJSON_AddItemToObject(delta, names[p->item][1], serve_stream_text(p->bytes, p->n));
    cJSON_AddItemToObject(body, "delta", delta);
    say_event(s, body);
}

static void say_end(const struct api_stream *s)
{
    cJSON *body = typed("message_delta");

    add_stop(cJSON_AddObjectToObject(body, "delta"), s->j);
    cJSON_AddItemToObject(body, "usage", usage_of(s->j));
    serve_stream_warnings(body, &s->j->request);
    say_event(s, body);
    say_event(s, typed("message_stop"));
}

static void say(const struct api_stream *s, const struct api_piece *p)
{
    cJSON *body;

    switch (p->step) {
    case API_BEGINS: say_start(s); break;
    case API_OPENS:
        body = of_block("content_block_start", p);
        cJSON_AddItemToObject(body, "content_block", block_of(s, p, 0));
        say_event(s, body);
        if (p->n != 0) {
            say_delta(s, p);
        }
        break;
    case API_GROWS: say_delta(s, p); break;
    case API_CLOSES: say_event(s, of_block("content_block_stop", p)); break;
    case API_FAILS: say_event(s, error_of(&s->j->error)); break;
    case API_ENDS: say_end(s); break;
    }
}

const struct serve_writer serve_anthropic_writer = {
    .stream_type = "text/event-stream", .say = say, .whole = whole, .error = say_error
};
