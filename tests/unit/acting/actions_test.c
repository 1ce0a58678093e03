/* A model's actions: the table, its file, its words for the model; calls that are done, that are
 * refused, and that try to reach a line that was not named. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/acting/fake_lines.h"
#include "tests/unit/tap.h"

#define PINS "light:3,fan:4:low,door:5:in,lights:6"
#define PULSES "# the porch\npulse light|fan ms 1..5000\n"

static struct actions a;
static char said[ACTION_TEXT_BYTES];

/* ---- the table -------------------------------------------------------------------------------- */

static void test_prompt(void)
{
    char text[ACTIONS_PROMPT_BYTES];
    size_t n;

    fake_open(&a, "light:3,fan:4,door:5:in", "", false);
    n = actions_prompt(&a, text);
    OK(strcmp(text, "You can act. To act, reply with one line of JSON, such as "
                    "{\"action\":\"light\",\"value\":\"on\"}.\nActions:\nlight: value on|off\n"
                    "fan: value on|off\ndoor\ntemperature\nuptime") == 0 &&
           n == strlen(text),
       "the prompt has the words that models are trained on: %s", text);
    fake_open(&a, "door:5:in,light:3", "pulse light ms 1..5000", false);
    (void)actions_prompt(&a, text);
    OK(strstr(text, "such as {\"action\":\"door\"}.\n") != NULL &&
           strstr(text, "\nuptime\npulse: line light, ms 1..5000") != NULL,
       "the example of the prompt is an input if there is one: %s", text);
    fake_open(&a, "", "", false);
    (void)actions_prompt(&a, text);
    OK(strstr(text, "such as {\"action\":\"temperature\"}.\n") != NULL,
       "the example of the prompt is the temperature if there is no pin");
    fake_open(
        &a,
        "abcdefghijklmnopqrstuva:0,abcdefghijklmnopqrstuvb:1,abcdefghijklmnopqrstuvc:2,"
        "abcdefghijklmnopqrstuvd:3,abcdefghijklmnopqrstuve:4,abcdefghijklmnopqrstuvf:5,"
        "abcdefghijklmnopqrstuvg:6,abcdefghijklmnopqrstuvh:7,abcdefghij:8",
        "pulse abcdefghijklmnopqrstuva|abcdefghijklmnopqrstuvb|abcdefghijklmnopqrstuvh ms 1..60000",
        false);
    n = actions_prompt(&a, text);
    OK(n < ACTIONS_PROMPT_BYTES - 1 && strstr(text, "ms 1..60000") == text + n - 11,
       "the longest list has room");
}

static void test_refused_pins(void)
{
    fake_open(&a, "light:3,line:14,far:40", "", false);
    OK(a.pins.list.n == 1 && a.n == 3 &&
           strstr(fake_said, "line:14 of pins= is not used: line 14 is") &&
           strstr(fake_said, "far:40 of pins= is not used") != NULL,
       "a pin that the board has for itself is refused by name: %s", fake_said);
    OK(fake.touched == 1u << 3, "a pin of the board is never touched, not even at the start");
    fake_open(&a, PINS, "", false);
    OK(fake.output == (1u << 3 | 1u << 4 | 1u << 6) && fake.level == 1u << 4,
       "outputs begin off, which is high for a pin that is low when on");
}

