/* A board to copy: a RISC-V machine under SBI with a 16550 and no storage of its own. It runs in
 * QEMU's `virt` as it is. docs/PORTING.md goes through it. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/ns16550.h"
#include "board/drivers/plic.h"
#include "board/drivers/riscv_timer.h"
#include "board/drivers/sbi.h"
#include "board/drivers/sbi_harts.h"
#include "board/drivers/serial.h"
#include "board/isa.h"
#include "memory.h"

enum { UART_BYTES = 0x100, UART_SHIFT = 0, UART_WIDTH = 1 };

/* All that the board remembers. Drivers keep nothing: their structs are members here. */
static struct board_state {
    struct sbi_harts harts;
    struct ns16550 uart;
    struct plic plic;
} state;

/* Step 2. The tree's console where it is of our kind, else the address of memory.h: so that a tree
 * that is wrong can still be complained about. */
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

static void template_early_init(const void *dtb)
{
    sbi_harts_read(&state.harts, dtb, BOARD_TIMEBASE_HZ);
    open_uart();
}

static uint64_t template_ticks_hz(void)
{
    return state.harts.ticks_hz;
}

/* Step 3. */
static enum err template_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    return sbi_harts_start(&state.harts, core, entry, arg);
}

/* Step 4. Nothing yet: models come as an initrd. */
static unsigned template_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    (void)devices;
    return 0;
}

/* Step 5. */
static _Noreturn void template_power_off(int status)
{
    ns16550_drain(&state.uart);
    sbi_power_off(status != 0);
    core_halt();
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
    .ticks_hz = template_ticks_hz,
    .start_core = template_start_core,
    .wait = core_wait,
    .wake = core_wake,
    .find_storage = template_find_storage,
    .power_off = template_power_off,
};
