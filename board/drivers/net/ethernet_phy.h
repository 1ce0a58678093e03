/* A PHY by the standard registers of IEEE 802.3, clause 22: found on its bus, started, and asked
 * for the link. Delays of RGMII are the maker's registers, which stay as the firmware left them. */
#ifndef INGOT_BOARD_DRIVERS_NET_ETHERNET_PHY_H
#define INGOT_BOARD_DRIVERS_NET_ETHERNET_PHY_H

#include <stdbool.h>
#include <stdint.h>

enum { PHY_ADDRESSES = 32 };

/* The two wires of a PHY's registers, which a controller drives. A read that fails gives 0xffff. */
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

/* Look for the PHY, at `first` before all other addresses. False: no address answers. */
bool phy_find(struct phy *p, const struct phy_bus *bus, unsigned first);

/* Have it negotiate, unless it has done so: 10 and 100 Mbit/s both ways, 1000 in full duplex
 * alone. */
void phy_start(const struct phy *p);

/* The link as it is now: what both sides have agreed on, by their priority (IEEE 802.3, annex
 * 28B.3). */
struct phy_link phy_link(const struct phy *p);

/* For a controller that follows the link. False: it is down, and *link stays. Otherwise *changed says
 * whether rate or duplex differ from *link, which then has the new ones. */
bool phy_follow(const struct phy *p, struct phy_link *link, bool *changed);

#endif