static void test_file(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "blink light ms 1..5", "line 1 of the actions: a line begins with pulse or words" },
        { "\n# x\npuls light ms 1..5", "line 3 of" },
        { "pulse", "pulse takes names" },
        { "pulse ms 1..5", "pulse takes names" },
        { "pulse lamp ms 1..5", "pulse takes names" },
        { "pulse light| ms 1..5", "pulse takes names" },
        { "pulse |light ms 1..5", "pulse takes names" },
        { "pulse lightx ms 1..5", "pulse takes names" },
        { "pulse ligh ms 1..5", "pulse takes names" },
        { "pulse light|door ms 1..5", "an input has no pulses" },
        { "pulse light", "comes ms" },
        { "pulse light s 1..5", "comes ms" },
        { "pulse light ms", "a range" },
        { "pulse light ms 5", "a range" },
        { "pulse light ms 1.5", "a range" },
        { "pulse light ms 1..", "milliseconds" },
        { "pulse light ms 0..5", "milliseconds" },
        { "pulse light ms 6..5", "milliseconds" },
        { "pulse light ms 1..60001", "milliseconds" },
        { "pulse light ms 1..99999999999", "milliseconds" },
        { "pulse light ms 1..5 x", "nothing may follow" },
        { "words", "words takes a name" },
        { "words lamp bulb", "words takes a name" },
        { "words light", "other words for it" },
        { "words light bulb|", "other words for it" },
        { "words light |bulb", "other words for it" },
        { "words light abcdefghijklmnopqrstuvwx", "23 bytes" },
        { "words light bulb lamp", "a bar, such as" },
        { "words on a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y|z|0|1|2|3|4|5|6",
          "32 words" },
        { "words light lamp\nblink", "line 2 of" },
        { "pulse light ms 1..5\npulse fan ms 1..5", "one line of pulse" },
        { "pulse light ms 1..5;pulse fan ms 1..5", "one line of pulse" },
    };
    static const char *const good[] = { "",
                                        "#",
                                        " \t\r\n\n",
                                        "words light lamp|desk_lamp;words on an;words off aus",
                                        PULSES,
                                        "pulse light ms 1..5;",
                                        "  pulse\tlight|fan|lights  ms  7..7  ; # x ; y" };
    char error_message[ACTION_TEXT_BYTES];

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *why;

        fake_open(&a, PINS, "", false);
        why = actions_read(&a, bad[i].text, error_message);
        OK(why != NULL && strstr(why, bad[i].says) != NULL && a.n == 6 && a.n_words == 0,
           "'%s' is refused: %s", bad[i].text, why != NULL ? why : "was taken");
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        fake_open(&a, PINS, "", false);
        OK(actions_read(&a, good[i], error_message) == NULL && a.n == 6 + (i > 3), "'%s' is taken",
           good[i]);
    }
    OK(actions_read(&a, "pulse fan ms 1..5", error_message) != NULL && a.n == 7,
       "a pulse is read once");
}

/* ---- calls ------------------------------------------------------------------------------------ */

static enum action_reply call(const char *text)
{
    struct action_call c;
    char copy[512];
    size_t n = strlen(text);
    enum action_reply r;

    memcpy(copy, text, n + 1);
    r = action_call_read(&a, copy, n, &c, said);
    if (r == ACTION_CALLED && !actions_do(&a, &c, NULL, said))
        return ACTION_WRONG;
    return r;
}

static bool does(const char *text, const char *result)
{
    return call(text) == ACTION_CALLED && strcmp(said, result) == 0;
}

static void test_done(void)
{
    fake_open(&a, PINS, PULSES, false);
    OK(does("{\"action\":\"light\",\"value\":\"on\"}", "light is on") && fake.level >> 3 & 1,
       "an action turns a light on: %s", said);
    OK(does("{\"action\":\"fan\",\"value\":\"on\"}", "fan is on") && !(fake.level >> 4 & 1),
       "a pin that is low when on drives low");
    OK(does("{\"action\":\"light\",\"value\":\"off\"}", "light is off") && !(fake.level >> 3 & 1),
       "an action turns the light off");
    OK(does("{\"action\":\"door\"}", "door is off"), "an input is read");
    fake.level |= 1u << 5;
    OK(does("{\"action\":\"door\"}", "door is on"), "an input is read again: %s", said);
    OK(does("{\"action\":\"temperature\"}", "temperature is 41.5 C"),
       "an action tells the temperature: %s", said);
    fake.temperature = -3460;
    OK(does("{\"action\":\"temperature\"}", "temperature is -3.5 C"),
       "a temperature below zero is told: %s", said);
    fake.temperature = BOARD_NO_TEMPERATURE;
    OK(call("{\"action\":\"temperature\"}") == ACTION_WRONG &&
           strstr(said, "does not tell") != NULL,
       "a board without a temperature says so: %s", said);
    fake.now = 12 * FAKE_HZ;
    OK(does("{\"action\":\"uptime\"}", "uptime is 12 s"), "an action tells the uptime: %s", said);
    OK(does(" {\"value\" : \"\\u006fn\", \"action\":\"li\\u0067ht\"} \n", "light is on"),
       "a call in other JSON with the same meaning is the same");
    OK(fake.touched == (1u << 3 | 1u << 4 | 1u << 5 | 1u << 6),
       "only the lines of pins= are touched");
    OK(a.list[0].done == 3 && a.list[2].done == 2, "refused lines are counted");
}

