/* TAP for the unit tests, which are one C file each: OK() for each check, tap_done() from main. A
 * test that hangs is ended (tests/alarm.h). */
#ifndef INGOT_TESTS_UNIT_TAP_H
#define INGOT_TESTS_UNIT_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/alarm.h"

static int tap_count;
static int tap_failed;
static bool tap_good;

__attribute__((format(printf, 4, 5))) static inline bool tap_ok(bool good, const char *file,
                                                                int line, const char *format, ...)
{
    va_list args;

    printf("%sok %d - ", good ? "" : "not ", ++tap_count);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    if (!good) {
        tap_failed++;
        printf("# failed at %s:%d\n", file, line);
        fprintf(stderr, "# not ok %d, %s:%d\n", tap_count, file, line); /* prove hides stdout */
    }
    fflush(stdout);
    return good;
}

/* The condition is evaluated before the arguments of the message, which may show its effects. */
#define OK(condition, ...) \
    (tap_good = (condition), tap_ok(tap_good, __FILE__, __LINE__, __VA_ARGS__))

static inline int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed != 0;
}

#endif
