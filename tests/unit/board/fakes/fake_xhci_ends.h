/* The lower half of fake_xhci.h: which controllers there are, where devices are, rings, and what endpoints do. Sections are
 * those of the eXtensible Host Controller Interface 1.2. */
#ifndef INGOT_TESTS_UNIT_FAKE_XHCI_ENDS_H
#define INGOT_TESTS_UNIT_FAKE_XHCI_ENDS_H

#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/board/fakes/fake_usb.h"

enum { OPERATIONAL = 0x20, DOORBELLS = 0x1000, RUNTIME = 0x2000 };
enum { CODE_PARAMETER = 17, CODE_STATE = 19 };
enum { TRAINING_MS = 300, ADDRESS_MS = 2 };
static const uint64_t bus_offset = 0x300000000;

static struct fake_xhci {
    uint32_t words[0x3000 / 4];
    struct fake_ring commands;
    uint64_t events;
    uint32_t n_events, next_event, event_cycle;
    bool runs;
    bool unpowered; /* its ports */
    uint32_t slots; /* that are enabled, by bit */
    struct fake_unit units[FAKE_UNITS];
    unsigned n_addresses;
    uint64_t now;
} f;

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
    uint32_t first_super;                          /* its ports of USB 3, from this one on */
};

/* The firmware of a Pi 4 prints the registers of its VL805, and the states of its ports: "HCS: 05000420 fc000031 00e70004
 * HCC: 002841eb", "xHC ports 5 slots 32", "USB2 rport 1", "USB3 rport 2" to 5 (rpi-eeprom issue 242). */
static const struct fake_chip fake_vl805 = { "VL805", 0x05000420, 0xfc000031, 0x002841eb, 2 };

/* Linux on a Pi 5 prints "hcc params 0x0240fe6d hci version 0x110" and a hub of two ports of USB 2, one of one of USB 3
 * (rpi-eeprom issue 718): contexts of 64 bytes. HCSPARAMS2 is not published, and is here one scratchpad page. */
static const struct fake_chip fake_rp1 = { "DWC3 of RP1", 0x03000140, 0x0c0000f1, 0x0240fe6d, 3 };

static const struct fake_chip *fake_chip = &fake_vl805;

static inline uint32_t fake_ports(void)
{
    return fake_chip->structure_1 >> 24;
}

static inline uint32_t context_words(void)
{
    return fake_chip->parameters >> 2 & 1 ? 16 : 8;
}

/* For an input or output context: 0 the slot's, then the endpoints'. */
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
    return u->enabled && f.now >= u->trained_at;
}

/* ---- rings ---- */

static inline void post(uint64_t data, uint32_t status, uint32_t control)
{
    struct xhci_trb *e = memory_at(f.events);
    uint64_t free_from = pair_at(RUNTIME + RUN_DEQUEUE) & ~(uint64_t)15;

    wrong(f.events + (f.next_event + 1) % f.n_events * sizeof *e == free_from); /* 4.9.4: full */
    e[f.next_event] = (struct xhci_trb){ data, status, control | f.event_cycle };
    if (++f.next_event == f.n_events) {
        f.next_event = 0;
        f.event_cycle ^= 1;
    }
}

/* The next TRB that was handed over; false: there is none. */
static inline bool fetch(struct fake_ring *r, struct xhci_trb *out, uint64_t *at)
{
    for (;;) {
        struct xhci_trb t = *(struct xhci_trb *)memory_at(r->at);

        if ((t.control & 1) != r->cycle)
            return false;
        *at = r->at;
        r->at += sizeof t;
        if ((t.control >> 10 & 63) != TRB_LINK) {
            r->before = t.control;
            *out = t;
            return true;
        }
        wrong(((r->before ^ t.control) & TRB_CHAIN) !=
              0); /* 4.11.7: within a TD the link is a part of it */
        r->at = t.data;
        r->cycle ^= (t.control & TRB_TOGGLE) != 0;
    }
}

static inline void report(const struct fake_unit *u, uint32_t id, uint64_t at, uint32_t code,
                          uint32_t left)
{
    post(at, code << 24 | left, EVENT_TRANSFER << 10 | id << 16 | u->slot << 24);
}

static inline void report_short(const struct fake_unit *u, uint64_t at, uint32_t left)
{
    report(u, BULK_IN, at, left != 0 ? CODE_SHORT : CODE_SUCCESS, left);
}

static inline void halt(struct fake_unit *u, uint32_t id, uint64_t at, uint32_t code)
{
    uint32_t port;

    u->ends[id].halted = true;
    u->translator_waits = id != XHCI_CONTROL && translator_of(u, &port) != NULL;
    report(u, id, at, code, 0);
}