static void test_pulse(void)
{
    uint64_t before;

    fake_open(&a, PINS, PULSES, false);
    fake.step = 10;
    before = fake.now;
    OK(does("{\"action\":\"pulse\",\"line\":\"fan\",\"ms\":500}", "fan was on for 500 ms") &&
           fake.n_writes == 2 && (fake.level >> 4 & 1) == 1 && fake.now - before >= FAKE_HZ / 2 &&
           fake.now - before < FAKE_HZ * 6 / 10,
       "a pulse is on for half a second, then off: %s", said);
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void test_stopped_pulse(void)
{
    const struct stop stop = { at_once, NULL };
    struct action_call c = { .value = { 0, 5000 } };

    fake_open(&a, PINS, PULSES, false);
    fake.step = 10;
    c.action = actions_find(&a, "pulse", 5);
    OK(!actions_do(&a, &c, &stop, said) && strstr(said, "stopped") != NULL &&
           (fake.level >> 3 & 1) == 0 && fake.now < FAKE_HZ,
       "Ctrl-C ends a pulse, and its line is off: %s", said);
}

/* ---- hostile ones ------------------------------------------------------------------------------ */

static void test_hostile(void)
{
    static const struct {
        const char *text;
        enum action_reply is;
        const char *says;
    } rows[] = {
        { "", ACTION_PROSE, "" },
        { "The light is on.", ACTION_PROSE, "" },
        { "I do: {\"action\":\"light\",\"value\":\"on\"}", ACTION_PROSE, "" },
        { "{", ACTION_PROSE, "" },
        { "{}", ACTION_PROSE, "" },
        { "{\"a\":1}", ACTION_PROSE, "" },
        { "[{\"action\":\"light\",\"value\":\"on\"}]", ACTION_PROSE, "" },
        { "{\"action\":\"light\",\"value\":\"on\"", ACTION_WRONG, "not JSON" },
        { "{\"action\":\"light\",\"value\":\"on\"}}", ACTION_WRONG, "not JSON" },
        { "{\"action\":\"light\",\"value\":\"on\"} and so on", ACTION_WRONG, "not JSON" },
        { "{\"action\":\"light\",\"value\":\"on\"}{\"action\":\"fan\",\"value\":\"on\"}",
          ACTION_WRONG, "not JSON" },
        { "{\"action\":\"light\"}", ACTION_WRONG, "needs its argument value" },
        { "{\"action\":\"light\",\"value\":\"purple\"}", ACTION_WRONG, "on or off" },
        { "{\"action\":\"light\",\"value\":\"On\"}", ACTION_WRONG, "on or off" },
        { "{\"action\":\"light\",\"value\":true}", ACTION_WRONG, "another kind" },
        { "{\"action\":\"light\",\"value\":1}", ACTION_WRONG, "on or off" },
        { "{\"action\":\"light\",\"value\":[\"on\"]}", ACTION_WRONG, "another kind" },
        { "{\"action\":\"light\",\"value\":\"on\",\"value\":\"off\"}", ACTION_WRONG,
          "takes it only once" },
        { "{\"action\":\"light\",\"value\":\"on\",\"line\":14}", ACTION_WRONG,
          "no argument 'line'" },
        { "{\"action\":\"light\",\"line\":14}", ACTION_WRONG, "no argument 'line'" },
        { "{\"action\":\"light\",\"action\":\"fan\",\"value\":\"on\"}", ACTION_WRONG,
          "no argument 'action'" },
        { "{\"action\":\"light\",\"a\":1,\"b\":2,\"c\":3}", ACTION_WRONG, "not JSON" },
        { "{\"action\":\"lamp\",\"value\":\"on\"}", ACTION_WRONG, "no action 'lamp'" },
        { "{\"action\":\"ligh\",\"value\":\"on\"}", ACTION_WRONG, "no action 'ligh'" },
        { "{\"action\":\"lightss\",\"value\":\"on\"}", ACTION_WRONG, "no action 'lightss'" },
        { "{\"action\":\"\",\"value\":\"on\"}", ACTION_WRONG, "no action ''" },
        { "{\"action\":\"14\",\"value\":\"on\"}", ACTION_WRONG, "no action '14'" },
        { "{\"action\":3,\"value\":\"on\"}", ACTION_WRONG, "the name of an action" },
        { "{\"action\":null}", ACTION_WRONG, "the name of an action" },
        { "{\"action\":\"\303\244\033[2J\"}", ACTION_PROSE, "" },
        { "{\"action\":\"\303\244x\"}", ACTION_WRONG, "no action '??x'" },
        { "{\"action\":\"door\",\"value\":\"on\"}", ACTION_WRONG, "no argument 'value'" },
        { "{\"action\":\"pulse\",\"line\":\"light\"}", ACTION_WRONG, "needs its argument ms" },
        { "{\"action\":\"pulse\",\"ms\":5}", ACTION_WRONG, "needs its argument line" },
        { "{\"action\":\"pulse\",\"line\":\"door\",\"ms\":5}", ACTION_WRONG, "no line 'door'" },
        { "{\"action\":\"pulse\",\"line\":\"lights\",\"ms\":5}", ACTION_WRONG, "no line 'lights'" },
        { "{\"action\":\"pulse\",\"line\":\"ligh\",\"ms\":5}", ACTION_WRONG, "no line 'ligh'" },
        { "{\"action\":\"pulse\",\"line\":14,\"ms\":5}", ACTION_WRONG, "no line '14'" },
        { "{\"action\":\"pulse\",\"line\":\"light\",\"ms\":0}", ACTION_WRONG, "from 1 to 5000" },
        { "{\"action\":\"pulse\",\"line\":\"light\",\"ms\":5001}", ACTION_WRONG, "from 1 to 5000" },
        { "{\"action\":\"pulse\",\"line\":\"light\",\"ms\":4294967301}", ACTION_WRONG,
          "from 1 to 5000" },
        { "{\"action\":\"pulse\",\"line\":\"light\",\"ms\":-5}", ACTION_WRONG, "from 1 to 5000" },
        { "{\"action\":\"pulse\",\"line\":\"light\",\"ms\":5e2}", ACTION_WRONG, "from 1 to 5000" },
        { "{\"action\":\"pulse\",\"line\":\"light\",\"ms\":05}", ACTION_WRONG, "from 1 to 5000" },
        { "{\"action\":\"pulse\",\"line\":\"light\",\"ms\":\"5\"}", ACTION_WRONG,
          "from 1 to 5000" },
    };
    uint32_t before;

    fake_open(&a, PINS, PULSES, false);
    before = fake.level;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        said[0] = '\0';
        OK(call(rows[i].text) == rows[i].is && strstr(said, rows[i].says) != NULL,
           "%s has its result: %s", rows[i].text, said);
    }
    OK(fake.n_writes == 0 && fake.n_reads == 0 && fake.level == before,
       "no refused action touched a line");
}

