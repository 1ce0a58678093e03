#include "board/drivers/soc/raspberry_pi.h"

#include "board/drivers/soc/bcm_screen.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/serial/serial_rates.h"
#include "board/drivers/soc/bcm_watchdog.h"
#include "board/drivers/soc/brcmstb_gpio.h"
#include "board/drivers/soc/generic_timer.h"
#include "board/drivers/soc/last_run.h"
#include "board/isa.h"
#include "board/min_max.h"

enum { UART_BYTES = 0x200, UART_TX_PIN = 14, UART_RX_PIN = 15 };
/* The other pins on which BCM2837 can have the UART; a board with Bluetooth uses them for
 * Bluetooth. */
enum { BLUETOOTH_TX_PIN = 32, BLUETOOTH_RX_PIN = 33 };

/* The firmware's start code of arm64 (github.com/raspberrypi/tools): 8 bytes a core. */
enum { RELEASE_ADDRESS = 0xd8, RELEASE_BYTES = 8 };

/* QEMU answers with a fixed number, firmware with its date, which is 2012 or later. */
enum { FIRST_FIRMWARE = 1325376000 };

enum { GIB = 1 << 30, FEED_MILLIS = 250, EMULATED_LOOKS = 64 };

/* Revision codes (Raspberry Pi documentation, "New-style revision codes"). */
enum { REVISION_NEW = 1 << 23, REVISION_MEMORY_SHIFT = 20, REVISION_MEMORY_UNIT_SHIFT = 28 };

static struct raspberry_pi *the_pi; /* set by raspberry_pi_init: a machine is one board */

static void set_led(struct raspberry_pi *pi, bool lit)
{
    bool high = lit != pi->led_inverted;
    uint32_t values[2] = { (uint32_t)pi->led, high };

    if (pi->led == RASPBERRY_PI_NO_LED)
        return;
    if (pi->led >= RASPBERRY_PI_ALWAYS_ON)
        brcmstb_gpio_write(pi->places->gpio_aon, (unsigned)pi->led - RASPBERRY_PI_ALWAYS_ON, high);
    else if (pi->led >= RASPBERRY_PI_EXPANDER)
        (void)bcm_mailbox_ask(&pi->mailbox, BCM_SET_GPIO, values, 2);
    else
        bcm_gpio_write(pi->places->gpio, (unsigned)pi->led, high);
}

/* Show the start on the LED. The firmware sets an expander's pin over a slow bus, for which a start
 * should not wait. */
static void show_start(struct raspberry_pi *pi, bool begins)
{
    if (pi->led < RASPBERRY_PI_EXPANDER || pi->led >= RASPBERRY_PI_ALWAYS_ON)
        set_led(pi, begins);
}

static void find_led(struct raspberry_pi *pi)
{
    if (pi->led == RASPBERRY_PI_NO_LED && pi->places->find_led != NULL)
        pi->places->find_led(pi);
}

/* Find the board's revision and its LED. On most boards the LED is known without the firmware. */
static void find_board(struct raspberry_pi *pi, const struct raspberry_pi_places *places)
{
    uint32_t revision = 0;

    pi->led = RASPBERRY_PI_NO_LED;
    pi->places = places;
    if (places->gpio != 0)
        (void)mmu_map(places->gpio, BCM_GPIO_BYTES, MAP_DEVICE);
    if (places->gpio_aon != 0)
        (void)mmu_map(places->gpio_aon, BRCMSTB_GPIO_BYTES, MAP_DEVICE);
    find_led(pi);
    show_start(pi, true);
    if (mmu_map(places->mailbox, BCM_MAILBOX_BYTES, MAP_DEVICE) == ERR_OK)
        bcm_mailbox_init(&pi->mailbox, places->mailbox);
    if (bcm_mailbox_ask(&pi->mailbox, BCM_GET_REVISION, &revision, 1) == ERR_OK)
        pi->revision = revision;
    find_led(pi);
    show_start(pi, true);
}

void raspberry_pi_led(struct raspberry_pi *pi, const struct raspberry_pi_places *places, bool lit)
{
    if (pi->places == NULL)
        find_board(pi, places);
    if (pi->led >= RASPBERRY_PI_EXPANDER && pi->led < RASPBERRY_PI_ALWAYS_ON)
        bcm_mailbox_init(&pi->mailbox, places->mailbox); /* a question may have been interrupted */
    set_led(pi, lit);
}

