/* Raspberry Pi 5: BCM2712, four Cortex-A76. The code has not yet run on hardware, and no emulator
 * has this board. Everything but this file is shared with rpi4. */
#include "board/board.h"

#include "board/drivers/block/pcie_drive.h"
#include "board/drivers/bus/brcm_pcie.h"
#include "board/drivers/bus/rp1_link.h"
#include "board/drivers/gpio/pi_lines.h"
#include "board/drivers/gpio/rp1_gpio.h"
#include "board/drivers/irq/gic.h"
#include "board/drivers/sd/bcm_sd.h"
#include "board/drivers/serial/pl011.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/soc/bcm2712.h"
#include "board/drivers/soc/brcmstb_gpio.h"
#include "board/drivers/soc/generic_timer.h"
#include "board/drivers/soc/psci.h"
#include "board/drivers/soc/raspberry_pi.h"
#include "board/drivers/usb/rp1_usb.h"
#include "board/facts.h"
#include "board/isa.h"
#include "memory.h"

/* GIC-400 (bcm2712.dtsi, interrupt-controller@7fff9000). */
static struct gic gic = GIC_400(BOARD_GIC_DISTRIBUTOR, BOARD_GIC_INTERFACE);

enum { LED_PIN = 9 }; /* bcm2712-rpi-5-b.dts and bcm2712-rpi-cm5.dtsi, led_act: active low */

static void rpi5_find_led(struct raspberry_pi *of)
{
    of->led = RASPBERRY_PI_ALWAYS_ON + LED_PIN;
    of->led_inverted = true;
}

/* The firmware sets the UART's clock and its rate. 44 MHz: bcm2712.dtsi, clk_uart. */
static const struct raspberry_pi_places places = {
    .uart = BOARD_UART,
    .uart_left_hz = 44000000,
    .mailbox = BOARD_MAILBOX,
    .watchdog = BOARD_WATCHDOG,
    .gpio_aon = BOARD_GPIO_AON,
    .chip_id = BOARD_CHIP_ID,
    .find_led = rpi5_find_led,
    .listen = gic_listen,
};

static struct raspberry_pi pi;

static struct rpi5_line {
    struct rp1_link link;
    struct pl011 uart;
} second_line;

static struct rpi5_storage {
    struct bcm_sd sd;
    struct block_device device;
    struct pcie_drive drive;
    struct rp1_usb rp1;
    unsigned pcie; /* requested generation; 0: none */
} storage;

static void rpi5_set_pcie(unsigned generation)
{
    storage.pcie = generation;
}

enum { MODEL_CM5 = 0x18 };  /* model in the revision code; a CM5 Lite is 0x1a */
enum { SD_HZ = 200000000 }; /* bcm2712.dtsi, clk_emmc2 */

/* Receive with interrupts, whose line depends on the chip's stepping; the UART is also polled. */
static void listen(void)
{
    uint32_t lines[BCM2712_UART_LINES], id = 0;
    unsigned n;

    if (mmu_map(BOARD_CHIP_ID, sizeof id, MAP_DEVICE) == ERR_OK)
        id = *(volatile uint32_t *)BOARD_CHIP_ID;
    n = bcm2712_uart_lines(id, lines);
    for (unsigned i = 0; i < n; i++)
        (void)serial_listen(lines[i]);
}

/* Open RP1's UART 0 on GPIO 14 and 15 of the 40 pins, if the firmware has set it to 115200 baud
 * because of `enable_rp1_uart=1` in config.txt (raspberrypi/documentation issue 4240); otherwise do
 * not touch it. */
static void open_second_line(void)
{
    uintptr_t base;

    if (mmu_map(BOARD_RP1_PCIE, BRCM_PCIE_BYTES, MAP_DEVICE) != ERR_OK ||
        rp1_link_open(&second_line.link, BOARD_RP1_PCIE) != ERR_OK)
        return;
    base = (uintptr_t)second_line.link.peripherals + RP1_UART_0;
    if (mmu_map(base, RP1_UART_BYTES, MAP_DEVICE) != ERR_OK || !pl011_is_on(base))
        return;
    pl011_init_left(&second_line.uart, base, RP1_UART_HZ, RASPBERRY_PI_BAUD);
    serial_also(&pl011_serial, &second_line.uart);
    facts_add(pl011_second_facts, &second_line.uart);
}

static void rpi5_early_init(const void *dtb)
{
    (void)gic_init(&gic);
    raspberry_pi_init(&pi, &places, dtb);
    psci_init(&pi.tree);
    raspberry_pi_open_console(&pi);
    listen();
    open_second_line();
}

static void rpi5_led(bool lit)
{
    raspberry_pi_led(&pi, &places, lit);
}

static void close_card(void)
{
    bcm_sd_close(&storage.sd);
}

enum {
    PCIE_BRIDGE = 43
}; /* bcm2712.dtsi, resets of pcie1; 44 would reset the port of RP1, which has the other UARTs */

/* Open the external connector. Its bus shows the first 32 GiB, more than any board has, 64 GiB
 * higher (bcm2712.dtsi, dma-ranges of pcie1). No source says whether DMA from there sees the cores'
 * caches. */
