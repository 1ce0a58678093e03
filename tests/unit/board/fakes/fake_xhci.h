/* An xHCI in place of xhci_mmio.c, with the devices of fake_usb.h. It takes commands and transfers from memory at
 * doorbells; addresses of its bus are not those of the cores. It finds a device only if the slot's context says
 * completely where it is. Sections are those of the eXtensible Host Controller Interface 1.2. */
#ifndef INGOT_TESTS_UNIT_FAKE_XHCI_H
#define INGOT_TESTS_UNIT_FAKE_XHCI_H

#include "tests/unit/board/fakes/fake_xhci_ends.h"

/* ---- commands ---- */

/* Rings (6.2.3), and the packets that each was told of. */
static inline void take_endpoints(struct fake_unit *u, uint32_t *input)
{
    for (uint32_t id = 1; id < FAKE_ENDS; id++)
        if (input[1] >> id & 1) {
            const uint32_t *c = context_at(input, id + 1);
            uint64_t at = c[2] | (uint64_t)c[3] << 32;

            u->ends[id] = (struct fake_ring){ .at = at & ~(uint64_t)15, .cycle = at & 1 };
            wrong(id != XHCI_CONTROL &&
                  c[1] >> 16 != (u->kind == FAKE_KEYBOARD ? KEYBOARD_PACKET : bulk_packet(u)));
            /* A VL805 loses data of bursts for drives behind a hub (raspberrypi/linux pull request
             * 5173). */
            wrong(id == BULK_OUT && fake_chip->is_vl805 && u->route != 0 &&
                  (c[1] >> 8 & 0xff) != 0);
        }
}

/* 6.2.2: the controller writes the device's address into its own context of the slot. */
static inline void tell_address(uint32_t slot)
{
    const uint64_t *contexts = memory_at(pair_at(OPERATIONAL + OP_CONTEXTS));
    uint32_t *out = memory_at(contexts[slot]);

    out[3] = address_of(slot);
}

/* 6.2.2: by speed, port, route; and a slow one behind a fast hub by the hub's translator. */
static inline uint32_t take_address(uint32_t slot, uint32_t *input)
{
    const uint32_t *c = context_at(input, 1);
    uint32_t route = c[0] & 0xfffff, port = c[1] >> 16 & 0xff, hub_port = 0, translator = 0;
    struct fake_unit *u = unit_at(port, route), *hub = u != NULL ? hub_of(u, &hub_port) : NULL;

    if (u == NULL || !is_enabled(u) || (c[0] >> 20 & 15) != u->speed || !(f.slots >> slot & 1))
        return CODE_PARAMETER;
    if (route != 0 && (hub == NULL || !hub->told))
        return CODE_PARAMETER;
    if (route != 0 && f.now < u->reset_at + hub->quirks.recovery_ms)
        return CODE_TRANSACTION;
    if (u->addressed) /* it does not answer at address 0 until it is reset */
        return CODE_TRANSACTION;
    hub = translator_of(u, &hub_port);
    if (hub != NULL)
        translator = hub->slot | hub_port << 8;
    if ((c[2] & 0xffff) != translator)
        return CODE_PARAMETER;
    f.n_addresses++;
    u->slot = slot;
    u->addressed = true;
    u->answers_at = f.now + ADDRESS_MS;
    tell_address(slot);
    memset(u->ends, 0, sizeof u->ends);
    take_endpoints(u, input);
    return CODE_SUCCESS;
}

