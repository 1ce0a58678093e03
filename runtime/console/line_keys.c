#include "runtime/console/line_keys.h"

#include <stddef.h>
#include <string.h>

enum {
    MOST_COLUMNS = 10000, /* larger numbers are cut to this */
    MOST_MODIFIER = 8,    /* xterm's F3 with Shift, Alt and Ctrl sends ESC [ 1 ; 2 R to 8 R */
};

/* The keys of VT220 and xterm: ECMA-48 final bytes; ESC O, which DECCKM selects; the modifiers ";5"
 * (Ctrl) and ";3" (Alt) of xterm. Also the keys of rxvt and of the Linux console that differ from
 * these. */
static const struct key_sequence {
    const char *text;
    enum line_key key;
} sequences[] = {
    { "[A", KEY_UP },
    { "OA", KEY_UP },
    { "[B", KEY_DOWN },
    { "OB", KEY_DOWN },
    { "[D", KEY_LEFT },
    { "OD", KEY_LEFT },
    { "[C", KEY_RIGHT },
    { "OC", KEY_RIGHT },
    { "[H", KEY_HOME },
    { "OH", KEY_HOME },
    { "[1~", KEY_HOME },
    { "[7~", KEY_HOME },
    { "[F", KEY_END },
    { "OF", KEY_END },
    { "[4~", KEY_END },
    { "[8~", KEY_END },
    { "[3~", KEY_DELETE },
    { "b", KEY_WORD_LEFT },
    { "[1;5D", KEY_WORD_LEFT },
    { "[1;3D", KEY_WORD_LEFT },
    { "Od", KEY_WORD_LEFT },
    { "f", KEY_WORD_RIGHT },
    { "[1;5C", KEY_WORD_RIGHT },
    { "[1;3C", KEY_WORD_RIGHT },
    { "Oc", KEY_WORD_RIGHT },
    { "d", KEY_DELETE_WORD },
    { "[3;5~", KEY_DELETE_WORD },
    { "[3;3~", KEY_DELETE_WORD },
    { "[200~", KEY_PASTE },
    { "[201~", KEY_PASTE_END },
};

enum line_key line_keys_find(const char *sequence)
{
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        if (strcmp(sequences[i].text, sequence) == 0) {
            return sequences[i].key;
        }
    }
    return KEY_NONE;
}

/* Read the decimal digits at *text, which advances past them. */
static uint32_t read_number(const char **text)
{
    uint32_t number = 0;

    for (; **text >= '0' && **text <= '9'; (*text)++) {
        if (number < MOST_COLUMNS) {
            number = number * 10 + (uint32_t)(**text - '0');
        }
    }
    return number;
}

uint32_t line_keys_answered_column(const char *sequence)
{
    uint32_t row, column;

    if (*sequence++ != '[') {
        return 0;
    }
    row = read_number(&sequence);
    if (*sequence++ != ';') {
        return 0;
    }
    column = read_number(&sequence);
    if (*sequence != 'R' || (row == 1 && column <= MOST_MODIFIER)) {
        return 0;
    }
    return column;
}
