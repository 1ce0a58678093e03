#include "host/cli/ending_signals.h"

#include <signal.h>
#include <stddef.h>

enum { PATIENCE = 3 };

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
static volatile int *count;

static void note(int number)
{
    if (++*count >= PATIENCE) {
        signal(number, SIG_DFL);
    }
}

void ending_signals_take(void (*handler)(int number))
{
    struct sigaction action = { .sa_handler = handler }, before;

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(signals[i], &action, NULL);
        }
    }
}

void ending_signals_note(volatile int *n)
{
    count = n;
    ending_signals_take(note);
}
