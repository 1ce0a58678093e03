#include "host/api/serve_dialect.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/api/serve_request.h"

static const struct {
    const struct serve_writer *writer;
    const struct serve_dialect_fields *fields; /* NULL: those of chat completions */
} dialects[SERVE_N_DIALECTS] = {
    [SERVE_COMPLETIONS] = { &serve_chat_writer, NULL },
    [SERVE_RESPONSES] = { &serve_responses_writer, &serve_responses_fields },
    [SERVE_OLLAMA_CHAT] = { &serve_ollama_writer, &serve_ollama_chat_fields },
    [SERVE_OLLAMA_GENERATE] = { &serve_ollama_writer, &serve_ollama_generate_fields },
    [SERVE_OLLAMA_EMBED] = { &serve_ollama_writer, &serve_ollama_embed_fields },
    [SERVE_OLLAMA_EMBEDDINGS] = { &serve_ollama_writer, &serve_ollama_embeddings_fields },
    [SERVE_ANTHROPIC] = { &serve_anthropic_writer, &serve_anthropic_fields },
};

const struct serve_writer *serve_writer_of(enum serve_dialect dialect)
{
    return dialects[dialect].writer;
}

/* ---- helpers of readers ------------------------------------------------------------------------ */

bool serve_translate_refuse(struct serve_translation *t, const char *field, const char *format, ...)
{
    char text[API_ERROR_TEXT_BYTES];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return api_refuse(t->e, 400, field, NULL, "%s", text);
}

void serve_translate_put(struct serve_translation *t, cJSON *object, const char *name, cJSON *value)
{
    if (value == NULL || !(cJSON_IsArray(object) ? cJSON_AddItemToArray(object, value)
                                                 : cJSON_AddItemToObject(object, name, value))) {
        cJSON_Delete(value);
        t->failed = true;
    }
}

/* Name of the member that says from which entry of the input a message came. All readers
 * ignore members that begin with x_. */
#define ENTRY "x_entry"

cJSON *serve_translate_message(struct serve_translation *t, unsigned at, const char *role,
                               cJSON *content)
{
    cJSON *one = cJSON_CreateObject();

    if (t->messages == NULL) {
        t->messages = cJSON_AddArrayToObject(t->to, "messages");
    }
    serve_translate_put(t, one, ENTRY, cJSON_CreateNumber(at));
    serve_translate_put(t, one, "role", cJSON_CreateString(role));
    serve_translate_put(t, one, "content", content != NULL ? content : cJSON_CreateNull());
    if (t->messages == NULL || one == NULL || !cJSON_AddItemToArray(t->messages, one)) {
        cJSON_Delete(one);
        t->failed = true;
        return NULL;
    }
    return one;
}

void serve_translate_call(struct serve_translation *t, cJSON *message, const char *id,
                          const char *name, cJSON *arguments)
{
    cJSON *calls = cJSON_GetObjectItem(message, "tool_calls"), *one = cJSON_CreateObject();
    cJSON *function = cJSON_AddObjectToObject(one, "function");

    if (calls == NULL) {
        calls = cJSON_AddArrayToObject(message, "tool_calls");
    }
    if (id != NULL) {
        serve_translate_put(t, one, "id", cJSON_CreateString(id));
    }
    serve_translate_put(t, function, "name", cJSON_CreateString(name));
    serve_translate_put(t, function, "arguments", arguments);
    serve_translate_put(t, calls, NULL, one);
}

bool serve_translate_nothing(struct serve_translation *t, const char *name, const cJSON *v)
{
    bool empty = cJSON_IsFalse(v) || (cJSON_IsString(v) && v->valuestring[0] == '\0') ||
                 ((cJSON_IsArray(v) || cJSON_IsObject(v)) && v->child == NULL);

    return empty || api_refuse(t->e, 400, name, "unsupported_parameter",
                               "%s is not supported by this server: leave it out", name);
}

