/* The console's output where it is JSON lines (mode=json, docs/SERIAL.md): every line is one
 * event, {"event":"NAME", ...}. Texts are valid UTF-8 whatever was written. */
#ifndef INGOT_RUNTIME_CONSOLE_JSON_H
#define INGOT_RUNTIME_CONSOLE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONSOLE_EVENT_BYTES = 1024 }; /* of what one format makes */

/* From now on whatever the console writes is an event. put writes to the device. */
void console_json_start(void (*put)(const char *text, size_t bytes));
void console_json_stop(void);
bool console_is_json(void);

/* Begin an event: its name and its fields, with ' for every quote, such as 'log','ms':%u. A format
 * that ends with a quote has opened a text: what console_write() and the like bring belongs to it
 * until the end. What needs an escape has to come this way. */
__attribute__((format(printf, 1, 2))) void console_event_begin(const char *format, ...);
void console_event_end(void);

/* Begin and end of an event whose text is what a token brings; UINT32_MAX: no token does. On a
 * console for people nothing: what is written between is written as it is. */
void console_token_begin(uint32_t id);
void console_token_end(void);

/* ---- for console.c ---- */

bool console_text_begins(const char *text, size_t bytes, const char *word);

/* Text of nobody's event: a "text" a line, or an "error" where it begins with "error: ". */
void console_json_write(const char *text, size_t bytes);
void console_json_log(uint64_t millis, const char *text, size_t bytes);

#endif
