/* Registers and bits: IEEE 802.3-2018, 22.2.4 and table 40-3. */
#include "board/drivers/net/ethernet_phy.h"

enum {
    REG_CONTROL = 0,
    REG_STATUS = 1,
    REG_ID_1 = 2,
    REG_ID_2 = 3,
    REG_OURS = 4,
    REG_THEIRS = 5,
    REG_OURS_1000 = 9,
    REG_THEIRS_1000 = 10,
    REG_EXTENDED = 15
};
enum {
    CONTROL_100 = 1 << 13,
    CONTROL_NEGOTIATE = 1 << 12,
    CONTROL_POWER_DOWN = 1 << 11,
    CONTROL_ISOLATE = 1 << 10,
    CONTROL_RESTART = 1 << 9,
    CONTROL_FULL = 1 << 8,
    CONTROL_1000 = 1 << 6,
};
enum { STATUS_EXTENDED = 1 << 8, STATUS_NEGOTIATED = 1 << 5, STATUS_LINK = 1 << 2 };
enum { EXTENDED_1000_FULL = 1 << 13 };
enum { CAN_100_FULL = 1 << 8, CAN_100 = 1 << 7, CAN_10_FULL = 1 << 6, CAN_10 = 1 << 5 };
enum { SELECT_802_3 = 1 };
enum { OURS_1000_FULL = 1 << 9, OURS_1000 = 1 << 8, THEIRS_1000_FULL = 1 << 11 };
enum { NOBODY = 0xffff };

static uint16_t get(const struct phy *p, unsigned reg)
{
    return p->bus.read(p->bus.context, p->address, reg);
}

static void put(const struct phy *p, unsigned reg, unsigned value)
{
    p->bus.write(p->bus.context, p->address, reg, (uint16_t)value);
}

/* If no PHY answers, the bus's pull-up makes all bits ones; some controllers return zeros. */
static bool answers(struct phy *p, unsigned address)
{
    uint16_t one, two;

    p->address = address;
    one = get(p, REG_ID_1);
    two = get(p, REG_ID_2);
    return !(one == NOBODY && two == NOBODY) && !(one == 0 && two == 0);
}

bool phy_find(struct phy *p, const struct phy_bus *bus, unsigned first)
{
    p->bus = *bus;
    p->gigabit = false;
    for (unsigned i = 0; i < PHY_ADDRESSES; i++) {
        if (answers(p, (first + i) % PHY_ADDRESSES)) {
            p->gigabit = (get(p, REG_STATUS) & STATUS_EXTENDED) != 0 &&
                         (get(p, REG_EXTENDED) & EXTENDED_1000_FULL) != 0;
            return true;
        }
    }
    p->address = PHY_ADDRESSES;
    return false;
}

/* True if the firmware has left a negotiated link: negotiating again would take it down for
 * seconds. */
static bool is_started(const struct phy *p)
{
    uint16_t control = get(p, REG_CONTROL);

    return (control & (CONTROL_NEGOTIATE | CONTROL_POWER_DOWN | CONTROL_ISOLATE)) ==
               CONTROL_NEGOTIATE &&
           phy_link(p).up;
}

void phy_start(const struct phy *p)
{
    if (is_started(p))
        return;
    put(p, REG_OURS, CAN_100_FULL | CAN_100 | CAN_10_FULL | CAN_10 | SELECT_802_3);
    if (p->gigabit)
        put(p, REG_OURS_1000,
            (get(p, REG_OURS_1000) & ~(unsigned)OURS_1000) | (unsigned)OURS_1000_FULL);
    put(p, REG_CONTROL, CONTROL_NEGOTIATE | CONTROL_RESTART);
}

/* The link without negotiation has the speed that was set. */
static struct phy_link fixed_link(uint16_t control)
{
    unsigned mbits = control & CONTROL_100 ? 100 : 10;

    return (struct phy_link){ .up = true,
                              .full = (control & CONTROL_FULL) != 0,
                              .mbits = control & CONTROL_1000 ? 1000 : mbits };
}

static struct phy_link agreed_link(const struct phy *p)
{
    uint16_t both = get(p, REG_OURS) & get(p, REG_THEIRS);

    if (p->gigabit && (get(p, REG_OURS_1000) & OURS_1000_FULL) != 0 &&
        (get(p, REG_THEIRS_1000) & THEIRS_1000_FULL) != 0)
        return (struct phy_link){ .up = true, .full = true, .mbits = 1000 };
    return (struct phy_link){ .up = true,
                              .full = (both & CAN_100_FULL) != 0 ||
                                      ((both & CAN_100) == 0 && (both & CAN_10_FULL) != 0),
                              .mbits = (both & (CAN_100_FULL | CAN_100)) != 0 ? 100 : 10 };
}

/* Bit 2 of the status remembers a lost link until it is read, so the second read gives the present
 * state. */
struct phy_link phy_link(const struct phy *p)
{
    static const struct phy_link down = { .up = false };
    uint16_t control = get(p, REG_CONTROL), status;

    (void)get(p, REG_STATUS);
    status = get(p, REG_STATUS);
    if (control == NOBODY || status == NOBODY || !(status & STATUS_LINK))
        return down;
    if (!(control & CONTROL_NEGOTIATE))
        return fixed_link(control);
    return status & STATUS_NEGOTIATED ? agreed_link(p) : down;
}

bool phy_follow(const struct phy *p, struct phy_link *link, bool *changed)
{
    struct phy_link now = phy_link(p);

    if (!now.up)
        return false;
    *changed = now.mbits != link->mbits || now.full != link->full;
    if (*changed)
        *link = now;
    return true;
}