/* ---- transfers of a drive ---- */

/* 6.4.1.1: the data of a TRB lie within 64 KiB of the bus. */
static inline bool crosses(const struct xhci_trb *t)
{
    uint32_t n = t->status & 0x1ffff;

    return n != 0 && t->data >> 16 != (t->data + n - 1) >> 16;
}

static inline void bulk_in(struct fake_unit *u, const struct xhci_trb *t, uint64_t at)
{
    uint32_t n = t->status & 0x1ffff;

    wrong(crosses(t) || u->translator_waits);
    if (u->skips) {
        u->skips = t->control & TRB_CHAIN;
        if (t->control & TRB_TELL)
            report(u, BULK_IN, at, CODE_SHORT, n);
        return;
    }
    if (u->has_command && !u->writes && u->moved < u->wanted && !u->failed && !u->ended) {
        if (is_faulty(u, STALLED) || is_faulty(u, STALLED_ALL) || is_faulty(u, BABBLING) ||
            is_faulty(u, BROKEN_WIRE)) {
            u->failed = true;
            u->sense = 3;
            u->halted_in = true;
            halt(u, BULK_IN, at,
                 is_faulty(u, BABBLING)      ? CODE_BABBLE
                 : is_faulty(u, BROKEN_WIRE) ? CODE_TRANSACTION
                                             : CODE_STALL);
            return;
        }
        u->ended = is_faulty(u, SHORT);
        if (u->ended)
            n /= 2;
        memcpy(memory_at(t->data), command_data(u) + u->moved, n);
        u->moved += n;
        wrong(!(t->control & TRB_CHAIN) != (u->moved == u->wanted) &&
              !u->ended); /* one TD a command */
        u->skips = u->ended && (t->control & TRB_CHAIN);
        if (t->control & TRB_TELL)
            report(u, BULK_IN, at, u->ended ? CODE_SHORT : CODE_SUCCESS, (t->status & 0x1ffff) - n);
        return;
    }
    if (u->halted_in || is_faulty(u, STALLED_ALL)) {
        halt(u, BULK_IN, at, CODE_STALL);
        return;
    }
    wrong(n != 13 || !u->has_command);
    send_status(u, memory_at(t->data));
    report(u, BULK_IN, at, CODE_SUCCESS, 0);
}

static inline void bulk_out(struct fake_unit *u, const struct xhci_trb *t, uint64_t at)
{
    uint32_t n = t->status & 0x1ffff;

    wrong(crosses(t) || u->translator_waits);
    if (!u->has_command) {
        take_command(u, memory_at(t->data), n);
        return;
    }
    if (u->moved + n > u->wanted) {
        wrong(true); /* another command before this one's status */
        halt(u, BULK_OUT, at, CODE_STALL);
        return;
    }
    if (is_faulty(u, STALLED)) {
        u->failed = u->halted_out = true;
        u->sense = 3;
        halt(u, BULK_OUT, at, CODE_STALL);
        return;
    }
    memcpy(command_data(u) + u->moved, memory_at(t->data), n);
    u->moved += n;
    wrong(!(t->control & TRB_CHAIN) != (u->moved == u->wanted));
    if (t->control & TRB_TELL)
        report(u, BULK_OUT, at, CODE_SUCCESS, 0);
}

/* ---- control transfers ---- */

static inline uint32_t address_of(uint32_t slot)
{
    return slot + 0x21;
}

/* 11.24.2.3: an endpoint's number, its device's address, its kind, and whether data come in. */
static inline bool clear_translator(struct fake_unit *hub, uint16_t value, uint16_t index)
{
    hub->n_cleared++;
    for (unsigned i = 0; i < FAKE_UNITS; i++) {
        struct fake_unit *u = &f.units[i];
        uint32_t port, end = value & 15, in = value >> 15;

        if (translator_of(u, &port) != hub || address_of(u->slot) != (value >> 4 & 0x7f))
            continue;
        wrong(index != 1 || (value >> 11 & 3) != 2 || !u->ends[2 * end + in].halted);
        u->translator_waits = false;
        return true;
    }
    return false;
}

