#include "board/host/host_terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Switches off colour (ECMA-48, SGR) and bracketed paste (xterm), which the line editor
 * requested. */
static const char plain[] = "\33[?2004l\33[0m";

static struct {
    struct termios before, raw;
    volatile sig_atomic_t open;
    volatile sig_atomic_t resized, resumed;
    char news[24];
    size_t n, at;
} terminal;

static void set(bool raw)
{
    terminal.open = raw;
    (void)tcsetattr(0, TCSANOW, raw ? &terminal.raw : &terminal.before);
}

void host_terminal_close(void)
{
    ssize_t written;

    if (terminal.open) {
        written = write(1, plain, sizeof plain - 1);
        (void)written; /* errors are ignored: the terminal may be gone */
        set(false);
    }
}

/* The signals' previous actions, by number. */
static struct sigaction before[SIGTERM + 1];

static bool is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
}

/* Restore the terminal; the previous handler does the rest. After a fault, that handler also gets
 * the address, because the fault happens again. */
static void on_end(int number, siginfo_t *info, void *context)
{
    (void)context;
    host_terminal_close();
    sigaction(number, &before[number], NULL);
    if (!is_fault(number) || info->si_code <= 0) {
        raise(number);
    }
}

static void catch_end(int number)
{
    struct sigaction action = { .sa_sigaction = on_end, .sa_flags = SA_RESTART | SA_SIGINFO };

    sigaction(number, &action, &before[number]);
}

static void on_resize(int number)
{
    (void)number;
    terminal.resized = 1;
}

static void catch (int number, void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

    sigaction(number, &action, NULL);
}

/* Stop like any other program, and set up the terminal again afterwards. */
static void on_stop(int number)
{
    sigset_t stop;

    host_terminal_close();
    sigemptyset(&stop);
    sigaddset(&stop, number);
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &stop, NULL); /* the program stops here */
    catch (number, on_stop);
    set(true);
    terminal.resized = 1;
    terminal.resumed = 1;
}

bool host_terminal_obeys(void)
{
    const char *kind = getenv("TERM");

    return isatty(1) && kind != NULL && strcmp(kind, "dumb") != 0;
}

bool host_terminal_open(void)
{
    static const int ends[] = {
        SIGHUP, SIGTERM, SIGQUIT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT
    };

    if (!isatty(0) || !host_terminal_obeys() || tcgetattr(0, &terminal.before) != 0) {
        return false;
    }
    terminal.raw = terminal.before;
    terminal.raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    terminal.raw.c_lflag |= NOFLSH; /* a signal must not discard typed bytes */
    terminal.raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | ISTRIP);
    terminal.raw.c_cc[VMIN] = 1;
    terminal.raw.c_cc[VTIME] = 0;
    atexit(host_terminal_close);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        catch_end(ends[i]);
    }
    catch (SIGWINCH, on_resize);
    catch (SIGTSTP, on_stop);
    set(true);
    terminal.resized = 1;
    return true;
}

void host_terminal_take_ctrl_c(bool as_byte)
{
    if (terminal.open) {
        terminal.raw.c_cc[VINTR] = as_byte ? _POSIX_VDISABLE : terminal.before.c_cc[VINTR];
        set(true);
    }
}

bool host_terminal_in_news(void)
{
    return terminal.at < terminal.n;
}

uint32_t host_terminal_columns(void)
{
    struct winsize size;

    if (ioctl(1, TIOCGWINSZ, &size) != 0) {
        return 0;
    }
    return size.ws_col;
}

int host_terminal_news(void)
{
    uint32_t columns;

    if (host_terminal_in_news()) {
        return (unsigned char)terminal.news[terminal.at++];
    }
    terminal.at = 0;
    terminal.n = 0;
    if (terminal.resized) {
        terminal.resized = 0;
        columns = host_terminal_columns();
        if (columns != 0) { /* a terminal's answer, CPR */
            terminal.n = (size_t)snprintf(terminal.news, sizeof terminal.news, "\33[1;%uR",
                                          (unsigned)columns);
        }
    }
    if (terminal.resumed) {
        terminal.resumed = 0;
        terminal.news[terminal.n++] = '\14';
    }
    if (terminal.n == 0)
        return -1;
    return (unsigned char)terminal.news[terminal.at++];
}
