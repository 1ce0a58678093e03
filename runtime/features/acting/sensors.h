/* The named sensors, and the only code that uses an I2C bus. Core 0. */
#ifndef INGOT_RUNTIME_ACTING_SENSORS_H
#define INGOT_RUNTIME_ACTING_SENSORS_H

#include "runtime/features/acting/pins.h"
#include "runtime/options/sensor_list.h"
#include "runtime/base/platform.h"

struct sensors {
    const struct platform_i2c *platform;
    struct sensor_list list;
};

/* Open the sensors of `list` whose bus the board has; say(context, sentence) gets the reason why
 * each other sensor is not opened. The sensors' buses are reserved from now on, but not used
 * yet. */
void sensors_open(struct sensors *s, const struct platform_i2c *platform,
                  const struct sensor_list *list, pins_say_fn *say, void *context);

enum { SENSOR_ERROR_MESSAGE_BYTES = 96 };

/* Read sensor i, in thousandths of a degree Celsius. Returns false if reading failed;
 * `error_message` is then a sentence without a full stop. A read takes 1 ms, or 100 ms if something
 * holds the bus. */
bool sensors_read(struct sensors *s, unsigned i, int32_t *milli,
                  char error_message[SENSOR_ERROR_MESSAGE_BYTES]);

#endif
