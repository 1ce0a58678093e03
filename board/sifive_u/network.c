#include "board/board.h"
#include "board/drivers/net/tree_gem.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi_machine.h"
/* FU540 manual, v1p3, "Gigabit Ethernet Subsystem": its DMA goes through the L2 cache. */
static const char *sifive_u_network_open(const struct device_tree *tree, uint8_t address[6])
{
    const struct tree_gem_setup setup = {
        .compatible = "sifive,fu540-c000-gem",
        .window = { .offset = 0, .end = UINT64_MAX, .coherent = true },
        .ticks = riscv_timer_ticks,
        .ticks_hz = sbi_machine_ticks_hz(),
        .clock_bytes = 0x1000,
    };

    return tree_gem_open(tree, &setup, address);
}

const struct board_network board_network = {
    .open = sifive_u_network_open,
    .is_up = tree_gem_is_up,
    .send = tree_gem_send,
    .receive = tree_gem_receive,
};
