/* A board to copy: a RISC-V machine under SBI with a 16550 and no storage of its own. It runs in
 * QEMU's `virt` as it is. docs/PORTING.md goes through it. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/irq/plic.h"
#include "board/drivers/serial/ns16550.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/serial/tree_console.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi_machine.h"
#include "board/isa.h"
#include "memory.h"

enum { UART_BYTES = 0x100, UART_SHIFT = 0, UART_WIDTH = 1 };

/* All that the board remembers: structs of drivers that a machine may have several of. */
static struct board_state {
    struct ns16550 uart;
} state;

/* Step 2. Firmware, UART, its interrupt. Where that cannot be had the line is polled. */
static void template_early_init(const void *dtb)
{
    const struct device_tree *tree = sbi_machine_init(dtb, BOARD_TIMEBASE_HZ);
    struct device_tree_node node;
    uintptr_t base;

    base = tree_console_map(tree, "ns16550a", BOARD_UART_ADDRESS, UART_BYTES, &node);
    ns16550_init(&state.uart, base, UART_SHIFT, UART_WIDTH);
    serial_open(&ns16550_serial, &state.uart);
    (void)plic_take_input(tree, &node);
}

/* Step 4. Nothing yet: models come as an initrd. */
static unsigned template_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    (void)devices;
    return 0;
}

const struct board board = {
    .name = "template",
    .early_init = template_early_init,
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
    .find_storage = template_find_storage,
    .restart = sbi_machine_restart,
    .power_off = sbi_machine_power_off,
};
