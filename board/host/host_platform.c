/* Threads, clock and streams of the host's board, with the context that a platform has; no card is
 * found and nothing watches, so most of the rest stays NULL. */
#include "board/host/host_platform.h"

#include "board/host/host_board.h"
#include "board/host/host_cpu.h"

static uint64_t ticks(void *context)
{
    (void)context;
    return board.ticks();
}

static uint32_t features(void *context, unsigned n)
{
    (void)context;
    (void)n; /* all processors are alike */
    return host_cpu_features();
}

static enum err start_core(void *context, unsigned core, void (*entry)(void *arg), void *arg)
{
    (void)context;
    return board.start_core(core, entry, arg);
}

static void wait_word(void *context, const _Atomic uint32_t *word, uint32_t old)
{
    (void)context;
    board.wait(word, old);
}

static void wake_word(void *context, const _Atomic uint32_t *word)
{
    (void)context;
    board.wake(word);
}

static void yield(void *context)
{
    (void)context;
    board.yield();
}

static void console_putc(void *context, char c)
{
    (void)context;
    board.putc(c);
}

static void console_to_log(void *context, bool on)
{
    (void)context;
    host_console_to(on ? 2 : 1);
}

static void console_idle(void *context)
{
    (void)context;
    board.idle();
}

static int console_getc(void *context)
{
    (void)context;
    return board.getc();
}

static void power_off(void *context, int status)
{
    (void)context;
    board.power_off(status);
}

void host_platform(struct platform *p, const struct machine *machine)
{
    *p = (struct platform){
        .name = board.name,
        .clock = { .ticks = ticks, .hz = board.ticks_hz(), .start = board.ticks() },
        .cores = { .n = BOARD_MAX_CORES,
                   .spin_micros = board.spin_micros,
                   .tuning = host_cpu_tuning(),
                   .features = features,
                   .start = start_core,
                   .wait = wait_word,
                   .wake = wake_word,
                   .yield = yield },
        .console = { .putc = console_putc,
                     .to_log = console_to_log,
                     .getc = console_getc,
                     .idle = console_idle },
        .storage = { .needs_cpu = board.storage_needs_cpu },
        .power = { .off = power_off },
    };
    if (machine == NULL) {
        return;
    }
    p->memory.arena = machine->ram[0];
    p->memory.ram_bytes = machine->ram_bytes;
    p->cores.n = machine->n_cores;
    p->cores.name = machine->cpu_name;
    p->cores.tuning = machine->tuning;
    p->clock.start = machine->entry_ticks;
}
