/* A board to copy: a RISC-V machine under SBI with a 16550 and no storage of its own. It runs
 * unchanged in QEMU's `virt`. docs/PORTING.md goes through it. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/serial/ns16550.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi_machine.h"
#include "board/isa.h"
#include "memory.h"

static const struct sbi_machine_ns16550 console = { "ns16550a", BOARD_UART_ADDRESS, 0x100, 0, 1 };

/* The board's state: one struct for each device whose driver allows several devices. */
static struct board_state {
    struct ns16550 uart;
} board_state;

/* Step 2. Set up firmware, UART and its interrupt. Without an interrupt the line is polled. */
static void template_early_init(const void *dtb)
{
    (void)sbi_machine_init(dtb, BOARD_TIMEBASE_HZ);
    sbi_machine_open_ns16550(&board_state.uart, &console);
}

/* Step 4. This board finds no storage yet: the model comes as an initrd. */
static unsigned template_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    (void)devices;
    return 0;
}

const struct board board = {
    .name = "template",
    .early_init = template_early_init,
    SERIAL_CONSOLE,
    SBI_MACHINE,
    .find_storage = template_find_storage,
    .power_off = sbi_machine_power_off,
};
