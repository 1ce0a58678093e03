#include "board/drivers/net/yt8531.h"

#include <string.h>

enum { REG_ID_1 = 2, REG_ID_2 = 3, REG_AT = 0x1e, REG_DATA = 0x1f };
enum { ID_1 = 0x4f51, ID_2 = 0xe91b };

/* Inner registers: their numbers are written to REG_AT, their values are in REG_DATA. */
enum { CHIP = 0xa001, RGMII = 0xa003, PADS = 0xa010 };
enum { CHIP_RECEIVE_1900 = 1 << 8, CHIP_SUPPLY_SHIFT = 4, CHIP_SUPPLY_MASK = 3 };
enum { SUPPLY_3V3 = 0, SUPPLY_1V8 = 2 }; /* supply of the pads; 3 also means 1.8 V */
enum { PADS_CLOCK_SHIFT = 13, PADS_DATA_TOP_SHIFT = 12, PADS_DATA_SHIFT = 4 };
enum { STRENGTHS = 8 };
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

/* The register's value for a delay. For a delay that the PHY does not support, the usual delay is
 * set, as in U-Boot. */
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

/* Read the properties by the maker's names (starfive_visionfive2.dts and motorcomm.c of StarFive's
 * U-Boot; StarFive's patches for Linux of December 2022 have the same fields). Trees of StarFive's
 * releases up to VF2_v2.11.5 have no rx_delay_sel and no strengths: a delay without a number gets
 * the value in motorcomm.c's table, and a strength without a number does not change. Returns false
 * if the tree has none of the names. */
static bool read_numbers(struct yt8531 *y, const struct device_tree *tree,
                         const struct device_tree_node *node)
{
    enum {
        RECEIVE,
        MORE_RECEIVE,
        SEND,
        STRENGTH,
        STRENGTH_TOP,
        STRENGTH_CLOCK,
        AT_10,
        AT_100,
        AT_1000,
        NAMES
    };
    static const char *const names[NAMES] = {
        "rx_delay_sel",    "rxc_dly_en",     "tx_delay_sel",    "rgmii_sw_dr",     "rgmii_sw_dr_2",
        "rgmii_sw_dr_rxc", "tx_inverted_10", "tx_inverted_100", "tx_inverted_1000"
    };
    uint64_t values[NAMES] = { [SEND] = 1 };
    bool any = false;

    for (unsigned i = 0; i < NAMES; i++)
        any = device_tree_number(tree, node, names[i], &values[i]) || any;
    if (!any)
        return false;
    y->delays_receive = y->delays_send = y->adjusts = true;
    y->more = values[MORE_RECEIVE] != 0;
    y->receive = values[RECEIVE] & RGMII_DELAY_MASK;
    y->send = values[SEND] & RGMII_DELAY_MASK;
    if (has(tree, node, names[STRENGTH]))
        y->data_strength = (uint16_t)(((values[STRENGTH_TOP] & 1) << 2 | (values[STRENGTH] & 3)) +
                                      1);
    if (has(tree, node, names[STRENGTH_CLOCK]))
        y->clock_strength = (uint16_t)((values[STRENGTH_CLOCK] & 7) + 1);
    y->inverts_10 = values[AT_10] != 0;
    y->inverts_100 = values[AT_100] != 0;
    y->inverts_1000 = values[AT_1000] != 0;
    return true;
}

/* Read the delays; a delay counts only if phy-mode says that the PHY makes it. */
static void read_delays(struct yt8531 *y, const struct device_tree *tree,
                        const struct device_tree_node *node, const char *mode)
{
    bool both = mode != NULL && strcmp(mode, "rgmii-id") == 0;
    uint64_t picos;

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
}

static uint16_t microamps(const struct device_tree *tree, const struct device_tree_node *node,
                          const char *name)
{
    uint64_t value;

    return device_tree_number(tree, node, name, &value) && value > STRENGTHS ? (uint16_t)value : 0;
}

void yt8531_of_tree(struct yt8531 *y, const struct device_tree *tree,
                    const struct device_tree_node *node, const char *mode)
{
    memset(y, 0, sizeof *y);
    if (read_numbers(y, tree, node))
        return;
    read_delays(y, tree, node, mode);
    y->clock_strength = microamps(tree, node, "motorcomm,rx-clk-drv-microamp");
    y->data_strength = microamps(tree, node, "motorcomm,rx-data-drv-microamp");
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

static unsigned read_inner(const struct phy *p, unsigned reg)
{
    const struct phy_bus *b = &p->bus;

    b->write(b->context, p->address, REG_AT, (uint16_t)reg);
    return b->read(b->context, p->address, REG_DATA);
}

static void change(const struct phy *p, unsigned reg, unsigned mask, unsigned value)
{
    const struct phy_bus *b = &p->bus;
    unsigned old = read_inner(p, reg);

    b->write(b->context, p->address, REG_DATA, (uint16_t)((old & ~mask) | value));
}

/* The register's number for a strength; STRENGTHS if no number has this strength, or if the
 * register must not change. */
static unsigned number_of(const struct phy *p, uint16_t strength)
{
    static const uint16_t at_3v3[STRENGTHS] = { 3070, 4080, 4370, 4680, 5020, 5450, 5740, 6140 },
                          at_1v8[STRENGTHS] = { 1200, 2100, 2700, 2910, 3110, 3600, 3970, 4350 };
    unsigned supply = read_inner(p, CHIP) >> CHIP_SUPPLY_SHIFT & CHIP_SUPPLY_MASK, i = 0;
    const uint16_t *strengths = supply >= SUPPLY_1V8 ? at_1v8 : at_3v3;

    if (strength != 0 && strength <= STRENGTHS)
        return strength - 1u;
    if (supply != SUPPLY_3V3 && supply < SUPPLY_1V8)
        return STRENGTHS;
    while (i < STRENGTHS && strengths[i] != strength)
        i++;
    return i;
}

/* Set the strengths. A strength that the PHY does not support is not set, as in U-Boot. */
static void set_strengths(const struct yt8531 *y, const struct phy *p)
{
    unsigned clock = number_of(p, y->clock_strength), data = number_of(p, y->data_strength);

    if (clock < STRENGTHS)
        change(p, PADS, (unsigned)(STRENGTHS - 1) << PADS_CLOCK_SHIFT, clock << PADS_CLOCK_SHIFT);
    if (data < STRENGTHS)
        change(p, PADS, 1u << PADS_DATA_TOP_SHIFT | 3u << PADS_DATA_SHIFT,
               data >> 2 << PADS_DATA_TOP_SHIFT | (data & 3) << PADS_DATA_SHIFT);
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
    set_strengths(y, p);
}

void yt8531_follow(const struct yt8531 *y, const struct phy *p, unsigned mbits)
{
    bool inverts = mbits == 1000 ? y->inverts_1000 : mbits == 100 ? y->inverts_100 : y->inverts_10;

    if (y->adjusts && is_one(p))
        change(p, RGMII, RGMII_INVERTED, inverts ? RGMII_INVERTED : 0);
}
