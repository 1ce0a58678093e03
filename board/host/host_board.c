#include "board/host/host_board.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "board/host/host_cpu.h"
#include "board/host/host_idle.h"
#include "board/host/host_pins.h"
#include "board/host/host_terminal.h"
#include "board/min_max.h"
#include "kernels/tuning.h"

enum { OUT_BYTES = 4096, CTRL_C = 3 };

static struct host_state {
    bool to_log;
    int replies; /* file descriptor */
    int error;   /* errno of a failed write to it; 0 if there is none */
    bool error_told;
    size_t (*rewrite)(const char *in, size_t n, char *out, size_t most); /* of log lines, or NULL */
    char buffer[OUT_BYTES];
    size_t n;
    bool interactive;
    bool terminal; /* input is read byte by byte, with a board's line editor */
    bool closed;
    volatile sig_atomic_t interrupted;
    struct sigaction before; /* of SIGINT */
} host = { .replies = 1 };

/* ---- console ------------------------------------------------------------------------------- */

/* Returns false and sets errno if, for example, the reader is gone or the disk is full. */
static bool write_all(int to, const char *text, size_t n)
{
    size_t at = 0;

    while (at < n) {
        ssize_t written = write(to, text + at, n - at);

        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        at += (size_t)written;
    }
    return true;
}

static void write_log(void)
{
    static char rewritten[2 * OUT_BYTES];

    if (host.rewrite == NULL) {
        (void)write_all(2, host.buffer, host.n);
    } else {
        size_t n = host.rewrite(host.buffer, host.n, rewritten, sizeof rewritten);

        (void)write_all(2, rewritten, n);
    }
}

/* After an error, drop the buffer; the caller of host_console_error() reports the error. */
void host_console_flush(void)
{
    if (host.n == 0 || host.error != 0) {
        host.n = 0;
        return;
    }
    if (host.to_log) {
        write_log();
    } else if (!write_all(host.replies, host.buffer, host.n)) {
        host.error = errno;
    }
    host.n = 0;
}

void host_console_to_log(bool on)
{
    if (on != host.to_log) {
        host_console_flush();
        host.to_log = on;
    }
}

void host_console_rewrite_log(size_t (*rewrite)(const char *in, size_t n, char *out, size_t most))
{
    host.rewrite = rewrite;
}

void host_console_replies_to(int fd)
{
    host_console_flush();
    host.replies = fd;
    host.error = 0;
    host.error_told = false;
}

int host_console_error(void)
{
    return host.error;
}

static void host_putc(char c)
{
    host.buffer[host.n++] = c;
    if (host.n == OUT_BYTES) {
        host_console_flush();
    }
}

/* Output is flushed here, because the input is polled after each token. */
static int host_getc(void)
{
    struct pollfd in = { .fd = 0, .events = POLLIN };
    unsigned char c;

    host_console_flush();
    if (host.interrupted) {
        host.interrupted = 0;
        return CTRL_C;
    }
    if (host.error != 0 && !host.error_told) {
        host.error_told = true; /* the rest of the reply must not be computed */
        return CTRL_C;
    }
    if (!host.interactive) {
        return HOST_NO_BYTE;
    }
    if (host.closed || host.error != 0) {
        return HOST_CLOSED;
    }
    if (host.terminal && host_terminal_in_news()) {
        return host_terminal_news(); /* finish a begun message before the next key */
    }
    if (poll(&in, 1, 0) <= 0) { /* begin a message only if no bytes of a key wait */
        return host.terminal ? host_terminal_news() : HOST_NO_BYTE;
    }
    if (read(0, &c, 1) == 1) {
        return c;
    }
    host.closed = true;
    return HOST_CLOSED;
}

static void host_idle(void)
{
    struct pollfd in = { .fd = 0, .events = POLLIN };

    host_console_flush();
    (void)poll(&in, 1, 100);
}

