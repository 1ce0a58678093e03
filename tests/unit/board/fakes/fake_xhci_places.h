/* The lowest part of fake_xhci.h: the kinds of controllers, and where devices are. Sections are
 * those of the eXtensible Host Controller Interface 1.2. */
#ifndef INGOT_TESTS_UNIT_FAKE_XHCI_PLACES_H
#define INGOT_TESTS_UNIT_FAKE_XHCI_PLACES_H

#include "board/isa.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/board/fakes/fake_usb.h"

enum { OPERATIONAL = 0x20, DOORBELLS = 0x1000, RUNTIME = 0x2000 };
enum { CODE_PARAMETER = 17, CODE_STATE = 19, CODE_STOPPED = 26 };
enum { TRAINING_MS = 300, ADDRESS_MS = 2 };
enum { LINE_TRBS = 4, LINES_AHEAD = 8 };
static const uint64_t bus_offset = 0x300000000;

/* Four TRBs of a ring that the controller has read ahead. */
struct fake_line {
    uint64_t at;
    const struct fake_ring *of;
    struct xhci_trb trbs[LINE_TRBS];
};

static struct fake_xhci {
    uint32_t words[0x3000 / 4];
    struct fake_ring commands;
    uint64_t events;
    uint32_t n_events, next_event, event_cycle;
    bool runs;
    unsigned not_ready; /* looks at its status until it is */
    bool unpowered;     /* its ports */
    bool over_current;  /* so they stay */
    unsigned n_power;   /* requests to switch them on */
    bool deaf;          /* commands have no end, until its reset */
    uint32_t slots;     /* that are enabled, by bit */
    struct fake_unit units[FAKE_UNITS];
    unsigned n_addresses;
    uint64_t now;
    struct fake_line ahead[LINES_AHEAD];
    unsigned n_ahead;
    uint32_t frame,
        told_frame; /* microframes: the next one, and the last one that the driver was told of */
} f;

static unsigned core_at_work;

unsigned core_number(void)
{
    return core_at_work;
}

static inline uint64_t fake_ticks(void)
{
    return ++f.now; /* a millisecond */
}

static inline void *memory_at(uint64_t bus)
{
    wrong(bus < bus_offset);
    return dma_log_seen((uintptr_t)(bus - bus_offset));
}

static inline uint64_t pair_at(unsigned reg)
{
    return f.words[reg / 4] | (uint64_t)f.words[reg / 4 + 1] << 32;
}

/* ---- controllers as they describe themselves ---- */

struct fake_chip {
    const char *name;
    uint32_t structure_1, structure_2, parameters; /* HCSPARAMS1, HCSPARAMS2, HCCPARAMS1 */
    uint32_t first_super;                          /* its ports of USB 3 start here */
    bool is_vl805; /* with the faults that Linux works around (xhci-pci.c: 0x1106, 0x3483) */
};

/* The firmware of a Pi 4 prints the registers of its VL805, and the states of its ports: "HCS: 05000420 fc000031 00e70004
 * HCC: 002841eb", "xHC ports 5 slots 32", "USB2 rport 1", "USB3 rport 2" to 5 (rpi-eeprom issue 242). */
static const struct fake_chip fake_vl805 = { "VL805", 0x05000420, 0xfc000031, 0x002841eb, 2, true };

/* Linux on a Pi 5 prints "hcc params 0x0240fe6d hci version 0x110" and a hub of two ports of USB 2, one of one of USB 3
 * (rpi-eeprom issue 718): contexts of 64 bytes. Its boot loader prints "xHC0 ver: 272 HCS: 03000440 140000f1 07ff000a HCC: 0240fe6d" and
 * "ports 3 slots 64 intrs 4" (NumberOneGit/rpi5-uefi issue 9, xen-troops/meta-xt-prod-devel-rpi5 issue 50): two scratchpad pages. */
static const struct fake_chip fake_rp1 = { "DWC3 of RP1", 0x03000440, 0x140000f1,
                                           0x0240fe6d,    3,          false };

