#include "runtime/api/api_request.h"

#include <stdarg.h>
#include <string.h>

#include "runtime/text/format_text.h"
#include "runtime/text/json.h"

enum way {
    WAY_NUMBER,   /* copied as it stands, under the line's name */
    WAY_STOP,     /* a text or a list of texts, copied as it stands */
    WAY_MODEL,    /* kept */
    WAY_STREAM,   /* kept */
    WAY_OPTIONS,  /* an object; only include_usage is read */
    WAY_MESSAGES, /* a list of messages, whose contents become texts */
    WAY_PROMPT,   /* a text */
    WAY_BIAS,     /* an object of tokens, which becomes a list */
    WAY_ONE,      /* a number that must be 1 */
    WAY_FALSE,    /* true is refused */
    WAY_PLAIN,    /* an object whose type must be text */
    WAY_ANY,      /* a field that does not change the reply */
};

/* kinds: the requests that may have it, bits 1 << enum api_kind. */
static const struct field {
    char name[24], to[20];
    unsigned char way, kinds;
} fields[] = {
    { "model", "", WAY_MODEL, 3 },
    { "messages", "messages", WAY_MESSAGES, 1 },
    { "prompt", "raw", WAY_PROMPT, 2 },
    { "stream", "", WAY_STREAM, 3 },
    { "stream_options", "", WAY_OPTIONS, 3 },
    { "max_tokens", "n", WAY_NUMBER, 3 },
    { "max_completion_tokens", "n", WAY_NUMBER, 1 },
    { "temperature", "temp", WAY_NUMBER, 3 },
    { "top_p", "top_p", WAY_NUMBER, 3 },
    { "top_k", "top_k", WAY_NUMBER, 3 },
    { "min_p", "min_p", WAY_NUMBER, 3 },
    { "seed", "seed", WAY_NUMBER, 3 },
    { "presence_penalty", "presence_penalty", WAY_NUMBER, 3 },
    { "frequency_penalty", "frequency_penalty", WAY_NUMBER, 3 },
    { "repeat_penalty", "repeat", WAY_NUMBER, 3 },
    { "stop", "stop", WAY_STOP, 3 },
    { "logit_bias", "logit_bias", WAY_BIAS, 3 },
    { "n", "", WAY_ONE, 3 },
    { "best_of", "", WAY_ONE, 2 },
    { "logprobs", "", WAY_FALSE, 3 },
    { "echo", "", WAY_FALSE, 2 },
    { "store", "", WAY_FALSE, 1 },
    { "response_format", "", WAY_PLAIN, 1 },
    { "user", "", WAY_ANY, 3 },
    { "metadata", "", WAY_ANY, 3 },
    { "service_tier", "", WAY_ANY, 3 },
    { "safety_identifier", "", WAY_ANY, 3 },
    { "prompt_cache_key", "", WAY_ANY, 3 },
    { "parallel_tool_calls", "", WAY_ANY, 3 },
};

enum { N_FIELDS = sizeof fields / sizeof fields[0] };

__attribute__((format(printf, 3, 4))) static bool refuse(struct api_request *r, const char *param,
                                                         const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)format_text_args(r->error_message, sizeof r->error_message, format, args);
    va_end(args);
    (void)format_text(r->param, sizeof r->param, "%s", param);
    return false;
}

const char *api_request_param(enum api_kind kind, const char *field)
{
    for (unsigned i = 0; i < N_FIELDS; i++) {
        if (strcmp(fields[i].to, field) == 0 && (fields[i].kinds >> kind & 1)) {
            return fields[i].name;
        }
    }
    return field;
}

static bool key_is(const struct json_value *v, const char *key)
{
    return strcmp(v->key, key) == 0;
}

static void begin_member(struct api_text *line, const char *name)
{
    api_text_print(line, "%s'%s':", line->n == 1 ? "" : ",", name);
}

/* ---- messages ---- */

/* A part of a content; only text parts are accepted. */
static bool put_part(struct api_request *r, struct json_value *part, struct api_text *line)
{
    struct json_value type = { .kind = JSON_END }, text = { .kind = JSON_END }, v;
    struct json j;

    if (part->kind != JSON_OBJECT) {
        return refuse(r, "messages", "a part of a content is an object with type and text");
    }
    json_open(&j, part->text, part->bytes);
    while (json_member(&j, &v) > JSON_END) {
        type = key_is(&v, "type") ? v : type;
        text = key_is(&v, "text") ? v : text;
    }
    if (type.kind != JSON_TEXT || strcmp(type.text, "text") != 0 || text.kind != JSON_TEXT) {
        return refuse(r, "messages",
                      "a content has parts of type text alone here: no images, sounds or files");
    }
    api_text_escaped(line, text.text, text.bytes);
    return true;
}

