/* Raspberry Pi 4, 400 and CM4: BCM2711, four Cortex-A72. */
#include "board/board.h"

#include "board/drivers/block/pcie_drive.h"
#include "board/drivers/dma/tree_window.h"
#include "board/drivers/gpio/pi_lines.h"
#include "board/drivers/i2c/pi_i2c.h"
#include "board/drivers/irq/gic.h"
#include "board/drivers/sd/bcm_sd.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/soc/generic_timer.h"
#include "board/drivers/soc/raspberry_pi.h"
#include "board/isa.h"
#include "memory.h"

/* GIC-400 (BCM2711 ARM Peripherals, section 6.5.1). */
static struct gic gic = GIC_400(BOARD_GIC_DISTRIBUTOR, BOARD_GIC_INTERFACE);

/* The LED's pin in the trees: the activity LED on a 4B or CM4, the only LED on a 400. */
enum { LED_PIN = 42 };

static void rpi4_find_led(struct raspberry_pi *of)
{
    of->led = LED_PIN;
    bcm_gpio_function(BOARD_GPIO, LED_PIN, BCM_PIN_OUTPUT);
}

/* The UART's clock must be 16 times 3 million baud. */
static const struct raspberry_pi_places places = {
    .uart = BOARD_UART,
    .mailbox = BOARD_MAILBOX,
    .watchdog = BOARD_WATCHDOG,
    .gpio = BOARD_GPIO,
    .find_led = rpi4_find_led,
    .pull = BCM_PULL_REGISTER,
    .uart_hz = 48000000,
    .listen = gic_listen,
};

enum {
    EXPANDER_SD_1V8 = 4,
    EXPANDER_SD_POWER = 6,
    MODEL_CM4 = 0x14,
    MODEL_CM4S = 0x15,
    GIB = 1 << 30
};

static struct raspberry_pi pi;

static struct rpi4_storage {
    struct bcm_sd sd;
    struct block_device device;
    struct pcie_drive drive;
} storage;

/* VideoCore's interrupt 57 (BCM2711 ARM Peripherals, sections 6.2.4 and 6.3). */
enum { LINE_UART = 96 + 57 };

static void rpi4_early_init(const void *dtb)
{
    (void)gic_init(&gic);
    raspberry_pi_init(&pi, &places, dtb);
    pi_lines_open(BOARD_GPIO); /* mapped with the UART */
    pi_i2c_open(BOARD_I2C1, BOARD_GPIO, &pi.mailbox);
    raspberry_pi_open_console(&pi);
    raspberry_pi_fetch_cores(&pi);
    (void)serial_listen(LINE_UART); /* otherwise polled */
}

static void rpi4_led(bool lit)
{
    raspberry_pi_led(&pi, &places, lit);
}

/* The firmware's expander switches the supplies of the card and of its signals (device tree of the
 * 4B). */
static void set_expander(uint32_t pin, bool high)
{
    uint32_t values[2] = { RASPBERRY_PI_EXPANDER + pin, high };

    (void)bcm_mailbox_ask(&pi.mailbox, BCM_SET_GPIO, values, 2);
}

static void switch_power(bool on)
{
    set_expander(EXPANDER_SD_POWER, on);
}

static enum err switch_1v8(bool on)
{
    set_expander(EXPANDER_SD_1V8, on);
    return ERR_OK;
}

static bool open_card(const struct bcm_sd_place *place)
{
    return mmu_map(place->mmio, SDHCI_REGISTER_BYTES, MAP_DEVICE) == ERR_OK &&
           bcm_sd_open(&storage.sd, place, &storage.device) == ERR_OK;
}

static void close_card(void)
{
    bcm_sd_close(&storage.sd);
}

/* On a Compute Module 4 EMMC2 has an eMMC with eight lines, whose supply is always on
 * (bcm2711-rpi-cm4.dts, bus-width), or a slot with four lines, as many as a card uses. EMMC2's view
 * of memory depends on the chip's stepping; the firmware writes it into the tree, under the alias.
 * Without this entry a core moves the data. */
