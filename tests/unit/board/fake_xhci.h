/* An xHCI in place of xhci_mmio.c with one USB drive at its first port, and what a drive, a cable or a controller may do
 * wrong in the middle of a read. It takes commands and transfers from memory at doorbells; addresses of its bus are not
 * those of the cores. Sections are those of the eXtensible Host Controller Interface 1.2 and of Bulk-Only Transport 1.0. */
#ifndef INGOT_TESTS_UNIT_FAKE_XHCI_H
#define INGOT_TESTS_UNIT_FAKE_XHCI_H

#include <string.h>

#include "board/drivers/usb/xhci_registers.h"
#include "tests/unit/board/dma_log.h"
#include "tests/unit/tap.h"

enum {
    DISK_SECTORS = 256,
    FAKE_ENDS = 32,
    BULK_IN = 3,
    BULK_OUT = 4,
    OPERATIONAL = 0x20,
    DOORBELLS = 0x1000,
    RUNTIME = 0x2000
};
enum { CODE_BABBLE = 3, CODE_TRANSACTION = 4 };
static const uint64_t bus_offset = 0x300000000;

enum fault {
    WELL,
    STALLED,     /* the data's endpoint halts, and the drive says that the command failed */
    STALLED_ALL, /* and the status' too, twice */
    SHORT,       /* half of the data, and the status says so */
    BABBLING,    /* more than was asked for: the controller halts the endpoint */
    BROKEN_WIRE, /* three errors of a packet */
    SILENT,
    OTHER_TAG,   /* the status is of another command */
    OUT_OF_STEP, /* the status is a phase error */
    NO_STATUS,   /* what comes as a status is none */
    PULLED,      /* nothing is at the port any more */
    LATE_EVENT,  /* an event of a transfer that nobody made, first */
};

struct fake_ring {
    uint64_t at;
    uint32_t cycle;
    bool halted;
};

static struct fake_xhci {
    uint32_t words[0x3000 / 4];
    struct fake_ring commands, ends[FAKE_ENDS];
    uint64_t events;
    uint32_t n_events, next_event, event_cycle;
    bool runs, connected, fresh, enabled, slot;
    uint8_t disk[DISK_SECTORS * 512];
    /* the drive */
    uint8_t cdb[16], answer[64], sense;
    uint32_t tag, wanted, moved;
    bool has_command, writes, failed, halted_in, halted_out;
    bool ended; /* it gives no more data */
    bool skips; /* what is left of a transfer that ended short (4.10.1.1) */
    enum fault fault;
    unsigned times; /* of reads that fail so */
    unsigned n_addresses, n_commands, n_wrong;
    uint64_t now;
} f;

static inline uint64_t fake_ticks(void)
{
    return ++f.now; /* a millisecond */
}

static inline void *memory_at(uint64_t bus)
{
    f.n_wrong += bus < bus_offset;
    return (void *)(uintptr_t)(bus - bus_offset);
}

static inline uint64_t pair_at(unsigned reg)
{
    return f.words[reg / 4] | (uint64_t)f.words[reg / 4 + 1] << 32;
}

/* ---- rings ---- */

static inline void post(uint64_t data, uint32_t status, uint32_t control)
{
    struct xhci_trb *e = memory_at(f.events);

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
            *out = t;
            return true;
        }
        r->at = t.data;
        r->cycle ^= (t.control & TRB_TOGGLE) != 0;
    }
}

static inline void report(uint32_t id, uint64_t at, uint32_t code, uint32_t left)
{
    post(at, code << 24 | left, EVENT_TRANSFER << 10 | id << 16 | 1u << 24);
}

/* ---- the drive ---- */

static inline void put_be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static inline uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint32_t le32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Where a command's data are. */
static inline uint8_t *command_data(void)
{
    if (f.cdb[0] == 0x28 || f.cdb[0] == 0x2a) {
        f.n_wrong += be32(f.cdb + 2) + f.wanted / 512 > DISK_SECTORS;
        return f.disk + be32(f.cdb + 2) * 512u;
    }
    memset(f.answer, 0, sizeof f.answer);
    if (f.cdb[0] == 0x25) {
        put_be32(f.answer, DISK_SECTORS - 1);
        put_be32(f.answer + 4, 512);
    }
    if (f.cdb[0] == 0x03)
        f.answer[2] = f.sense;
    return f.answer;
}

static inline void take_command(const uint8_t *c, uint32_t bytes)
{
    f.n_wrong += bytes != 31 || le32(c) != 0x43425355 || f.has_command;
    f.tag = le32(c + 4);
    f.wanted = le32(c + 8);
    f.writes = !(c[12] & 0x80);
    memcpy(f.cdb, c + 15, sizeof f.cdb);
    f.moved = 0;
    f.failed = f.ended = false;
    f.has_command = true;
    f.n_commands++;
}

static inline bool is_faulty(enum fault fault)
{
    return f.times != 0 && f.fault == fault && (f.cdb[0] == 0x28 || f.cdb[0] == 0x2a);
}

