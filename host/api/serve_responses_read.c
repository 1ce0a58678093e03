/* Reads bodies of /v1/responses into the fields of chat completions. Nothing is kept between
 * requests: a request that continues a stored response is refused. */
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

/* ---- input items ------------------------------------------------------------------------------- */

/* Returns the last message if it is the assistant's, else NULL. */
static cJSON *last_reply(const struct serve_translation *t)
{
    cJSON *last = t->messages != NULL && t->messages->child != NULL ? t->messages->child->prev
                                                                    : NULL;

    return is(text_of(last, "role"), "assistant") ? last : NULL;
}

static cJSON *copy(const cJSON *value)
{
    return value != NULL ? cJSON_Duplicate(value, true) : NULL;
}

/* Reads a message. A text that follows calls of the same reply goes into the calls' message. */
static bool read_message(struct serve_translation *t, unsigned at, const cJSON *item)
{
    const char *role = text_of(item, "role");
    cJSON *last = last_reply(t);

    if (role == NULL) {
        return serve_translate_refuse(
            t, "input",
            "input[%u]: a message has to have a role: user, assistant, system or developer", at);
    }
    if (get(item, "content") == NULL) {
        return serve_translate_refuse(t, "input", "input[%u]: a message has to have a content", at);
    }
    if (last != NULL && is(role, "assistant") && cJSON_IsNull(get(last, "content"))) {
        cJSON *content = copy(get(item, "content"));

        t->failed = t->failed || content == NULL ||
                    !cJSON_ReplaceItemInObjectCaseSensitive(last, "content", content);
        return true;
    }
    (void)serve_translate_message(t, at, role, copy(get(item, "content")));
    return true;
}

/* Reads a call. The calls of a reply share a message: the assistant's message before them or, if
 * there is none, a new one. */
static bool read_call(struct serve_translation *t, unsigned at, const cJSON *item)
{
    const char *id = text_of(item, "call_id"), *name = text_of(item, "name");
    cJSON *last = last_reply(t), *arguments = copy(get(item, "arguments"));

    if (id == NULL || name == NULL) {
        cJSON_Delete(arguments);
        return serve_translate_refuse(t, "input",
                                      "input[%u]: a function_call has to have a call_id and a name",
                                      at);
    }
    last = last != NULL ? last : serve_translate_message(t, at, "assistant", NULL);
    serve_translate_call(t, last, id, name, arguments != NULL ? arguments : cJSON_CreateString(""));
    return true;
}

static bool read_output(struct serve_translation *t, unsigned at, const cJSON *item)
{
    const char *id = text_of(item, "call_id");
    cJSON *one;

    if (id == NULL) {
        return serve_translate_refuse(
            t, "input",
            "input[%u]: a function_call_output has to have the call_id of a function_call", at);
    }
    one = serve_translate_message(t, at, "tool", copy(get(item, "output")));
    serve_translate_put(t, one, "tool_call_id", cJSON_CreateString(id));
    return true;
}

/* Thoughts of earlier replies are not sent to the model. */
static bool pass_over(struct serve_translation *t, unsigned at, const cJSON *item)
{
    (void)t;
    (void)at;
    (void)item;
    return true;
}

static bool read_item(struct serve_translation *t, unsigned at, const cJSON *item)
{
    static const struct {
        const char *type;
        bool (*read)(struct serve_translation *t, unsigned at, const cJSON *item);
    } kinds[] = { { "message", read_message },
                  { "function_call", read_call },
                  { "function_call_output", read_output },
                  { "reasoning", pass_over } };
    const char *type = text_of(item, "type");

    if (type == NULL && get(item, "role") != NULL) {
        return read_message(t, at, item);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (is(type, kinds[i].type)) {
            return kinds[i].read(t, at, item);
        }
    }
    return serve_translate_refuse(t, "input",
                                  "input[%u] has the type %.40s: this server knows message, "
                                  "function_call, function_call_output and reasoning",
                                  at, type != NULL ? type : "(none)");
}

static bool read_input(struct serve_translation *t)
{
    const cJSON *input = get(t->from, "input"), *item;
    unsigned at = 0;

    if (cJSON_IsString(input)) {
        (void)serve_translate_message(t, 0, "user", copy(input));
        return true;
    }
    if (!cJSON_IsArray(input)) {
        return serve_translate_refuse(t, "input", "input has to be a text or a list of items");
    }
    cJSON_ArrayForEach(item, input)
    {
        if (!read_item(t, at++, item)) {
            return false;
        }
    }
    return t->messages != NULL || serve_translate_refuse(t, "input", "input has no message");
}

/* ---- other fields ------------------------------------------------------------------------------ */

static bool later(struct serve_translation *t, const char *name, const cJSON *v)
{
    (void)t;
    (void)name;
    (void)v;
    return true;
}

/* Reads the objects `text` {"format","verbosity"} and `reasoning` {"effort","summary"}. */
static bool read_inner(struct serve_translation *t, const char *name, const cJSON *v)
{
    if (!cJSON_IsObject(v)) {
        return serve_translate_refuse(t, name, "%s has to be an object", name);
    }
    return serve_translate(t, v, strcmp(name, "text") == 0 ? "text." : "reasoning.",
                           &serve_responses_fields);
}

