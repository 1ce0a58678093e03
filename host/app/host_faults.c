#include "host/app/host_faults.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "board/host/host_terminal.h"
#include "flash_image/output/temporary.h"
#include "flash_image/source/map_file.h"
#include "host/args/command_line.h"

/* All functions here may be called from a signal handler. */

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));

    (void)written; /* this error cannot be reported */
}

/* A file's name may have any byte; bytes that control a terminal are shown as '?'. */
static void say_path(const char *path)
{
    for (; *path != '\0'; path++) {
        unsigned char c = (unsigned char)*path;
        char shown[2] = { c < ' ' || c == 0x7f ? '?' : *path, '\0' };

        say(shown);
    }
}

/* Several threads may miss the bytes at the same time: the first one speaks, and ends the program. */
static void on_lost_byte(int number, siginfo_t *info, void *context)
{
    static atomic_flag speaks = ATOMIC_FLAG_INIT;
    const char *change = NULL;
    const char *path = mapping_at(info->si_addr, &change);

    (void)context;
    if (path == NULL) {
        signal(number, SIG_DFL); /* the signal comes again, and ends the program */
        return;
    }
    while (atomic_flag_test_and_set(&speaks)) {
        pause();
    }
    temporary_remove_all();
    host_terminal_close();
    say("ingot: ");
    say_path(path);
    say(": ");
    say(change != NULL ? change : "its disk could not be read");
    say(change != NULL ? " while it was read: wait until it is whole, then try again\n" : "\n");
    _exit(EXIT_FAILED);
}

void host_faults_watch(void)
{
    struct sigaction action = { .sa_sigaction = on_lost_byte, .sa_flags = SA_SIGINFO };

    temporary_watch_signals();
    sigaction(SIGBUS, &action, NULL);
}
