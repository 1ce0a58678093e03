/* The values of sensors=, the meaning of a sensor's word by its datasheet, and sensors as actions:
 * read, refused, missing. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/acting/fake_lines.h"
#include "tests/unit/tap.h"

static struct actions a;
static char said[ACTION_TEXT_BYTES];
static struct sensor_list list;

static bool reads(const char *text)
{
    return sensor_list_read(&list, text) == NULL;
}

static void test_good(void)
{
    OK(reads("room:i2c1:0x48:tmp105") && list.n == 1 && strcmp(list.sensor[0].name, "room") == 0 &&
           list.sensor[0].bus == 1 && list.sensor[0].address == 0x48 &&
           strcmp(list.sensor[0].kind->name, "tmp105") == 0,
       "a name, a bus, an address and a kind are read");
    OK(reads(
           "temperature:i2c0:0x08:lm75,b:i2c9:0x77:tmp117,c:i2c1:0x1f:mcp9808,d:i2c1:0x49:tmp102") &&
           list.n == SENSORS_MOST && list.sensor[2].address == 0x1f && list.sensor[1].bus == 9,
       "four sensors are read");
}

static void test_bad(void)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "", "a sensor's name" },
        { "Room:i2c1:0x48:tmp105", "a sensor's name" },
        { "uptime:i2c1:0x48:tmp105", "actions already" },
        { "pulse:i2c1:0x48:tmp105", "actions already" },
        { "room", "followed by a bus" },
        { "room:1:0x48:tmp105", "followed by a bus" },
        { "room:i2c:0x48:tmp105", "followed by a bus" },
        { "room:i2c10:0x48:tmp105", "followed by a bus" },
        { "room:i2cx:0x48:tmp105", "followed by a bus" },
        { "room:i2c1", "comes an address" },
        { "room:i2c1:72:tmp105", "comes an address" },
        { "room:i2c1:1x48:tmp105", "comes an address" },
        { "room:i2c1:0x4:tmp105", "comes an address" },
        { "room:i2c1:0x048:tmp105", "comes an address" },
        { "room:i2c1:0x4G:tmp105", "comes an address" },
        { "room:i2c1:0x07:tmp105", "comes an address" },
        { "room:i2c1:0x78:tmp105", "comes an address" },
        { "room:i2c1:0x48", "the kinds of sensors" },
        { "room:i2c1:0x48:tmp", "the kinds of sensors" },
        { "room:i2c1:0x48:tmp1055", "the kinds of sensors" },
        { "room:i2c1:0x48:tmp105:x", "nothing may follow" },
        { "room:i2c1:0x48:tmp105,", "a sensor's name" },
        { "room:i2c1:0x48:tmp105,room:i2c1:0x49:tmp105", "the same name" },
        { "a:i2c1:0x48:tmp105,b:i2c1:0x48:lm75", "the same address" },
        { "a:i2c1:0x48:lm75,b:i2c1:0x49:lm75,c:i2c1:0x4a:lm75,d:i2c1:0x4b:lm75,e:i2c1:0x4c:lm75",
          "the limit is 4" },
    };
    char longest[SENSOR_LIST_BYTES + 1];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *why = sensor_list_read(&list, rows[i].text);

        OK(why != NULL && strstr(why, rows[i].says) != NULL, "'%s' is refused: %s", rows[i].text,
           why != NULL ? why : "was taken");
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    OK(strstr(sensor_list_read(&list, longest), "191 bytes") != NULL,
       "a list that is too long is refused");
}

/* Rows of the datasheets' own tables. */
static void test_words(void)
{
    static const struct {
        const char *kind;
        uint16_t word;
        int32_t milli;
    } rows[] = {
        { "tmp105", 0x7ff0, 127937 }, { "tmp105", 0x1900, 25000 },  { "tmp105", 0x0040, 250 },
        { "tmp105", 0x0000, 0 },      { "tmp105", 0xffc0, -250 },   { "tmp105", 0xe700, -25000 },
        { "tmp105", 0xc900, -55000 }, { "tmp102", 0x3200, 50000 },  { "tmp102", 0x320f, 50000 },
        { "lm75", 0x7d00, 125000 },   { "lm75", 0x0080, 500 },      { "lm75", 0xff80, -500 },
        { "lm75", 0x19ff, 25500 },    { "tmp117", 0x0c80, 25000 },  { "tmp117", 0x0001, 7 },
        { "tmp117", 0xff80, -1000 },  { "mcp9808", 0xc194, 25250 }, { "mcp9808", 0x1ff0, -1000 },
    };
    char text[64];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "a:i2c1:0x48:%s", rows[i].kind);
        OK(reads(text) && sensor_milli(list.sensor[0].kind, rows[i].word) == rows[i].milli,
           "%s: the word %04x means %d thousandths of a degree, and gives %d", rows[i].kind,
           rows[i].word, (int)rows[i].milli, (int)sensor_milli(list.sensor[0].kind, rows[i].word));
    }
}

