/* The console's output where it is JSON lines (mode=json, docs/SERIAL.md): every line is one
 * event, {"event":"NAME", ...}. Texts are valid UTF-8 whatever was written. */
#ifndef INGOT_RUNTIME_CONSOLE_JSON_H
#define INGOT_RUNTIME_CONSOLE_JSON_H

#include "runtime/console/console.h"

enum { CONSOLE_EVENT_BYTES = 1024 }; /* of what one format makes */

/* Whether what the console writes is events: between console_speak_json() and console_speak_text(). */
bool console_is_json(const struct console *c);

/* Begin an event: its name and its fields, with ' for every quote, such as 'log','ms':%u. A format
 * that ends with a quote has opened a text: what console_write() and the like bring belongs to it
 * until the end. Text that needs an escape has to come this way. */
__attribute__((format(printf, 2, 3))) void console_event_begin(struct console *c,
                                                               const char *format, ...);
void console_event_end(struct console *c);

/* More of the event that is open and in no text: fields, as above, or parts of a list. A text of its own, in
 * quotes and with escapes. */
__attribute__((format(printf, 2, 3))) void console_event_more(struct console *c, const char *format,
                                                              ...);
void console_event_text(struct console *c, const char *text, size_t bytes);

/* The id of the running request: a text, or a number as JSON writes it. Every event says it until the
 * next call. It is copied, up to CONSOLE_ID_BYTES; NULL: none. */
void console_request_id(struct console *c, const char *id, bool is_text);

/* The kept events from number `first` on once more, as they were. False: see console_frames_find. */
bool console_resend(struct console *c, uint32_t first);

/* Begin and end of an event whose text is what a token brings; UINT32_MAX: no token does. On a
 * console for people nothing: what is written between is written as it is. */
void console_token_begin(struct console *c, uint32_t id);
void console_token_end(struct console *c);

/* The same before its text, of a console that speaks JSON: fields may follow, then `,'text':'`. */
void console_token_open(struct console *c, uint32_t id);

#endif
