/* A text that grows. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/json_schema_private.h"

void text_add(struct text *t, const char *s, size_t n)
{
    if (t->n + n + 1 > t->room) {
        size_t room = 2 * (t->n + n + 1);
        char *grown = room <= 1u << 24 ? realloc(t->s, room) : NULL;

        if (grown == NULL) {
            t->failed = true;
            return;
        }
        t->s = grown;
        t->room = room;
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = '\0';
}

void text_put(struct text *t, const char *s)
{
    text_add(t, s, strlen(s));
}

void text_format(struct text *t, const char *format, ...)
{
    char line[256];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_put(t, line);
}
