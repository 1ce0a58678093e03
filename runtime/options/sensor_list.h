/* The value of sensors=: names of the I2C devices that may be read.
 *
 *   room:i2c1:0x48:tmp105,boiler:i2c1:0x18:mcp9808
 *
 * NAME:BUS:ADDRESS:KIND gives a name to a device: BUS has the bus's number on the board, ADDRESS
 * has seven bits, and KIND is in the list of sensor_list.c. */
#ifndef INGOT_RUNTIME_ACTING_SENSOR_LIST_H
#define INGOT_RUNTIME_ACTING_SENSOR_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/options/pin_list.h"

enum {
    SENSORS_MOST = 4,
    SENSOR_LIST_BYTES = 192,
    SENSOR_BUSES = 10,        /* i2c0 to i2c9 */
    SENSOR_ADDRESS_LEAST = 8, /* addresses below this one, and above the next, are reserved
                               * (UM10204, 3.1.12) */
    SENSOR_ADDRESS_MOST = 0x77,
};

/* How a sensor stores a temperature: two bytes of a register, the higher first. In the 16-bit word
 * only the bits of `mask` count. Shifted left by `shift`, the word is in two's complement, with
 * `a_degree` units for each degree Celsius. */
struct sensor_kind {
    const char *name;
    uint8_t reg;
    uint16_t mask;
    uint8_t shift;
    uint16_t a_degree;
};

struct sensor {
    char name[PIN_NAME_BYTES];
    unsigned bus, address;
    const struct sensor_kind *kind;
};

struct sensor_list {
    unsigned n;
    struct sensor sensor[SENSORS_MOST];
};

/* Read a list. Returns NULL, or a message without a full stop that says what is wrong; then *l must
 * not be used. */
const char *sensor_list_read(struct sensor_list *l, const char *text);
const char *
sensor_list_error_message(const char *text); /* as sensor_list_read, for callers that do not need
                                              * the list */

/* Return the value of a sensor's register, in thousandths of a degree. */
int32_t sensor_milli(const struct sensor_kind *kind, uint16_t word);

#endif
