/* The forms of sentences: those that ask to drive a line now, those that ask for a value, and those
 * that ask for nothing. */
#include <string.h>

#include "runtime/features/acting/action_form.h"
#include "runtime/features/acting/action_said.h"
#include "tests/unit/acting/fake_lines.h"
#include "tests/unit/tap.h"

static struct actions a;
static struct action_form form;

static unsigned asks(const char *text, unsigned pin)
{
    action_form_read(&form, text, strlen(text));
    return action_form_asks(&form, &a, pin);
}

static bool asks_about(const char *text, const char *name)
{
    action_form_read(&form, text, strlen(text));
    return action_form_asks_about(&form, &a, actions_find(&a, name, strlen(name)));
}

static void test_requests(void)
{
    static const struct {
        const char *text;
        unsigned values;
    } rows[] = {
        { "Turn on the light.", SAID_ON },
        { "Hey, please switch the light off!", SAID_OFF },
        { "Would you turn the light on?", SAID_ON },
        { "Can we have the light on?", SAID_ON },
        { "Don't leave the light on.", SAID_OFF },
        { "Do not keep the light off, please.", SAID_ON },
        { "I need the light on", SAID_ON },
        { "The light is loud. Turn it off.", SAID_OFF },
        { "Don't turn on the fan, but turn on the light.", SAID_ON },
        { "Turn the \"light\" on", SAID_ON },
        { "She is asleep, turn the light off", SAID_OFF },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        OK(asks(rows[i].text, 0) == rows[i].values, "%s: the form has the bits %u", rows[i].text,
           rows[i].values);
}

static void test_no_requests(void)
{
    static const char *const rows[] = {
        "",
        "...",
        "Hello!",
        "How do I turn the light on?",
        "Is it wise to turn the light off?",
        "Can the light be turned on?",
        "Don't turn on the light.",
        "You should never switch off the light.",
        "He said: \"Turn on the light.\"",
        "She told me to turn on the light",
        "\xe2\x80\x9cTurn on the light\xe2\x80\x9d is a song.",
        "'Turn off the light' is what it says.",
        "What does `light on` do?",
        "They turn the light off.",
        "I turned on the light.",
        "I wish the light were on.",
        "If it rains, turn on the light.",
        "Turn on the light in ten minutes.",
        "Tomorrow turn the light off.",
        "Translate: turn on the light",
        "\"Turn on the light", /* it does not end */
        "Turn on the fan.",
        "Turn it on.",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        OK(asks(rows[i], 0) == 0, "the text asks for nothing: %s", rows[i]);
    OK(asks("Turn on the door.", 2) == 0, "an input is not driven");
    OK(asks("Turn on the light.", PINS_MOST) == 0, "a pin that is not there is not driven");
}

static void test_questions(void)
{
    OK(asks_about("Is the door open?", "door"), "a question about an input asks for its action");
    OK(asks_about("Tell me whether the door is open.", "door"),
       "an order to tell something is a request, too");
    OK(asks_about("is the light on", "light"),
       "a question about an output, without a question mark, is a request, too");
    OK(asks_about("How warm is it?", "temperature"), "another word finds the temperature");
    OK(asks_about("How long have you been up?", "uptime"), "other words find the uptime, too");
    OK(!asks_about("The door is open.", "door"), "a statement asks for nothing");
    OK(!asks_about("Is the window open?", "door"),
       "a question about something else asks for nothing");
    OK(!asks_about("What does \"the door\" mean?", "door"), "a quotation asks for nothing");
}

/* Tries bytes of any kind and length: nothing is read or written beyond them, which the sanitizers
 * watch. */
static void test_any_bytes(void)
{
    char text[FORM_BYTES + 1];
    uint32_t seed = 1;
    unsigned n = 0;

    for (unsigned i = 0; i < 20000; i++) {
        size_t bytes = (seed >> 8) % 40;

        for (size_t k = 0; k < bytes; k++) {
            seed = seed * 1664525 + 1013904223;
            text[k] = "light on off'\".?, don't\xe2\x80\x9c"[(seed >> 16) % 27];
        }
        seed = seed * 1664525 + 1013904223;
        action_form_read(&form, text, bytes);
        n += action_form_asks(&form, &a, 0) != 0;
    }
    OK(n < 20000, "texts of random words are read to their end (%u ask for something)", n);
    memset(text, 'x', sizeof text);
    action_form_read(&form, text, sizeof text);
    OK(form.bytes == 0, "a longer text asks for nothing");
}

int main(void)
{
    fake_open(&a, "light:3,fan:4,door:5:in", "", false);
    test_requests();
    test_no_requests();
    test_questions();
    test_any_bytes();
    return tap_done();
}