/* Requests without an answer. False: it does not know that one. */
static inline bool take_request(struct fake_unit *u, uint8_t type, uint8_t request, uint16_t value,
                                uint16_t index)
{
    if (type == 0x02 && request == 1) {
        u->halted_in = u->halted_in && index != 0x81;
        u->halted_out = u->halted_out && index != 2;
    } else if (type == 0 && request == 9) {
        u->configured = true;
    } else if (u->kind == FAKE_KEYBOARD && type == 0x21) {
        u->n_leds += request == 9;
    } else if (u->kind != FAKE_HUB) {
        return false;
    } else if (type == 0x23 && request == 8) {
        return clear_translator(u, value, index);
    } else if (type == 0x20 && request == 12 && u->speed >= XHCI_SPEED_SUPER) {
        wrong(!u->configured || value != tier_of(u->route));
        u->deep = true;
    } else if (type == 0x23 && (request == 1 || request == 3)) {
        set_hub_port(u, index, value, request == 3, unit_behind(u, index));
    } else {
        return false;
    }
    return true;
}

static inline uint32_t answer_request(struct fake_unit *u, uint8_t type, uint8_t request,
                                      uint16_t value, uint16_t index, uint8_t *out)
{
    uint32_t status;

    if (request == 6)
        return describe(u, type, value, out);
    out[0] = u->unit;
    if (type == 0xa1 && request == 0xfe && u->kind == FAKE_DRIVE)
        return 1;
    if (type != 0xa3 || request != 0 || u->kind != FAKE_HUB)
        return 0;
    wrong(index == 0 || index > HUB_PORTS);
    status = hub_port_status(u, index, unit_behind(u, index));
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(status >> 8 * i);
    return 4;
}

static inline void control(struct fake_unit *u, struct fake_ring *r, uint64_t setup, uint64_t at)
{
    uint8_t type = (uint8_t)setup, request = (uint8_t)(setup >> 8), answer[64] = { 0 };
    uint16_t value = (uint16_t)(setup >> 16), index = (uint16_t)(setup >> 32);
    uint32_t n = (uint16_t)(setup >> 48), has = 1;
    struct xhci_trb t = { 0 };

    if (f.now < u->answers_at || u->lost_requests != 0) {
        u->lost_requests -= u->lost_requests != 0;
        halt(u, XHCI_CONTROL, at, CODE_TRANSACTION);
        return;
    }
    if (type & 0x80)
        has = answer_request(u, type, request, value, index, answer);
    else if (!take_request(u, type, request, value, index))
        has = 0;
    if (has == 0) {
        halt(u, XHCI_CONTROL, at, CODE_STALL);
        return;
    }
    if (value >> 8 == 2 && request == 6 &&
        n > has) { /* some devices fail when they are asked for more */
        halt(u, XHCI_CONTROL, at, CODE_TRANSACTION);
        return;
    }
    if (n != 0 && fetch(r, &t, &at) && (type & 0x80))
        memcpy(memory_at(t.data), answer, n < has ? n : has);
    wrong(!fetch(r, &t, &at) || (t.control >> 10 & 63) != TRB_STATUS);
    report(u, XHCI_CONTROL, at, CODE_SUCCESS, 0);
}

static inline void ring_device(uint32_t slot, uint32_t id)
{
    struct fake_unit *u = unit_of(slot);
    struct xhci_trb t;
    uint64_t at;

    wrong(!(f.slots >> slot & 1) || (u != NULL && u->ends[id].at == 0));
    if (u != NULL && u->kind == FAKE_KEYBOARD && id != XHCI_CONTROL)
        return; /* it answers when a key is pressed */
    while (u != NULL && u->connected && !u->ends[id].halted && fetch(&u->ends[id], &t, &at)) {
        if (u->has_command && is_faulty(u, SILENT))
            return;
        if (u->has_command && is_faulty(u, PULLED)) {
            pull(u);
            return;
        }
        if (u->has_command && is_faulty(u, LATE_EVENT))
            report(u, id == BULK_IN ? BULK_OUT : BULK_IN, at, CODE_SUCCESS, 0);
        if (id == XHCI_CONTROL)
            control(u, &u->ends[id], t.data, at);
        else if (id == BULK_IN)
            bulk_in(u, &t, at);
        else
            bulk_out(u, &t, at);
    }
}

/* A report of so many bytes, of a key that is held or of none. */
static inline void press(struct fake_unit *u, uint8_t key, uint32_t bytes)
{
    uint8_t report[KEYBOARD_PACKET] = { 0, 0, key };
    struct xhci_trb t;
    uint64_t at;
    uint32_t n;

    wrong(!fetch(&u->ends[BULK_IN], &t, &at));
    n = t.status & 0x1ffff;
    if (n < bytes) {
        halt(u, BULK_IN, at, CODE_BABBLE);
        return;
    }
    memcpy(memory_at(t.data), report, bytes);
    report_short(u, at, n - bytes);
}

#endif
