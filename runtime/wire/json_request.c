#include "runtime/wire/json_request.h"

#include <stdarg.h>
#include <string.h>

#include "runtime/text/format_text.h"
#include "runtime/text/json.h"
#include "runtime/text/nearest.h"

/* How an option's value is written. */
#define JSON_KIND_TEXT(bytes) JSON_TEXT
#define JSON_KIND_SAID(bytes, length) JSON_TEXT
#define JSON_KIND_LIST(bytes, check) JSON_TEXT
#define JSON_KIND_CHOICE(words) JSON_TEXT
#define JSON_KIND_STOP() JSON_TEXT /* or a list */
#define JSON_KIND_COUNT(least, most) JSON_NUMBER
#define JSON_KIND_LIMIT(most) JSON_NUMBER
#define JSON_KIND_NUMBER(least, most) JSON_NUMBER
#define JSON_KIND_SIZE() JSON_NUMBER
#define JSON_KIND_SEED() JSON_NUMBER

static const struct {
    char name[18];
    enum json_kind kind;
} fields[JSON_N_FIELDS] = {
    [JSON_FIELD_ID] = { "id", JSON_TEXT }, /* or a whole number */
    [JSON_FIELD_PROMPT] = { "prompt", JSON_TEXT },
    [JSON_FIELD_COMMAND] = { "command", JSON_TEXT },
    [JSON_FIELD_RESET] = { "reset", JSON_TRUE },
    [JSON_FIELD_ADAPTER] = { "adapter", JSON_TEXT },
    [JSON_FIELD_MESSAGES] = { "messages", JSON_LIST },
    [JSON_FIELD_RAW] = { "raw", JSON_TEXT },
    [JSON_FIELD_GRAMMAR] = { "grammar", JSON_TEXT },
    [JSON_FIELD_HELLO] = { "hello", JSON_NUMBER },
    [JSON_FIELD_CHECK] = { "check", JSON_TRUE },
    [JSON_FIELD_IDS] = { "ids", JSON_LIST },
    [JSON_FIELD_TOKENIZE] = { "tokenize", JSON_TEXT },
    [JSON_FIELD_EMBEDDING] = { "embedding", JSON_TEXT },
    [JSON_FIELD_MODELS] = { "models", JSON_TRUE },
    [JSON_FIELD_LOAD] = { "load", JSON_TEXT },
    [JSON_FIELD_STATS] = { "stats", JSON_TRUE },
    [JSON_FIELD_PLAN] = { "plan", JSON_TRUE },
    [JSON_FIELD_CANCEL] = { "cancel", JSON_TRUE }, /* or an id */
    [JSON_FIELD_RESEND] = { "resend", JSON_NUMBER },
    [JSON_FIELD_CONVERSATION] = { "conversation", JSON_TEXT },
    [JSON_FIELD_LOGPROBS] = { "logprobs", JSON_NUMBER },
    [JSON_FIELD_LOGIT_BIAS] = { "logit_bias", JSON_LIST },
#define OPTION(id, name, group, member, type, initial, where, ...) \
    JSON_REQUEST_##where([JSON_FIELD_##id] = { name, JSON_KIND_##type })
#include "runtime/options/options.def"
};

const char *json_field_name(enum json_field field)
{
    return fields[field].name;
}

/* Set an error. The format's arguments are short texts and numbers. */
__attribute__((format(printf, 4, 5))) static void refuse(struct json_request *r, const char *error,
                                                         size_t column, const char *format, ...)
{
    va_list args;

    if (r->error != NULL) {
        return;
    }
    r->error = error;
    r->column = column;
    va_start(args, format);
    (void)format_text_args(r->text, sizeof r->text, format, args);
    va_end(args);
}

static void refuse_name(struct json_request *r, const struct json_value *v)
{
    struct nearest near;

    nearest_begin(&near, v->key, strlen(v->key));
    for (unsigned i = 0; i < JSON_N_FIELDS; i++) {
        nearest_offer(&near, fields[i].name);
    }
    if (near.name != NULL) {
        refuse(r, "field", v->column, "there is no field %.32s; did you mean %s?", v->key,
               near.name);
    } else {
        refuse(r, "field", v->column, "there is no field %.32s", v->key);
    }
}

/* Return true if a number is a whole number as JSON writes it, so that it can be sent back.
 * json_member() checks only the characters of a number. */
