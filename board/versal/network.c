#include "board/board.h"
#include "board/drivers/net/tree_gem.h"
#include "board/drivers/soc/generic_timer.h"
/* AM011, "Gigabit Ethernet MAC". Like the cards' controllers, it is treated as not coherent, which
 * is always right. */
static const char *versal_network_open(const struct device_tree *tree, uint8_t address[6])
{
    const struct tree_gem_setup setup = {
        .compatible = "cdns,gem",
        .window = { .offset = 0, .end = UINT64_MAX, .coherent = false },
        .ticks = generic_timer_ticks,
        .ticks_hz = generic_timer_hz(),
    };

    return tree_gem_open(tree, &setup, address);
}

const struct board_network board_network = {
    .open = versal_network_open,
    .is_up = tree_gem_is_up,
    .send = tree_gem_send,
    .receive = tree_gem_receive,
};
