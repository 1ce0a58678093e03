/* Addresses: rp1.dtsi, ethernet@100000 and gpio@d0000; bcm2712-rpi-5-b.dts, phy1 and
 * phy-reset-gpios. Bank 1 has RP1's lines from 28 on, with registers in the same order as bank
 * 0. */
#include "board/drivers/net/rp1_gem.h"

#include "board/drivers/bus/brcm_pcie.h"
#include "board/drivers/gpio/rp1_gpio.h"
#include "board/drivers/net/tree_address.h"
#include "board/isa.h"

enum { RP1_GEM = 0x100000, RP1_BANK_1 = 0xd4000 };
enum { PHY_FIRST = 1, PHY_RESET = 32 - 28 };
enum {
    RESET_MS = 5,
    READY_MS = 20
}; /* phy-reset-duration; and the time until the PHY's registers
                                         answer */

static void rest(const struct gem_setup *s, unsigned ms)
{
    uint64_t start = s->ticks();

    while (s->ticks() - start < s->ticks_hz / 1000 * ms + 1) {
    }
}

/* Reset the PHY. The line is low while the PHY is in reset, and the firmware may have left it
 * low. */
static void reset_phy(const struct gem_setup *s, uintptr_t bank)
{
    rp1_gpio_setup(bank, PHY_RESET, true, false);
    rest(s, RESET_MS);
    rp1_gpio_write(bank, PHY_RESET, true);
    rest(s, READY_MS);
}

/* Find the interface's address in the tree; the firmware does not write it to the registers.
 * Raspberry Pi's trees of Linux 6.1 and 6.6 call the controller a plain macb (rp1.dtsi of
 * raspberrypi/linux, rp1_eth); later trees and upstream Linux's trees use RP1's own name. */
static const uint8_t *find_address(const struct device_tree *tree)
{
    static const char *const names[] = { "raspberrypi,rp1-gem", "cdns,macb" };
    struct device_tree_node node;

    for (unsigned i = 0; tree->blob != NULL && i < sizeof names / sizeof names[0]; i++) {
        device_tree_begin(&node);
        if (device_tree_next_compatible(tree, &node, names[i]))
            return tree_address(tree, &node);
    }
    return NULL;
}

const char *rp1_gem_open(struct gem *g, const struct device_tree *tree, uintptr_t port,
                         uint64_t (*ticks)(void), uint64_t ticks_hz, uint8_t address[6])
{
    struct gem_setup s = { .ticks = ticks,
                           .ticks_hz = ticks_hz,
                           .rgmii = true,
                           .phy = PHY_FIRST,
                           .address = find_address(tree) };
    struct rp1_link link;
    const char *why;
    uintptr_t bank;
    enum err e;

    if (mmu_map(port, BRCM_PCIE_BYTES, MAP_DEVICE) != ERR_OK ||
        rp1_link_open(&link, port) != ERR_OK)
        return "RP1, which has the port, cannot be reached: write pciex4_reset=0 into config.txt";
    s.mmio = (uintptr_t)link.peripherals + RP1_GEM;
    s.window = link.window;
    bank = (uintptr_t)link.peripherals + RP1_BANK_1;
    if (mmu_map(s.mmio, GEM_BYTES, MAP_DEVICE) != ERR_OK ||
        mmu_map((uintptr_t)link.peripherals + RP1_GPIO_PLACE, RP1_GPIO_BYTES, MAP_DEVICE) != ERR_OK)
        return "the registers of RP1's network controller cannot be mapped";
    e = gem_open(g, &s, address, &why);
    if (e == ERR_NO_DEVICE) {
        reset_phy(&s, bank);
        (void)gem_open(g, &s, address, &why);
    }
    return why;
}
