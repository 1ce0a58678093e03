#include "board/board.h"
#include "board/drivers/net/tree_gem.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi_machine.h"
/* Two controllers, each with SGMII to a PHY; both PHYs are on mac1's bus (tree_gem.c). The
 * controllers are coherent, like the card's (board.c). */
static const char *icicle_network_open(const struct device_tree *tree, uint8_t address[6])
{
    const struct tree_gem_setup setup = {
        .compatible = "cdns,macb",
        .window = { .offset = 0, .end = UINT64_MAX, .coherent = true },
        .ticks = riscv_timer_ticks,
        .ticks_hz = sbi_machine_ticks_hz(),
    };

    return tree_gem_open(tree, &setup, address);
}

const struct board_network board_network = {
    .open = icicle_network_open,
    .is_up = tree_gem_is_up,
    .send = tree_gem_send,
    .receive = tree_gem_receive,
};