static bool open_emmc2(void)
{
    unsigned model = raspberry_pi_model(&pi);
    bool slot = model != MODEL_CM4 && model != MODEL_CM4S;
    const struct bcm_sd_place place = {
        .kind = BCM_SD_EMMC2,
        .mmio = BOARD_EMMC2,
        .pio = pi.pio,
        .clock_hz = bcm_mailbox_clock(&pi.mailbox, BCM_GET_CLOCK, BCM_CLOCK_EMMC2),
        .window = raspberry_pi_window(tree_window(&pi.tree, "emmc2bus", false)),
        .switch_power = slot ? switch_power : NULL,
        .switch_1v8 = slot ? switch_1v8 : NULL,
        .is_soldered = !slot,
        .ticks = generic_timer_ticks,
        .ticks_hz = generic_timer_hz(),
    };

    pi.before_reset = close_card;
    return open_card(&place);
}

static bool open_arasan(void)
{
    const struct bcm_sd_place place = {
        .kind = BCM_SD_ARASAN,
        .mmio = BOARD_ARASAN,
        .dma = mmu_map(BOARD_DMA, BCM_DMA_BYTES, MAP_DEVICE) == ERR_OK ? BOARD_DMA : 0,
        .pio = pi.pio,
        .clock_hz = bcm_mailbox_clock(&pi.mailbox, BCM_GET_CLOCK, BCM_CLOCK_EMMC),
        .window = raspberry_pi_window((struct dma_window){ 0xc0000000, GIB, false }),
        .ticks = generic_timer_ticks,
        .ticks_hz = generic_timer_hz(),
    };

    return open_card(&place) && storage.device.error_message == NULL;
}

/* Let the firmware load the program of a 4B's USB controller from its flash. */
static void reload_vl805(void)
{
    uint32_t device = 1 << 20; /* bus 1, device 0, function 0 */

    (void)bcm_mailbox_ask(&pi.mailbox, BCM_RELOAD_XHCI, &device, 1);
}

/* Open the VL805 of a 4B or 400, or the device at a CM4's lane. The chip's first stepping reaches 3
 * GiB, and the window on the bus leaves 3 GiB free (bcm2711.dtsi, pcie0: ranges, dma-ranges), so
 * this limit is used on every stepping. QEMU has no such port and removes it from the tree. */
static unsigned open_drives(struct block_device **out)
{
    struct device_tree_node node;
    const struct brcm_pcie_place place = {
        .chip = BRCM_PCIE_2711,
        .mmio = BOARD_PCIE,
        .generation = 2,
        .outbound = BOARD_PCIE_WINDOW,
        .outbound_bus = 0xc0000000,
        .outbound_bytes = GIB,
        .inbound_bus = 0,
        .inbound_bits = 32,
        .ticks = generic_timer_ticks,
        .ticks_hz = generic_timer_hz(),
    };
    struct dma_window window = { .offset = 0, .end = 0xc0000000, .coherent = false };

    if (pi.emulated || pi.tree.blob == NULL)
        return 0;
    device_tree_begin(&node);
    if (!device_tree_next_compatible(&pi.tree, &node, "brcm,bcm2711-pcie"))
        return 0;
    return pcie_drive_open(&storage.drive, &place, raspberry_pi_window(window), reload_vl805, out);
}

/* The card slot is on EMMC2, and the radio is on Arasan's controller. But QEMU attaches
 * -drive if=sd to Arasan's controller. */
static unsigned rpi4_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    unsigned n = 0;

    n += open_drives(devices);
    if ((pi.emulated && open_arasan()) || open_emmc2())
        devices[n++] = &storage.device;
    return n;
}

const struct board board = {
    .name = "rpi4",
    .early_init = rpi4_early_init,
    .describe = raspberry_pi_describe,
    SERIAL_CONSOLE,
    .set_baud = raspberry_pi_set_baud,
    .best_baud = raspberry_pi_best_baud,
    RASPBERRY_PI,
    .start_core = raspberry_pi_start_core,
    .wait = gic_wait,
    .wake = gic_wake,
    .find_storage = rpi4_find_storage,
    .set_keyboard = usb_set_layout,
    .has_keyboard = usb_has_keyboard,
    .look_for_storage = usb_look,
    .use_pio = raspberry_pi_use_pio,
    .limit_dma = raspberry_pi_limit_dma,
    .storage_needs_cpu = true,
    .activity = raspberry_pi_activity,
    .pins = &pi_lines,
    .i2c = &pi_i2c,
    .led = rpi4_led,
};
