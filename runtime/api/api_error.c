/* Errors that say why a request has no answer. */
#include <stdarg.h>
#include <string.h>

#include "runtime/api/api_reader.h"
#include "runtime/text/format_text.h"
#include "runtime/text/utf8.h"

bool api_refuse(struct api_error *e, int status, const char *param, const char *code,
                const char *format, ...)
{
    va_list list;

    e->status = status;
    e->code = code;
    (void)format_text(e->param, sizeof e->param, "%s", param != NULL ? param : "");
    va_start(list, format);
    (void)format_text_args(e->text, sizeof e->text, format, list);
    va_end(list);
    e->text[utf8_whole_bytes(e->text, strlen(e->text))] =
        '\0'; /* the text may be cut inside a character */
    return false;
}

static bool refuse_large(struct api_error *e)
{
    return api_refuse(e, 413, NULL, "too_long",
                      "the request needs more memory than this server has for one: shorten it");
}

bool api_no_memory(struct api_reader *r)
{
    return refuse_large(r->e);
}

bool api_body_parse(struct api_json **root, char *body, size_t bytes, struct api_memory *m,
                    struct api_error *e)
{
    size_t at;

    switch (api_json_read(root, body, bytes, m, &at)) {
    case API_JSON_BYTES:
        return api_refuse(e, 400, NULL, NULL, "the body has to be UTF-8 without \\u0000");
    case API_JSON_WRONG:
        return api_refuse(e, 400, NULL, NULL, "the body is not JSON: byte %zu is wrong", at);
    case API_JSON_DEEP:
        return api_refuse(e, 400, NULL, NULL, "the body is nested more than %d deep",
                          API_JSON_DEEPEST);
    case API_JSON_MEMORY: return refuse_large(e);
    case API_JSON_GOOD:
    default: return true;
    }
}

bool api_members_known(struct api_reader *r, const struct api_json *object, const char *where,
                       const char *const *names)
{
    const struct api_json *member;

    api_json_each(member, object)
    {
        bool known = api_json_is(member, JSON_NULL) || member->key == NULL ||
                     strncmp(member->key, "x_", 2) == 0;

        for (size_t i = 0; names[i] != NULL && !known; i++) {
            known = strcmp(names[i], member->key) == 0;
        }
        if (!known) {
            char field[API_PARAM_BYTES];

            (void)format_text(field, sizeof field, "%.*s", (int)strcspn(where, "."), where);
            return api_refuse(r->e, 400, field, "unknown_parameter",
                              "%s: this server does not know the member %.100s", where,
                              member->key);
        }
    }
    return true;
}

bool api_refuse_message(struct api_reader *r, const char *format, ...)
{
    char text[API_ERROR_TEXT_BYTES - 40];
    va_list list;

    va_start(list, format);
    (void)format_text_args(text, sizeof text, format, list);
    va_end(list);
    return api_refuse(r->e, 400, "messages", NULL, "messages[%u]: %s", r->message, text);
}

const char *api_print(struct api_reader *r, const struct api_json *v)
{
    struct api_text text;

    api_memory_text(r->q->memory, &text);
    api_json_put(&text, v);
    if (text.failed) {
        (void)api_no_memory(r);
        return NULL;
    }
    return text.bytes;
}

void api_warn(struct api_request *q, const char *format, ...)
{
    char line[API_ERROR_TEXT_BYTES];
    va_list list;

    va_start(list, format);
    (void)format_text_args(line, sizeof line, format, list);
    va_end(list);
    line[utf8_whole_bytes(line, strlen(line))] = '\0';
    api_text_put(&q->warnings, ",", q->warnings.n != 0 ? 1 : 0);
    api_text_quoted(&q->warnings, line, strlen(line));
}