static bool is_whole_number(const char *text)
{
    size_t digits;

    text += text[0] == '-';
    digits = strspn(text, "0123456789");
    return text[digits] == '\0' && digits >= 1 && digits <= 16 && (text[0] != '0' || digits == 1);
}

static void take_id(struct json_request *r, const struct json_value *v)
{
    r->id_is_text = v->kind == JSON_TEXT;
    if (v->bytes >= JSON_ID_BYTES ||
        (!r->id_is_text && (v->kind != JSON_NUMBER || !is_whole_number(v->text)))) {
        refuse(r, "field", v->column, "id has to be a text of up to %u bytes, or a whole number",
               JSON_ID_BYTES - 1);
        return;
    }
    r->values[JSON_FIELD_ID] = v->text;
}

static void refuse_kind(struct json_request *r, unsigned field, const struct json_value *v)
{
    const char *wanted = "a text";

    if (field == JSON_FIELD_CANCEL) {
        wanted = "true, or the id of a request";
    } else if (field == JSON_FIELD_STOP) {
        wanted = "a text, or a list of texts";
    } else if (fields[field].kind == JSON_NUMBER) {
        wanted = "a number";
    } else if (fields[field].kind == JSON_TRUE) {
        wanted = "true";
    } else if (fields[field].kind == JSON_LIST) {
        wanted = "a list";
    }
    refuse(r, "field", v->column, "%s has to be %s", fields[field].name, wanted);
}

static bool is_kind(unsigned field, enum json_kind kind)
{
    return kind == fields[field].kind || (field == JSON_FIELD_STOP && kind == JSON_LIST) ||
           (field == JSON_FIELD_CANCEL && (kind == JSON_TEXT || kind == JSON_NUMBER));
}

static void take_member(struct json_request *r, const struct json_value *v)
{
    static char nothing[] = "";
    unsigned i = 0;

    if (strncmp(v->key, "x_", 2) == 0) {
        return;
    }
    while (i < JSON_N_FIELDS && strcmp(fields[i].name, v->key) != 0) {
        i++;
    }
    if (r->error == NULL) { /* an error names this member, if it is a field */
        r->field = i < JSON_N_FIELDS ? fields[i].name : NULL;
    }
    if (i == JSON_N_FIELDS) {
        refuse_name(r, v);
        return;
    }
    if (i == JSON_FIELD_ID) {
        take_id(r, v);
    } else if (!is_kind(i, v->kind)) {
        refuse_kind(r, i, v);
    } else {
        r->values[i] = v->text != NULL ? v->text : nothing;
        r->bytes[i] = v->bytes;
        r->stop_is_list |= i == JSON_FIELD_STOP && v->kind == JSON_LIST;
    }
}

/* Refuse a request if it has two fields that each need an answer of their own. */
static void refuse_two(struct json_request *r)
{
    static const enum json_field asks[] = {
        JSON_FIELD_PROMPT, JSON_FIELD_MESSAGES, JSON_FIELD_RAW,       JSON_FIELD_COMMAND,
        JSON_FIELD_IDS,    JSON_FIELD_TOKENIZE, JSON_FIELD_EMBEDDING, JSON_FIELD_MODELS,
        JSON_FIELD_LOAD,   JSON_FIELD_STATS,    JSON_FIELD_PLAN,      JSON_FIELD_CANCEL,
        JSON_FIELD_RESEND,
    };
    const char *first = NULL;

    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
        if (r->values[asks[i]] == NULL) {
            continue;
        }
        if (first != NULL) {
            refuse(r, "field", 0, "%s and %s cannot be combined", first, fields[asks[i]].name);
        }
        first = fields[asks[i]].name;
    }
}

void json_request_read(struct json_request *r, char *line, size_t bytes)
{
    struct json j;
    struct json_value v;

    memset(r, 0, sizeof *r);
    json_open(&j, line, bytes);
    while (json_member(&j, &v) != JSON_END) {
        if (v.kind == JSON_BAD) {
            if (r->error == NULL) {
                r->field = NULL;
            }
            refuse(r, "json", j.column, "%s", j.error_message);
            return;
        }
        take_member(r, &v);
    }
    if (r->error == NULL) {
        r->field = NULL;
    }
    refuse_two(r);
}
