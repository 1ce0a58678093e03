#include "runtime/console/console_json.h"

#include <stdarg.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/console/console_private.h"
#include "runtime/text/format_text.h"
#include "runtime/text/json.h"
#include "runtime/text/utf8.h"

static void emit(struct console *c, const char *text, size_t bytes)
{
    console_frames_take(&c->json.frames, text, bytes);
    console_put(c, text, bytes);
}

/* Write one whole character from the UTF-8 writer. */
static void put_escaped(void *context, const char *text, size_t bytes)
{
    char out[JSON_ESCAPE_BYTES];

    emit(context, out, json_escape(out, text, bytes));
}

void console_json_start(struct console *c)
{
    memset(&c->json, 0, sizeof c->json);
    c->json.on = true;
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

void console_event_text(struct console *c, const char *text, size_t bytes)
{
    emit(c, "\"", 1);
    utf8_writer_put(&c->json.utf8, text, bytes);
    utf8_writer_flush(&c->json.utf8);
    emit(c, "\"", 1);
}

static void put_id(struct console *c)
{
    size_t bytes = strlen(c->json.id);

    if (!c->json.has_id) {
        return;
    }
    emit(c, ",\"id\":", 6);
    if (c->json.id_is_text) {
        console_event_text(c, c->json.id, bytes);
    } else {
        emit(c, c->json.id, bytes);
    }
}

/* Write fields in which ' stands for every quote. */
static void put_fields(struct console *c, char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'') {
            text[i] = '"';
        }
    }
    emit(c, text, n);
}

/* Return true if the part after a format is a text. */
static bool opens_text(const char *format)
{
    size_t n = strlen(format);

    return n >= 2 && format[n - 1] == '\'' && format[n - 2] == ':';
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
    while (kind < n && text[kind] != ',') {
        kind++;
    }
    console_frames_begin(&c->json.frames);
    emit(c, "{\"event\":", 9);
    put_fields(c, text, kind);
    if (c->json.frames.on) {
        char number[FORMAT_NUMBER_BYTES];

        emit(c, number,
             format_text(number, sizeof number, ",\"seq\":%lu",
                         (unsigned long)c->json.frames.latest));
    }
    put_id(c);
    put_fields(c, text + kind, n - kind);
    c->json.open = true;
    c->json.in_text = opens_text(format);
}

void console_event_more(struct console *c, const char *format, ...)
{
    char text[CONSOLE_EVENT_BYTES];
    va_list args;

    va_start(args, format);
    put_fields(c, text,
               min_size(format_text_args(text, sizeof text, format, args), sizeof text - 1));
    va_end(args);
    c->json.in_text = opens_text(format);
}

/* End the event, unless another event has already ended it. */
void console_event_end(struct console *c)
{
    char end[CONSOLE_FRAME_END];

    if (!c->json.open) {
        return;
    }
    if (c->json.in_text) {
        utf8_writer_flush(&c->json.utf8);
        emit(c, "\"", 1);
    }
    emit(c, "}", 1);
    console_put(c, end, console_frames_end(&c->json.frames, end));
    c->json.open = c->json.of_line = c->json.in_text = false;
}

bool console_resend(struct console *c, uint32_t first)
{
    struct console_frames_past past;

    if (!console_frames_find(&c->json.frames, first, &past)) {
        return false;
    }
    console_put(c, past.text[0], past.bytes[0]);
    console_put(c, past.text[1], past.bytes[1]);
    return true;
}

/* The token's id is in the field `token` if the running request has an `id`, otherwise in `id`. */
void console_token_open(struct console *c, uint32_t id)
{
    const char *field = "id";

    if (c->json.has_id) {
        field = "token";
    }
    if (id == UINT32_MAX) {
        console_event_begin(c, "'token','%s':null", field);
    } else {
        console_event_begin(c, "'token','%s':%lu", field, (unsigned long)id);
    }
}

void console_token_begin(struct console *c, uint32_t id)
{
    if (c->json.on) {
        console_token_open(c, id);
        console_event_more(c, ",'text':'");
    }
}

void console_token_end(struct console *c)
{
    if (console_is_json(c)) {
        console_event_end(c);
    }
}

/* ---- text that is written for people ---- */

bool console_text_begins(const char *text, size_t bytes, const char *word)
{
    size_t n = strlen(word);

    return bytes > n && memcmp(text, word, n) == 0;
}

/* If a line is an error, begin its event. Returns how much of the text the event's name
 * replaces. */
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
