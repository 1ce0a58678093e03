#include "board/drivers/net/yt8531.h"

#include <string.h>

enum { REG_ID_1 = 2, REG_ID_2 = 3, REG_AT = 0x1e, REG_DATA = 0x1f };
enum { ID_1 = 0x4f51, ID_2 = 0xe91b };

/* Registers that are reached by REG_AT and REG_DATA. */
enum { CHIP = 0xa001, RGMII = 0xa003 };
enum { CHIP_RECEIVE_1900 = 1 << 8 };
enum {
    RGMII_INVERTED = 1 << 14,
    RGMII_RECEIVE_SHIFT = 10,
    RGMII_SEND_SHIFT = 0, /* of 1000 Mbit/s */
    RGMII_DELAY_MASK = 15,
};
enum { STEP = 150, MOST = 15 * STEP, MORE = 1900, USUAL = 1950 };

static bool is_delay(uint64_t picos)
{
    return picos <= MOST && picos % STEP == 0;
}

/* One that cannot be had is the usual one, as in U-Boot. */
static uint8_t steps_of(uint64_t picos)
{
    return (uint8_t)((is_delay(picos) ? picos : USUAL) / STEP);
}

static bool has(const struct device_tree *tree, const struct device_tree_node *node,
                const char *name)
{
    uint32_t bytes;

    return device_tree_property(tree, node, name, &bytes) != NULL;
}

void yt8531_of_tree(struct yt8531 *y, const struct device_tree *tree,
                    const struct device_tree_node *node, const char *mode)
{
    bool both = mode != NULL && strcmp(mode, "rgmii-id") == 0;
    uint64_t picos;

    memset(y, 0, sizeof *y);
    y->delays_receive = (both || (mode != NULL && strcmp(mode, "rgmii-rxid") == 0)) &&
                        device_tree_number(tree, node, "rx-internal-delay-ps", &picos);
    if (y->delays_receive) {
        y->more = !is_delay(picos) && picos >= MORE && is_delay(picos - MORE);
        y->receive = steps_of(y->more ? picos - MORE : picos);
    }
    y->delays_send = (both || (mode != NULL && strcmp(mode, "rgmii-txid") == 0)) &&
                     device_tree_number(tree, node, "tx-internal-delay-ps", &picos);
    if (y->delays_send)
        y->send = steps_of(picos);
    y->adjusts = has(tree, node, "motorcomm,tx-clk-adj-enabled");
    y->inverts_10 = has(tree, node, "motorcomm,tx-clk-10-inverted");
    y->inverts_100 = has(tree, node, "motorcomm,tx-clk-100-inverted");
    y->inverts_1000 = has(tree, node, "motorcomm,tx-clk-1000-inverted");
}

static bool is_one(const struct phy *p)
{
    return p->bus.read(p->bus.context, p->address, REG_ID_1) == ID_1 &&
           p->bus.read(p->bus.context, p->address, REG_ID_2) == ID_2;
}

static void change(const struct phy *p, unsigned reg, unsigned mask, unsigned value)
{
    const struct phy_bus *b = &p->bus;
    unsigned old;

    b->write(b->context, p->address, REG_AT, (uint16_t)reg);
    old = b->read(b->context, p->address, REG_DATA);
    b->write(b->context, p->address, REG_DATA, (uint16_t)((old & ~mask) | value));
}

void yt8531_start(const struct yt8531 *y, const struct phy *p)
{
    if (!is_one(p))
        return;
    if (y->delays_receive) {
        change(p, CHIP, CHIP_RECEIVE_1900, y->more ? CHIP_RECEIVE_1900 : 0);
        change(p, RGMII, RGMII_DELAY_MASK << RGMII_RECEIVE_SHIFT,
               (unsigned)y->receive << RGMII_RECEIVE_SHIFT);
    }
    if (y->delays_send)
        change(p, RGMII, RGMII_DELAY_MASK << RGMII_SEND_SHIFT, y->send);
}

void yt8531_follow(const struct yt8531 *y, const struct phy *p, unsigned mbits)
{
    bool inverts = mbits == 1000 ? y->inverts_1000 : mbits == 100 ? y->inverts_100 : y->inverts_10;

    if (y->adjusts && is_one(p))
        change(p, RGMII, RGMII_INVERTED, inverts ? RGMII_INVERTED : 0);
}
