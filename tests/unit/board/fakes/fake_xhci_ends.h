/* The middle of fake_xhci.h: rings, and the work of endpoints. Sections are those of the eXtensible
 * Host Controller Interface 1.2. */
#ifndef INGOT_TESTS_UNIT_FAKE_XHCI_ENDS_H
#define INGOT_TESTS_UNIT_FAKE_XHCI_ENDS_H

#include "tests/unit/board/fakes/fake_xhci_places.h"

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

/* A VL805 reads 64 bytes more than it was asked for, and takes another ring's TRBs there for its
 * own, too (Linux's XHCI_TRB_OVERFETCH; raspberrypi/linux issue 4685). A doorbell makes it read
 * those of its own ring again. */
static inline struct xhci_trb read_trb(const struct fake_ring *r)
{
    uint64_t line = r->at & ~(uint64_t)63;
    struct fake_line *next = &f.ahead[f.n_ahead % LINES_AHEAD];

    if (!fake_chip->is_vl805)
        return *(struct xhci_trb *)memory_at(r->at);
    for (unsigned i = 0; i < LINES_AHEAD; i++)
        if (f.ahead[i].at == line && f.ahead[i].of != r)
            return f.ahead[i].trbs[r->at % 64 / sizeof(struct xhci_trb)];
    f.n_ahead++;
    *next = (struct fake_line){ .at = line + 64, .of = r };
    memcpy(next->trbs, memory_at(line + 64), sizeof next->trbs);
    return *(struct xhci_trb *)memory_at(r->at);
}

