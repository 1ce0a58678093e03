#include "runtime/features/acting/sensors.h"

#include "runtime/text/format_text.h"

enum { ERROR_MESSAGE_BYTES = 160 };

static const char *error_message_of(const struct platform_i2c *platform,
                                    const struct sensor *sensor)
{
    if (platform->claim == NULL || platform->write == NULL || platform->read == NULL) {
        return "this machine has no I2C bus that Ingot can read";
    }
    return platform->claim(platform->context, sensor->bus);
}

void sensors_open(struct sensors *s, const struct platform_i2c *platform,
                  const struct sensor_list *list, pins_say_fn *say, void *context)
{
    char error_message[ERROR_MESSAGE_BYTES];

    *s = (struct sensors){ .platform = platform };
    for (unsigned i = 0; i < list->n; i++) {
        const struct sensor *sensor = &list->sensor[i];
        const char *why = error_message_of(platform, sensor);

        if (why == NULL) {
            s->list.sensor[s->list.n++] = *sensor;
            continue;
        }
        format_text(error_message, sizeof error_message, "%s:i2c%u of sensors= is not used: %s",
                    sensor->name, sensor->bus, why);
        say(context, error_message);
    }
}

static bool fail(const struct sensor *sensor, enum err e, char *error_message)
{
    switch (e) {
    case ERR_NO_DEVICE:
        format_text(error_message, SENSOR_ERROR_MESSAGE_BYTES,
                    "nobody answers at 0x%x on i2c%u: check its wires and address", sensor->address,
                    sensor->bus);
        break;
    case ERR_TIMEOUT:
        format_text(error_message, SENSOR_ERROR_MESSAGE_BYTES,
                    "i2c%u is held low: check its wires and power", sensor->bus);
        break;
    default:
        format_text(error_message, SENSOR_ERROR_MESSAGE_BYTES, "i2c%u does not work: %s",
                    sensor->bus, err_text(e));
    }
    return false;
}

/* Write the register's number, then read its bytes. A stop condition separates the two transfers;
 * these sensors remember the register's number. */
bool sensors_read(struct sensors *s, unsigned i, int32_t *milli,
                  char error_message[SENSOR_ERROR_MESSAGE_BYTES])
{
    const struct platform_i2c *p = s->platform;
    const struct sensor *sensor = &s->list.sensor[i];
    uint8_t bytes[2];
    enum err e;

    if (i >= s->list.n) {
        format_text(error_message, SENSOR_ERROR_MESSAGE_BYTES,
                    "no sensor of that name is in sensors=");
        return false;
    }
    e = p->write(p->context, sensor->bus, sensor->address, &sensor->kind->reg, 1);
    if (e == ERR_OK) {
        e = p->read(p->context, sensor->bus, sensor->address, bytes, sizeof bytes);
    }
    if (e != ERR_OK) {
        return fail(sensor, e, error_message);
    }
    *milli = sensor_milli(sensor->kind, (uint16_t)(bytes[0] << 8 | bytes[1]));
    return true;
}