/* Reads text.format, in which name, schema and strict are members beside type. */
static bool read_format(struct serve_translation *t, const char *name, const cJSON *v)
{
    static const char *const known[] = { "type", "name", "schema", "strict", "description" };
    const cJSON *member;

    if (!is(text_of(v, "type"), "json_schema")) {
        serve_translate_put(t, t->to, "response_format", cJSON_Duplicate(v, true));
        return true;
    }
    cJSON_ArrayForEach(member, v)
    {
        bool found = false;

        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            found = found || strcmp(member->string, known[i]) == 0;
        }
        if (!found) {
            return serve_translate_refuse(t, name,
                                          "%s: this server does not know the member %.100s", name,
                                          member->string);
        }
    }
    serve_translate_schema(t, get(v, "schema"), get(v, "name"), get(v, "strict"));
    return true;
}

/* Reads `include`: the scores of the reply's tokens are accepted. Other values belong to tools that
 * do not exist here. */
static bool read_include(struct serve_translation *t, const char *name, const cJSON *v)
{
    const cJSON *one;

    if (!cJSON_IsArray(v)) {
        return serve_translate_refuse(t, name, "%s has to be a list", name);
    }
    cJSON_ArrayForEach(one, v)
    {
        if (is(cJSON_GetStringValue(one), "message.output_text.logprobs")) {
            serve_translate_put(t, t->to, "logprobs", cJSON_CreateTrue());
        }
    }
    return true;
}

static bool read_likeliest(struct serve_translation *t, const char *name, const cJSON *v)
{
    (void)name;
    serve_translate_put(t, t->to, "top_logprobs", cJSON_Duplicate(v, true));
    serve_translate_put(t, t->to, "logprobs", cJSON_CreateTrue());
    return true;
}

static bool refuse_stored(struct serve_translation *t, const char *name, const cJSON *v)
{
    (void)v;
    return api_refuse(t->e, 400, name, "unsupported_parameter",
                      "%s: this server keeps no responses; send the whole conversation as input",
                      name);
}

static bool refuse_parameter(struct serve_translation *t, const char *name, const cJSON *v)
{
    (void)v;
    return api_refuse(t->e, 400, name, "unknown_parameter",
                      "%s is a field of chat completions, and not of responses", name);
}

/* Keeps settings that this server adds to chat completions: they mean the same here. */
static bool read_other(struct serve_translation *t, const cJSON *member)
{
    serve_translate_put(t, t->to, member->string, cJSON_Duplicate(member, true));
    return true;
}

/* ---- fields that the answer repeats -------------------------------------------------------------- */

static const struct {
    const char *name, *otherwise;
} echoed[] = {
    { "instructions", "null" },
    { "max_output_tokens", "null" },
    { "max_tool_calls", "null" },
    { "metadata", "{}" },
    { "parallel_tool_calls", "false" },
    { "prompt_cache_key", "null" },
    { "reasoning", "{\"effort\":null,\"summary\":null}" },
    { "safety_identifier", "null" },
    { "temperature", "null" },
    { "text", "{\"format\":{\"type\":\"text\"}}" },
    { "tool_choice", "\"auto\"" },
    { "tools", "[]" },
    { "top_logprobs", "0" },
    { "top_p", "null" },
    { "truncation", "\"disabled\"" },
    { "user", "null" },
};

static void make_echo(struct serve_translation *t)
{
    t->echo = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof echoed / sizeof echoed[0]; i++) {
        const cJSON *v = get(t->from, echoed[i].name);

        serve_translate_put(t, t->echo, echoed[i].name,
                            v != NULL && !cJSON_IsNull(v) ? cJSON_Duplicate(v, true)
                                                          : cJSON_CreateRaw(echoed[i].otherwise));
    }
}

static bool end(struct serve_translation *t)
{
    const cJSON *instructions = get(t->from, "instructions");

    if (cJSON_IsString(instructions)) {
        (void)serve_translate_message(t, 0, "system", copy(instructions));
    } else if (instructions != NULL && !cJSON_IsNull(instructions)) {
        return serve_translate_refuse(t, "instructions", "instructions have to be a text");
    }
    make_echo(t);
    return read_input(t);
}

static const struct serve_dialect_field list[] = {
    { .name = "input", .read = later },
    { .name = "instructions", .read = later },
    { .name = "max_output_tokens", .to = "max_tokens" },
    { .name = "text", .read = read_inner },
    { .name = "text.format", .to = "response_format", .read = read_format },
    { .name = "text.verbosity" },
    { .name = "reasoning", .read = read_inner },
    { .name = "reasoning.effort", .to = "reasoning_effort" },
    { .name = "reasoning.summary" },
    { .name = "reasoning.generate_summary" },
    { .name = "include", .read = read_include },
    { .name = "top_logprobs", .to = "top_logprobs", .read = read_likeliest },
    { .name = "truncation" },
    { .name = "max_tool_calls" },
    { .name = "stream_options" },
    { .name = "previous_response_id", .read = refuse_stored },
    { .name = "conversation", .read = refuse_stored },
    { .name = "background", .read = serve_translate_nothing },
    { .name = "prompt", .read = serve_translate_nothing },
    { .name = "context_management", .read = serve_translate_nothing },
    { .name = "messages", .read = refuse_parameter },
    { .name = "max_tokens", .read = refuse_parameter },
    { .name = "max_completion_tokens", .read = refuse_parameter },
    { .name = "response_format", .read = refuse_parameter },
    { .name = "reasoning_effort", .read = refuse_parameter },
    { .name = "logprobs", .read = refuse_parameter },
    { .name = "n", .read = refuse_parameter },
    { .name = NULL },
};

const struct serve_dialect_fields serve_responses_fields = {
    .list = list, .other = read_other, .end = end, .said = "input"
};