static inline void send_status(uint8_t *out)
{
    memset(out, 0, 13);
    memcpy(out, is_faulty(NO_STATUS) ? "USBX" : "USBS", 4);
    for (int i = 0; i < 4; i++) {
        out[4 + i] = (uint8_t)((is_faulty(OTHER_TAG) ? f.tag + 1 : f.tag) >> 8 * i);
        out[8 + i] = (uint8_t)((f.wanted - f.moved) >> 8 * i);
    }
    out[12] = is_faulty(OUT_OF_STEP) ? 2 : f.failed;
    if (f.cdb[0] == 0x28 || f.cdb[0] == 0x2a)
        f.times -= f.times != 0;
    f.has_command = false;
}

/* ---- transfers ---- */

static inline void halt(uint32_t id, uint64_t at, uint32_t code)
{
    f.ends[id].halted = true;
    report(id, at, code, 0);
}

static inline void bulk_in(const struct xhci_trb *t, uint64_t at)
{
    uint32_t n = t->status & 0x1ffff;

    if (f.skips) {
        f.skips = t->control & TRB_CHAIN;
        if (t->control & TRB_TELL)
            report(BULK_IN, at, CODE_SHORT, n);
        return;
    }
    if (f.has_command && !f.writes && f.moved < f.wanted && !f.failed && !f.ended) {
        if (is_faulty(STALLED) || is_faulty(STALLED_ALL) || is_faulty(BABBLING) ||
            is_faulty(BROKEN_WIRE)) {
            f.failed = true;
            f.sense = 3;
            f.halted_in = true;
            halt(BULK_IN, at,
                 is_faulty(BABBLING)      ? CODE_BABBLE
                 : is_faulty(BROKEN_WIRE) ? CODE_TRANSACTION
                                          : CODE_STALL);
            return;
        }
        f.ended = is_faulty(SHORT);
        if (f.ended)
            n /= 2;
        memcpy(memory_at(t->data), command_data() + f.moved, n);
        f.moved += n;
        f.skips = f.ended && (t->control & TRB_CHAIN);
        if (t->control & TRB_TELL)
            report(BULK_IN, at, f.ended ? CODE_SHORT : CODE_SUCCESS, (t->status & 0x1ffff) - n);
        return;
    }
    if (f.halted_in || is_faulty(STALLED_ALL)) {
        halt(BULK_IN, at, CODE_STALL);
        return;
    }
    f.n_wrong += n != 13 || !f.has_command;
    send_status(memory_at(t->data));
    report(BULK_IN, at, CODE_SUCCESS, 0);
}

static inline void bulk_out(const struct xhci_trb *t, uint64_t at)
{
    uint32_t n = t->status & 0x1ffff;

    if (!f.has_command) {
        take_command(memory_at(t->data), n);
        return;
    }
    if (is_faulty(STALLED)) {
        f.failed = f.halted_out = true;
        f.sense = 3;
        halt(BULK_OUT, at, CODE_STALL);
        return;
    }
    memcpy(command_data() + f.moved, memory_at(t->data), n);
    f.moved += n;
    if (t->control & TRB_TELL)
        report(BULK_OUT, at, CODE_SUCCESS, 0);
}

static const uint8_t device_descriptor[18] = { 18,   1,    0,    2, 0, 0, 0, 64, 0x34,
                                               0x12, 0x78, 0x56, 0, 1, 0, 0, 0,  1 };
static const uint8_t configuration_descriptor[32] = { 9, 2, 32,   0, 1, 1, 0, 0,    0, /* */
                                                      9, 4, 0,    0, 2, 8, 6, 0x50, 0, /* */
                                                      7, 5, 0x81, 2, 0, 2, 0,          /* */
                                                      7, 5, 2,    2, 0, 2, 0 };

static inline void control(struct fake_ring *r, uint64_t setup, uint64_t at)
{
    uint8_t type = (uint8_t)setup, request = (uint8_t)(setup >> 8), answer[64] = { 0 };
    uint16_t value = (uint16_t)(setup >> 16), index = (uint16_t)(setup >> 32);
    uint32_t n = (uint16_t)(setup >> 48);
    struct xhci_trb t = { 0 };

    if (type == 0x80 && request == 6)
        memcpy(answer, value >> 8 == 1 ? device_descriptor : configuration_descriptor,
               value >> 8 == 1 ? sizeof device_descriptor : sizeof configuration_descriptor);
    if (type == 0x02 && request == 1) {
        f.halted_in = f.halted_in && index != 0x81;
        f.halted_out = f.halted_out && index != 2;
    }
    if (n != 0 && fetch(r, &t, &at) && (type & 0x80))
        memcpy(memory_at(t.data), answer, n < sizeof answer ? n : sizeof answer);
    f.n_wrong += !fetch(r, &t, &at) || (t.control >> 10 & 63) != TRB_STATUS;
    report(XHCI_CONTROL, at, CODE_SUCCESS, 0);
}

