#include "runtime/options/sensor_list.h"

#include <string.h>

/* LM75 (TI SNIS153, 7.5): nine bits. TMP102, TMP105 (SBOS397, SBOS392): up to twelve, as
 * configured. TMP117 (SNOSD82): sixteen, 1/128 of a degree. MCP9808 (DS25095, 5.1.3): three flags,
 * then thirteen bits. */
static const struct sensor_kind kinds[] = {
    { "tmp102", 0, 0xfff0, 0, 256 },  { "tmp105", 0, 0xfff0, 0, 256 },
    { "lm75", 0, 0xff80, 0, 256 },    { "tmp117", 0, 0xffff, 0, 128 },
    { "mcp9808", 5, 0x1fff, 3, 128 },
};

int32_t sensor_milli(const struct sensor_kind *kind, uint16_t word)
{
    int32_t value = (uint16_t)((word & kind->mask) << kind->shift);

    value -= value >= 0x8000 ? 0x10000 : 0;
    return value * 1000 / kind->a_degree;
}

static bool is_text(const char *text, size_t bytes, const char *what)
{
    return strlen(what) == bytes && memcmp(text, what, bytes) == 0;
}

static const char *read_name(const struct sensor_list *l, struct sensor *s, const char *text,
                             size_t bytes)
{
    if (!pin_is_name(text, bytes)) {
        return "a sensor's name has up to 23 small letters, digits and _, a letter first";
    }
    if (is_text(text, bytes, "uptime") || is_text(text, bytes, "pulse")) {
        return "uptime and pulse are actions already: give the sensor another name";
    }
    for (unsigned i = 0; i < l->n; i++) {
        if (is_text(text, bytes, l->sensor[i].name)) {
            return "two sensors have the same name";
        }
    }
    memcpy(s->name, text, bytes);
    return NULL;
}

static const char *read_bus(struct sensor *s, const char *text, size_t bytes)
{
    if (bytes != 4 || memcmp(text, "i2c", 3) != 0 || text[3] < '0' || text[3] > '9') {
        return "a name is followed by a bus, such as room:i2c1:0x48:tmp105";
    }
    s->bus = (unsigned)(text[3] - '0');
    return NULL;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *read_address(struct sensor *s, const char *text, size_t bytes)
{
    int high = bytes == 4 ? digit_of(text[2]) : -1, low = bytes == 4 ? digit_of(text[3]) : -1;

    s->address = high < 0 || low < 0 ? 0 : (unsigned)(high * 16 + low);
    if (s->address < SENSOR_ADDRESS_LEAST || s->address > SENSOR_ADDRESS_MOST ||
        memcmp(text, "0x", 2) != 0) {
        return "after the bus comes an address from 0x08 to 0x77, such as room:i2c1:0x48:tmp105";
    }
    return NULL;
}

static const char *read_kind(struct sensor *s, const char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (is_text(text, bytes, kinds[i].name)) {
            s->kind = &kinds[i];
            return NULL;
        }
    }
    return "the kinds of sensors are tmp102, tmp105, lm75, tmp117 and mcp9808";
}

/* Read one sensor, up to a comma or the end, and advance *text there. */
static const char *read_sensor(struct sensor_list *l, const char **text)
{
    struct sensor s = { .name = "" };
    const char *at = *text, *error_message = NULL;

    for (unsigned part = 0; part < 4 && error_message == NULL; part++) {
        size_t n = strcspn(at, ":,");

        switch (part) {
        case 0: error_message = read_name(l, &s, at, n); break;
        case 1: error_message = read_bus(&s, at, n); break;
        case 2: error_message = read_address(&s, at, n); break;
        default: error_message = read_kind(&s, at, n); break;
        }
        at += n;
        at += *at == ':' && part != 3;
    }
    if (error_message == NULL && *at == ':') {
        error_message = "nothing may follow a sensor's kind";
    }
    for (unsigned i = 0; error_message == NULL && i < l->n; i++) {
        if (l->sensor[i].bus == s.bus && l->sensor[i].address == s.address) {
            error_message = "two sensors have the same address";
        }
    }
    if (error_message == NULL) {
        l->sensor[l->n++] = s;
    }
    *text = at;
    return error_message;
}

const char *sensor_list_read(struct sensor_list *l, const char *text)
{
    const char *error_message = NULL;

    memset(l, 0, sizeof *l);
    if (strlen(text) >= SENSOR_LIST_BYTES) {
        return "a list of sensors has up to 191 bytes";
    }
    while (error_message == NULL) {
        if (l->n == SENSORS_MOST) {
            return "the limit is 4 sensors";
        }
        error_message = read_sensor(l, &text);
        if (error_message == NULL && *text == '\0') {
            return NULL;
        }
        text += *text == ',';
    }
    return error_message;
}

const char *sensor_list_error_message(const char *text)
{
    struct sensor_list list;

    return sensor_list_read(&list, text);
}