static unsigned open_drives(struct block_device **out)
{
    const struct brcm_pcie_place place = {
        .chip = BRCM_PCIE_2712,
        .mmio = BOARD_PCIE,
        .rescal = BOARD_PCIE_RESCAL,
        .neighbour = mmu_map(BOARD_RP1_PCIE, BRCM_PCIE_BYTES, MAP_DEVICE) == ERR_OK ? BOARD_RP1_PCIE
                                                                                    : 0,
        .resets = BOARD_RESETS,
        .reset = PCIE_BRIDGE,
        .generation = storage.pcie != 0 ? storage.pcie : 2, /* only 2 is certified */
        .outbound = BOARD_PCIE_WINDOW,
        .outbound_bus = 0x80000000,
        .outbound_bytes = (uint64_t)2 << 30,
        .inbound_bus = (uint64_t)1 << 36,
        .inbound_bits = 35,
        .ticks = generic_timer_ticks,
        .ticks_hz = generic_timer_hz(),
    };
    struct dma_window window = { .offset = (uint64_t)1 << 36,
                                 .end = (uint64_t)1 << 35,
                                 .coherent = false };

    return pcie_drive_open(&storage.drive, &place, window, NULL, out);
}

/* Pulls and functions of the pins stay as the firmware set them to read this program. The
 * controller sees memory as the cores do (bcm2712.dtsi, dma-ranges of its bus). A Compute Module 5
 * has an eMMC on eight lines, always at 1.8 V (bcm2712-rpi-cm5.dtsi, sd_io_1v8_reg); a CM5 Lite has
 * a slot, as other boards have. */
static bool open_card(void)
{
    bool soldered = raspberry_pi_model(&pi) == MODEL_CM5;
    const struct bcm_sd_place place = {
        .kind = BCM_SD_2712,
        .mmio = BOARD_SD,
        .config = BOARD_SD_CONFIG,
        .gpio = soldered ? 0 : BOARD_GPIO_AON,
        .is_soldered = soldered,
        .only_1v8 = soldered,
        .clock_hz = SD_HZ,
        .window = { .offset = 0, .end = (uint64_t)1 << 36, .coherent = false },
        .ticks = generic_timer_ticks,
        .ticks_hz = generic_timer_hz(),
    };

    pi.before_reset = close_card;
    if (mmu_map(BOARD_SD_CONFIG, BCM_SD_CONFIG_BYTES, MAP_DEVICE) != ERR_OK ||
        mmu_map(BOARD_GPIO_AON, BRCMSTB_GPIO_BYTES, MAP_DEVICE) != ERR_OK)
        return false;
    return mmu_map(BOARD_SD, SDHCI_REGISTER_BYTES, MAP_DEVICE) == ERR_OK &&
           bcm_sd_open(&storage.sd, &place, &storage.device) == ERR_OK;
}

static unsigned rpi5_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    unsigned n = 0;

    n += open_drives(devices);
    n += rp1_usb_open(&storage.rp1, BOARD_RP1_PCIE, generic_timer_ticks, generic_timer_hz(),
                      devices + n, BOARD_MAX_BLOCK - 1 - n); /* and the card */
    if (open_card())
        devices[n++] = &storage.device;
    return n;
}

/* ---- the row of 40 pins ---- */

/* Return the address of RP1's GPIO block; 0 if RP1 cannot be reached. The code of the USB ports,
 * which are on the same link, has checked the link. */
static uintptr_t lines_base(void)
{
    const struct rp1_link *link = &storage.rp1.link;
    uintptr_t base = (uintptr_t)link->peripherals + RP1_GPIO_PLACE;

    if (link->why != NULL || link->peripherals == 0 ||
        mmu_map(base, RP1_GPIO_BYTES, MAP_DEVICE) != ERR_OK)
        return 0;
    return base;
}

static const char *rpi5_line_error_message(unsigned line)
{
    if (lines_base() == 0)
        return "RP1, which has the lines, cannot be reached: write pciex4_reset=0 into config.txt";
    return pi_lines_error_message(line);
}

static void rpi5_line_setup(unsigned line, bool output, bool high)
{
    rp1_gpio_setup(lines_base(), line, output, high);
}

static void rpi5_line_write(unsigned line, bool high)
{
    rp1_gpio_write(lines_base(), line, high);
}

static bool rpi5_line_read(unsigned line)
{
    return rp1_gpio_read(lines_base(), line);
}

static const struct board_pins lines = {
    .error_message = rpi5_line_error_message,
    .setup = rpi5_line_setup,
    .write = rpi5_line_write,
    .read = rpi5_line_read,
};

const struct board board = {
    .name = "rpi5",
    .early_init = rpi5_early_init,
    SERIAL_CONSOLE,
    RASPBERRY_PI,
    .start_core = psci_start_core,
    .wait = gic_wait,
    .wake = gic_wake,
    .find_storage = rpi5_find_storage,
    .set_keyboard = usb_set_layout,
    .has_keyboard = usb_has_keyboard,
    .look_for_storage = usb_look,
    .set_pcie = rpi5_set_pcie,
    .activity = raspberry_pi_activity,
    .pins = &lines,
    .led = rpi5_led,
};
