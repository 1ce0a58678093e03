/* An xHCI in place of xhci_mmio.c, with what is at it (fake_usb.h). It takes commands and transfers from memory at
 * doorbells; addresses of its bus are not those of the cores. A device is only found by a slot's context that says all of
 * where it is. Sections are those of the eXtensible Host Controller Interface 1.2. */
#ifndef INGOT_TESTS_UNIT_FAKE_XHCI_H
#define INGOT_TESTS_UNIT_FAKE_XHCI_H

#include "tests/unit/board/dma_log.h"
#include "tests/unit/board/fake_usb.h"

enum { OPERATIONAL = 0x20, DOORBELLS = 0x1000, RUNTIME = 0x2000 };
enum { CODE_BABBLE = 3, CODE_TRANSACTION = 4, CODE_PARAMETER = 17, CODE_STATE = 19 };
static const uint64_t bus_offset = 0x300000000;

static struct fake_xhci {
    uint32_t words[0x3000 / 4];
    struct fake_ring commands;
    uint64_t events;
    uint32_t n_events, next_event, event_cycle;
    bool runs;
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

/* ---- where devices are ---- */

static inline struct fake_unit *unit_at(uint32_t port, uint32_t route)
{
    for (unsigned i = 0; i < FAKE_UNITS; i++)
        if (f.units[i].connected && f.units[i].port == port && f.units[i].route == route)
            return &f.units[i];
    return NULL;
}

static inline struct fake_unit *unit_of(uint32_t slot)
{
    for (unsigned i = 0; i < FAKE_UNITS; i++)
        if (f.units[i].connected && f.units[i].slot == slot)
            return &f.units[i];
    return NULL;
}

static inline void plug(struct fake_unit *u)
{
    u->connected = u->fresh = true;
    u->enabled = u->was_reset = false;
}

/* And what is behind it. */
static inline void pull(struct fake_unit *u)
{
    for (unsigned i = 0; i < FAKE_UNITS; i++)
        if (&f.units[i] == u ||
            (u->kind == FAKE_HUB && f.units[i].port == u->port && f.units[i].route != 0)) {
            f.units[i].connected = f.units[i].enabled = false;
            f.units[i].slot = 0;
        }
    u->configured = u->deep = u->told = false;
    u->powered = 0;
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

static inline void halt(struct fake_unit *u, uint32_t id, uint64_t at, uint32_t code)
{
    u->ends[id].halted = true;
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

    wrong(crosses(t));
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

    wrong(crosses(t));
    if (!u->has_command) {
        take_command(u, memory_at(t->data), n);
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

/* Requests without an answer. False: it does not know that one. */
static inline bool take_request(struct fake_unit *u, uint8_t type, uint8_t request, uint16_t value,
                                uint16_t index)
{
    if (type == 0x02 && request == 1) {
        u->halted_in = u->halted_in && index != 0x81;
        u->halted_out = u->halted_out && index != 2;
    } else if (type == 0 && request == 9) {
        u->configured = true;
    } else if (u->kind != FAKE_HUB) {
        return false;
    } else if (type == 0x20 && request == 12 && u->speed >= XHCI_SPEED_SUPER) {
        wrong(!u->configured || value != 0);
        u->deep = true;
    } else if (type == 0x23 && (request == 1 || request == 3)) {
        set_hub_port(u, index, value, request == 3, unit_at(u->port, index));
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
    status = hub_port_status(u, index, unit_at(u->port, index));
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

    if (type & 0x80)
        has = answer_request(u, type, request, value, index, answer);
    else if (!take_request(u, type, request, value, index))
        has = 0;
    if (has == 0) {
        halt(u, XHCI_CONTROL, at, CODE_STALL);
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

/* ---- commands ---- */

/* 6.2.3: rings, and the packets that each was told of. */
static inline void take_endpoints(struct fake_unit *u, const uint32_t *input)
{
    for (uint32_t id = 1; id < FAKE_ENDS; id++)
        if (input[1] >> id & 1) {
            const uint32_t *c = input + 8 * (id + 1);
            uint64_t at = c[2] | (uint64_t)c[3] << 32;

            u->ends[id] = (struct fake_ring){ at & ~(uint64_t)15, at & 1, false, 0 };
            wrong(id != XHCI_CONTROL && c[1] >> 16 != bulk_packet(u));
        }
}

/* 6.2.2: by speed, port, route; and a slow one behind a fast hub by the hub's translator. */
static inline uint32_t take_address(uint32_t slot, const uint32_t *input)
{
    uint32_t route = input[8] & 0xfffff, port = input[9] >> 16 & 0xff, translator = 0;
    struct fake_unit *u = unit_at(port, route), *hub = route != 0 ? unit_at(port, 0) : NULL;

    if (u == NULL || !u->enabled || (input[8] >> 20 & 15) != u->speed || !(f.slots >> slot & 1))
        return CODE_PARAMETER;
    if (route != 0 && (hub == NULL || !hub->told))
        return CODE_PARAMETER;
    if (hub != NULL && hub->speed == XHCI_SPEED_HIGH && u->speed < XHCI_SPEED_HIGH)
        translator = hub->slot | route << 8;
    if ((input[10] & 0xffff) != translator)
        return CODE_PARAMETER;
    f.n_addresses++;
    u->slot = slot;
    memset(u->ends, 0, sizeof u->ends);
    take_endpoints(u, input);
    return CODE_SUCCESS;
}

/* 4.6.6; 6.2.2: bit 26 makes a hub of it. */
static inline uint32_t configure(struct fake_unit *u, const uint32_t *input)
{
    if (input[1] & 1 && input[8] >> 26 & 1) {
        wrong(u->kind != FAKE_HUB || input[9] >> 24 != HUB_PORTS ||
              (input[10] >> 16 & 3) != (u->speed == XHCI_SPEED_HIGH ? HUB_THINK : 0));
        u->told = true;
    }
    take_endpoints(u, input);
    return CODE_SUCCESS;
}

static inline uint32_t enable_slot(uint32_t *slot)
{
    for (*slot = 1; f.slots >> *slot & 1;)
        ++*slot;
    f.slots |= 1u << *slot;
    return CODE_SUCCESS;
}

static inline uint32_t obey_device(struct fake_unit *u, const struct xhci_trb *t)
{
    struct fake_ring *end = &u->ends[t->control >> 16 & 31];

    switch (t->control >> 10 & 63) {
    case TRB_CONFIGURE: return configure(u, memory_at(t->data));
    case TRB_EVALUATE: wrong(((uint32_t *)memory_at(t->data))[17] >> 16 != 64); break;
    case TRB_RESET_ENDPOINT:
        if (!end->halted)
            return CODE_STATE;
        end->halted = false;
        break;
    case TRB_SET_DEQUEUE:
        *end = (struct fake_ring){ t->data & ~(uint64_t)15, t->data & 1, false, 0 };
        break;
    default: break;
    }
    return CODE_SUCCESS;
}

static inline uint32_t obey(const struct xhci_trb *t, uint32_t *slot)
{
    uint32_t type = t->control >> 10 & 63;
    struct fake_unit *u;

    *slot = t->control >> 24;
    if (type == TRB_ENABLE_SLOT)
        return enable_slot(slot);
    if (type == TRB_ADDRESS)
        return take_address(*slot, memory_at(t->data));
    wrong(!(f.slots >> *slot & 1));
    u = unit_of(*slot);
    if (type == TRB_DISABLE_SLOT) {
        f.slots &= ~(1u << *slot);
        for (unsigned i = 0; i < FAKE_UNITS; i++)
            if (f.units[i].slot == *slot)
                f.units[i].slot = 0;
        return CODE_SUCCESS;
    }
    return u != NULL ? obey_device(u, t) : CODE_TRANSACTION;
}

static inline void ring_commands(void)
{
    struct xhci_trb t;
    uint64_t at;

    while (fetch(&f.commands, &t, &at)) {
        uint32_t slot, code = obey(&t, &slot);

        post(at, code << 24, EVENT_COMMAND << 10 | slot << 24);
    }
}

/* ---- registers ---- */

static inline uint32_t port_status(uint32_t port)
{
    const struct fake_unit *u = unit_at(port, 0);

    if (u == NULL)
        return PORT_POWER;
    return PORT_POWER | PORT_CONNECTED | u->speed << 10 | (u->enabled ? PORT_ENABLED : 0) |
           (u->fresh ? (uint32_t)PORT_CONNECT_CHANGE : 0) |
           (u->was_reset ? (uint32_t)PORT_RESET_CHANGE : 0);
}

uint32_t xhci_read(const struct xhci *x, unsigned reg)
{
    (void)x;
    switch (reg) {
    case CAP_LENGTH: return 0x01000000 | OPERATIONAL;
    case CAP_STRUCTURE_1: return (uint32_t)FAKE_PORTS << 24 | XHCI_SLOTS;
    case CAP_STRUCTURE_2: return 2u << 27;
    case CAP_PARAMETERS: return 1;
    case CAP_DOORBELLS: return DOORBELLS;
    case CAP_RUNTIME: return RUNTIME;
    case OPERATIONAL + OP_STATUS: return f.runs ? 0 : STATUS_HALTED;
    case OPERATIONAL + OP_PAGE_SIZE: return 1;
    default: break;
    }
    if (reg >= OPERATIONAL + OP_PORTS && reg < OPERATIONAL + OP_PORTS + 16 * FAKE_PORTS)
        return port_status((reg - OPERATIONAL - OP_PORTS) / 16 + 1);
    return f.words[reg / 4];
}

static inline void run_or_reset(uint32_t command)
{
    f.runs = command & COMMAND_RUN;
    if (command & COMMAND_RESET) {
        f.slots = 0;
        for (unsigned i = 0; i < FAKE_UNITS; i++) {
            f.units[i].slot = 0;
            f.units[i].has_command = false;
        }
    }
    if (f.runs) {
        const uint32_t *table = memory_at(pair_at(RUNTIME + RUN_TABLE));
        uint64_t ring = pair_at(OPERATIONAL + OP_COMMAND_RING);

        f.events = table[0] | (uint64_t)table[1] << 32;
        f.n_events = table[2];
        f.next_event = 0;
        f.event_cycle = 1;
        f.commands = (struct fake_ring){ ring & ~(uint64_t)63, ring & 1, false, 0 };
    }
}

static inline void write_port(struct fake_unit *u, uint32_t value)
{
    if (u == NULL)
        return;
    if (value & PORT_CONNECT_CHANGE)
        u->fresh = false;
    if (value & PORT_RESET_CHANGE)
        u->was_reset = false;
    if (!(value & PORT_RESET))
        return;
    reset_unit(u);
    for (unsigned i = 0; i < FAKE_UNITS; i++)
        if (u->kind == FAKE_HUB && f.units[i].port == u->port && f.units[i].route != 0)
            f.units[i].enabled = false;
}

void xhci_write(const struct xhci *x, unsigned reg, uint32_t value)
{
    (void)x;
    f.words[reg / 4] = value;
    if (reg == OPERATIONAL + OP_COMMAND) {
        run_or_reset(value);
        f.words[reg / 4] = value & ~(uint32_t)COMMAND_RESET;
    } else if (reg >= OPERATIONAL + OP_PORTS && reg < OPERATIONAL + OP_PORTS + 16 * FAKE_PORTS) {
        write_port(unit_at((reg - OPERATIONAL - OP_PORTS) / 16 + 1, 0), value);
    } else if (reg == DOORBELLS) {
        ring_commands();
    } else if (reg > DOORBELLS && reg <= DOORBELLS + 4 * XHCI_SLOTS) {
        ring_device((reg - DOORBELLS) / 4, value);
    }
    dma_log_evict_all();
}

/* What a driver is told of it. */
static inline struct xhci_setup fake_setup(void)
{
    return (
        struct xhci_setup){ .mmio = 0x10000000,
                            .window = { .offset = bus_offset, .end = UINT64_MAX, .coherent = true },
                            .ticks = fake_ticks,
                            .ticks_hz = 1000 };
}

#endif