void raspberry_pi_init(struct raspberry_pi *pi, const struct raspberry_pi_places *places,
                       const void *dtb)
{
    uint32_t built = FIRST_FIRMWARE, fastest;

    the_pi = pi;
    places->listen();
    find_board(pi, places);
    if (dtb != NULL)
        (void)device_tree_open(&pi->tree, dtb, device_tree_bytes(dtb)); /* checked before */
    (void)mmu_map(places->watchdog, BCM_WATCHDOG_BYTES, MAP_DEVICE);
    (void)bcm_mailbox_ask(&pi->mailbox, BCM_GET_FIRMWARE, &built, 1);
    pi->emulated = built < FIRST_FIRMWARE;
    pi->reset_status = bcm_watchdog_status(places->watchdog);
    pi->start_ticks = generic_timer_ticks();
    /* QEMU forgets the register in a reset, and resets when the watchdog is armed. */
    last_run_open(&pi->last_run, pi->emulated || bcm_watchdog_restarted(places->watchdog));
    fastest = bcm_mailbox_clock(&pi->mailbox, BCM_GET_MAX_CLOCK, BCM_CLOCK_ARM);
    if (fastest != 0)
        (void)bcm_mailbox_set_clock(&pi->mailbox, BCM_CLOCK_ARM, fastest);
}

/* The UART must be idle while its clock changes (BCM2835 ARM Peripherals, section 13). */
static void set_uart_clock(struct raspberry_pi *pi)
{
    uint32_t wanted = pi->places->uart_hz, got = 0;

    if (wanted == 0)
        return;
    pl011_serial.drain(&pi->uart);
    pi->uart_hz = bcm_mailbox_clock(&pi->mailbox, BCM_GET_CLOCK, BCM_CLOCK_UART);
    if (pi->uart_hz != wanted)
        got = bcm_mailbox_set_clock(&pi->mailbox, BCM_CLOCK_UART, wanted);
    if (got != 0)
        pi->uart_hz = got;
}

static void route_uart(const struct raspberry_pi_places *places)
{
    if (places->gpio == 0)
        return;
    /* On a Pi 3 and a Pi 4 the firmware gives this UART to Bluetooth (GPIO 32, 33); if that stayed,
     * two pins would feed the UART's receiver (Circle, serial.cpp). */
    bcm_gpio_function(places->gpio, BLUETOOTH_TX_PIN, BCM_PIN_INPUT);
    bcm_gpio_function(places->gpio, BLUETOOTH_RX_PIN, BCM_PIN_INPUT);
    bcm_gpio_pull(places->gpio, places->pull, UART_TX_PIN, false);
    bcm_gpio_pull(places->gpio, places->pull, UART_RX_PIN, true); /* prevents noise if no cable is
                                                                     connected */
    bcm_gpio_function(places->gpio, UART_TX_PIN, BCM_PIN_ALT0);
    bcm_gpio_function(places->gpio, UART_RX_PIN, BCM_PIN_ALT0);
}

void raspberry_pi_open_console(struct raspberry_pi *pi)
{
    uintptr_t base = pi->places->uart;

    if (mmu_map(base, UART_BYTES, MAP_DEVICE) != ERR_OK)
        return;
    pi->uart.base = base;
    set_uart_clock(pi);
    if (pi->places->uart_hz != 0)
        pl011_init(&pi->uart, base, pi->uart_hz, RASPBERRY_PI_BAUD);
    else
        pl011_init_left(&pi->uart, base, pi->places->uart_left_hz, RASPBERRY_PI_BAUD);
    route_uart(pi->places);
    serial_open(&pl011_serial, &pi->uart);
    show_start(pi, false);
}

void raspberry_pi_set_baud(uint32_t baud)
{
    struct raspberry_pi *pi = the_pi;
    uint32_t most = pi->uart_hz / 16; /* the divisor must be at least 1 (DDI 0183, 3.3.6) */

    pl011_init(&pi->uart, pi->uart.base, pi->uart_hz, baud < most || most == 0 ? baud : most);
}