void serve_translate_schema(struct serve_translation *t, const cJSON *schema, const cJSON *name,
                            const cJSON *strict)
{
    cJSON *format = cJSON_CreateObject(), *inner = cJSON_AddObjectToObject(format, "json_schema");

    serve_translate_put(t, format, "type", cJSON_CreateString("json_schema"));
    if (name != NULL) {
        serve_translate_put(t, inner, "name", cJSON_Duplicate(name, true));
    }
    if (strict != NULL) {
        serve_translate_put(t, inner, "strict", cJSON_Duplicate(strict, true));
    }
    if (schema != NULL) {
        serve_translate_put(t, inner, "schema", cJSON_Duplicate(schema, true));
    }
    serve_translate_put(t, t->to, "response_format", format);
}

/* ---- fields ------------------------------------------------------------------------------------ */

static bool unknown(struct serve_translation *t, const char *name)
{
    return api_refuse(t->e, 400, strlen(name) < API_PARAM_BYTES ? name : NULL, "unknown_parameter",
                      "this server does not know the field %.100s", name);
}

static bool translate_one(struct serve_translation *t, const cJSON *member, const char *prefix,
                          const struct serve_dialect_fields *fields)
{
    char name[API_PARAM_BYTES];

    if (cJSON_IsNull(member) || strncmp(member->string, "x_", 2) == 0) {
        return true;
    }
    snprintf(name, sizeof name, "%s%s", prefix, member->string);
    for (const struct serve_dialect_field *f = fields->list; f->name != NULL; f++) {
        if (strcmp(f->name, name) != 0) {
            continue;
        }
        if (f->read != NULL) {
            return f->read(t, f->name, member);
        }
        if (f->to != NULL) {
            serve_translate_put(t, t->to, f->to, cJSON_Duplicate(member, true));
        }
        return true;
    }
    return prefix[0] == '\0' && fields->other != NULL ? fields->other(t, member) : unknown(t, name);
}

bool serve_translate(struct serve_translation *t, const cJSON *object, const char *prefix,
                     const struct serve_dialect_fields *fields)
{
    const cJSON *member;

    cJSON_ArrayForEach(member, object)
    {
        if (!translate_one(t, member, prefix, fields)) {
            return false;
        }
    }
    return true;
}

/* ---- errors name the dialect's fields ---------------------------------------------------------- */

