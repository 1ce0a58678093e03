/* Why a request has no answer. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/api/serve_request_private.h"
#include "runtime/text/utf8.h"

bool serve_refuse(struct serve_error *e, int status, const char *param, const char *code,
                  const char *format, ...)
{
    va_list list;

    e->status = status;
    e->code = code;
    snprintf(e->param, sizeof e->param, "%s", param != NULL ? param : "");
    va_start(list, format);
    vsnprintf(e->text, sizeof e->text, format, list);
    va_end(list);
    e->text[utf8_whole_bytes(e->text, strlen(e->text))] =
        '\0'; /* it may be cut inside a character */
    return false;
}

bool serve_no_memory(struct serve_reader *r)
{
    return serve_refuse(r->e, 500, NULL, NULL, "out of memory");
}

bool serve_members_known(struct serve_reader *r, const cJSON *object, const char *where,
                         const char *const *names)
{
    const cJSON *member;

    cJSON_ArrayForEach(member, object)
    {
        bool known = cJSON_IsNull(member) || member->string == NULL ||
                     strncmp(member->string, "x_", 2) == 0;

        for (size_t i = 0; names[i] != NULL && !known; i++) {
            known = strcmp(names[i], member->string) == 0;
        }
        if (!known) {
            char field[SERVE_PARAM_BYTES];

            snprintf(field, sizeof field, "%.*s", (int)strcspn(where, "."), where);
            return serve_refuse(r->e, 400, field, "unknown_parameter",
                                "%s: this server does not know the member %.100s", where,
                                member->string);
        }
    }
    return true;
}

bool serve_refuse_message(struct serve_reader *r, const char *format, ...)
{
    char text[SERVE_ERROR_TEXT_BYTES - 40];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return serve_refuse(r->e, 400, "messages", NULL, "messages[%u]: %s", r->message, text);
}
