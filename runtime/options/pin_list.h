/* The value of pins=: names of GPIO lines. Other lines are never touched.
 *
 *   light:3,fan:4:low,door:5:in
 *
 * NAME:LINE gives a name to the line that has this number on the board. Then comes :out (the
 * default) or :in, and :low if 0 V switches on the thing that the line controls. */
#ifndef INGOT_RUNTIME_ACTING_PIN_LIST_H
#define INGOT_RUNTIME_ACTING_PIN_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PINS_MOST = 16,
    PIN_NAME_BYTES = 24, /* with the NUL */
    PIN_LINES = 1024,    /* a board has at most this many lines */
    PIN_LIST_BYTES = 256
};

struct pin {
    char name[PIN_NAME_BYTES];
    uint32_t line;
    bool input, low;
};

struct pin_list {
    unsigned n;
    struct pin pin[PINS_MOST];
};

/* Read a list. Returns NULL, or a message without a full stop that says what is wrong; then *l must
 * not be used. */
const char *pin_list_read(struct pin_list *l, const char *text);
const char *pin_list_error_message(const char *text); /* as pin_list_read, for callers that do
                                                       * not need the list */

/* Return the index of a name (bytes), or PINS_MOST if there is none. */
unsigned pin_list_find(const struct pin_list *l, const char *name, size_t bytes);

/* Return true if a text (bytes) is a valid name: a lower-case letter, then letters, digits, "_". */
bool pin_is_name(const char *text, size_t bytes);

#endif