/* Tries a call that no reader made, and pins past the table: the last check is next to the line. */
static void test_beside_the_line(void)
{
    struct action forged = { .kind = ACTION_OUTPUT, .pin = 0, .name = "light" };
    struct action_call c = { .action = &forged };
    bool on;

    fake_open(&a, PINS, PULSES, false);
    OK(!actions_do(&a, &c, NULL, said) && fake.n_writes == 0,
       "an action that is not in the table does nothing");
    c.action = actions_find(&a, "pulse", 5);
    c.value[0] = 2; /* the door */
    c.value[1] = 5;
    OK(!actions_do(&a, &c, NULL, said) && fake.n_writes == 0, "an input refuses a pulse");
    c.value[0] = 77;
    OK(!actions_do(&a, &c, NULL, said) && fake.n_writes == 0,
       "a pin that is not listed refuses a pulse");
    c.value[0] = 0;
    c.value[1] = 5001;
    OK(!actions_do(&a, &c, NULL, said) && fake.n_writes == 0,
       "a pulse that is too long is refused");
    OK(pins_write(&a.pins, 2, true) != NULL && pins_write(&a.pins, 4, true) != NULL &&
           pins_write(&a.pins, 4000000000u, true) != NULL && pins_read(&a.pins, 4, &on) != NULL &&
           fake.n_writes == 0 && fake.n_reads == 0,
       "pins_write writes no input, and nothing beyond the list");
    a.pins.list.pin[0].line = FAKE_UART; /* as if the list had been damaged */
    OK(pins_write(&a.pins, 0, true) != NULL && fake.n_writes == 0,
       "pins_write asks the board again, whatever the list allows");
}

