#include "host/api/serve_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static bool grow(struct api_text *t, size_t room)
{
    size_t more = t->room != 0 ? t->room : 256;
    char *longer;

    while (more < room) {
        more *= 2;
    }
    longer = realloc(t->bytes, more);
    if (longer == NULL) {
        return false;
    }
    t->bytes = longer;
    t->room = more;
    return true;
}

void serve_text_grows(struct api_text *t)
{
    t->grow = grow;
}

bool serve_text_add(struct api_text *t, const char *bytes, size_t n)
{
    serve_text_grows(t);
    return api_text_put(t, bytes, n);
}

bool serve_text_say(struct api_text *t, const char *format, ...)
{
    char line[512];
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (n < 0) {
        return false;
    }
    return serve_text_add(t, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

void serve_text_add_json(struct api_text *t, struct cJSON *object)
{
    char *text = object != NULL ? cJSON_PrintUnformatted(object) : NULL;

    cJSON_Delete(object);
    if (text == NULL) {
        t->failed = true;
        return;
    }
    for (const char *c = text; *c != '\0'; c++) {
        (void)serve_text_add(t, *c == 0x7f ? "\\u007f" : c, *c == 0x7f ? 6 : 1);
    }
    free(text);
}

void serve_text_free(struct api_text *t)
{
    free(t->bytes);
    memset(t, 0, sizeof *t);
}
