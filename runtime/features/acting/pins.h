/* The named pins, and the only code that touches a line: it checks each write and read again,
 * against the list and against the board. Core 0. */
#ifndef INGOT_RUNTIME_ACTING_PINS_H
#define INGOT_RUNTIME_ACTING_PINS_H

#include "runtime/options/pin_list.h"
#include "runtime/base/platform.h"

struct pins {
    const struct platform_pins *platform;
    struct pin_list list;
    bool dry;    /* no line is touched */
    bool is_set; /* the lines have their directions */
    uint32_t on; /* bit i: pin i was switched on, or would have been */
};

/* Open the pins of `list` that the board permits; say(context, sentence) gets the reason for each
 * other pin. Outputs are off from now on, unless this is a dry run. */
typedef void pins_say_fn(void *context, const char *error_message);
void pins_open(struct pins *p, const struct platform_pins *platform, const struct pin_list *list,
               bool dry, pins_say_fn *say, void *context);

/* Begin or end a dry run. When it ends, lines without a direction get theirs. */
void pins_set_dry(struct pins *p, bool dry);

/* Switch pin i on or off. NULL: success; otherwise a sentence without a full stop, and nothing
 * was touched. */
const char *pins_write(struct pins *p, unsigned i, bool on);

/* Whether pin i is on. In a dry run: the last value of an output, and off for an input. */
const char *pins_read(struct pins *p, unsigned i, bool *on);

#endif
