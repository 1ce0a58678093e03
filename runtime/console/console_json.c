#include "runtime/console/console_json.h"

#include <stdarg.h>
#include <string.h>

#include "runtime/text/format_text.h"
#include "runtime/text/json.h"
#include "runtime/text/utf8.h"

static struct {
    void (*put)(const char *text, size_t bytes); /* NULL: the console is for people */
    bool open;                                   /* an event has begun */
    bool of_line; /* with text of nobody's event, which a newline ends */
    bool in_text; /* what is written is part of its text */
    struct utf8_writer utf8;
} json;

static void put_escaped(void *context, const char *text, size_t bytes)
{
    (void)context;
    for (size_t i = 0; i < bytes; i++) {
        char out[JSON_ESCAPE_BYTES];

        json.put(out, json_escape(out, text[i]));
    }
}

void console_json_start(void (*put)(const char *text, size_t bytes))
{
    memset(&json, 0, sizeof json);
    json.put = put;
    json.utf8.write = put_escaped;
}

void console_json_stop(void)
{
    json.put = NULL;
}

bool console_is_json(void)
{
    return json.put != NULL;
}

void console_event_begin(const char *format, ...)
{
    char text[CONSOLE_EVENT_BYTES];
    size_t n;
    va_list args;

    console_event_end();
    va_start(args, format);
    n = format_text_args(text, sizeof text, format, args);
    va_end(args);
    n = n < sizeof text ? n : sizeof text - 1;
    for (size_t i = 0; i < n; i++) {
        text[i] = text[i] == '\'' ? '"' : text[i];
    }
    json.put("{\"event\":", 9);
    json.put(text, n);
    json.open = true;
    json.in_text = text[n - 1] == '"' && format[strlen(format) - 2] == ':';
}

/* Nothing where another event has ended this one. */
void console_event_end(void)
{
    if (!json.open) {
        return;
    }
    if (json.in_text) {
        utf8_writer_flush(&json.utf8);
        json.put("\"", 1);
    }
    json.put("}\n", 2);
    json.open = json.of_line = json.in_text = false;
}

void console_token_begin(uint32_t id)
{
    if (console_is_json()) {
        console_event_begin(id != UINT32_MAX ? "'token','id':%lu,'text':'"
                                             : "'token','id':null,'text':'",
                            (unsigned long)id);
    }
}

void console_token_end(void)
{
    if (console_is_json()) {
        console_event_end();
    }
}

/* ---- what is written for people ---- */

bool console_text_begins(const char *text, size_t bytes, const char *word)
{
    size_t n = strlen(word);

    return bytes > n && memcmp(text, word, n) == 0;
}

/* An event for a line, if it is an error. Returns how much of the text the event says itself. */
static size_t begin_error(const char *text, size_t bytes)
{
    static const char error[] = "error: ";

    if (!console_text_begins(text, bytes, error)) {
        return 0;
    }
    console_event_begin("'error','name':'failed','text':'");
    return sizeof error - 1;
}

void console_json_write(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\n' && (!json.open || json.of_line)) {
            console_event_end();
            continue;
        }
        if (!json.open) {
            size_t said = begin_error(text + i, bytes - i);

            if (said == 0) {
                console_event_begin("'text','text':'");
            }
            json.of_line = true;
            i += said;
        }
        utf8_writer_put(&json.utf8, text + i, 1);
    }
}

void console_json_log(uint64_t millis, const char *text, size_t bytes)
{
    size_t said = begin_error(text, bytes);

    if (said == 0) {
        console_event_begin("'log','ms':%llu,'text':'", (unsigned long long)millis);
    }
    utf8_writer_put(&json.utf8, text + said, bytes - said);
    console_event_end();
}
