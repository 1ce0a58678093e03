/* The values that pins= takes, and those that it does not. */
#include <string.h>

#include "runtime/options/pin_list.h"
#include "tests/unit/tap.h"

static struct pin_list list;

static bool reads(const char *text)
{
    return pin_list_read(&list, text) == NULL;
}

static bool is_pin(unsigned i, const char *name, uint32_t line, bool input, bool low)
{
    const struct pin *p = &list.pin[i];

    return i < list.n && strcmp(p->name, name) == 0 && p->line == line && p->input == input &&
           p->low == low;
}

static void test_good(void)
{
    OK(reads("light:3") && list.n == 1 && is_pin(0, "light", 3, false, false),
       "a name and a line make a pin");
    OK(reads("light:3,fan_2:40:low,door:5:in,bell:0:in:low,gate:1023:out") && list.n == 5 &&
           is_pin(1, "fan_2", 40, false, true) && is_pin(2, "door", 5, true, false) &&
           is_pin(3, "bell", 0, true, true) && is_pin(4, "gate", 1023, false, false),
       "several pins are read, with their words");
    OK(reads("a:0,b:1,c:2,d:3,e:4,f:5,g:6,h:7,i:8,j:9,k:10,l:11,m:12,n:13,o:14,p:15") &&
           list.n == PINS_MOST,
       "16 pins are read");
    OK(reads("abcdefghijklmnopqrstuvw:3"), "a name of 23 letters is accepted");
    OK(pin_list_find(&list, "abcdefghijklmnopqrstuvw", 23) == 0 &&
           pin_list_find(&list, "abcdefghijklmnopqrstuvw", 22) == PINS_MOST &&
           pin_list_find(&list, "abc", 3) == PINS_MOST && pin_list_find(&list, "", 0) == PINS_MOST,
       "a beginning of a name is not a name");
}

static void test_bad(void)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "", "a pin's name" },
        { ",", "a pin's name" },
        { "light:3,", "a pin's name" },
        { "Light:3", "a pin's name" },
        { "3light:3", "a pin's name" },
        { "li ght:3", "a pin's name" },
        { "li\"ght:3", "a pin's name" },
        { "li\303\244ght:3", "a pin's name" },
        { "abcdefghijklmnopqrstuvwx:3", "a pin's name" },
        { "light", "number of its line" },
        { "light:", "number of its line" },
        { "light:,fan:4", "number of its line" },
        { "light:x", "number of its line" },
        { "light:3x", "number of its line" },
        { "light:-3", "number of its line" },
        { "light:1024", "number of its line" },
        { "light:99999999999999999999", "number of its line" },
        { "light:3:", "in, out or low" },
        { "light:3:up", "in, out or low" },
        { "light:3:inlow", "in, out or low" },
        { "light:3,light:4", "the same name" },
        { "light:3,lamp:3:in", "the same line" },
        { "temperature:3", "actions already" },
        { "uptime:3", "actions already" },
        { "pulse:3", "actions already" },
        { "a:0,b:1,c:2,d:3,e:4,f:5,g:6,h:7,i:8,j:9,k:10,l:11,m:12,n:13,o:14,p:15,q:16", "16 pins" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *error_message = pin_list_read(&list, rows[i].text);

        OK(error_message != NULL && strstr(error_message, rows[i].says) != NULL,
           "'%s' is refused: %s", rows[i].text,
           error_message != NULL ? error_message : "was taken");
    }
}

int main(void)
{
    test_good();
    test_bad();
    return tap_done();
}
