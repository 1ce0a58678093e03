/* Raspberry Pi 4, 400 and CM4: BCM2711, four Cortex-A72. */
#include "board/board.h"

#include "board/drivers/generic_timer.h"
#include "board/drivers/gic.h"
#include "board/drivers/raspberry_pi.h"
#include "board/drivers/serial.h"
#include "board/isa.h"
#include "memory.h"

/* GIC-400 (BCM2711 ARM Peripherals, section 6.5.1). */
static struct gic gic = {
    .version = &gic_v2,
    .ranges = { { BOARD_GIC_DISTRIBUTOR, 0x1000 }, { BOARD_GIC_INTERFACE, 0x1000 } },
    .n_ranges = 2,
};

static void rpi4_listen(void)
{
    (void)gic_listen(&gic, core_hardware_id()); /* version 2 always succeeds */
}

/* 3 million baud need 16 times as much. */
static const struct raspberry_pi_places places = {
    .uart = BOARD_UART,
    .mailbox = BOARD_MAILBOX,
    .watchdog = BOARD_WATCHDOG,
    .gpio = BOARD_GPIO,
    .pull = BCM_PULL_REGISTER,
    .uart_hz = 48000000,
    .listen = rpi4_listen,
};

enum { LED_PIN = 42 };

static struct raspberry_pi pi;

/* VideoCore's interrupt 57 (BCM2711 ARM Peripherals, sections 6.2.4 and 6.3). */
enum { LINE_UART = 96 + 57 };

static void rpi4_early_init(const void *dtb)
{
    for (unsigned i = 0; i < gic.n_ranges; i++)
        (void)mmu_map(gic.ranges[i].base, gic.ranges[i].bytes, MAP_DEVICE);
    (void)gic_init(&gic);
    raspberry_pi_init(&pi, &places, dtb);
    raspberry_pi_open_console(&pi);
    (void)gic_take_input(&gic, LINE_UART);
    pi.led = LED_PIN;
    bcm_gpio_function(places.gpio, LED_PIN, BCM_PIN_OUTPUT);
}

static void rpi4_set_baud(uint32_t baud)
{
    raspberry_pi_set_baud(&pi, baud);
}

static void rpi4_describe(struct machine *machine)
{
    raspberry_pi_describe(&pi, machine);
}

static enum err rpi4_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    return raspberry_pi_release_core(&pi, core, entry, arg);
}

static void rpi4_wait(const _Atomic uint32_t *word, uint32_t old)
{
    bool on = core_interrupts_mask();

    if (atomic_load(word) == old) /* a change after this look ends the sleep at once */
        gic_sleep(&gic);
    core_interrupts_restore(on);
}

static void rpi4_wake(const _Atomic uint32_t *word)
{
    (void)word;
    gic_wake_others(&gic);
}

static unsigned rpi4_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    (void)devices;
    return 0;
}

static void rpi4_activity(bool active)
{
    raspberry_pi_activity(&pi, active);
}

static void rpi4_health(struct board_health *health)
{
    raspberry_pi_health(&pi, health);
}

static void rpi4_watchdog(uint32_t millis, const char *doing)
{
    raspberry_pi_watchdog(&pi, millis, doing);
}

static void rpi4_alive(void)
{
    raspberry_pi_alive(&pi);
}

static void rpi4_last_run(struct board_last_run *last)
{
    *last = pi.last_run;
}

static bool rpi4_is_emulated(void)
{
    return pi.emulated;
}

static _Noreturn void rpi4_restart(void)
{
    raspberry_pi_restart(&pi);
}

static _Noreturn void rpi4_power_off(int status)
{
    (void)status; /* nobody to tell */
    raspberry_pi_power_off(&pi);
}

const struct board board = {
    .name = "rpi4",
    .early_init = rpi4_early_init,
    .describe = rpi4_describe,
    .putc = serial_putc,
    .getc = serial_getc,
    .idle = serial_idle,
    .interrupted = serial_interrupted,
    .lost = serial_lost,
    .flow_control = serial_flow_control,
    .set_baud = rpi4_set_baud,
    .ticks = generic_timer_ticks,
    .ticks_hz = generic_timer_hz,
    .start_core = rpi4_start_core,
    .wait = rpi4_wait,
    .wake = rpi4_wake,
    .find_storage = rpi4_find_storage,
    .activity = rpi4_activity,
    .health = rpi4_health,
    .watchdog = rpi4_watchdog,
    .alive = rpi4_alive,
    .last_run = rpi4_last_run,
    .is_emulated = rpi4_is_emulated,
    .restart = rpi4_restart,
    .power_off = rpi4_power_off,
};
