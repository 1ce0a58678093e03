/* AMD Versal ACAP, two Cortex-A72, after U-Boot, or in QEMU's xlnx-versal-virt. "AM011" is the
 * Versal ACAP Technical Reference Manual. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/irq/gic.h"
#include "board/drivers/sd/sd_card.h"
#include "board/drivers/sd/sdhci.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/soc/generic_timer.h"
#include "board/drivers/soc/psci.h"
#include "board/drivers/soc/psci_machine.h"
#include "board/isa.h"
#include "memory.h"

enum { SLOTS = 2 };

static struct board_state {
    const struct device_tree *tree;
    struct slot {
        struct sdhci host;
        struct sd_card card;
        struct block_device device;
    } slots[SLOTS];
} board_state;

/* Keep the firmware's rate, because the UART's clock comes from a controller that the firmware
 * owns. */
static void versal_early_init(const void *dtb)
{
    board_state.tree = psci_machine_init(dtb, BOARD_UART_ADDRESS);
}

/* A standard controller, version 3 (AM011, "SD/eMMC Controller"). Treat its DMA as not coherent,
 * which is always right. The firmware owns clock and delay lines, so the card stays at 3.3 V. */
static bool open_slot(struct slot *slot, const struct device_tree_node *node)
{
    struct sdhci_setup setup = {
        .quirks = SDHCI_NO_1V8,
        .window = { .offset = 0, .end = UINT64_MAX, .coherent = false },
        .ticks = generic_timer_ticks,
        .ticks_hz = generic_timer_hz(),
    };
    uint64_t base;

    if (!device_tree_reg(board_state.tree, node, 0, &base, NULL) ||
        mmu_map((uintptr_t)base, SDHCI_REGISTER_BYTES, MAP_DEVICE) != ERR_OK)
        return false;
    setup.mmio = (uintptr_t)base;
    if (sdhci_open(&slot->host, &setup) != ERR_OK)
        return false;
    sd_card_open(&slot->card, &slot->host.host, "SD card at ", setup.mmio, &slot->device);
    return true;
}

static unsigned versal_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    struct device_tree_node node;
    unsigned n = 0;

    device_tree_begin(&node);
    while (n < SLOTS && device_tree_next_compatible(board_state.tree, &node, "arasan,sdhci-8.9a")) {
        if (open_slot(&board_state.slots[n], &node)) {
            devices[n] = &board_state.slots[n].device;
            n++;
        }
    }
    return n;
}

const struct board board = {
    .name = "versal",
    .early_init = versal_early_init,
    SERIAL_CONSOLE,
    PSCI_MACHINE,
    .find_storage = versal_find_storage,
    .restart = psci_restart,
    .power_off = psci_power_off,
};
