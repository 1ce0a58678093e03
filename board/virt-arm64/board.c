/* QEMU's `virt` machine for arm64. Addresses come from its device tree. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/block/tree_storage.h"
#include "board/drivers/gpio/pl061.h"
#include "board/drivers/gpio/tree_lines.h"
#include "board/drivers/irq/gic.h"
#include "board/drivers/screen/ramfb.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/soc/generic_timer.h"
#include "board/drivers/soc/psci.h"
#include "board/drivers/soc/psci_machine.h"
#include "board/isa.h"
#include "memory.h"

static struct board_state {
    const struct device_tree *tree; /* NULL before early_init; its blob is NULL if there is none */
    struct tree_storage storage;
    uintptr_t lines; /* the PL061's registers; 0 if not searched yet, or if there is none */
} board_state;

static void virt_early_init(const void *dtb)
{
    board_state.tree = psci_machine_init(dtb, BOARD_UART_ADDRESS);
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

enum secure_pin { SECURE_PIN_OFF, SECURE_PIN_RESET }; /* QEMU, hw/arm/virt.c */

/* Raise a pin of the secure world. A tree without PSCI means that we were started at EL3 and are in
 * that world. First make the pin an output, then write through the address that masks the other
 * pins (PL061, DDI 0190, section 3.3). */
static void raise_secure_pin(enum secure_pin pin)
{
    uint8_t bit = (uint8_t)(1u << pin);

    if (board_state.tree == NULL || board_state.tree->blob == NULL || psci_is_there() ||
        mmu_map(BOARD_SECURE_GPIO, 0x1000, MAP_DEVICE) != ERR_OK)
        return;
    *(volatile uint8_t *)(uintptr_t)(BOARD_SECURE_GPIO + 0x400) = bit;
    *(volatile uint8_t *)(uintptr_t)(BOARD_SECURE_GPIO + (uintptr_t)(bit << 2)) = bit;
}

static _Noreturn void virt_power_off(int status)
{
    serial_drain();
    raise_secure_pin(SECURE_PIN_OFF);
    psci_power_off(status);
}

static void virt_restart(void)
{
    serial_drain();
    raise_secure_pin(SECURE_PIN_RESET);
    psci_restart();
}

static const char *virt_line_error_message(unsigned line)
{
    if (line >= PL061_LINES)
        return "lines of the PL061 are 0 to 7";
    if (board_state.lines == 0)
        board_state.lines = tree_lines_find(board_state.tree);
    return board_state.lines != 0 ? NULL : "the device tree names no PL061";
}

static void virt_line_setup(unsigned line, bool output, bool high)
{
    pl061_setup(board_state.lines, line, output, high);
}

static void virt_line_write(unsigned line, bool high)
{
    pl061_write(board_state.lines, line, high);
}

static bool virt_line_read(unsigned line)
{
    return pl061_read(board_state.lines, line);
}

/* Line 3 is an input for QEMU's power key. */
static const struct board_pins lines = {
    .error_message = virt_line_error_message,
    .setup = virt_line_setup,
    .write = virt_line_write,
    .read = virt_line_read,
};

const struct board board = {
    .name = "virt-arm64",
    .early_init = virt_early_init,
    SERIAL_CONSOLE,
    PSCI_MACHINE,
    .open_screen = virt_open_screen,
    .find_storage = virt_find_storage,
    .pins = &lines,
    .set_keyboard = usb_set_layout,
    .has_keyboard = usb_has_keyboard,
    .look_for_storage = usb_look,
    .limit_dma = virt_limit_dma,
    .restart = virt_restart,
    .power_off = virt_power_off,
};
