/* QEMU's `virt` machine for riscv64. Addresses come from its device tree. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/block/tree_storage.h"
#include "board/drivers/irq/plic.h"
#include "board/drivers/serial/ns16550.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/serial/tree_console.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi_machine.h"
#include "board/isa.h"
#include "memory.h"

enum { UART_BYTES = 0x100, UART_SHIFT = 0, UART_WIDTH = 1 };

static struct board_state {
    const struct device_tree *tree; /* blob NULL: none */
    struct ns16550 uart;
    struct tree_storage storage;
} state;

static void virt_early_init(const void *dtb)
{
    struct device_tree_node node;
    uintptr_t base;

    state.tree = sbi_machine_init(dtb, BOARD_TIMEBASE_HZ);
    base = tree_console_map(state.tree, "ns16550a", BOARD_UART_ADDRESS, UART_BYTES, &node);
    ns16550_init(&state.uart, base, UART_SHIFT, UART_WIDTH);
    serial_open(&ns16550_serial, &state.uart);
    (void)plic_take_input(state.tree, &node); /* otherwise polled */
}

static unsigned virt_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    return state.tree->blob != NULL ? tree_storage_find(&state.storage, state.tree, devices) : 0;
}

const struct board board = {
    .name = "virt-riscv64",
    .early_init = virt_early_init,
    .putc = serial_putc,
    .getc = serial_getc,
    .idle = serial_idle,
    .interrupted = serial_interrupted,
    .lost = serial_lost,
    .flow_control = serial_flow_control,
    .ticks = riscv_timer_ticks,
    .ticks_hz = sbi_machine_ticks_hz,
    .start_core = sbi_machine_start_core,
    .wait = core_wait,
    .wake = core_wake,
    .find_storage = virt_find_storage,
    .restart = sbi_machine_restart,
    .power_off = sbi_machine_power_off,
};
