#include "runtime/console/console_json.h"

#include <stdarg.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/console/console_private.h"
#include "runtime/text/format_text.h"
#include "runtime/text/json.h"
#include "runtime/text/utf8.h"

/* One whole character, from the UTF-8 writer. */
static void put_escaped(void *context, const char *text, size_t bytes)
{
    char out[JSON_ESCAPE_BYTES];

    console_put(context, out, json_escape(out, text, bytes));
}

void console_json_start(struct console *c)
{
    c->json = (struct console_json){ .on = true };
    c->json.utf8.write = put_escaped;
    c->json.utf8.context = c;
}

bool console_is_json(const struct console *c)
{
    return c->json.on;
}

void console_request_id(struct console *c, const char *id, bool is_text)
{
    c->json.has_id = id != NULL;
    c->json.id_is_text = is_text;
    if (id != NULL) {
        format_text(c->json.id, sizeof c->json.id, "%s", id);
    }
}

static void put_id(struct console *c)
{
    if (!c->json.has_id) {
        return;
    }
    console_put(c, ",\"id\":", 6);
    if (c->json.id_is_text) {
        console_put(c, "\"", 1);
        utf8_writer_put(&c->json.utf8, c->json.id, strlen(c->json.id));
        utf8_writer_flush(&c->json.utf8);
        console_put(c, "\"", 1);
    } else {
        console_put(c, c->json.id, strlen(c->json.id));
    }
}

void console_event_begin(struct console *c, const char *format, ...)
{
    char text[CONSOLE_EVENT_BYTES];
    size_t n, kind = 0;
    va_list args;

    console_event_end(c);
    va_start(args, format);
    n = min_size(format_text_args(text, sizeof text, format, args), sizeof text - 1);
    va_end(args);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'') {
            text[i] = '"';
        }
    }
    while (kind < n && text[kind] != ',') {
        kind++;
    }
    console_put(c, "{\"event\":", 9);
    console_put(c, text, kind);
    put_id(c);
    console_put(c, text + kind, n - kind);
    c->json.open = true;
    c->json.in_text = text[n - 1] == '"' && format[strlen(format) - 2] == ':';
}

/* Nothing where another event has ended this one. */
void console_event_end(struct console *c)
{
    if (!c->json.open) {
        return;
    }
    if (c->json.in_text) {
        utf8_writer_flush(&c->json.utf8);
        console_put(c, "\"", 1);
    }
    console_put(c, "}\n", 2);
    c->json.open = c->json.of_line = c->json.in_text = false;
}

/* The request's id stands where the token's stands without one. */
void console_token_begin(struct console *c, uint32_t id)
{
    const char *field = "id";

    if (!c->json.on) {
        return;
    }
    if (c->json.has_id) {
        field = "token";
    }
    if (id == UINT32_MAX) {
        console_event_begin(c, "'token','%s':null,'text':'", field);
    } else {
        console_event_begin(c, "'token','%s':%lu,'text':'", field, (unsigned long)id);
    }
}

void console_token_end(struct console *c)
{
    if (console_is_json(c)) {
        console_event_end(c);
    }
}

/* ---- what is written for people ---- */

bool console_text_begins(const char *text, size_t bytes, const char *word)
{
    size_t n = strlen(word);

    return bytes > n && memcmp(text, word, n) == 0;
}

/* An event for a line, if it is an error. Returns how much of the text the event says itself. */
static size_t begin_error(struct console *c, const char *text, size_t bytes)
{
    static const char error[] = "error: ";

    if (!console_text_begins(text, bytes, error)) {
        return 0;
    }
    console_event_begin(c, "'error','name':'failed','text':'");
    return sizeof error - 1;
}

void console_json_write(struct console *c, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\n' && (!c->json.open || c->json.of_line)) {
            console_event_end(c);
            continue;
        }
        if (!c->json.open) {
            size_t said = begin_error(c, text + i, bytes - i);

            if (said == 0) {
                console_event_begin(c, "'text','text':'");
            }
            c->json.of_line = true;
            i += said;
        }
        utf8_writer_put(&c->json.utf8, text + i, 1);
    }
}

void console_json_log(struct console *c, uint64_t millis, const char *text, size_t bytes)
{
    size_t said = begin_error(c, text, bytes);

    if (said == 0) {
        console_event_begin(c, "'log','ms':%llu,'text':'", (unsigned long long)millis);
    }
    utf8_writer_put(&c->json.utf8, text + said, bytes - said);
    console_event_end(c);
}