static const struct fake_chip *fake_chip = &fake_vl805;

static inline uint32_t fake_ports(void)
{
    return fake_chip->structure_1 >> 24;
}

static inline uint32_t context_words(void)
{
    return fake_chip->parameters >> 2 & 1 ? 16 : 8;
}

/* Returns an input or output context: 0 is the slot's, then come the endpoints'. */
static inline uint32_t *context_at(uint32_t *contexts, uint32_t id)
{
    return contexts + context_words() * id;
}

/* ---- where devices are ---- */

static inline uint32_t tier_of(uint32_t route)
{
    uint32_t n = 0;

    for (; route != 0; route >>= 4)
        n++;
    return n;
}

static inline struct fake_unit *unit_at(uint32_t port, uint32_t route)
{
    for (unsigned i = 0; i < FAKE_UNITS; i++)
        if (f.units[i].connected && f.units[i].port == port && f.units[i].route == route)
            return &f.units[i];
    return NULL;
}

/* At a hub's port. */
static inline struct fake_unit *unit_behind(const struct fake_unit *hub, uint32_t port)
{
    return unit_at(hub->port, hub->route | port << 4 * tier_of(hub->route));
}

/* The hub that a unit is at, and its port there; NULL: it is at the controller. */
static inline struct fake_unit *hub_of(const struct fake_unit *u, uint32_t *port)
{
    uint32_t n = tier_of(u->route);

    if (n == 0)
        return NULL;
    *port = u->route >> 4 * (n - 1);
    return unit_at(u->port, u->route & ((1u << 4 * (n - 1)) - 1));
}

/* The translator of a slow unit (6.2.2). */
static inline struct fake_unit *translator_of(const struct fake_unit *u, uint32_t *port)
{
    if (u->speed == XHCI_SPEED_HIGH || u->speed >= XHCI_SPEED_SUPER)
        return NULL;
    for (u = hub_of(u, port); u != NULL && u->speed != XHCI_SPEED_HIGH; u = hub_of(u, port))
        ;
    return (struct fake_unit *)(uintptr_t)u;
}

static inline struct fake_unit *unit_of(uint32_t slot)
{
    for (unsigned i = 0; i < FAKE_UNITS; i++)
        if (f.units[i].connected && f.units[i].slot == slot)
            return &f.units[i];
    return NULL;
}

static inline bool is_behind(const struct fake_unit *u, const struct fake_unit *hub)
{
    uint32_t n = tier_of(hub->route);

    return hub->kind == FAKE_HUB && u->port == hub->port && tier_of(u->route) > n &&
           (u->route & ((1u << 4 * n) - 1)) == hub->route;
}

/* USB 2.0, 11.24.2.7.2.1: after a hub's reset its ports find their devices again. */
static inline void lose_behind(const struct fake_unit *hub)
{
    for (unsigned i = 0; i < FAKE_UNITS; i++)
        if (is_behind(&f.units[i], hub)) {
            f.units[i].enabled = false;
            f.units[i].fresh = true;
        }
}

/* 4.3.1: a USB 3 port enables itself, once its link is trained. */
static inline void plug(struct fake_unit *u)
{
    u->connected = u->fresh = true;
    reset_unit(u); /* it had no power */
    u->enabled = u->speed >= XHCI_SPEED_SUPER;
    u->was_reset = false;
    u->trained_at = 0;
}

/* And what is behind it. */
static inline void pull(struct fake_unit *u)
{
    for (unsigned i = 0; i < FAKE_UNITS; i++)
        if (&f.units[i] == u || is_behind(&f.units[i], u)) {
            f.units[i].connected = f.units[i].enabled = false;
            f.units[i].slot = 0;
        }
    u->configured = u->deep = u->told = false;
    u->powered = 0;
}

static inline bool is_enabled(const struct fake_unit *u)
{
    return u->enabled && !u->untrained && f.now >= u->trained_at;
}

#endif
