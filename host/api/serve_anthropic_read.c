/* Reads bodies of Anthropic's /v1/messages into the fields of chat completions. */
#include <stdio.h>
#include <string.h>

#include "host/api/serve_dialect.h"

static const cJSON *get(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(get(object, name));
}

static bool is(const char *text, const char *word)
{
    return text != NULL && strcmp(text, word) == 0;
}

static cJSON *copy(const cJSON *value)
{
    return value != NULL ? cJSON_Duplicate(value, true) : NULL;
}

/* ---- messages ---------------------------------------------------------------------------------- */

/* A message that is being converted: its blocks become a reply with its calls, or results of tools,
 * then the user's text. */
struct blocks {
    struct serve_translation *t;
    unsigned at; /* which message */
    bool assistant;
    cJSON *message; /* message of chat completions, with a list of parts; NULL: not begun */
};

static cJSON *message_of(struct blocks *b)
{
    if (b->message == NULL) {
        b->message = serve_translate_message(b->t, b->at, b->assistant ? "assistant" : "user",
                                             cJSON_CreateArray());
    }
    return b->message;
}

static bool add_text(struct blocks *b, const cJSON *block)
{
    cJSON *list = cJSON_GetObjectItem(message_of(b), "content"), *part;

    if (text_of(block, "text") == NULL) {
        return serve_translate_refuse(b->t, "messages",
                                      "messages[%u]: a block of the type text has to have a text",
                                      b->at);
    }
    part = cJSON_CreateObject();
    serve_translate_put(b->t, part, "type", cJSON_CreateString("text"));
    serve_translate_put(b->t, part, "text", copy(get(block, "text")));
    serve_translate_put(b->t, list, NULL, part);
    return true;
}

static bool add_use(struct blocks *b, const cJSON *block)
{
    const char *id = text_of(block, "id"), *name = text_of(block, "name");
    const cJSON *input = get(block, "input");

    if (!b->assistant || id == NULL || name == NULL) {
        return serve_translate_refuse(
            b->t, "messages",
            "messages[%u]: tool_use has to come from the assistant, with an id and a name", b->at);
    }
    serve_translate_call(b->t, message_of(b), id, name,
                         cJSON_IsObject(input) ? copy(input) : cJSON_CreateString(""));
    return true;
}

static bool add_result(struct blocks *b, const cJSON *block)
{
    const char *id = text_of(block, "tool_use_id");
    cJSON *one;

    if (b->assistant || id == NULL) {
        return serve_translate_refuse(
            b->t, "messages",
            "messages[%u]: tool_result has to come from the user, with the tool_use_id of a "
            "tool_use",
            b->at);
    }
    one = serve_translate_message(b->t, b->at, "tool", copy(get(block, "content")));
    serve_translate_put(b->t, one, "tool_call_id", cJSON_CreateString(id));
    b->message = NULL; /* later text of the user begins another message */
    return true;
}

/* Thoughts of earlier replies are not sent to the model. */
static bool pass_over(struct blocks *b, const cJSON *block)
{
    (void)block;
    (void)message_of(b);
    return true;
}

static bool read_block(struct blocks *b, const cJSON *block, unsigned i)
{
    static const struct {
        const char *type;
        bool (*read)(struct blocks *b, const cJSON *block);
    } kinds[] = { { "text", add_text },
                  { "tool_use", add_use },
                  { "tool_result", add_result },
                  { "thinking", pass_over },
                  { "redacted_thinking", pass_over } };
    const char *type = text_of(block, "type");

    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (is(type, kinds[k].type)) {
            return kinds[k].read(b, block);
        }
    }
    return serve_translate_refuse(b->t, "messages",
                                  "messages[%u].content[%u] has the type %.40s: this server knows "
                                  "text, tool_use, tool_result and thinking",
                                  b->at, i, type != NULL ? type : "(none)");
}

