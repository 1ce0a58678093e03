/* The console's output as JSON lines (mode=json, docs/SERIAL.md): every line is one event,
 * {"event":"NAME", ...}. Texts are always valid UTF-8, even if other bytes were written. */
#ifndef INGOT_RUNTIME_CONSOLE_JSON_H
#define INGOT_RUNTIME_CONSOLE_JSON_H

#include "runtime/console/console.h"

enum { CONSOLE_EVENT_BYTES = 1024 }; /* longest text that one format makes */

/* Return true if the console writes events, as it does between console_speak_json() and
 * console_speak_text(). */
bool console_is_json(const struct console *c);

/* Begin an event. The format has its name and its fields, with ' in place of every quote, such as
 * 'log','ms':%u. A format that ends with a quote opens a text. Everything that console_write() and
 * similar functions then write until the event ends belongs to this text. Text that needs escapes
 * must be written this way. */
__attribute__((format(printf, 2, 3))) void console_event_begin(struct console *c,
                                                               const char *format, ...);
void console_event_end(struct console *c);

/* Continue the open event outside its texts. console_event_more adds fields (see
 * console_event_begin) or parts of a list. console_event_text adds a text, with quotes and
 * escapes. */
__attribute__((format(printf, 2, 3))) void console_event_more(struct console *c, const char *format,
                                                              ...);
void console_event_text(struct console *c, const char *text, size_t bytes);

/* Set the id of the running request: a text, or a number as JSON writes it, or NULL. Every event
 * has this id until the next call. The id is copied, up to CONSOLE_ID_BYTES. */
void console_request_id(struct console *c, const char *id, bool is_text);

/* Send again, unchanged, the kept events from number `first` on. Returns false if
 * console_frames_find does not find them. */
bool console_resend(struct console *c, uint32_t first);

/* Begin and end an event with a token's text; id UINT32_MAX marks text without a token. On a
 * console for people these functions do nothing, and the text between them is written as it is. */
void console_token_begin(struct console *c, uint32_t id);
void console_token_end(struct console *c);

/* Like console_token_begin, but only for a console that speaks JSON. The caller may write more
 * fields, and then has to write `,'text':'`. */
void console_token_open(struct console *c, uint32_t id);

#endif
