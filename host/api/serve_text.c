#include "host/api/serve_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

static bool make_room(struct serve_text *t, size_t n)
{
    size_t room = t->room != 0 ? t->room : 256;
    char *longer;

    while (room - t->n <= n) {
        room *= 2;
    }
    if (room == t->room) {
        return true;
    }
    longer = realloc(t->bytes, room);
    if (longer == NULL) {
        t->failed = true;
        return false;
    }
    t->bytes = longer;
    t->room = room;
    return true;
}

bool serve_text_add(struct serve_text *t, const char *bytes, size_t n)
{
    if (!make_room(t, n)) {
        return false;
    }
    if (n != 0) { /* bytes may be NULL then */
        memcpy(t->bytes + t->n, bytes, n);
    }
    t->n += n;
    t->bytes[t->n] = '\0';
    return true;
}

bool serve_text_say(struct serve_text *t, const char *format, ...)
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

void serve_text_add_json(struct serve_text *t, struct cJSON *object)
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

void serve_text_free(struct serve_text *t)
{
    free(t->bytes);
    memset(t, 0, sizeof *t);
}