static bool read_message(struct serve_translation *t, unsigned at, const cJSON *m)
{
    const char *role = text_of(m, "role");
    const cJSON *content = get(m, "content"), *block;
    struct blocks b = { .t = t, .at = at, .assistant = is(role, "assistant") };
    unsigned i = 0;

    if (!b.assistant && !is(role, "user") && !is(role, "system")) {
        return serve_translate_refuse(t, "messages",
                                      "messages[%u]: its role has to be user, assistant or system",
                                      at);
    }
    if (!cJSON_IsArray(content) || is(role, "system")) {
        (void)serve_translate_message(t, at, role, copy(content));
        return true;
    }
    cJSON_ArrayForEach(block, content)
    {
        if (!read_block(&b, block, i++)) {
            return false;
        }
    }
    return i != 0 ||
           serve_translate_refuse(t, "messages", "messages[%u]: its content is empty", at);
}

static bool read_messages(struct serve_translation *t)
{
    const cJSON *list = get(t->from, "messages"), *m;
    unsigned at = 0;

    if (!cJSON_IsArray(list)) {
        return serve_translate_refuse(t, "messages", "messages has to be a list");
    }
    cJSON_ArrayForEach(m, list)
    {
        if (!read_message(t, at++, m)) {
            return false;
        }
    }
    return at != 0 || serve_translate_refuse(t, "messages", "messages has no message");
}

/* Puts the system prompt first, wherever it is in the body. */
static bool end(struct serve_translation *t)
{
    const cJSON *system = get(t->from, "system");

    if (system != NULL && !cJSON_IsNull(system)) {
        if (!cJSON_IsString(system) && !cJSON_IsArray(system)) {
            return serve_translate_refuse(t, "system",
                                          "system has to be a text or a list of texts");
        }
        (void)serve_translate_message(t, 0, "system", copy(system));
    }
    return read_messages(t);
}

/* ---- tools ------------------------------------------------------------------------------------- */

static bool read_tool(struct serve_translation *t, cJSON *list, unsigned at, const cJSON *v)
{
    static const char *const known[] = {
        "name",          "description",    "input_schema",
        "type",          "cache_control",  "strict",
        "defer_loading", "input_examples", "eager_input_streaming"
    };
    const char *type = text_of(v, "type");
    cJSON *one, *function;
    const cJSON *member;

    if (type != NULL && strcmp(type, "custom") != 0) {
        return serve_translate_refuse(
            t, "tools", "tools[%u] is of the type %.40s: tools have to be of the type custom", at,
            type);
    }
    cJSON_ArrayForEach(member, v)
    {
        size_t i = 0;

        while (i < sizeof known / sizeof known[0] && !is(member->string, known[i])) {
            i++;
        }
        if (i == sizeof known / sizeof known[0]) {
            return serve_translate_refuse(t, "tools",
                                          "tools[%u]: this server does not know the member %.100s",
                                          at, member->string != NULL ? member->string : "(none)");
        }
    }
    one = cJSON_CreateObject();
    function = cJSON_AddObjectToObject(one, "function");
    serve_translate_put(t, one, "type", cJSON_CreateString("function"));
    cJSON_ArrayForEach(member, v)
    {
        bool kept = is(member->string, "name") || is(member->string, "description") ||
                    is(member->string, "strict");

        if (kept || is(member->string, "input_schema")) {
            serve_translate_put(t, function, kept ? member->string : "parameters", copy(member));
        }
    }
    serve_translate_put(t, list, NULL, one);
    return true;
}

static bool read_tools(struct serve_translation *t, const char *name, const cJSON *v)
{
    cJSON *list;
    const cJSON *one;
    unsigned at = 0;

    if (!cJSON_IsArray(v)) {
        return serve_translate_refuse(t, name, "%s has to be a list", name);
    }
    list = cJSON_AddArrayToObject(t->to, "tools");
    cJSON_ArrayForEach(one, v)
    {
        if (!read_tool(t, list, at++, one)) {
            return false;
        }
    }
    return true;
}