static bool put_content(struct api_request *r, struct json_value *content, struct api_text *line)
{
    struct json_value part;
    struct json j;
    bool good = true;

    if (content->kind == JSON_TEXT) {
        api_text_quoted(line, content->text, content->bytes);
        return true;
    }
    if (content->kind != JSON_LIST) {
        return refuse(r, "messages", "a message has a content: a text, or a list of parts");
    }
    api_text_put(line, "\"", 1);
    json_open(&j, content->text, content->bytes);
    while (good && json_item(&j, &part) > JSON_END) {
        good = put_part(r, &part, line);
    }
    api_text_put(line, "\"", 1);
    return good && (j.error_message == NULL || refuse(r, "messages", "%s", j.error_message));
}

/* OpenAI's name for newer models, and our own name. */
static const char *role_of(const char *role)
{
    return strcmp(role, "developer") == 0 ? "system" : role;
}

static bool put_message(struct api_request *r, struct json_value *message, struct api_text *line)
{
    struct json_value role = { .kind = JSON_END }, content = { .kind = JSON_END }, v;
    struct json j;

    if (message->kind != JSON_OBJECT) {
        return refuse(r, "messages", "a message is an object with role and content");
    }
    json_open(&j, message->text, message->bytes);
    while (json_member(&j, &v) > JSON_END) {
        if (key_is(&v, "role")) {
            role = v;
        } else if (key_is(&v, "content")) {
            content = v;
        } else if (v.kind != JSON_NULL && !key_is(&v, "name")) {
            return refuse(r, "messages", "a message has role and content here, and no %.32s",
                          v.key);
        }
    }
    if (j.error_message != NULL) {
        return refuse(r, "messages", "%s", j.error_message);
    }
    if (role.kind != JSON_TEXT) {
        return refuse(r, "messages", "a message has a role: system, user or assistant");
    }
    role.text = (char *)(uintptr_t)role_of(role.text);
    api_text_print(line, "{'role':");
    api_text_quoted(line, role.text, strlen(role.text));
    api_text_print(line, ",'content':");
    if (!put_content(r, &content, line)) {
        return false;
    }
    api_text_put(line, "}", 1);
    return true;
}

static bool put_messages(struct api_request *r, struct json_value *list, struct api_text *line)
{
    struct json_value message;
    struct json j;
    unsigned n = 0;

    if (list->kind != JSON_LIST) {
        return refuse(r, "messages", "messages is a list of objects with role and content");
    }
    api_text_put(line, "[", 1);
    json_open(&j, list->text, list->bytes);
    while (json_item(&j, &message) > JSON_END) {
        api_text_put(line, ",", n++ != 0);
        if (!put_message(r, &message, line)) {
            return false;
        }
    }
    api_text_put(line, "]", 1);
    r->has_input = true;
    return (n != 0 && j.error_message == NULL) ||
           refuse(r, "messages", "%s",
                  j.error_message != NULL ? j.error_message : "messages is empty");
}

/* ---- other fields ---- */

static bool put_biases(struct api_request *r, struct json_value *object, struct api_text *line)
{
    struct json_value v;
    struct json j;
    unsigned n = 0;

    if (object->kind != JSON_OBJECT) {
        return refuse(r, "logit_bias",
                      "logit_bias is an object: a token's number, and a number from -100 to 100");
    }
    api_text_put(line, "[", 1);
    json_open(&j, object->text, object->bytes);
    while (json_member(&j, &v) > JSON_END) {
        if (v.kind != JSON_NUMBER || v.key[strspn(v.key, "0123456789")] != '\0' ||
            v.key[0] == '\0') {
            return refuse(
                r, "logit_bias",
                "logit_bias is an object: a token's number, and a number from -100 to 100");
        }
        api_text_print(line, "%s[%.10s,%.24s]", n++ == 0 ? "" : ",", v.key, v.text);
    }
    api_text_put(line, "]", 1);
    return j.error_message == NULL || refuse(r, "logit_bias", "%s", j.error_message);
}

/* Find the member `name` of an object. JSON_END: the object does not have it. */
static struct json_value member_of(struct json_value *object, const char *name)
{
    struct json_value v, found = { .kind = JSON_END };
    struct json j;