/* 4.6.6; 6.2.2: bit 26 makes a hub of it. */
static inline uint32_t configure(struct fake_unit *u, uint32_t *input)
{
    const uint32_t *c = context_at(input, 1);

    if (input[1] & 1 && c[0] >> 26 & 1) {
        wrong(u->kind != FAKE_HUB || c[1] >> 24 != HUB_PORTS ||
              (c[2] >> 16 & 3) != (u->speed == XHCI_SPEED_HIGH ? HUB_THINK : 0));
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

/* 4.6.9: Stopped (26) is the code of a transfer that had begun. */
static inline uint32_t stop_endpoint(struct fake_unit *u, uint32_t id)
{
    struct fake_ring *end = &u->ends[id];

    if (end->busy && u->halts_late)
        halt(u, id, end->at, CODE_TRANSACTION);
    else if (end->busy)
        report(u, id, end->at, CODE_STOPPED, 0);
    end->busy = u->owes = false;
    if (end->halted || end->stopped)
        return CODE_STATE;
    end->stopped = true;
    return CODE_SUCCESS;
}

static inline uint32_t obey_device(struct fake_unit *u, const struct xhci_trb *t)
{
    struct fake_ring *end = &u->ends[t->control >> 16 & 31];

    switch (t->control >> 10 & 63) {
    case TRB_CONFIGURE: return configure(u, memory_at(t->data));
    case TRB_EVALUATE: wrong(context_at(memory_at(t->data), 2)[1] >> 16 != 64); break;
    case TRB_RESET_ENDPOINT:
        if (!end->halted)
            return CODE_STATE;
        end->halted = false;
        end->stopped = true;
        break;
    case TRB_STOP_ENDPOINT: return stop_endpoint(u, t->control >> 16 & 31);
    case TRB_SET_DEQUEUE: /* 4.6.10 */
        wrong(end->busy);
        if (!end->stopped)
            return CODE_STATE;
        *end = (struct fake_ring){ .at = t->data & ~(uint64_t)15,
                                   .cycle = t->data & 1,
                                   .stopped = true };
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
        for (unsigned id = 0; u != NULL && id < FAKE_ENDS; id++)
            wrong(u->ends[id].busy); /* 4.6.4 */
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

    while (!f.deaf && fetch(&f.commands, &t, &at)) {
        uint32_t slot, code = obey(&t, &slot);

        post(at, code << 24, EVENT_COMMAND << 10 | slot << 24);
    }
}

/* ---- registers ---- */

/* 5.4.8: a port has a speed only while it is enabled. PLS 8: a reset of a USB 3 port is in
 * progress. */
static inline uint32_t port_status(uint32_t port)
{
    const struct fake_unit *u = unit_at(port, 0);
    uint32_t status = (f.unpowered ? 0 : (uint32_t)PORT_POWER) |
                      (f.over_current ? (uint32_t)PORT_OVER_CURRENT : 0);

    if (u == NULL || f.unpowered)
        return status;
    status |= is_enabled(u) ? PORT_ENABLED | u->speed << 10 : u->enabled ? 8u << 5 : 7u << 5;
    return status | PORT_CONNECTED | (u->fresh ? (uint32_t)PORT_CONNECT_CHANGE : 0) |
           (u->was_reset ? (uint32_t)PORT_RESET_CHANGE : 0);
}

uint32_t xhci_read(const struct xhci *x, unsigned reg)
{
    (void)x;
    end_holds();
    switch (reg) {
    case CAP_LENGTH: return 0x01000000 | OPERATIONAL;
    case CAP_STRUCTURE_1: return fake_chip->structure_1;
    case CAP_STRUCTURE_2: return fake_chip->structure_2;
    case CAP_PARAMETERS: return fake_chip->parameters;
    case CAP_DOORBELLS: return DOORBELLS;
    case CAP_RUNTIME: return RUNTIME;
    case OPERATIONAL + OP_STATUS:
        if (f.not_ready != 0 && --f.not_ready != 0) /* 5.4.2: its program begins */
            return STATUS_NOT_READY;
        return f.runs ? 0 : STATUS_HALTED;
    case OPERATIONAL + OP_PAGE_SIZE: return 1;
    case RUNTIME + RUN_FRAME: return f.told_frame = f.frame++ & 0x3fff;
    default: break;
    }
    wrong(reg >= OPERATIONAL + OP_PORTS - 16 && reg < OPERATIONAL + OP_PORTS); /* port 0 */
    if (reg >= OPERATIONAL + OP_PORTS && reg < OPERATIONAL + OP_PORTS + 16 * fake_ports())
        return port_status((reg - OPERATIONAL - OP_PORTS) / 16 + 1);
    return f.words[reg / 4];
}

/* 4.20: pages of its own, which are zeros when it begins. */
static inline void use_scratch(void)
{
    uint32_t s = fake_chip->structure_2, n = (s >> 21 & 31) << 5 | s >> 27;
    const uint64_t *contexts = memory_at(pair_at(OPERATIONAL + OP_CONTEXTS));
    const uint64_t *pages = n != 0 ? memory_at(contexts[0]) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        uint8_t *page = memory_at(pages[i]);

        wrong(page[7] != 0);
        page[7] = 0xa5;
    }
}

static inline void run_or_reset(uint32_t command)
{
    f.runs = command & COMMAND_RUN;
    if (command & COMMAND_RESET) {
        f.slots = 0;
        f.deaf = false;
        f.unpowered = fake_chip->parameters >> 3 & 1; /* PPC: the worst case that 5.4.8 allows */
        for (unsigned i = 0; i < FAKE_UNITS; i++) {
            f.units[i].slot = 0;
            f.units[i].has_command = false;
            if (f.units[i].connected && f.units[i].route == 0)
                plug(&f.units[i]); /* 4.19.1: its port finds it again */
        }
    }
    if (f.runs) {
        use_scratch();
        const uint32_t *table = memory_at(pair_at(RUNTIME + RUN_TABLE));
        uint64_t ring = pair_at(OPERATIONAL + OP_COMMAND_RING);

        f.events = table[0] | (uint64_t)table[1] << 32;
        f.n_events = table[2];
        f.next_event = 0;
        f.event_cycle = 1;
        f.commands = (struct fake_ring){ .at = ring & ~(uint64_t)63, .cycle = ring & 1 };
    }
}

static inline void write_port(struct fake_unit *u, uint32_t value)
{
    if (value & PORT_POWER) {
        f.n_power += f.unpowered;
        f.unpowered = f.over_current;
    }
    if (u == NULL)
        return;
    if (value & PORT_CONNECT_CHANGE)
        u->fresh = false;
    if (value & PORT_RESET_CHANGE)
        u->was_reset = false;
    if (!(value & PORT_RESET))
        return;
    reset_unit(u);
    u->trained_at = u->speed >= XHCI_SPEED_SUPER ? f.now + TRAINING_MS : 0;
    lose_behind(u);
}

void xhci_write(const struct xhci *x, unsigned reg, uint32_t value)
{
    (void)x;
    wrong(f.not_ready != 0);
    f.words[reg / 4] = value;
    if (reg == OPERATIONAL + OP_COMMAND) {
        run_or_reset(value);
        f.words[reg / 4] = value & ~(uint32_t)COMMAND_RESET;
    } else if (reg >= OPERATIONAL + OP_PORTS && reg < OPERATIONAL + OP_PORTS + 16 * fake_ports()) {
        write_port(unit_at((reg - OPERATIONAL - OP_PORTS) / 16 + 1, 0), value);
    } else if (reg == DOORBELLS) {
        wrong(value != 0); /* 5.6: other targets are those of a device */
        ring_commands();
    } else if (reg > DOORBELLS && reg <= DOORBELLS + 4 * XHCI_SLOTS) {
        ring_device((reg - DOORBELLS) / 4, value);
    }
    dma_log_evict_all();
}

/* Its description for a driver. */
static inline struct xhci_setup fake_setup(void)
{
    return (
        struct xhci_setup){ .mmio = 0x10000000,
                            .window = { .offset = bus_offset, .end = UINT64_MAX, .coherent = true },
                            .ticks = fake_ticks,
                            .ticks_hz = 1000 };
}

#endif
