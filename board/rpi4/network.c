/* Address and window: bcm2711.dtsi, ethernet@7d580000 on the bus "scb"; the PHY, a BCM54213PE at
 * address 1 with RGMII-RXID: bcm2711-rpi-4-b.dts. */
#include "board/board.h"
#include "board/drivers/net/genet.h"
#include "board/drivers/net/tree_address.h"
#include "board/drivers/soc/generic_timer.h"
#include "board/isa.h"
#include "memory.h"

enum { PHY = 1 };

static struct genet genet;

static const char *rpi4_network_open(const struct device_tree *tree, uint8_t address[6])
{
    struct genet_setup setup = { .mmio = BOARD_GENET,
                                 .window = { .end = BOARD_SCB_END },
                                 .ticks = generic_timer_ticks,
                                 .ticks_hz = generic_timer_hz(),
                                 .phy = PHY };
    struct device_tree_node node;
    const char *why;

    if (mmu_map(BOARD_GENET, GENET_BYTES, MAP_DEVICE) != ERR_OK)
        return "the registers of the network controller cannot be mapped";
    device_tree_begin(&node);
    if (tree->blob != NULL && device_tree_next_compatible(tree, &node, "brcm,bcm2711-genet-v5"))
        setup.address = tree_address(tree, &node);
    (void)genet_open(&genet, &setup, address, &why);
    return why;
}

static bool rpi4_network_is_up(void)
{
    return genet_is_up(&genet);
}

static bool rpi4_network_send(const uint8_t *frame, size_t bytes)
{
    return genet_send(&genet, frame, bytes);
}

static size_t rpi4_network_receive(uint8_t *to, size_t room)
{
    return genet_receive(&genet, to, room);
}

const struct board_network board_network = {
    .open = rpi4_network_open,
    .is_up = rpi4_network_is_up,
    .send = rpi4_network_send,
    .receive = rpi4_network_receive,
};
