/* Every program with a main() includes this: if it hangs, it ends by itself and prints its name,
 * after INGOT_TEST_SECONDS or 600. Its own output may be stuck in a buffer, so this writes past
 * it. */
#ifndef INGOT_TESTS_ALARM_H
#define INGOT_TESTS_ALARM_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALARM_SECONDS = 600 };

static char alarm_line[256];

/* Uses only calls that a signal handler may make: write and _exit. */
static void alarm_rings(int number)
{
    (void)number;
    if (write(2, alarm_line, strlen(alarm_line)) < 0) {
        _exit(2);
    }
    _exit(1);
}

__attribute__((constructor)) static void alarm_set(void)
{
    const char *text = getenv("INGOT_TEST_SECONDS");
    int seconds = text != NULL ? atoi(text) : ALARM_SECONDS;
    struct sigaction action = { .sa_handler = alarm_rings };

    snprintf(alarm_line, sizeof alarm_line, "# %s hung: ended after %d s\n",
             program_invocation_name, seconds);
    sigaction(SIGALRM, &action, NULL);
    alarm((unsigned)seconds);
}

#endif
