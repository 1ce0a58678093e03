/* QEMU's `virt` machine for riscv64. Addresses come from its device tree. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/block/tree_storage.h"
#include "board/drivers/serial/ns16550.h"
#include "board/drivers/screen/ramfb.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi_machine.h"
#include "board/isa.h"
#include "memory.h"

static const struct sbi_machine_ns16550 console = { "ns16550a", BOARD_UART_ADDRESS, 0x100, 0, 1 };

static struct board_state {
    const struct device_tree *tree; /* its blob is NULL if there is none */
    struct ns16550 uart;
    struct tree_storage storage;
} board_state;

static void virt_early_init(const void *dtb)
{
    board_state.tree = sbi_machine_init(dtb, BOARD_TIMEBASE_HZ);
    sbi_machine_open_ns16550(&board_state.uart, &console);
}

static unsigned virt_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    return tree_storage_find(&board_state.storage, board_state.tree, devices);
}

static bool virt_open_screen(struct board_screen *screen, struct memory_range *free)
{
    return ramfb_open(board_state.tree, screen, free);
}

static void virt_limit_dma(uint64_t end)
{
    board_state.storage.dma_end = end;
}

const struct board board = {
    .name = "virt-riscv64",
    .early_init = virt_early_init,
    SERIAL_CONSOLE,
    SBI_MACHINE,
    .open_screen = virt_open_screen,
    .find_storage = virt_find_storage,
    .set_keyboard = usb_set_layout,
    .has_keyboard = usb_has_keyboard,
    .look_for_storage = usb_look,
    .limit_dma = virt_limit_dma,
    .power_off = sbi_machine_power_off,
};