static inline void ring_device(uint32_t id)
{
    struct fake_ring *r = &f.ends[id];
    struct xhci_trb t;
    uint64_t at;

    f.n_wrong += !f.slot || r->at == 0;
    while (f.connected && !r->halted && fetch(r, &t, &at)) {
        if (f.has_command && is_faulty(SILENT))
            return;
        if (f.has_command && is_faulty(PULLED)) {
            f.connected = f.enabled = false;
            return;
        }
        if (f.has_command && is_faulty(LATE_EVENT))
            report(id == BULK_IN ? BULK_OUT : BULK_IN, at, CODE_SUCCESS, 0);
        if (id == XHCI_CONTROL)
            control(r, t.data, at);
        else if (id == BULK_IN)
            bulk_in(&t, at);
        else
            bulk_out(&t, at);
    }
}

/* ---- commands ---- */

static inline void take_endpoints(const uint32_t *input)
{
    for (uint32_t id = 1; id < FAKE_ENDS; id++)
        if (input[1] >> id & 1) {
            uint64_t at = input[8 * (id + 1) + 2] | (uint64_t)input[8 * (id + 1) + 3] << 32;

            f.ends[id] = (struct fake_ring){ at & ~(uint64_t)15, at & 1, false };
        }
}

static inline uint32_t obey(const struct xhci_trb *t)
{
    uint32_t id = t->control >> 16 & 31;

    switch (t->control >> 10 & 63) {
    case TRB_ENABLE_SLOT: f.slot = true; break;
    case TRB_ADDRESS:
        f.n_addresses++;
        take_endpoints(memory_at(t->data));
        break;
    case TRB_CONFIGURE: take_endpoints(memory_at(t->data)); break;
    case TRB_RESET_ENDPOINT:
        if (!f.ends[id].halted)
            return 19; /* 6.4.5, Context State Error */
        f.ends[id].halted = false;
        break;
    case TRB_SET_DEQUEUE:
        f.ends[id] = (struct fake_ring){ t->data & ~(uint64_t)15, t->data & 1, false };
        break;
    case TRB_DISABLE_SLOT:
        f.slot = false;
        memset(f.ends, 0, sizeof f.ends);
        break;
    default: break;
    }
    return CODE_SUCCESS;
}

static inline void ring_commands(void)
{
    struct xhci_trb t;
    uint64_t at;

    while (fetch(&f.commands, &t, &at)) {
        uint32_t code = obey(&t);

        post(at, code << 24, EVENT_COMMAND << 10 | 1u << 24);
    }
}

/* ---- registers ---- */

static inline uint32_t port_status(void)
{
    return PORT_POWER | (f.connected ? PORT_CONNECTED | 3u << 10 : 0) |
           (f.enabled ? PORT_ENABLED : 0) | (f.fresh ? (uint32_t)PORT_CONNECT_CHANGE : 0) |
           (f.enabled ? (uint32_t)PORT_RESET_CHANGE : 0);
}

uint32_t xhci_read(const struct xhci *x, unsigned reg)
{
    (void)x;
    switch (reg) {
    case CAP_LENGTH: return 0x01000000 | OPERATIONAL;
    case CAP_STRUCTURE_1: return 1u << 24 | 8;
    case CAP_STRUCTURE_2: return 2u << 27;
    case CAP_PARAMETERS: return 1;
    case CAP_DOORBELLS: return DOORBELLS;
    case CAP_RUNTIME: return RUNTIME;
    case OPERATIONAL + OP_STATUS: return f.runs ? 0 : STATUS_HALTED;
    case OPERATIONAL + OP_PAGE_SIZE: return 1;
    case OPERATIONAL + OP_PORTS: return port_status();
    default: return f.words[reg / 4];
    }
}

static inline void run_or_reset(uint32_t command)
{
    f.runs = command & COMMAND_RUN;
    if (command & COMMAND_RESET) {
        memset(f.ends, 0, sizeof f.ends);
        f.slot = f.has_command = false;
    }
    if (f.runs) {
        const uint32_t *table = memory_at(pair_at(RUNTIME + RUN_TABLE));
        uint64_t ring = pair_at(OPERATIONAL + OP_COMMAND_RING);

        f.events = table[0] | (uint64_t)table[1] << 32;
        f.n_events = table[2];
        f.next_event = 0;
        f.event_cycle = 1;
        f.commands = (struct fake_ring){ ring & ~(uint64_t)63, ring & 1, false };
    }
}

void xhci_write(const struct xhci *x, unsigned reg, uint32_t value)
{
    (void)x;
    f.words[reg / 4] = value;
    if (reg == OPERATIONAL + OP_COMMAND) {
        run_or_reset(value);
        f.words[reg / 4] = value & ~(uint32_t)COMMAND_RESET;
    } else if (reg == OPERATIONAL + OP_PORTS && (value & PORT_RESET)) {
        f.enabled = f.connected;
        f.has_command = f.halted_in = f.halted_out = false; /* the drive begins anew */
        f.skips = false;
    } else if (reg == OPERATIONAL + OP_PORTS && (value & PORT_CONNECT_CHANGE)) {
        f.fresh = false;
    } else if (reg == DOORBELLS) {
        ring_commands();
    } else if (reg == DOORBELLS + 4) {
        ring_device(value);
    }
}

#endif