static void on_interrupt(int number)
{
    if (host.interrupted) { /* a second Ctrl-C before the first was handled */
        host_terminal_close();
        sigaction(number, &host.before, NULL);
        raise(number);
    }
    host.interrupted = 1;
}

static uint64_t host_ticks(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t host_ticks_hz(void)
{
    return 1000000000u;
}

bool host_streams_open(bool interactive)
{
    host.interactive = interactive;
    host.terminal = interactive && host_terminal_open();
    return host.terminal;
}

void host_streams_take_interrupts(void)
{
    struct sigaction action = { .sa_handler = on_interrupt };

    sigaction(SIGINT, &action, &host.before);
}

/* ---- cores --------------------------------------------------------------------------------- */

struct host_core {
    void (*entry)(void *arg);
    void *arg;
};

static void *core_main(void *arg)
{
    struct host_core *core = arg;

    core->entry(core->arg);
    return NULL;
}

static enum err host_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    static struct host_core cores[BOARD_MAX_CORES];
    pthread_t thread;

    cores[core].entry = entry;
    cores[core].arg = arg;
    if (pthread_create(&thread, NULL, core_main, &cores[core]) != 0) {
        return ERR_NO_DEVICE;
    }
    pthread_detach(thread);
    return ERR_OK;
}

/* Let other threads or programs run, if there are more threads than processors. */
static void host_yield(void)
{
    sched_yield();
}

static void host_wait(const _Atomic uint32_t *word, uint32_t old)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
}

static void host_wake(const _Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, BOARD_MAX_CORES, NULL, NULL, 0);
}

static void host_early_init(const void *dtb)
{
    (void)dtb;
}

/* Finds nothing: the model's file is opened by its name. */
static unsigned host_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    (void)devices;
    return 0;
}

static void __attribute__((noreturn)) host_power_off(int status)
{
    host_console_flush();
    exit(status);
}

const struct board board = {
    .name = "host",
    .early_init = host_early_init,
    .putc = host_putc,
    .getc = host_getc,
    .idle = host_idle,
    .ticks = host_ticks,
    .ticks_hz = host_ticks_hz,
    .start_core = host_start_core,
    .spin_micros = 50,
    .yield = host_yield,
    .idle_processors = host_idle_processors,
    .wait = host_wait,
    .wake = host_wake,
    .find_storage = host_find_storage,
    .pins = &host_pins,
    .storage_needs_cpu = true, /* only for tests, because each file has a thread of its own */
    .power_off = host_power_off,
};

/* ---- the machine --------------------------------------------------------------------------- */

bool host_machine(struct machine *m, struct host_memory *memory)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN), cache = sysconf(_SC_LEVEL2_CACHE_SIZE);

    memset(m, 0, sizeof *m);
    m->n_cores = 1;
    if (cores > 1)
        m->n_cores = (unsigned)min_u64((uint64_t)cores, BOARD_MAX_CORES);
    if (memory->threads == 0) {
        memory->threads = m->n_cores;
    }
    if (!host_memory_reserve(memory)) {
        fprintf(stderr, "ingot: %s leaves no memory for a model\n",
                memory->limit != NULL ? memory->limit
                : memory->most != 0   ? "--ram"
                                      : "the system");
        return false;
    }
    (void)madvise(memory->base, memory->bytes,
                  MADV_HUGEPAGE); /* pages of 2 MiB need fewer page walks; the system may refuse */
    m->ram[0].base = memory->base;
    m->ram[0].bytes = memory->bytes;
    m->n_ram = 1;
    m->cache_bytes = cache > 0 ? (size_t)cache : 0;
    m->ram_bytes = memory->bytes;
    m->cpu_features = host_cpu_features();
    m->tuning = host_cpu_tuning();
    m->cpu_name = m->tuning->core != NULL ? m->tuning->core : "host CPU";
    m->entry_ticks = host_ticks();
    return true;
}