/* Returns the dialect's name for a field of chat completions; NULL if the name is the same. */
static const char *own_name(const struct serve_dialect_fields *fields, const char *field)
{
    if (strcmp(field, "messages") == 0) {
        return fields->said;
    }
    for (const struct serve_dialect_field *f = fields->list; f->name != NULL; f++) {
        if (f->to != NULL && strcmp(f->to, field) == 0) {
            return f->name;
        }
    }
    for (const struct serve_dialect_field *f = fields->inner != NULL ? fields->inner->list : NULL;
         f != NULL && f->name != NULL; f++) {
        if (f->to != NULL && strcmp(f->to, field) == 0) {
            return f->name;
        }
    }
    return NULL;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Returns the number of the input's entry from which message i came. */
static unsigned entry_of(const cJSON *messages, unsigned long i)
{
    const cJSON *one = cJSON_GetArrayItem(messages, i < 1 << 20 ? (int)i : -1);
    const cJSON *entry = cJSON_GetObjectItem(one, ENTRY);

    return cJSON_IsNumber(entry) ? (unsigned)entry->valuedouble : 0;
}

/* Writes the error message again, with `name` instead of the word `field`, and the input's entry
 * instead of messages[i]. */
static void rename_field(struct serve_translation *t, const char *field, const char *name)
{
    struct api_text text = { .n = 0 };
    size_t n = strlen(field);
    const char *at = t->e->text;

    while (*at != '\0') {
        bool begins = at == t->e->text || !is_word(at[-1]);
        char *end;

        if (!begins || strncmp(at, field, n) != 0 || is_word(at[n])) {
            (void)serve_text_add(&text, at++, 1);
            continue;
        }
        (void)serve_text_say(&text, "%s", name);
        at += n;
        if (*at == '[' && strcmp(field, "messages") == 0) {
            unsigned long i = strtoul(at + 1, &end, 10);

            at = *end == ']' ? end + 1 : at;
            if (*end == ']' && cJSON_IsArray(t->messages)) {
                (void)serve_text_say(&text, "[%u]", entry_of(t->messages, i));
            }
        }
    }
    (void)api_refuse(t->e, t->e->status, name, t->e->code, "%s", api_text_shown(&text));
    serve_text_free(&text);
}

static void rename_error(struct serve_translation *t, const struct serve_dialect_fields *fields)
{
    char field[API_PARAM_BYTES];
    const char *name = own_name(fields, t->e->param);

    if (name != NULL) { /* even the name `messages`: its entries are those of the input */
        memcpy(field, t->e->param, sizeof field);
        rename_field(t, field, name);
    }
}

/* ---- the body ---------------------------------------------------------------------------------- */

static bool translate(struct serve_translation *t, const struct serve_dialect_fields *fields)
{
    if (!cJSON_IsObject(t->from)) {
        return serve_translate_refuse(t, NULL, "the body is not a JSON object");
    }
    if (!serve_translate(t, t->from, "", fields) || (fields->end != NULL && !fields->end(t))) {
        return false;
    }
    return !t->failed || api_refuse(t->e, 500, NULL, NULL, "out of memory");
}

/* Reads the translated fields like a body of chat completions; the seed keeps all of its digits. */
static bool read_fields(struct api_request *q, struct serve_translation *t,
                        const struct api_defaults *d)
{
    cJSON *seed = t->seed[0] != '\0' && cJSON_GetObjectItem(t->to, "seed") != NULL
                      ? cJSON_CreateRaw(t->seed)
                      : NULL;
    char *text;
    bool good;

    if (seed != NULL && !cJSON_ReplaceItemInObject(t->to, "seed", seed)) {
        cJSON_Delete(seed);
    }
    text = cJSON_PrintUnformatted(t->to);
    good = text != NULL ? serve_request_read(q, t->kind, text, strlen(text), d, t->e)
                        : api_refuse(t->e, 500, NULL, NULL, "out of memory");
    free(text);
    return good;
}

static bool read_translated(struct api_request *q, struct serve_translation *t,
                            const struct serve_dialect_fields *fields, const struct api_defaults *d)
{
    if (!translate(t, fields)) {
        return false;
    }
    if (t->loads || read_fields(q, t, d)) {
        return true;
    }
    rename_error(t, fields);
    return false;
}

bool serve_dialect_read(struct api_request *q, struct api_answer *a, struct api_text *echo,
                        const char *body, size_t bytes, const struct api_defaults *d,
                        struct api_error *e)
{
    const struct serve_dialect_fields *fields = dialects[a->dialect].fields;
    struct serve_translation t = { .dialect = a->dialect, .kind = a->kind, .e = e };
    bool good;

    if (fields == NULL) {
        return serve_request_read(q, a->kind, body, bytes, d, e);
    }
    t.from = serve_body_parse(body, bytes, t.seed, e);
    if (t.from == NULL) {
        return false;
    }
    t.to = cJSON_CreateObject();
    good = read_translated(q, &t, fields, d);
    a->kind = q->kind = t.kind;
    a->loads = t.loads;
    if (good && t.echo != NULL) {
        serve_text_add_json(echo, t.echo);
        t.echo = NULL;
        good = !echo->failed || api_refuse(e, 500, NULL, NULL, "out of memory");
        a->echo = api_text_shown(echo);
    }
    cJSON_Delete(t.echo);
    cJSON_Delete((cJSON *)t.from);
    cJSON_Delete(t.to);
    return good;
}
