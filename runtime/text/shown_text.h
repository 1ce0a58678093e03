/* Foreign text made safe for a terminal. A model's text, a file's name and a file's text may
 * contain control characters, which a terminal obeys: they set its clipboard, type into its
 * input, stop the peer with XOFF, or reorder words on the screen. Here they become U+FFFD; our
 * own control sequences do not come this way. */
#ifndef INGOT_RUNTIME_SHOWN_TEXT_H
#define INGOT_RUNTIME_SHOWN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/text/utf8.h"

/* Whether a terminal would obey a character instead of showing it: C0 except newline and tab,
 * DEL, C1 (ECMA-48), and what changes the direction of writing (Unicode, UAX #9: embeddings,
 * overrides, isolates and marks). */
bool char_is_control(uint32_t code);

/* Bytes of the character at s, which is NUL-terminated, if a name may not have it although a
 * text may: line ends, tabs, and characters without width, which make different names look alike
 * (joiners stay, because scripts need them). 0: it is allowed. */
size_t shown_breaks_name(const char *s);

/* A name (of a file, a model, a part of a request) as a piece of a line, to out (room bytes,
 * with its NUL): all of that becomes U+FFFD. Text without room is cut between characters.
 * Returns out. */
const char *shown_name(char *out, size_t room, const char *name);

/* Passes text on without them. Set write and context, zero the rest. write gets one whole
 * character at a time, valid UTF-8; it may be another function from one call to the next. */
struct shown_text {
    void (*write)(void *context, const char *text, size_t bytes);
    void *context;
    struct utf8_writer utf8;
    bool after_cr; /* held back: the CR of a CR LF is left out */
};

/* Append bytes, which may be cut anywhere, within a character as well. Those that are not UTF-8,
 * such as 0x9b alone, become U+FFFD. */
void shown_text_put(struct shown_text *t, const char *text, size_t bytes);

/* End of the text, or of a part of it: what is held back comes out as U+FFFD. */
void shown_text_flush(struct shown_text *t);

#endif