/* ---- limits ------------------------------------------------------------------------------------ */

static void test_limit(void)
{
    static const char text[] = "{\"action\":\"light\",\"value\":\"on\"}";
    unsigned done = 0;

    fake_open(&a, PINS, "", false);
    for (unsigned i = 0; i < 40; i++) {
        fake.now += FAKE_HZ; /* 40 in 40 seconds */
        done += call(text) == ACTION_CALLED;
    }
    OK(done == 30 && fake.n_writes == 30 && strstr(said, "the limit is 30 a minute") != NULL,
       "only 30 actions a minute are done, here %u: %s", done, said);
    fake.now += 21 * FAKE_HZ;
    OK(call(text) == ACTION_CALLED, "one more action is done when the first is a minute old");
    OK(call(text) == ACTION_WRONG, "no other action is done before the second is a minute old");
    fake_open(&a, PINS, "", false);
    a.a_minute = 0;
    for (unsigned i = done = 0; i < 200; i++) {
        done += call(text) == ACTION_CALLED;
    }
    OK(done == 200, "0 sets no limit");
}

static void test_dry(void)
{
    fake_open(&a, PINS, PULSES, true);
    OK(fake.touched == 0, "a dry run does not even set directions");
    OK(does("{\"action\":\"light\",\"value\":\"on\"}", "light is on") &&
           does("{\"action\":\"door\"}", "door is off") &&
           does("{\"action\":\"pulse\",\"line\":\"fan\",\"ms\":5000}", "fan was on for 5000 ms"),
       "a dry run prints the action");
    OK(fake.touched == 0 && a.list[0].done == 1, "a dry run touches no line, and is counted");
    pins_set_dry(&a.pins, false);
    OK(fake.output == (1u << 3 | 1u << 4 | 1u << 6) && fake.level == 1u << 4,
       "after a check in which nothing is driven, the lines are outputs and off");
    OK(does("{\"action\":\"light\",\"value\":\"on\"}", "light is on") && (fake.level >> 3 & 1) == 1,
       "outputs are written");
}

static void test_no_lines(void)
{
    struct platform bare = fake_machine;
    struct pin_list list;
    struct sensor_list none = { .n = 0 };

    memset(&bare.pins, 0, sizeof bare.pins);
    fake_said[0] = '\0';
    (void)pin_list_read(&list, "light:3");
    actions_open(&a, &bare, &list, &none, false, 30, fake_say, NULL);
    OK(a.n == 2 && strstr(fake_said, "no lines that Ingot can drive") != NULL,
       "a machine without lines refuses the pins: %s", fake_said);
}

/* ---- answers ----------------------------------------------------------------------------------- */

static void test_answers(void)
{
    char text[ACTION_ANSWER_BYTES];

    (void)action_answer(text, true, "light is on");
    OK(strcmp(text, "{\"result\":\"light is on\"}") == 0 && action_is_answer(text, strlen(text)),
       "a result is an answer");
    (void)action_answer(text, false, "a \"quote\"");
    OK(strcmp(text, "{\"error\":\"a \\\"quote\\\"\"}") == 0 && action_is_answer(text, strlen(text)),
       "an error is an answer");
    OK(!action_is_answer("{\"resul\":\"x\"}", 13) && !action_is_answer("Hello", 5) &&
           !action_is_answer("{\"result\":\"", 5),
       "a text that is not an action is not an answer");
}

int main(void)
{
    test_prompt();
    test_refused_pins();
    test_file();
    test_done();
    test_pulse();
    test_stopped_pulse();
    test_hostile();
    test_beside_the_line();
    test_limit();
    test_dry();
    test_no_lines();
    test_answers();
    return tap_done();
}
