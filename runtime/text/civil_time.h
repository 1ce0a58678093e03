/* Convert seconds since 1970 to calendar dates and back, without time zones. */
#ifndef INGOT_RUNTIME_CIVIL_TIME_H
#define INGOT_RUNTIME_CIVIL_TIME_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CIVIL_TIME_FIRST = 946684800, /* the year 2000; a clock below this counts from the machine's
                                   * start */
    CIVIL_TIME_BYTES = sizeof "2026-11-24 01:30",
    CIVIL_AGE_BYTES = sizeof "less than a minute" + 4,
};

struct civil_time {
    unsigned year, month, day, hour, minute, second; /* month and day count from 1 */
};

/* Split seconds into date and time, up to the year 2199. */
struct civil_time civil_time_of(uint64_t seconds);

/* Read a text such as "2026-11-24 01:30" as seconds, from 2000 to 2199. Return false if the text
 * has another form, or if there is no such day. */
bool civil_time_parse(const char *text, uint64_t *seconds);

/* Write seconds as a text like "2026-11-24 01:30". Returns buffer. */
const char *civil_time_format(char buffer[CIVIL_TIME_BYTES], uint64_t seconds);

/* Write a duration in its largest unit: "3 days", "less than a minute". Returns buffer. */
const char *civil_age_format(char buffer[CIVIL_AGE_BYTES], uint64_t seconds);

#endif
