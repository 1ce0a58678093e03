/* Functions of struct board have no context, because a machine has one board; the functions here
 * take a context and ignore it. */
#include "boot/platform_from_board.h"

static uint64_t ticks(void *context)
{
    (void)context;
    return board.ticks();
}

static enum err start_core(void *context, unsigned core, void (*entry)(void *arg), void *arg)
{
    (void)context;
    return board.start_core(core, entry, arg);
}

static void wait(void *context, const _Atomic uint32_t *word, uint32_t old)
{
    (void)context;
    board.wait(word, old);
}

static void wake(void *context, const _Atomic uint32_t *word)
{
    (void)context;
    board.wake(word);
}

static void yield(void *context)
{
    (void)context;
    board.yield();
}

static int idle_processors(void *context)
{
    (void)context;
    return board.idle_processors();
}

static void rest(void *context, uint32_t micros)
{
    (void)context;
    board.rest(micros);
}

static void console_putc(void *context, char c)
{
    (void)context;
    board.putc(c);
}

static int console_getc(void *context)
{
    (void)context;
    return board.getc();
}

static void idle(void *context)
{
    (void)context;
    board.idle();
}

static void nap(void *context)
{
    (void)context;
    board.nap();
}

static bool interrupted(void *context)
{
    (void)context;
    return board.interrupted();
}

static uint32_t lost(void *context)
{
    (void)context;
    return board.lost();
}

static void flow_control(void *context, bool on)
{
    (void)context;
    board.flow_control(on);
}

static void set_baud(void *context, uint32_t baud)
{
    (void)context;
    board.set_baud(baud);
}

static uint32_t best_baud(void *context, uint32_t most)
{
    (void)context;
    return board.best_baud(most);
}

static unsigned find_storage(void *context, struct block_device *devices[BOARD_MAX_BLOCK])
{
    (void)context;
    return board.find_storage(devices);
}

static struct block_device *look_for_storage(void *context)
{
    (void)context;
    return board.look_for_storage();
}

static void use_pio(void *context)
{
    (void)context;
    board.use_pio();
}

static void limit_dma(void *context, uint64_t end)
{
    (void)context;
    board.limit_dma(end);
}

static void set_keyboard(void *context, unsigned layout)
{
    (void)context;
    board.set_keyboard(layout);
}

static void set_pcie(void *context, unsigned generation)
{
    (void)context;
    board.set_pcie(generation);
}

static void watchdog(void *context, uint32_t millis, const char *doing)
{
    (void)context;
    board.watchdog(millis, doing);
}

static void alive(void *context)
{
    (void)context;
    board.alive();
}

static void last_run(void *context, struct board_last_run *last)
{
    (void)context;
    board.last_run(last);
}

static bool is_emulated(void *context)
{
    (void)context;
    return board.is_emulated();
}

static void restart(void *context)
{
    (void)context;
    board.restart();
}

static void power_off(void *context, int status)
{
    (void)context;
    board.power_off(status);
}

static void health(void *context, struct board_health *out)
{
    (void)context;
    board.health(out);
}

static void activity(void *context, bool active)
{
    (void)context;
    board.activity(active);
}

static const char *pin_error_message(void *context, unsigned line)
{
    (void)context;
    return board.pins->error_message(line);
}

static void pin_setup(void *context, unsigned line, bool output, bool high)
{
    (void)context;
    board.pins->setup(line, output, high);
}

static void pin_write(void *context, unsigned line, bool high)
{
    (void)context;
    board.pins->write(line, high);
}

static bool pin_read(void *context, unsigned line)
{
    (void)context;
    return board.pins->read(line);
}

static const char *i2c_claim(void *context, unsigned bus)
{
    (void)context;
    return board.i2c->claim(bus);
}

static enum err i2c_write(void *context, unsigned bus, unsigned address, const uint8_t *bytes,
                          unsigned n)
{
    (void)context;
    return board.i2c->write(bus, address, bytes, n);
}

static enum err i2c_read(void *context, unsigned bus, unsigned address, uint8_t *bytes, unsigned n)
{
    (void)context;
    return board.i2c->read(bus, address, bytes, n);
}

/* Functions that the board lacks stay NULL. */
#define IF_THERE(member, function) (board.member != NULL ? (function) : NULL)

void platform_from_board(struct platform *p, const struct machine *machine,
                         uint32_t (*features)(void *context, unsigned n))
{
    *p = (struct platform){
        .name = board.name,
        .clock = { .ticks = ticks,
                   .hz = board.ticks_hz(),
                   .start = machine->entry_ticks,
                   .date = machine->date },
        .memory = { .arena = machine->ram[0],
                    .initrd = machine->initrd,
                    .ram_bytes = machine->ram_bytes },
        .cores = { .n = machine->n_cores,
                   .spin_micros = board.spin_micros,
                   .name = machine->cpu_name,
                   .capacity = machine->core_capacity[0] != 0 ? machine->core_capacity : NULL,
                   .cache_bytes = machine->cache_bytes,
                   .tuning = machine->tuning,
                   .features = features,
                   .start = start_core,
                   .wait = wait,
                   .wake = wake,
                   .rest = IF_THERE(rest, rest),
                   .yield = IF_THERE(yield, yield),
                   .idle_processors = IF_THERE(idle_processors, idle_processors) },
        .console = { .putc = console_putc,
                     .getc = console_getc,
                     .idle = IF_THERE(idle, idle),
                     .nap = IF_THERE(nap, nap),
                     .interrupted = IF_THERE(interrupted, interrupted),
                     .lost = IF_THERE(lost, lost),
                     .flow_control = IF_THERE(flow_control, flow_control),
                     .set_baud = IF_THERE(set_baud, set_baud),
                     .best_baud = IF_THERE(best_baud, best_baud),
                     .set_keyboard = IF_THERE(set_keyboard, set_keyboard) },
        .storage = { .find = find_storage,
                     .look = IF_THERE(look_for_storage, look_for_storage),
                     .use_pio = IF_THERE(use_pio, use_pio),
                     .limit_dma = IF_THERE(limit_dma, limit_dma),
                     .set_pcie = IF_THERE(set_pcie, set_pcie),
                     .needs_cpu = board.storage_needs_cpu },
        .power = { .watchdog = IF_THERE(watchdog, watchdog),
                   .alive = IF_THERE(alive, alive),
                   .last_run = IF_THERE(last_run, last_run),
                   .is_emulated = IF_THERE(is_emulated, is_emulated),
                   .restart = IF_THERE(restart, restart),
                   .off = power_off },
        .health = { .read = IF_THERE(health, health) },
        .pins = { .activity = IF_THERE(activity, activity),
                  .error_message = IF_THERE(pins, pin_error_message),
                  .setup = IF_THERE(pins, pin_setup),
                  .write = IF_THERE(pins, pin_write),
                  .read = IF_THERE(pins, pin_read) },
        .i2c = { .claim = IF_THERE(i2c, i2c_claim),
                 .write = IF_THERE(i2c, i2c_write),
                 .read = IF_THERE(i2c, i2c_read) },
    };
    for (unsigned i = 1; i < machine->n_ram; i++)
        p->memory.spare[i - 1] = machine->ram[i];
}
