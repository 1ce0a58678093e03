/* People's words before a line is driven: sentences that ask for a call, and sentences that do not. */
#include <stdio.h>
#include <string.h>

#include "runtime/features/acting/action_said.h"
#include "tests/unit/acting/fake_lines.h"
#include "tests/unit/tap.h"

#define PINS "light:3,fan:4,porch:5,porch_light:6,lights:7,door:8:in"
#define FILE_TEXT \
    "pulse light|fan ms 1..5000;words light lamp|desk_lamp|\303\244mpel;words on an;words off aus;words not nicht"

static struct actions a;
static char why[ACTION_TEXT_BYTES];

/* Asks with a conversation whose last turn is the question. before: NULL, or an earlier turn. */
static bool asks(const char *before, const char *question, const char *name, uint32_t value)
{
    struct action_call c = { .action = actions_find(&a, name, strlen(name)), .value = { value } };
    struct action_heard h = { .named = false };

    why[0] = '\0';
    if (before != NULL)
        action_hear(&a, &c, before, strlen(before), false, &h);
    action_hear(&a, &c, question, strlen(question), true, &h);
    return action_is_asked(&a, &c, &h, why);
}

static bool pulses(const char *question, uint32_t ms)
{
    struct action_call c = { .action = actions_find(&a, "pulse", 5), .value = { 0, ms } };
    struct action_heard h = { .named = false };

    action_hear(&a, &c, question, strlen(question), true, &h);
    return action_is_asked(&a, &c, &h, why);
}

static void test_asked(void)
{
    static const struct {
        const char *text;
        uint32_t value;
    } rows[] = {
        { "Turn on the light.", 1 },
        { "turn the LIGHT off", 0 },
        { "Light on!", 1 },
        { "On with the light.", 1 },
        { "The light, please turn it off", 0 },
        { "I'm going out, turn on the light.", 1 },
        { "I'd like you to switch the light on", 1 },
        { "Please don't keep the light on.", 0 },
        { "Please don\342\200\231t leave the light off.", 1 },
        { "I have no use for the light any more.", 0 },
        { "Is the light off? If not, turn it off.", 0 },
        { "Why not turn on the light?", 1 },
        { "I do not need the fan, start the light", 1 },
        { "Turn on the lamp", 1 },
        { "the desk lamp off please", 0 },
        { "the desk-lamp off please", 0 },
        { "Mach die \303\244mpel an", 1 },
        { "Die Lamp nicht an lassen", 0 },
        { "Was kostet das? light aus", 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        OK(asks(NULL, rows[i].text, "light", rows[i].value),
           "'%s' allows the value that it names: %s", rows[i].text, why);
        OK(!asks(NULL, rows[i].text, "light", !rows[i].value),
           "'%s' does not allow the other value", rows[i].text);
    }
    OK(asks("The fan is loud.", "Turn it off.", "fan", 0),
       "a request without a name means the line that an earlier turn named");
    OK(!asks("Turn the fan off.", "Thanks, I'm going out.", "fan", 0) &&
           strstr(why, "nobody has said that fan goes off") != NULL,
       "what an earlier turn asked for does not count any more: %s", why);
}

static void test_not_asked(void)
{
    static const char *const rows[] = {
        "Hello!",
        "",
        "It is dark, turn it on",
        "Turn on the television",
        "Turn the fan on and off",
        "lightning strikes, on and off",
        "moonlight on, moonlight off",
        "light",
        "What's up with the light?",
        "The cat sat on the light.",
        "My friend fell off the light.",
        "Would you check on the light?",
        "The light was on and off yesterday.",
        "Did you turn the light on or off?",
        "Should I turn the light on or off?",
        "I want the fan on and also the light.",
        "Turn on the porch-light, turn off the porch light",
        "Turn the lights on, turn the lights off",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        OK(!asks(NULL, rows[i], "light", 1) && !asks(NULL, rows[i], "light", 0) && why[0] != '\0',
           "'%s' allows no value: %s", rows[i], why);
    OK(!asks(NULL, "Turn on the porch light", "porch", 1) &&
           asks(NULL, "Turn on the porch light", "porch_light", 1) &&
           asks(NULL, "Turn on the porch", "porch", 1),
       "the longer name is the one that was said");
    OK(asks(NULL, "Turn the fans on", "fan", 1), "a plural finds the pin if no pin has that name");
    OK(!asks(NULL, "Turn on the light", "fan", 1) && strstr(why, "nobody has named fan") != NULL,
       "a line that nobody has named is refused: %s", why);
    OK(asks(NULL, "", "door", 0) && asks(NULL, "", "temperature", 0),
       "an action that only reads needs no words of the person");
}

static void test_pulses(void)
{
    OK(pulses("Pulse the light for 200 ms", 200) && pulses("The light for 2 seconds.", 2000) &&
           pulses("200ms of light", 200) && pulses("pulse the light", 5),
       "a pulse may be asked for with or without its length");
    OK(!pulses("Pulse the light for 200 ms", 2000) &&
           strstr(why, "nobody has said 2000 ms") != NULL,
       "a pulse of another length is refused: %s", why);
    OK(!pulses("Pulse the light for 99999999999999999999 ms", 1215752191),
       "a pulse with too many digits is refused");
    OK(!pulses("Pulse the fan for 200 ms", 200) && !pulses("Don't pulse the light", 5) &&
           !pulses("The light", 5),
       "a pulse of another line or of none is refused: %s", why);
}

static void test_needs(void)
{
    a.need = ACTION_NEEDS_NAME;
    OK(asks(NULL, "light", "light", 1) && !asks(NULL, "on", "light", 1) && pulses("light", 7),
       "the name is enough if no more is needed");
    a.need = ACTION_NEEDS_NOTHING;
    OK(asks(NULL, "", "light", 1) && pulses("", 7), "no word of the person is needed");
}

int main(void)
{
    fake_open(&a, PINS, FILE_TEXT, false);
    OK(a.n_words == 6 && a.need == ACTION_NEEDS_VALUE,
       "the words of a list are read from a file: %u", a.n_words);
    test_asked();
    test_not_asked();
    test_pulses();
    test_needs();
    return tap_done();
}
