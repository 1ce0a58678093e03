/* Finds and starts a PHY with the standard registers of IEEE 802.3, clause 22, and reads its link.
 * RGMII delays are in registers that differ between makers; only yt8531.h sets them, other PHYs
 * keep the firmware's settings. */
#ifndef INGOT_BOARD_DRIVERS_NET_ETHERNET_PHY_H
#define INGOT_BOARD_DRIVERS_NET_ETHERNET_PHY_H

#include <stdbool.h>
#include <stdint.h>

enum { PHY_ADDRESSES = 32 };

/* The two wires to a PHY's registers, which a controller drives. A failed read returns 0xffff. */
struct phy_bus {
    void *context;
    uint16_t (*read)(void *context, unsigned address, unsigned reg);
    void (*write)(void *context, unsigned address, unsigned reg, uint16_t value);
};

struct phy {
    struct phy_bus bus;
    unsigned address; /* PHY_ADDRESSES: none answers */
    bool gigabit;     /* it can do 1000BASE-T */
};

struct phy_link {
    bool up;
    bool full;      /* both ways at once */
    unsigned mbits; /* 10, 100, 1000 */
};

/* Find the PHY; the address `first` is tried before all others. False: no address answers. */
bool phy_find(struct phy *p, const struct phy_bus *bus, unsigned first);

/* Start negotiation, unless it is already complete: 10 and 100 Mbit/s in both duplex modes, 1000
 * only in full duplex. */
void phy_start(const struct phy *p);

/* The current link: the best mode that both sides have agreed on (IEEE 802.3, annex 28B.3). */
struct phy_link phy_link(const struct phy *p);

/* Read the link for a controller that is set for *link. Returns false if the link is down; *link
 * then does not change. If true, *link is the present link, and *changed says if its rate or duplex
 * mode differs from that of the earlier link. */
bool phy_follow(const struct phy *p, struct phy_link *link, bool *changed);

#endif