/* Takes the next TRB that was handed over; false: there is none. */
static inline bool fetch(struct fake_ring *r, struct xhci_trb *out, uint64_t *at)
{
    for (;;) {
        struct xhci_trb t = read_trb(r);

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
              0); /* 4.11.7: within a TD the link is a part of the TD */
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

/* 4.11.2.4: packets of the whole transfer after this TRB, at most 31, and 0 for the last. */
static inline bool counts_packets(const struct fake_unit *u, const struct xhci_trb *t)
{
    uint32_t packet = bulk_packet(u), n = t->status & 0x1ffff;
    uint32_t left = (u->wanted + packet - 1) / packet - (u->moved + n) / packet;

    if (!(t->control & TRB_CHAIN))
        left = 0;
    return (t->status >> 17 & 31) == (left < 31 ? left : 31);
}

/* A VL805 garbles these (Linux's VLI_SS_BULK_OUT_BUG; raspberrypi/linux issue 4844). */
static inline bool is_garbled(const struct fake_unit *u, const struct xhci_trb *t)
{
    uint32_t n = t->status & 0x1ffff;

    return fake_chip->is_vl805 && u->speed >= XHCI_SPEED_SUPER && n > bulk_packet(u) &&
           n % bulk_packet(u) != 0;
}

static inline bool stalls_data(const struct fake_unit *u)
{
    return is_faulty(u, STALLED) || is_faulty(u, STALLED_TWICE);
}

/* The first status that is asked for. */
static inline bool stalls_status(struct fake_unit *u)
{
    bool now = is_faulty(u, STALLED_TWICE) && !u->status_stalled;

    u->status_stalled = u->status_stalled || now;
    u->halted_in = u->halted_in || now;
    return now;
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
        wrong(!counts_packets(u, t));
        if (stalls_data(u) || is_faulty(u, STALLED_ALL) || is_faulty(u, BABBLING) ||
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
    if (u->halted_in || is_faulty(u, STALLED_ALL) || stalls_status(u)) {
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
        wrong(true); /* another command comes before this one's status */
        halt(u, BULK_OUT, at, CODE_STALL);
        return;
    }
    if (stalls_data(u)) {
        u->failed = u->halted_out = true;
        u->sense = 3;
        halt(u, BULK_OUT, at, CODE_STALL);
        return;
    }
    wrong(!counts_packets(u, t) || is_garbled(u, t));
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

/* 11.24.2.3: an endpoint's number, its device's address, its kind, and whether data comes in. */
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

/* Answers requests without data. False: it does not know the request. */
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
        if (request == 3 && value == 4 && unit_behind(u, index) != NULL) {
            lose_behind(unit_behind(u, index));
            unit_behind(u, index)->reset_at = f.now;
        }
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
    uint32_t n = (uint16_t)(setup >> 48), has = 1, port;
    struct xhci_trb t = { 0 };

    if (f.now < u->answers_at || u->lost_requests != 0) {
        u->lost_requests -= u->lost_requests != 0;
        /* A translator reports three lost answers as a stall (USB 2.0, 11.17). */
        halt(u, XHCI_CONTROL, at, translator_of(u, &port) != NULL ? CODE_STALL : CODE_TRANSACTION);
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
        n > has + u->more_descriptors) { /* some devices fail when they are asked for more */
        halt(u, XHCI_CONTROL, at, CODE_TRANSACTION);
        return;
    }
    if (n != 0 && fetch(r, &t, &at) && (type & 0x80))
        memcpy(memory_at(t.data), answer, n < has ? n : has);
    wrong(!fetch(r, &t, &at) || (t.control >> 10 & 63) != TRB_STATUS);
    report(u, XHCI_CONTROL, at, CODE_SUCCESS, 0);
}

/* While bits 0 to 2 of MFINDEX are 0, the hub of a VL805 lets a port babble (Linux's
 * VLI_HUB_TT_QUIRK). */
static inline bool babbles(const struct fake_unit *u, uint32_t id)
{
    uint32_t port;

    return fake_chip->is_vl805 && u->speed == XHCI_SPEED_FULL && translator_of(u, &port) != NULL &&
           (id == XHCI_CONTROL || u->kind == FAKE_DRIVE) && f.told_frame % 8 == 0;
}

/* Counts down to its late transfers. True: this one is the first of them, so nothing ends now. */
static inline bool begins_to_owe(struct fake_unit *u)
{
    if (u->late > 1)
        u->late--;
    else if (u->late == 1 && !u->owes)
        return u->owes = true;
    return false;
}

/* True if the device hangs at this request, or hung before. */
static inline bool hangs_at(struct fake_unit *u, uint64_t setup)
{
    enum { GET_DESCRIPTOR = 6, CONFIGURATION = 2, TEXT = 3 };
    uint8_t request = (uint8_t)(setup >> 8), kind = (uint8_t)(setup >> 24);

    if (u->described_at == 0)
        u->described_at = f.now;
    if (request == GET_DESCRIPTOR && kind == CONFIGURATION)
        u->hangs |= f.now < u->described_at + u->quirks.pause_ms;
    if (request == GET_DESCRIPTOR && kind == TEXT)
        u->hangs |= u->quirks.no_long_text && setup >> 48 == 255;
    return u->hangs;
}

/* True if a bridge has no answer to its command yet. */
static inline bool begins_to_hold(struct fake_unit *u, uint32_t id)
{
    u->holds = id == BULK_IN && u->has_command && u->cdb[0] == u->quirks.held &&
               f.now < u->quirks.held_until;
    return u->holds;
}

static inline void ring_device(uint32_t slot, uint32_t id)
{
    struct fake_unit *u = unit_of(slot);
    struct xhci_trb t;
    uint64_t at;

    wrong(!(f.slots >> slot & 1) || (u != NULL && (u->ends[id].at == 0 || babbles(u, id))));
    f.told_frame = 0;
    if (u != NULL)
        u->ends[id].stopped = false;
    if (u != NULL && u->kind == FAKE_KEYBOARD && id != XHCI_CONTROL)
        return; /* it answers when a key is pressed */
    if (u != NULL && ((id == XHCI_CONTROL && begins_to_owe(u)) || begins_to_hold(u, id))) {
        u->ends[id].busy = true;
        return;
    }
    while (u != NULL && u->connected && !u->ends[id].halted && fetch(&u->ends[id], &t, &at)) {
        if (id == XHCI_CONTROL && hangs_at(u, t.data) && u->quirks.fails) {
            halt(u, id, at, CODE_TRANSACTION);
            return;
        }
        if ((u->has_command && is_faulty(u, SILENT)) ||
            (id == XHCI_CONTROL &&
             (u->mute || u->hangs || (u->tells_no_port && (uint16_t)t.data == 0xa3)))) {
            u->ends[id].busy = true;
            return;
        }
        u->ends[id].busy = id == XHCI_CONTROL && u->owes;
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
        if (id == XHCI_CONTROL && u->owes)
            return;
    }
}

/* Bridges answer that have held a command until now. */
static inline void end_holds(void)
{
    for (unsigned i = 0; i < FAKE_UNITS; i++) {
        struct fake_unit *u = &f.units[i];

        if (!u->holds || f.now < u->quirks.held_until)
            continue;
        u->holds = false;
        if (u->slot != 0 && u->ends[BULK_IN].busy) {
            u->ends[BULK_IN].busy = false;
            ring_device(u->slot, BULK_IN);
        }
    }
}

/* Makes a report of so many bytes, with a held key or without. */
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
