/* The sensors that were named, and the only place that uses an I2C bus. Core 0. */
#ifndef INGOT_RUNTIME_ACTING_SENSORS_H
#define INGOT_RUNTIME_ACTING_SENSORS_H

#include "runtime/features/acting/pins.h"
#include "runtime/options/sensor_list.h"
#include "runtime/base/platform.h"

struct sensors {
    const struct platform_i2c *platform;
    struct sensor_list list;
};

/* The sensors of `list` whose bus the board has; say(context, sentence) hears why another is not. Their buses are
 * for nothing else from here on, and nothing is driven yet. */
void sensors_open(struct sensors *s, const struct platform_i2c *platform,
                  const struct sensor_list *list, pins_say_fn *say, void *context);

enum { SENSOR_ERROR_MESSAGE_BYTES = 96 };

/* Read sensor i, in thousandths of a degree Celsius. False: it cannot be, and `error_message` is an error message without a
 * full stop. Takes a millisecond, and a tenth of a second where somebody holds the bus. */
bool sensors_read(struct sensors *s, unsigned i, int32_t *milli,
                  char error_message[SENSOR_ERROR_MESSAGE_BYTES]);

#endif
