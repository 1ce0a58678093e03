/* The named pins, and the only code that touches a line. Each write and read is checked against the
 * list and the board. Core 0. */
#ifndef INGOT_RUNTIME_ACTING_PINS_H
#define INGOT_RUNTIME_ACTING_PINS_H

#include "runtime/options/pin_list.h"
#include "runtime/base/platform.h"

struct pins {
    const struct platform_pins *platform;
    struct pin_list list;
    bool dry;    /* no line is touched */
    bool is_set; /* the lines have their directions */
    uint32_t on; /* bit i says that pin i is on, or would be on in a dry run */
};

/* Open the pins of `list` that the board permits; say(context, sentence) gets the reason why each
 * other pin is not opened. Outputs are off from now on, unless this is a dry run. */
typedef void pins_say_fn(void *context, const char *error_message);
void pins_open(struct pins *p, const struct platform_pins *platform, const struct pin_list *list,
               bool dry, pins_say_fn *say, void *context);

/* Begin or end a dry run. When the dry run ends, lines that have no direction yet get theirs. */
void pins_set_dry(struct pins *p, bool dry);

/* Switch pin i on or off. Returns NULL, or an error message without a full stop if nothing was
 * touched. */
const char *pins_write(struct pins *p, unsigned i, bool on);

/* Set *on to the state of pin i. In a dry run an output has its last value, and an input is off. */
const char *pins_read(struct pins *p, unsigned i, bool *on);

#endif
