/* Raspberry Pi 3 and Zero 2 W: BCM2837, four Cortex-A53. */
#include "board/board.h"

#include "board/drivers/gpio/pi_lines.h"
#include "board/drivers/i2c/pi_i2c.h"
#include "board/drivers/irq/bcm_local.h"
#include "board/drivers/sd/bcm_sd.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/soc/generic_timer.h"
#include "board/drivers/soc/raspberry_pi.h"
#include "board/isa.h"
#include "memory.h"

static void rpi3_listen(void)
{
    bcm_local_listen(BOARD_LOCAL, core_number());
}

/* Models by revision code, and the pin of the activity LED as their device trees have it
 * (bcm2710-rpi-*.dts, led_act). */
static const struct {
    uint8_t model, led;
    bool inverted;
} leds[] = {
    { 0x08, RASPBERRY_PI_EXPANDER + 2, false }, /* 3B */
    { 0x0d, 29, false },                        /* 3B+ */
    { 0x0e, 29, false },                        /* 3A+ */
    { 0x12, 29, true },                         /* Zero 2 W */
};

static void rpi3_find_led(struct raspberry_pi *of)
{
    for (unsigned i = 0; i < sizeof leds / sizeof leds[0]; i++) {
        if (leds[i].model != raspberry_pi_model(of))
            continue;
        of->led = leds[i].led;
        of->led_inverted = leds[i].inverted;
        if (of->led < RASPBERRY_PI_EXPANDER)
            bcm_gpio_function(BOARD_GPIO, (unsigned)of->led, BCM_PIN_OUTPUT);
    }
}

/* The UART's clock must be 16 times 3 million baud. */
static const struct raspberry_pi_places places = {
    .uart = BOARD_UART,
    .mailbox = BOARD_MAILBOX,
    .watchdog = BOARD_WATCHDOG,
    .gpio = BOARD_GPIO,
    .find_led = rpi3_find_led,
    .pull = BCM_PULL_CLOCKED,
    .uart_hz = 48000000,
    .listen = rpi3_listen,
};

/* BCM2835 ARM Peripherals, section 7.5. */
enum { LINE_UART = 57 };

enum { RADIO_FIRST_PIN = 34, RADIO_LAST_PIN = 39, SD_CLOCK_PIN = 48, SD_LAST_PIN = 53 };

static struct raspberry_pi pi;

static struct rpi3_storage {
    struct bcm_sd sd;
    struct block_device device;
} storage;

static void rpi3_early_init(const void *dtb)
{
    (void)mmu_map(BOARD_LOCAL, BCM_LOCAL_BYTES, MAP_DEVICE);
    raspberry_pi_init(&pi, &places, dtb);
    pi_lines_open(BOARD_GPIO); /* mapped with the UART */
    pi_i2c_open(BOARD_I2C1, BOARD_GPIO, &pi.mailbox);
    raspberry_pi_open_console(&pi);
    raspberry_pi_fetch_cores(&pi);
    if (mmu_map(BOARD_INTERRUPTS, BCM_INTERRUPTS_BYTES, MAP_DEVICE) == ERR_OK)
        bcm_local_init(BOARD_LOCAL, BOARD_INTERRUPTS);
    (void)serial_listen(LINE_UART); /* otherwise polled */
}

static void rpi3_led(bool lit)
{
    raspberry_pi_led(&pi, &places, lit);
}

static void rpi3_wait(const _Atomic uint32_t *word, uint32_t old)
{
    bool on = core_interrupts_mask();

    if (atomic_load(word) == old) /* if *word changes from here on, the sleep ends at once */
        bcm_local_sleep(BOARD_LOCAL, core_number());
    core_interrupts_restore(on);
}

static void rpi3_wake(const _Atomic uint32_t *word)
{
    (void)word;
    bcm_local_wake_others(BOARD_LOCAL, core_number());
}

/* Connect the card slot to Arasan's controller, which could also serve the radio; the slot's pins
 * could also have another controller (BCM2835 ARM Peripherals, section 6.2). All pins except the
 * clock are pulled up. */
static void route_card(void)
{
    for (unsigned pin = RADIO_FIRST_PIN; pin <= RADIO_LAST_PIN; pin++)
        bcm_gpio_function(places.gpio, pin, BCM_PIN_INPUT);
    for (unsigned pin = SD_CLOCK_PIN; pin <= SD_LAST_PIN; pin++) {
        bcm_gpio_pull(places.gpio, places.pull, pin, pin != SD_CLOCK_PIN);
        bcm_gpio_function(places.gpio, pin, BCM_PIN_ALT3);
    }
}

/* Switch the power on first, as Circle and U-Boot do (wiki, "Set power state"); device 0 is the SD
 * card. A firmware without this tag leaves the power on. */
static uint32_t start_card_clock(void)
{
    uint32_t power[2] = { 0, 3 };

    (void)bcm_mailbox_ask(&pi.mailbox, BCM_SET_POWER, power, 2);
    return bcm_mailbox_clock(&pi.mailbox, BCM_GET_CLOCK, BCM_CLOCK_EMMC);
}

/* RAM ends where the peripherals begin; on the VideoCore's bus RAM begins at 0xc0000000, without
 * caches (BCM2835 ARM Peripherals, 1.2.3). */
static unsigned rpi3_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    const struct bcm_sd_place place = {
        .kind = BCM_SD_ARASAN,
        .mmio = BOARD_ARASAN,
        .dma = BOARD_DMA,
        .pio = pi.pio,
        .clock_hz = start_card_clock(),
        .window = raspberry_pi_window((struct dma_window){ 0xc0000000, 0x3f000000, false }),
        .ticks = generic_timer_ticks,
        .ticks_hz = generic_timer_hz(),
    };

    route_card();
    if (mmu_map(BOARD_ARASAN, SDHCI_REGISTER_BYTES, MAP_DEVICE) != ERR_OK ||
        mmu_map(BOARD_DMA, BCM_DMA_BYTES, MAP_DEVICE) != ERR_OK ||
        bcm_sd_open(&storage.sd, &place, &storage.device) != ERR_OK)
        return 0;
    devices[0] = &storage.device;
    return 1;
}

const struct board board = {
    .name = "rpi3",
    .early_init = rpi3_early_init,
    .describe = raspberry_pi_describe,
    SERIAL_CONSOLE,
    .set_baud = raspberry_pi_set_baud,
    .best_baud = raspberry_pi_best_baud,
    RASPBERRY_PI,
    .start_core = raspberry_pi_start_core,
    .wait = rpi3_wait,
    .wake = rpi3_wake,
    .find_storage = rpi3_find_storage,
    .use_pio = raspberry_pi_use_pio,
    .limit_dma = raspberry_pi_limit_dma,
    .storage_needs_cpu = true,
    .activity = raspberry_pi_activity,
    .pins = &pi_lines,
    .i2c = &pi_i2c,
    .led = rpi3_led,
};
