/* A machine with 32 lines that notes what is done to which; line 14 belongs to the serial line. */
#ifndef INGOT_TESTS_UNIT_ACTING_FAKE_LINES_H
#define INGOT_TESTS_UNIT_ACTING_FAKE_LINES_H

#include <string.h>

#include "runtime/features/acting/action_call.h"

enum { FAKE_LINES = 32, FAKE_UART = 14, FAKE_HZ = 1000000 };

static struct {
    uint32_t level, output, touched; /* bits: lines */
    unsigned n_writes, n_reads;
    uint64_t now, step;
    int32_t temperature;
    /* One device on bus 1, whose registers are words; error: what the bus answers. */
    uint16_t words[8];
    uint8_t reg;
    enum err error;
    unsigned n_transfers;
} fake;

static const char *fake_sensors = ""; /* of fake_open */

enum { FAKE_ADDRESS = 0x48 };

static const char *fake_claim(void *context, unsigned bus)
{
    (void)context;
    return bus == 1 ? NULL : "there is the bus i2c1";
}

static enum err fake_i2c_write(void *context, unsigned bus, unsigned address, const uint8_t *bytes,
                               unsigned n)
{
    (void)context;
    fake.n_transfers++;
    if (bus != 1 || address != FAKE_ADDRESS || n != 1)
        return ERR_NO_DEVICE;
    fake.reg = bytes[0] & 7;
    return fake.error;
}

static enum err fake_i2c_read(void *context, unsigned bus, unsigned address, uint8_t *bytes,
                              unsigned n)
{
    (void)context;
    (void)bus;
    (void)address;
    for (unsigned i = 0; i < n; i++)
        bytes[i] = (uint8_t)(fake.words[fake.reg] >> (i == 0 ? 8 : 0));
    return ERR_OK;
}

static const char *fake_error_message(void *context, unsigned line)
{
    (void)context;
    if (line == FAKE_UART)
        return "line 14 is the serial line's";
    return line < FAKE_LINES ? NULL : "there are lines 0 to 31";
}

static void fake_write(void *context, unsigned line, bool high)
{
    (void)context;
    fake.level = (fake.level & ~(1u << line)) | (uint32_t)high << line;
    fake.touched |= 1u << line;
    fake.n_writes++;
}

static void fake_setup(void *context, unsigned line, bool output, bool high)
{
    (void)context;
    fake.touched |= 1u << line;
    fake.output |= (uint32_t)output << line;
    if (output)
        fake.level = (fake.level & ~(1u << line)) | (uint32_t)high << line;
}

static bool fake_read(void *context, unsigned line)
{
    (void)context;
    fake.n_reads++;
    fake.touched |= 1u << line;
    return (fake.level >> line & 1) != 0;
}

static uint64_t fake_ticks(void *context)
{
    (void)context;
    fake.now += fake.step;
    return fake.now;
}

static void fake_health(void *context, struct board_health *h)
{
    (void)context;
    *h = (struct board_health){ .temperature = fake.temperature };
}

static const struct platform fake_machine = {
    .clock = { .ticks = fake_ticks, .hz = FAKE_HZ },
    .health = { .read = fake_health },
    .pins = { .error_message = fake_error_message,
              .setup = fake_setup,
              .write = fake_write,
              .read = fake_read },
    .i2c = { .claim = fake_claim, .write = fake_i2c_write, .read = fake_i2c_read },
};

static char fake_said[512];

static void fake_say(void *context, const char *error_message)
{
    (void)context;
    strncat(fake_said, error_message, sizeof fake_said - strlen(fake_said) - 1);
}

/* Opens the actions of pins= and of a file; "": none. */
static inline void fake_open(struct actions *a, const char *pins, const char *file, bool dry)
{
    struct pin_list list = { .n = 0 };
    struct sensor_list sensors = { .n = 0 };
    char error_message[ACTION_TEXT_BYTES];

    memset(&fake, 0, sizeof fake);
    fake.temperature = 41480;
    fake_said[0] = '\0';
    if (pins[0] != '\0')
        (void)pin_list_read(&list, pins);
    if (fake_sensors[0] != '\0')
        (void)sensor_list_read(&sensors, fake_sensors);
    actions_open(a, &fake_machine, &list, &sensors, dry, 30, fake_say, NULL);
    if (file[0] != '\0')
        (void)actions_read(a, file, error_message);
    fake.n_writes = fake.n_reads = 0;
}

#endif
