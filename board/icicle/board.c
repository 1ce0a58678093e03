/* Microchip PolarFire SoC Icicle Kit, after HSS and U-Boot or in QEMU's microchip-icicle-kit. "TRM"
 * is the PolarFire SoC MSS Technical Reference Manual, DS60001702. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/cadence_sd.h"
#include "board/drivers/ns16550.h"
#include "board/drivers/plic.h"
#include "board/drivers/riscv_timer.h"
#include "board/drivers/sbi.h"
#include "board/drivers/sbi_harts.h"
#include "board/drivers/semihosting.h"
#include "board/drivers/serial.h"
#include "board/isa.h"
#include "memory.h"

enum { UART_BYTES = 0x400, UART_SHIFT = 2, UART_WIDTH = 4 };

static struct board_state {
    struct sbi_harts harts;
    struct ns16550 uart;
    struct plic plic;
    struct cadence_sd sd;
    struct block_device card;
} state;

/* HSS talks on MMUART0; stdout-path of U-Boot's tree is MMUART1. */
static void open_uart(void)
{
    struct device_tree_node node;
    uint64_t base = BOARD_UART_ADDRESS;
    uint32_t baud;
    bool found = state.harts.tree.blob != NULL &&
                 device_tree_console(&state.harts.tree, &node, &baud) &&
                 device_tree_lists(&state.harts.tree, &node, "compatible", "ns16550a");

    if (found)
        (void)device_tree_reg(&state.harts.tree, &node, 0, &base, NULL);
    if (mmu_map((uintptr_t)base, UART_BYTES, MAP_DEVICE) != ERR_OK)
        return;
    ns16550_init(&state.uart, (uintptr_t)base, UART_SHIFT, UART_WIDTH);
    serial_open(&ns16550_serial, &state.uart);
    if (found)
        (void)plic_take_input(&state.plic, &state.harts.tree, &node); /* otherwise polled */
}

static void icicle_early_init(const void *dtb)
{
    sbi_harts_read(&state.harts, dtb, BOARD_TIMEBASE_HZ);
    open_uart();
}

static void icicle_set_baud(uint32_t baud)
{
    ns16550_set_baud(&state.uart, BOARD_UART_HZ, baud);
}

static uint64_t icicle_ticks_hz(void)
{
    return state.harts.ticks_hz;
}

static enum err icicle_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    return sbi_harts_start(&state.harts, core, entry, arg);
}

/* The controller is coherent (TRM, "L2 cache": masters of the FPGA and of the AXI switch go through
 * it). HSS has set its clock. */
static unsigned icicle_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    const struct sdhci_setup setup = {
        .mmio = BOARD_SD,
        .window = { .offset = 0, .end = UINT64_MAX, .coherent = true },
        .ticks = riscv_timer_ticks,
        .ticks_hz = state.harts.ticks_hz,
    };

    if (mmu_map(BOARD_SD, CADENCE_SD_BYTES, MAP_DEVICE) != ERR_OK ||
        cadence_sd_open(&state.sd, &setup, &state.card) != ERR_OK)
        return 0;
    devices[0] = &state.card;
    return 1;
}

/* HSS has a power-off by SRST; OpenSBI in QEMU has none, and its machine no switch either. */
static _Noreturn void icicle_power_off(int status)
{
    ns16550_drain(&state.uart);
    sbi_power_off(status != 0);
    semihosting_exit(status);
}

static _Noreturn void icicle_restart(void)
{
    ns16550_drain(&state.uart);
    sbi_restart(0);
    core_halt();
}

const struct board board = {
    .name = "icicle",
    .early_init = icicle_early_init,
    .putc = serial_putc,
    .getc = serial_getc,
    .idle = serial_idle,
    .interrupted = serial_interrupted,
    .lost = serial_lost,
    .flow_control = serial_flow_control,
    .set_baud = icicle_set_baud,
    .ticks = riscv_timer_ticks,
    .ticks_hz = icicle_ticks_hz,
    .start_core = icicle_start_core,
    .wait = core_wait,
    .wake = core_wake,
    .find_storage = icicle_find_storage,
    .restart = icicle_restart,
    .power_off = icicle_power_off,
};
