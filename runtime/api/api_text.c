#include "runtime/api/api_text.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "runtime/text/format_text.h"
#include "runtime/text/json.h"
#include "runtime/text/utf8.h"

enum { PRINT_BYTES = 512 };

void api_text_open(struct api_text *t, char *memory, size_t room)
{
    *t = (struct api_text){ .bytes = memory, .room = room };
    memory[0] = '\0';
}

/* Make room for n bytes and a NUL. */
static bool has_room(struct api_text *t, size_t n)
{
    return n < t->room - t->n || (t->grow != NULL && t->grow(t, t->n + n + 1));
}

bool api_text_put(struct api_text *t, const char *bytes, size_t n)
{
    if (t->failed || !has_room(t, n)) {
        t->failed = true;
        return false;
    }
    if (n != 0) { /* if n is 0, `bytes` may be NULL */
        memcpy(t->bytes + t->n, bytes, n);
    }
    t->n += n;
    t->bytes[t->n] = '\0';
    return true;
}

void api_text_print(struct api_text *t, const char *format, ...)
{
    char text[PRINT_BYTES];
    va_list args;
    size_t n;

    va_start(args, format);
    n = format_text_args(text, sizeof text, format, args);
    va_end(args);
    if (n >= sizeof text) {
        t->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        text[i] = text[i] == '\'' ? '"' : text[i];
    }
    api_text_put(t, text, n);
}

void api_text_escaped(struct api_text *t, const char *text, size_t bytes)
{
    while (bytes != 0) {
        char out[JSON_ESCAPE_BYTES];
        int n = utf8_check((const uint8_t *)text, bytes);

        if (n <= 0) { /* this does not occur in a text that came as JSON */
            api_text_put(t, UTF8_REPLACEMENT, 3);
            text++;
            bytes--;
            continue;
        }
        api_text_put(t, out, json_escape(out, text, (size_t)n));
        text += n;
        bytes -= (size_t)n;
    }
}

void api_text_quoted(struct api_text *t, const char *text, size_t bytes)
{
    api_text_put(t, "\"", 1);
    api_text_escaped(t, text, bytes);
    api_text_put(t, "\"", 1);
}

void api_text_decimal(struct api_text *t, double value)
{
    bool less = value < 0;
    uint64_t millionths = (uint64_t)((less ? -value : value) * 1e6 + 0.5);
    uint64_t rest = millionths % 1000000;
    unsigned digits = 6;

    for (; rest != 0 && rest % 10 == 0; digits--) {
        rest /= 10;
    }
    api_text_print(t, "%s%llu", less ? "-" : "", (unsigned long long)(millionths / 1000000));
    if (rest != 0) {
        api_text_print(t, ".%0*llu", (int)digits, (unsigned long long)rest);
    }
}

void api_text_quoted_or_null(struct api_text *t, const char *text)
{
    if (text != NULL && text[0] != '\0') {
        api_text_quoted(t, text, strlen(text));
    } else {
        api_text_print(t, "null");
    }
}