static bool read_choice(struct serve_translation *t, const char *name, const cJSON *v)
{
    static const char *const words[][2] = { { "auto", "auto" },
                                            { "any", "required" },
                                            { "none", "none" } };
    const char *type = text_of(v, "type");
    const cJSON *single = get(v, "disable_parallel_tool_use");
    cJSON *one;

    if (cJSON_IsBool(single)) {
        serve_translate_put(t, t->to, "parallel_tool_calls",
                            cJSON_CreateBool(cJSON_IsFalse(single)));
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (is(type, words[i][0])) {
            serve_translate_put(t, t->to, "tool_choice", cJSON_CreateString(words[i][1]));
            return true;
        }
    }
    if (!is(type, "tool")) {
        return serve_translate_refuse(t, name, "%s.type has to be auto, any, tool or none", name);
    }
    one = cJSON_CreateObject();
    serve_translate_put(t, one, "type", cJSON_CreateString("function"));
    if (get(v, "name") != NULL) {
        serve_translate_put(t, one, "name", copy(get(v, "name")));
    }
    serve_translate_put(t, t->to, "tool_choice", one);
    return true;
}

/* ---- other fields ------------------------------------------------------------------------------ */

static bool later(struct serve_translation *t, const char *name, const cJSON *v)
{
    (void)t;
    (void)name;
    (void)v;
    return true;
}

static bool read_thinking(struct serve_translation *t, const char *name, const cJSON *v)
{
    const char *type = text_of(v, "type");

    if (!is(type, "enabled") && !is(type, "disabled") && !is(type, "adaptive")) {
        return serve_translate_refuse(t, name, "%s.type has to be enabled, adaptive or disabled",
                                      name);
    }
    serve_translate_put(t, t->to, "think", cJSON_CreateBool(!is(type, "disabled")));
    return true;
}

/* The tool runner of Anthropic's package asks for a thread, of which a server keeps the earlier
 * messages. After this error code, it sends all messages with each request. */
static bool refuse_thread(struct serve_translation *t, const char *name, const cJSON *v)
{
    (void)v;
    return api_refuse(t->e, 400, name, "thread_unsupported_request",
                      "%s: this server keeps no messages; send the whole conversation", name);
}

/* Reads {"type":"json_schema","schema":{...}}. */
static bool read_format(struct serve_translation *t, const char *name, const cJSON *v)
{
    if (!is(text_of(v, "type"), "json_schema")) {
        return serve_translate_refuse(t, name, "%s.type has to be json_schema", name);
    }
    serve_translate_schema(t, get(v, "schema"), NULL, NULL);
    return true;
}

static bool read_output(struct serve_translation *t, const char *name, const cJSON *v)
{
    if (!cJSON_IsObject(v)) {
        return serve_translate_refuse(t, name, "%s has to be an object", name);
    }
    return serve_translate(t, v, "output_config.", &serve_anthropic_fields);
}

static const struct serve_dialect_field list[] = {
    { .name = "model", .to = "model" },
    { .name = "messages", .read = later },
    { .name = "system", .read = later },
    { .name = "max_tokens", .to = "max_tokens" },
    { .name = "stream", .to = "stream" },
    { .name = "stop_sequences", .to = "stop" },
    { .name = "temperature", .to = "temperature" },
    { .name = "top_p", .to = "top_p" },
    { .name = "top_k", .to = "top_k" },
    { .name = "tools", .to = "tools", .read = read_tools },
    { .name = "tool_choice", .to = "tool_choice", .read = read_choice },
    { .name = "thinking", .to = "think", .read = read_thinking },
    { .name = "output_config", .read = read_output },
    { .name = "output_config.format", .to = "response_format", .read = read_format },
    { .name = "output_config.effort", .to = "reasoning_effort" },
    { .name = "output_format", .read = read_format },
    { .name = "metadata" },
    { .name = "service_tier" },
    { .name = "cache_control" },
    { .name = "container", .read = serve_translate_nothing },
    { .name = "mcp_servers", .read = serve_translate_nothing },
    { .name = "context_management", .read = serve_translate_nothing },
    { .name = "thread", .read = refuse_thread },
    /* Settings of this server, which mean the same in every API. */
    { .name = "seed", .to = "seed" },
    { .name = "min_p", .to = "min_p" },
    { .name = "repeat_penalty", .to = "repeat_penalty" },
    { .name = NULL },
};

const struct serve_dialect_fields serve_anthropic_fields = { .list = list,
                                                             .end = end,
                                                             .said = "messages" };
