/* The sequences that terminals send for keys that are not characters (line_keys.c). */
#ifndef INGOT_RUNTIME_LINE_KEYS_H
#define INGOT_RUNTIME_LINE_KEYS_H

#include <stdint.h>

enum line_key {
    KEY_NONE, /* a sequence that is not one of these keys */
    KEY_UP,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_HOME,
    KEY_END,
    KEY_DELETE,
    KEY_WORD_LEFT,
    KEY_WORD_RIGHT,
    KEY_DELETE_WORD,
    KEY_PASTE,
    KEY_PASTE_END
};

/* Return the key that sends ESC followed by sequence, NUL-terminated. */
enum line_key line_keys_find(const char *sequence);

/* Return the cursor's column, from 1, if ESC followed by sequence is a terminal's answer to the
 * position query (CPR, ECMA-48 8.3.14: "[row;columnR"). Returns 0 for other sequences. */
uint32_t line_keys_answered_column(const char *sequence);

#endif
