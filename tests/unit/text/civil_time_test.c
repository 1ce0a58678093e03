/* Days of the calendar. */
#include "runtime/text/civil_time.h"

#include <string.h>

#include "tests/unit/tap.h"

int main(void)
{
    static const struct {
        const char *text;
        uint64_t seconds;
    } rows[] = { { "2000-01-01 00:00", 946684800 },
                 { "2000-02-29 12:30", 951827400 },
                 { "2026-11-24 13:30", 1795527000 },
                 { "2100-03-01 00:00", 4107542400 },
                 { "2199-12-31 23:59", 7258118340 } };
    static const char *const wrong[] = { "",
                                         "2026-11-24",
                                         "2026-11-24 13:30:00",
                                         "2026-11-24T13:30",
                                         "2026-13-01 00:00",
                                         "2026-00-01 00:00",
                                         "2026-02-29 00:00",
                                         "2100-02-29 00:00",
                                         "2026-04-31 00:00",
                                         "2026-04-00 00:00",
                                         "2026-11-24 24:00",
                                         "2026-11-24 13:60",
                                         "1999-12-31 23:59",
                                         "2200-01-01 00:00",
                                         "20x6-11-24 13:30",
                                         "2026-11-24 -1:30" };
    char text[CIVIL_TIME_BYTES], age[CIVIL_AGE_BYTES];
    uint64_t seconds, before = 0;
    bool same = true;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        OK(civil_time_parse(rows[i].text, &seconds) && seconds == rows[i].seconds &&
               strcmp(civil_time_format(text, seconds), rows[i].text) == 0,
           "%s is %llu, and is written as %s", rows[i].text, (unsigned long long)seconds, text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        OK(!civil_time_parse(wrong[i], &seconds), "\"%s\" is not a time", wrong[i]);
    for (uint64_t day = rows[0].seconds + 61; day < 7258118400; day += 86400) {
        same = same && civil_time_parse(civil_time_format(text, day), &seconds) &&
               seconds == day - 1 && seconds > before;
        before = seconds;
    }
    OK(same, "every day from 2000 to 2199 comes back");
    OK(strcmp(civil_time_format(text, 3725), "1970-01-01 01:02") == 0,
       "seconds are written as a time: %s", text);
    (void)civil_time_format(text, UINT64_MAX);
    OK(memchr(text, '\0', sizeof text) != NULL, "any number stays in its buffer");
    OK(strcmp(civil_age_format(age, 59), "less than a minute") == 0 &&
           strcmp(civil_age_format(age, 60), "1 minute") == 0 &&
           strcmp(civil_age_format(age, 7200), "2 hours") == 0 &&
           strcmp(civil_age_format(age, 86400 * 3 + 7200), "3 days") == 0,
       "an age is written in its largest unit");
    OK(memchr(civil_age_format(age, UINT64_MAX), '\0', sizeof age) != NULL,
       "any age fits its buffer: %s", age);
    return tap_done();
}
