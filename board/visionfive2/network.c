/* Two controllers, each with RGMII to a Motorcomm YT8531 at address 0 of its own bus
 * (jh7110-starfive-visionfive-2.dtsi). */
#include "board/board.h"
#include "board/drivers/net/dwmac.h"
#include "board/drivers/net/jh7110_gmac.h"
#include "board/drivers/net/tree_address.h"
#include "board/drivers/net/tree_phy.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi_machine.h"
#include "board/isa.h"
#include "memory.h"

enum { PHY = 0, BUS_BYTES = 8 };

static const uintptr_t registers[JH7110_GMAC_PORTS] = { BOARD_GMAC0_ADDRESS, BOARD_GMAC1_ADDRESS };
static struct dwmac dwmac;

static bool map_all(const struct jh7110_gmac *g)
{
    for (unsigned i = 0; i < JH7110_GMAC_PORTS; i++) {
        if (mmu_map(registers[i], DWMAC_REGISTER_BYTES, MAP_DEVICE) != ERR_OK ||
            mmu_map(g->crg[i], JH7110_GMAC_BLOCK_BYTES, MAP_DEVICE) != ERR_OK ||
            mmu_map(g->syscon[i], JH7110_GMAC_BLOCK_BYTES, MAP_DEVICE) != ERR_OK)
            return false;
    }
    return true;
}

/* Find a port's node by its names in the trees of Linux, upstream's U-Boot and StarFive's U-Boot of
 * 2021. */
static bool find_node(const struct device_tree *tree, uintptr_t at, struct device_tree_node *node)
{
    static const char *const names[] = { "starfive,jh7110-dwmac", "starfive,jh7110-eqos-5.20" };
    uint64_t base;

    for (unsigned i = 0; tree->blob != NULL && i < sizeof names / sizeof names[0]; i++) {
        device_tree_begin(node);
        while (device_tree_next_compatible(tree, node, names[i])) {
            if (device_tree_reg(tree, node, 0, &base, NULL) && base == at)
                return true;
        }
    }
    return false;
}

/* The controllers' port is coherent with the caches: jh7110.dtsi does not call them
 * dma-noncoherent; jh7100.dtsi does so for the JH7100's controllers. Frames and descriptors are
 * part of the image, which is below 4 GiB. */
static enum err open_port(const struct device_tree *tree, const struct jh7110_gmac *g,
                          unsigned port, uint8_t address[6], const char **why)
{
    struct dwmac_setup setup = { .mmio = registers[port],
                                 .window = { .offset = 0, .end = UINT64_MAX, .coherent = true },
                                 .ticks = riscv_timer_ticks,
                                 .ticks_hz = sbi_machine_ticks_hz(),
                                 .bus_bytes = BUS_BYTES,
                                 .phy = PHY };
    struct jh7110_gmac_wiring wiring;
    struct device_tree_node node, phy;
    enum tree_phy place;
    uint32_t bytes;

    *why = "the device tree names no network controller";
    if (!find_node(tree, registers[port], &node))
        return ERR_NO_DEVICE;
    setup.address = tree_address(tree, &node);
    wiring = (struct jh7110_gmac_wiring){
        .mode = device_tree_string(tree, &node, "phy-mode"),
        .received_clock = device_tree_property(tree, &node, "starfive,tx-use-rgmii-clk", &bytes) !=
                          NULL
    };
    *why = jh7110_gmac_wake(g, port, &wiring);
    if (*why != NULL)
        return ERR_UNSUPPORTED;
    place = tree_phy(tree, &node, &phy);
    /* The tree of StarFive's U-Boot of 2021 has no phandles. */
    if (place == TREE_PHY_BELOW || (place == TREE_PHY_NONE && tree_phy_first(tree, &node, &phy)))
        yt8531_of_tree(&setup.yt8531, tree, &phy, wiring.mode);
    setup.gigabit_only = jh7110_gmac_is_gigabit_only(g, port);
    return dwmac_open(&dwmac, &setup, address, why);
}

/* Open the port whose cable is connected, else the first port that works. */
static const char *visionfive2_network_open(const struct device_tree *tree, uint8_t address[6])
{
    const struct jh7110_gmac g = { .crg = { BOARD_AONCRG_ADDRESS, BOARD_SYSCRG_ADDRESS },
                                   .syscon = { BOARD_AON_SYSCON_ADDRESS, BOARD_SYSCON_ADDRESS },
                                   .ticks = riscv_timer_ticks,
                                   .ticks_hz = sbi_machine_ticks_hz() };
    const char *why, *first_why = NULL;
    unsigned first = JH7110_GMAC_PORTS;

    if (!map_all(&g))
        return "the registers of the network controllers cannot be mapped";
    for (unsigned port = 0; port < JH7110_GMAC_PORTS; port++) {
        if (open_port(tree, &g, port, address, &why) != ERR_OK) {
            first_why = first_why != NULL ? first_why : why;
            continue;
        }
        if (dwmac_is_up(&dwmac))
            return NULL;
        first = first == JH7110_GMAC_PORTS ? port : first;
        /* This port must release the rings before the next port uses them. */
        dwmac_close(&dwmac);
        jh7110_gmac_sleep(&g, port);
    }
    if (first == JH7110_GMAC_PORTS)
        return first_why;
    (void)open_port(tree, &g, first, address, &why);
    return why;
}

static bool visionfive2_network_is_up(void)
{
    return dwmac_is_up(&dwmac);
}

static bool visionfive2_network_send(const uint8_t *frame, size_t bytes)
{
    return dwmac_send(&dwmac, frame, bytes);
}

static size_t visionfive2_network_receive(uint8_t *to, size_t room)
{
    return dwmac_receive(&dwmac, to, room);
}

static const char *visionfive2_network_trouble(void)
{
    return dwmac_is_too_slow(&dwmac)
               ? "the network port sends only at 1000 Mbit/s (no starfive,tx-use-rgmii-clk in "
                 "the device tree), but its link is slower: use a switch and a cable for 1000 "
                 "Mbit/s"
               : NULL;
}

const struct board_network board_network = {
    .open = visionfive2_network_open,
    .is_up = visionfive2_network_is_up,
    .send = visionfive2_network_send,
    .receive = visionfive2_network_receive,
    .trouble = visionfive2_network_trouble,
};