    if (object->kind != JSON_OBJECT) {
        return found;
    }
    json_open(&j, object->text, object->bytes);
    while (json_member(&j, &v) > JSON_END) {
        found = key_is(&v, name) ? v : found;
    }
    return found;
}

static bool put_as_it_stands(struct api_request *r, const struct field *f, struct json_value *v,
                             struct api_text *line)
{
    if (f->way == WAY_NUMBER && v->kind != JSON_NUMBER) {
        return refuse(r, f->name, "%s has to be a number", f->name);
    }
    if (f->way != WAY_NUMBER && v->kind != JSON_TEXT &&
        (f->way != WAY_STOP || v->kind != JSON_LIST)) {
        return refuse(r, f->name, "%s has to be a text%s", f->name,
                      f->way == WAY_STOP ? ", or a list of texts" : "");
    }
    r->has_seed |= strcmp(f->to, "seed") == 0;
    r->has_input |= f->way == WAY_PROMPT;
    begin_member(line, f->to);
    if (v->kind == JSON_TEXT) {
        api_text_quoted(line, v->text, v->bytes);
    } else {
        api_text_put(line, v->text, v->bytes);
    }
    return true;
}

static bool read_switch(struct api_request *r, const struct field *f, const struct json_value *v,
                        bool *on)
{
    *on = v->kind == JSON_TRUE;
    return v->kind == JSON_TRUE || v->kind == JSON_FALSE ||
           refuse(r, f->name, "%s has to be true or false", f->name);
}

static bool take(struct api_request *r, const struct field *f, struct json_value *v,
                 struct api_text *line)
{
    struct json_value inner;

    switch ((enum way)f->way) {
    case WAY_MODEL:
        r->model = v->text;
        return v->kind == JSON_TEXT || refuse(r, f->name, "model has to be a text");
    case WAY_STREAM: return read_switch(r, f, v, &r->streams);
    case WAY_OPTIONS:
        inner = member_of(v, "include_usage");
        r->wants_usage = inner.kind == JSON_TRUE;
        return true;
    case WAY_MESSAGES: begin_member(line, f->to); return put_messages(r, v, line);
    case WAY_BIAS: begin_member(line, f->to); return put_biases(r, v, line);
    case WAY_ONE:
        return (v->kind == JSON_NUMBER && strcmp(v->text, "1") == 0) ||
               refuse(r, f->name, "%s has to be 1: a board answers once", f->name);
    case WAY_FALSE:
        return v->kind == JSON_FALSE ||
               refuse(r, f->name, "%s is not supported by a board", f->name);
    case WAY_PLAIN:
        inner = member_of(v, "type");
        return (inner.kind == JSON_TEXT && strcmp(inner.text, "text") == 0) ||
               refuse(r, f->name, "%s is not supported by a board, but the type text", f->name);
    case WAY_ANY: return true;
    case WAY_NUMBER:
    case WAY_STOP:
    case WAY_PROMPT:
    default: return put_as_it_stands(r, f, v, line);
    }
}

static bool take_member(struct api_request *r, struct json_value *v, struct api_text *line)
{
    if (v->kind == JSON_NULL) { /* treated as absent */
        return true;
    }
    for (unsigned i = 0; i < N_FIELDS; i++) {
        if (key_is(v, fields[i].name) && (fields[i].kinds >> r->kind & 1)) {
            return take(r, &fields[i], v, line);
        }
    }
    return refuse(r, v->key, "%.32s is not supported by a board", v->key);
}

bool api_request_read(struct api_request *r, enum api_kind kind, char *body, size_t bytes,
                      uint64_t seed, struct api_text *line)
{
    struct json_value v;
    struct json j;

    memset(r, 0, sizeof *r);
    r->kind = kind;
    api_text_put(line, "{", 1);
    json_open(&j, body, bytes);
    while (json_member(&j, &v) > JSON_END) {
        if (!take_member(r, &v, line)) {
            return false;
        }
    }
    if (j.error_message != NULL) {
        return refuse(r, "", "the body is not JSON: %s (byte %lu)", j.error_message,
                      (unsigned long)j.column);
    }
    if (!r->has_input) {
        return refuse(r, kind == API_CHAT ? "messages" : "prompt", "%s is missing",
                      kind == API_CHAT ? "messages" : "prompt");
    }
    if (!r->has_seed) {
        begin_member(line, "seed");
        api_text_print(line, "%llu", (unsigned long long)seed);
    }
    api_text_put(line, "}", 1);
    return !line->full ||
           refuse(r, "messages", "the request is too long for this board: shorten it");
}
