/* Make text from other sources safe for a terminal. A model's text, a file's name and a file's text
 * may contain control characters, which a terminal obeys: they can set its clipboard, type into its
 * input, stop the peer with XOFF, or reorder words on the screen. Here such characters become
 * U+FFFD. Ingot's own control sequences do not pass through this code. */
#ifndef INGOT_RUNTIME_SHOWN_TEXT_H
#define INGOT_RUNTIME_SHOWN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/text/utf8.h"

/* Return true if a terminal would obey a character instead of showing it: C0 except newline and
 * tab, DEL, C1 (ECMA-48), and characters that change the direction of writing (Unicode, UAX #9:
 * embeddings, overrides, isolates and marks). */
bool char_is_control(uint32_t code);

/* Return 0 if a name may have the character at s (NUL-terminated text), otherwise the number of the
 * character's bytes. Names must not have line ends, tabs, or characters without width, which make
 * different names look alike (joiners are allowed, because scripts need them). */
size_t shown_breaks_name(const char *s);

/* Write a name (of a file, a model, a part of a request) to out (room bytes, with its NUL),
 * for use within a line: characters that are not allowed become U+FFFD. A name that is too
 * long is cut between characters. Returns out. */
const char *shown_name(char *out, size_t room, const char *name);

/* Passes text on without control characters. Set write and context, zero the rest. `write` gets
 * one whole character at a time, valid UTF-8; `write` may be changed between calls. */
struct shown_text {
    void (*write)(void *context, const char *text, size_t bytes);
    void *context;
    struct utf8_writer utf8;
    bool after_cr; /* a CR is held back; the CR of a CR LF is left out */
};

/* Append bytes, which may end within a character. Bytes that are not UTF-8, such as a single 0x9b,
 * become U+FFFD. */
void shown_text_put(struct shown_text *t, const char *text, size_t bytes);

/* Call at the end of a text or of a part of it: bytes held back are then written as U+FFFD. */
void shown_text_flush(struct shown_text *t);

#endif
