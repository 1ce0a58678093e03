#include "board/drivers/net/tree_gem.h"

#include <string.h>

#include "board/drivers/net/tree_address.h"
#include "board/drivers/net/tree_phy.h"
#include "board/isa.h"

static struct gem device;
static uintptr_t clock; /* register of the transmit clock of FU540's controller; 0 if the driver
                         * does not set it */

/* FU540-C000 manual, v1p3, "GEMGXL Management": 0 selects the controller's own 125 MHz, 1 the PHY's
 * clock. */
static void set_clock(unsigned mbits)
{
    *(volatile uint32_t *)clock = mbits == 1000 ? 0 : 1;
}

static bool map_clock(const struct device_tree *tree, const struct device_tree_node *node,
                      size_t bytes)
{
    uint64_t base;

    if (bytes == 0 || !device_tree_reg(tree, node, 1, &base, NULL) ||
        mmu_map((uintptr_t)base, bytes, MAP_DEVICE) != ERR_OK)
        return false;
    clock = (uintptr_t)base;
    return true;
}

/* Find the address at which to try the PHY first: that of the node that phy-handle names, or 0 if
 * the tree names none. Returns false if the PHY is on another controller's bus. The Icicle Kit has
 * both PHYs on the bus of mac1 (mpfs-icicle-kit-common.dtsi). */
static bool find_phy(const struct device_tree *tree, const struct device_tree_node *node,
                     unsigned *address)
{
    struct device_tree_node phy;
    enum tree_phy place = tree_phy(tree, node, &phy);
    uint64_t reg;

    *address = 0;
    /* Versal's tree in QEMU names a fixed-link, which has no address. */
    if (place == TREE_PHY_BELOW && device_tree_number(tree, &phy, "reg", &reg) &&
        reg < PHY_ADDRESSES)
        *address = (unsigned)reg;
    return place != TREE_PHY_ELSEWHERE;
}

static enum err open_node(const struct device_tree *tree, const struct device_tree_node *node,
                          const struct tree_gem_setup *setup, uint8_t address[6], const char **why)
{
    const char *mode = device_tree_string(tree, node, "phy-mode");
    struct gem_setup s = {
        .window = setup->window,
        .ticks = setup->ticks,
        .ticks_hz = setup->ticks_hz,
        .sgmii = mode != NULL && strcmp(mode, "sgmii") == 0,
        .address = tree_address(tree, node),
    };
    uint64_t base;

    *why = "the network controller's PHY is on another controller's MDIO bus (phy-handle)";
    if (!find_phy(tree, node, &s.phy))
        return ERR_UNSUPPORTED;
    *why = "the network controller of the device tree has no registers";
    if (!device_tree_reg(tree, node, 0, &base, NULL) ||
        mmu_map((uintptr_t)base, GEM_BYTES, MAP_DEVICE) != ERR_OK)
        return ERR_NO_DEVICE;
    s.mmio = (uintptr_t)base;
    s.set_speed = map_clock(tree, node, setup->clock_bytes) ? set_clock : NULL;
    return gem_open(&device, &s, address, why);
}

/* Find node number `which`, counted from 0. False if there are fewer nodes. */
static bool go_to(const struct device_tree *tree, const char *compatible, unsigned which,
                  struct device_tree_node *node)
{
    device_tree_begin(node);
    for (unsigned i = 0; i <= which; i++)
        if (!device_tree_next_compatible(tree, node, compatible))
            return false;
    return true;
}

const char *tree_gem_open(const struct device_tree *tree, const struct tree_gem_setup *setup,
                          uint8_t address[6])
{
    const char *why = "the device tree names no network controller", *first_why = NULL;
    struct device_tree_node node;
    unsigned first = 0, n = 0, good = 0;

    if (tree->blob == NULL)
        return "there is no device tree that names a network controller";
    for (; go_to(tree, setup->compatible, n, &node); n++) {
        if (open_node(tree, &node, setup, address, &why) != ERR_OK) {
            first_why = first_why != NULL ? first_why : why;
            continue;
        }
        if (gem_is_up(&device))
            return NULL;
        first = good++ == 0 ? n : first;
        gem_close(&device);
    }
    if (good == 0 || !go_to(tree, setup->compatible, first, &node))
        return first_why != NULL ? first_why : why;
    (void)open_node(tree, &node, setup, address, &why);
    return why;
}

bool tree_gem_is_up(void)
{
    return gem_is_up(&device);
}

bool tree_gem_send(const uint8_t *frame, size_t bytes)
{
    return gem_send(&device, frame, bytes);
}

size_t tree_gem_receive(uint8_t *to, size_t room)
{
    return gem_receive(&device, to, room);
}