/* A PL011 divides by 16 times a number with six fractional bits. */
uint32_t raspberry_pi_best_baud(uint32_t most)
{
    return serial_best_baud((uint64_t)the_pi->uart_hz * 4, 64, most);
}

/* All of the board's RAM; 0: unknown. */
static uint64_t installed(const struct raspberry_pi *pi)
{
    if (!(pi->revision & REVISION_NEW))
        return 0;
    return (uint64_t)1 << (REVISION_MEMORY_UNIT_SHIFT +
                           (pi->revision >> REVISION_MEMORY_SHIFT & 7));
}

static void add_ram(struct machine *machine, uint64_t start, uint64_t end)
{
    if (start < end)
        machine->ram[machine->n_ram++] = (struct memory_range){ (uint8_t *)(uintptr_t)start,
                                                                (size_t)(end - start) };
}

void raspberry_pi_describe(struct machine *machine)
{
    struct raspberry_pi *pi = the_pi;
    const uint64_t peripherals = (uint64_t)0xfc000000, gib4 = (uint64_t)4 * GIB;
    uint64_t all = installed(pi);
    uint32_t low[2] = { 0, 0 };

    if (bcm_mailbox_ask(&pi->mailbox, BCM_GET_ARM_MEMORY, low, 2) == ERR_OK)
        add_ram(machine, low[0], (uint64_t)low[0] + low[1]);
    add_ram(machine, GIB, min_u64(all, peripherals));
    add_ram(machine, gib4, all);
    machine->n_cores = RASPBERRY_PI_CORES;
    for (unsigned core = 0; core < RASPBERRY_PI_CORES; core++)
        machine->core_ids[core] = core; /* as start_released takes it */
    machine->args_limit = BCM_MAILBOX_MAX_ANSWER;
    (void)bcm_mailbox_ask_text(&pi->mailbox, BCM_GET_ARGUMENTS, machine->args, sizeof machine->args,
                               &machine->args_bytes);
}

static uintptr_t release_address(const struct device_tree *tree, unsigned core)
{
    struct device_tree_node node;
    uint64_t id, address;

    device_tree_begin(&node);
    while (tree->blob != NULL && device_tree_next_type(tree, &node, "cpu"))
        if (device_tree_number(tree, &node, "reg", &id) && id == core &&
            device_tree_number(tree, &node, "cpu-release-addr", &address))
            return (uintptr_t)address;
    return RELEASE_ADDRESS + core * RELEASE_BYTES;
}

static void core_main(void *arg)
{
    struct raspberry_pi_core *core = arg;

    core->pi->places->listen();
    while (atomic_load(&core->started) == 0)
        board.wait(&core->started, 0);
    core->entry(core->arg);
}

void raspberry_pi_fetch_cores(struct raspberry_pi *pi)
{
    for (unsigned core = 1; core < RASPBERRY_PI_CORES; core++) {
        pi->cores[core].pi = pi;
        core_release(release_address(&pi->tree, core), core, core_main, &pi->cores[core]);
    }
}

enum err raspberry_pi_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    struct raspberry_pi *pi = the_pi;

    if (core == 0 || core >= RASPBERRY_PI_CORES)
        return ERR_NO_DEVICE;
    pi->cores[core].entry = entry;
    pi->cores[core].arg = arg;
    atomic_store(&pi->cores[core].started, 1);
    board.wake(&pi->cores[core].started);
    return ERR_OK;
}

void raspberry_pi_use_pio(void)
{
    the_pi->pio = true;
}

void raspberry_pi_limit_dma(uint64_t end)
{
    the_pi->dma_end = end;
}

struct dma_window raspberry_pi_window(struct dma_window window)
{
    if (the_pi->dma_end != 0)
        window.end = min_u64(window.end, the_pi->dma_end);
    return window;
}

/* An LED at the firmware's expander needs a message for each change; but reads overlap, so the LED
 * seldom changes while a model streams. */
void raspberry_pi_activity(bool active)
{
    struct raspberry_pi *pi = the_pi;
    bool was_lit = pi->n_reads != 0;

    pi->n_reads += active ? 1 : -1u;
    if (was_lit != (pi->n_reads != 0))
        set_led(pi, !was_lit);
}

