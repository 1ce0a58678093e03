#include "runtime/text/civil_time.h"

#include <string.h>

#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

enum { EPOCH = 1970, FIRST_YEAR = 2000, LAST_YEAR = 2199, MINUTE = 60, DAY_MINUTES = 24 * 60 };

static unsigned days_of_month(unsigned year, unsigned month)
{
    static const uint8_t days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap ? 1u : 0u);
}

static unsigned days_of_year(unsigned year)
{
    return 337 + days_of_month(year, 2);
}

/* Read the number at the places of `text` where the pattern has the letter `kind`. */
static unsigned number(const char *text, const char *pattern, char kind)
{
    unsigned n = 0;

    for (; *pattern != '\0'; pattern++, text++) {
        n = *pattern == kind ? n * 10 + (unsigned)(*text - '0') : n;
    }
    return n;
}

bool civil_time_parse(const char *text, uint64_t *seconds)
{
    static const char pattern[] = "YYYY-MM-DD hh:mm";
    unsigned year, month, day, minutes;
    uint64_t days = 0;

    if (strlen(text) != sizeof pattern - 1) {
        return false;
    }
    for (size_t i = 0; i < sizeof pattern - 1; i++) {
        bool letter = pattern[i] != '-' && pattern[i] != ' ' && pattern[i] != ':';

        if (letter ? text[i] < '0' || text[i] > '9' : text[i] != pattern[i]) {
            return false;
        }
    }
    year = number(text, pattern, 'Y');
    month = number(text, pattern, 'M');
    day = number(text, pattern, 'D');
    minutes = number(text, pattern, 'h') * 60 + number(text, pattern, 'm');
    if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > 12 || day < 1 ||
        day > days_of_month(year, month) || minutes >= DAY_MINUTES ||
        number(text, pattern, 'm') > 59) {
        return false;
    }
    for (unsigned y = EPOCH; y < year; y++) {
        days += days_of_year(y);
    }
    for (unsigned m = 1; m < month; m++) {
        days += days_of_month(year, m);
    }
    *seconds = ((days + day - 1) * DAY_MINUTES + minutes) * MINUTE;
    return true;
}

struct civil_time civil_time_of(uint64_t seconds)
{
    uint64_t minutes = seconds / MINUTE, days = minutes / DAY_MINUTES;
    struct civil_time t = { .year = EPOCH, .month = 1, .second = (unsigned)(seconds % MINUTE) };

    minutes %= DAY_MINUTES;
    while (t.year < LAST_YEAR && days >= days_of_year(t.year)) {
        days -= days_of_year(t.year++);
    }
    while (t.month < 12 && days >= days_of_month(t.year, t.month)) {
        days -= days_of_month(t.year, t.month++);
    }
    t.day = (unsigned)days + 1;
    t.hour = (unsigned)(minutes / 60);
    t.minute = (unsigned)(minutes % 60);
    return t;
}

const char *civil_time_format(char buffer[CIVIL_TIME_BYTES], uint64_t seconds)
{
    struct civil_time t = civil_time_of(seconds);

    format_text(buffer, CIVIL_TIME_BYTES, "%04u-%02u-%02u %02u:%02u", t.year, t.month, t.day,
                t.hour, t.minute);
    return buffer;
}

const char *civil_age_format(char buffer[CIVIL_AGE_BYTES], uint64_t seconds)
{
    static const struct {
        uint32_t seconds;
        const char *one, *more;
    } units[] = { { 24 * 60 * 60, "day", "days" },
                  { 60 * 60, "hour", "hours" },
                  { 60, "minute", "minutes" } };

    format_text(buffer, CIVIL_AGE_BYTES, "less than a minute");
    for (size_t i = sizeof units / sizeof units[0]; i-- > 0;) {
        unsigned n = (unsigned)(seconds / units[i].seconds);

        if (n != 0) {
            format_text(buffer, CIVIL_AGE_BYTES, "%u %s", n,
                        plural(n, units[i].one, units[i].more));
        }
    }
    return buffer;
}
