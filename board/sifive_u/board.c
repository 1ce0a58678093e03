/* QEMU's `sifive_u`, a HiFive Unleashed: SiFive FU540-C000 ("manual": v1p3). */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/block/spi_nor.h"
#include "board/drivers/bus/sifive_spi.h"
#include "board/drivers/sd/sd_card.h"
#include "board/drivers/sd/sd_spi.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/serial/serial_rates.h"
#include "board/drivers/serial/sifive_uart.h"
#include "board/drivers/serial/tree_console.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi.h"
#include "board/drivers/soc/sbi_machine.h"
#include "board/drivers/soc/sifive_prci.h"
#include "board/isa.h"
#include "memory.h"

enum { UART_BYTES = 0x1000, SPI_BYTES = 0x1000 };

static struct board_state {
    const struct device_tree *tree; /* its blob is NULL if there is none */
    struct sifive_uart uart;
    struct sifive_spi card_bus, flash_bus;
    struct sd_spi card_host;
    struct sd_card card;
    struct spi_nor flash;
    struct block_device devices[2];
} board_state;

static void sifive_u_early_init(const void *dtb)
{
    struct device_tree_node node;
    uintptr_t base;

    board_state.tree = sbi_machine_init(dtb, BOARD_TIMEBASE_HZ);
    base = tree_console_map(board_state.tree, "sifive,uart0", BOARD_UART_ADDRESS, UART_BYTES,
                            &node);
    sifive_uart_init(&board_state.uart, base);
    serial_open(&sifive_uart_serial, &board_state.uart);
    sbi_machine_listen(&node);
}

static void sifive_u_set_baud(uint32_t baud)
{
    sifive_uart_set_baud(&board_state.uart, sifive_prci_peripheral_hz(BOARD_PRCI_ADDRESS), baud);
}

static uint32_t sifive_u_best_baud(uint32_t most)
{
    return serial_best_baud(sifive_prci_peripheral_hz(BOARD_PRCI_ADDRESS), 16, most);
}

/* Open the SPI controller of the first device of that kind, at the device's highest rate. */
static bool open_spi(struct sifive_spi *spi, const char *device, uint64_t *hz)
{
    struct device_tree_node node;
    uint64_t base;

    if (board_state.tree->blob == NULL)
        return false;
    device_tree_begin(&node);
    if (!device_tree_next_compatible(board_state.tree, &node, device))
        return false;
    (void)device_tree_number(board_state.tree, &node, "spi-max-frequency", hz);
    node.depth--; /* its parent */
    if (!device_tree_lists(board_state.tree, &node, "compatible", "sifive,spi0") ||
        !device_tree_reg(board_state.tree, &node, 0, &base, NULL) ||
        mmu_map((uintptr_t)base, SPI_BYTES, MAP_DEVICE) != ERR_OK)
        return false;
    sifive_spi_init(spi, (uintptr_t)base, sifive_prci_peripheral_hz(BOARD_PRCI_ADDRESS));
    return true;
}

static unsigned sifive_u_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    uint64_t hz = BOARD_CARD_HZ;
    unsigned n = 0;

    if (open_spi(&board_state.card_bus, "mmc-spi-slot", &hz)) {
        sd_spi_init(&board_state.card_host, &board_state.card_bus.bus, (uint32_t)hz,
                    riscv_timer_ticks, sbi_machine_ticks_hz());
        sd_card_open(&board_state.card, &board_state.card_host.host, "SD over SPI at ",
                     board_state.card_bus.base, &board_state.devices[n]);
        devices[n] = &board_state.devices[n];
        n++;
    }
    hz = BOARD_FLASH_HZ;
    if (open_spi(&board_state.flash_bus, "jedec,spi-nor", &hz) &&
        spi_nor_probe(&board_state.flash, &board_state.flash_bus.bus, (uint32_t)hz,
                      board_state.flash_bus.base, &board_state.devices[n]) == ERR_OK) {
        devices[n] = &board_state.devices[n];
        n++;
    }
    return n;
}

/* OpenSBI cannot switch off here, but it can reset, which ends QEMU with -no-reboot. */
static _Noreturn void sifive_u_power_off(int status)
{
    serial_drain();
    sbi_power_off(status != 0);
    sbi_restart(status != 0);
    core_halt();
}

const struct board board = {
    .name = "sifive_u",
    .early_init = sifive_u_early_init,
    SERIAL_CONSOLE,
    .set_baud = sifive_u_set_baud,
    .best_baud = sifive_u_best_baud,
    SBI_MACHINE,
    .find_storage = sifive_u_find_storage,
    .storage_needs_cpu = true,
    .power_off = sifive_u_power_off,
};