bool raspberry_pi_open_screen(struct board_screen *screen, struct memory_range *free)
{
    enum err e = bcm_screen_open(&the_pi->mailbox, screen);

    (void)free; /* the firmware provides the memory */
    if (e == ERR_NO_SPACE)
        screen->error_message =
            "the firmware has too little memory for a display, even at 1280 x 720: set gpu_mem=64 in config.txt";
    else if (e == ERR_NO_DEVICE)
        screen->none =
            "the firmware finds no display: connect it before the power comes on, to HDMI 0 if the Pi has two sockets";
    else if (e != ERR_OK)
        screen->error_message = "the firmware refuses to show a picture: use newer firmware";
    return e == ERR_OK;
}

void raspberry_pi_facts(const struct facts *f)
{
    raspberry_pi_tell(the_pi, f);
}

void raspberry_pi_health(struct board_health *health)
{
    struct raspberry_pi *pi = the_pi;
    uint32_t heat[2] = { 0, 0 }, limits = 0;

    health->temperature = BOARD_NO_TEMPERATURE;
    if (bcm_mailbox_ask(&pi->mailbox, BCM_GET_TEMPERATURE, heat, 2) == ERR_OK)
        health->temperature = (int32_t)heat[1];
    health->clock_hz = bcm_mailbox_clock(&pi->mailbox, BCM_GET_CLOCK, BCM_CLOCK_ARM);
    if (bcm_mailbox_ask(&pi->mailbox, BCM_GET_THROTTLED, &limits, 1) != ERR_OK)
        limits = 0;
    health->limits = limits & 15;
    health->limits_past = limits >> 16 & 15;
}

_Static_assert((int)BOARD_LIMIT_VOLTAGE == (int)BCM_UNDER_VOLTAGE &&
                   (int)BOARD_LIMIT_CLOCK == (int)BCM_CLOCK_CAPPED &&
                   (int)BOARD_LIMIT_THROTTLED == (int)BCM_THROTTLED &&
                   (int)BOARD_LIMIT_HOT == (int)BCM_SOFT_LIMIT,
               "both enums have the same bits");

void raspberry_pi_watchdog(uint32_t millis, const char *doing)
{
    struct raspberry_pi *pi = the_pi;

    pi->watchdog_millis = min_u32(millis, BCM_WATCHDOG_MAX_MILLIS);
    last_run_doing(doing, millis != 0);
    pi->fed_ticks = generic_timer_ticks();
    bcm_watchdog_arm(pi->places->watchdog, pi->watchdog_millis);
}

/* A few times a second is enough; the record's page is uncached and slow. */
void raspberry_pi_alive(void)
{
    struct raspberry_pi *pi = the_pi;
    uint64_t now, hz = generic_timer_hz();

    /* QEMU takes a lock to read the clock, and needs the same lock to move the card's data. */
    if (pi->emulated && ++pi->n_alive % EMULATED_LOOKS != 0)
        return;
    now = generic_timer_ticks();
    if (now - pi->fed_ticks < hz * FEED_MILLIS / 1000)
        return;
    pi->fed_ticks = now;
    last_run_alive((uint32_t)((now - pi->start_ticks) * 1000 / hz));
    if (pi->watchdog_millis != 0)
        bcm_watchdog_arm(pi->places->watchdog, pi->watchdog_millis);
}

void raspberry_pi_last_run(struct board_last_run *last)
{
    *last = the_pi->last_run;
}

bool raspberry_pi_is_emulated(void)
{
    return the_pi->emulated;
}

static void leave_devices(const struct raspberry_pi *pi)
{
    if (pi->before_reset != NULL)
        pi->before_reset();
}

void raspberry_pi_restart(void)
{
    struct raspberry_pi *pi = the_pi;

    last_run_close(true);
    serial_drain();
    leave_devices(pi);
    bcm_watchdog_restart(pi->places->watchdog);
    core_halt();
}

_Noreturn void raspberry_pi_power_off(int status)
{
    struct raspberry_pi *pi = the_pi;

    (void)status; /* the firmware does not take a status */
    last_run_close(false);
    serial_drain();
    leave_devices(pi);
    bcm_watchdog_halt(pi->places->watchdog);
    core_halt();
}