static bool does(const char *name)
{
    struct action_call c = { .action = actions_find(&a, name, strlen(name)) };

    return actions_do(&a, &c, NULL, said);
}

static void test_actions(void)
{
    char text[ACTIONS_PROMPT_BYTES];

    fake_sensors =
        "room:i2c1:0x48:tmp105,boiler:i2c1:0x49:lm75,far:i2c0:0x48:lm75,light:i2c1:0x4a:lm75";
    fake_open(&a, "light:3", "", false);
    (void)actions_prompt(&a, text);
    OK(strstr(text, "\nlight: value on|off\nroom\nboiler\ntemperature\nuptime") != NULL,
       "the prompt names the existing sensors: %s", text);
    OK(strstr(fake_said, "far:i2c0 of sensors= is not used: there is the bus i2c1") != NULL &&
           strstr(fake_said, "light of sensors= is not used: a pin has the same name") != NULL &&
           fake.n_transfers == 0,
       "a sensor on another bus, or with a pin's name, is not used: %s", fake_said);
    fake.words[0] = 0x1780;
    OK(does("room") && strcmp(said, "room is 23.5 C") == 0, "a sensor is read: %s", said);
    fake.words[0] = 0xff80;
    OK(does("room") && strcmp(said, "room is -0.5 C") == 0, "a temperature below zero is told: %s",
       said);
    OK(!does("boiler") && strstr(said, "nobody answers at 0x49 on i2c1") != NULL,
       "a sensor that does not answer is named: %s", said);
    fake.error = ERR_TIMEOUT;
    OK(!does("room") && strstr(said, "i2c1 is held low") != NULL,
       "a bus that is held low is named: %s", said);
    fake.error = ERR_IO;
    OK(!does("room") && strstr(said, "i2c1 does not work: ") != NULL,
       "a bus that does not work is named: %s", said);
    OK(does("temperature") && strcmp(said, "temperature is 41.5 C") == 0,
       "the machine's own sensor is read");
}

static void test_temperature(void)
{
    char text[ACTIONS_PROMPT_BYTES];
    unsigned before;

    fake_sensors = "temperature:i2c1:0x48:mcp9808";
    fake_open(&a, "light:3", "", false);
    (void)actions_prompt(&a, text);
    fake.words[5] = 0xc194;
    OK(strstr(text, "\ntemperature\nuptime") != NULL && a.n == 3 && does("temperature") &&
           strcmp(said, "temperature is 25.3 C") == 0,
       "a sensor named temperature takes the place of the machine's own: %s", said);
    before = fake.n_transfers;
    pins_set_dry(&a.pins, true);
    OK(!does("temperature") && strstr(said, "a dry run") != NULL && fake.n_transfers == before,
       "a dry run leaves the bus alone: %s", said);
}

int main(void)
{
    test_good();
    test_bad();
    test_words();
    test_actions();
    test_temperature();
    return tap_done();
}
