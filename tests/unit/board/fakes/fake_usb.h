/* Devices at a USB controller that is a model (fake_xhci.h): drives, hubs, and faults of a drive or a cable in the
 * middle of a read. Sections are those of Bulk-Only Transport 1.0 and of the Universal Serial Bus Specification 2.0, for
 * hubs of speed super 3.2 ("USB 3"). */
#ifndef INGOT_TESTS_UNIT_FAKE_USB_H
#define INGOT_TESTS_UNIT_FAKE_USB_H

#include <string.h>

#include "board/drivers/usb/xhci.h"
#include "board/drivers/usb/xhci_registers.h"

#ifndef FAKE_DISK_SECTORS /* a test may have larger drives */
#define FAKE_DISK_SECTORS 256
#endif

enum { DISK_SECTORS = FAKE_DISK_SECTORS, FAKE_ENDS = 32, FAKE_UNITS = 13, HUB_PORTS = 4 };
enum { BULK_IN = 3, BULK_OUT = 4, HUB_THINK = 2, KEYBOARD_PACKET = 16 };

enum fault {
    WELL,
    STALLED,       /* the data's endpoint halts, and the drive says that the command failed */
    STALLED_TWICE, /* the status's endpoint halts too, once */
    STALLED_ALL,   /* the status's endpoint halts too, twice */
    SHORT,         /* half of the data comes, and the status says so */
    BABBLING,      /* more comes than was asked for: the controller halts the endpoint */
    BROKEN_WIRE,   /* three errors of a packet */
    SILENT,
    OTHER_TAG,   /* the status belongs to another command */
    OUT_OF_STEP, /* the status is a phase error */
    NO_STATUS,   /* the status is malformed */
    PULLED,      /* nothing is at the port any more */
    LATE_EVENT,  /* first an event of a transfer that nobody made */
};

struct fake_ring {
    uint64_t at;
    uint32_t cycle;
    bool halted, stopped; /* 4.8.3; neither: it runs */
    bool busy;            /* a transfer has begun, and does not end by itself */
    uint32_t before;      /* a control TRB comes first */
};

enum fake_kind { FAKE_DRIVE, FAKE_HUB, FAKE_KEYBOARD };

/* Quirks of real devices: the first three are those of Linux's table (drivers/usb/core/quirks.c). A
 * device that hangs answers no control transfer until it is reset. */
struct fake_quirks {
    uint64_t pause_ms;    /* DELAY_INIT: hangs if its configuration is read sooner after its first
                             descriptor */
    bool no_long_text;    /* STRING_FETCH_255: hangs if 255 bytes of a text are requested */
    uint64_t recovery_ms; /* HUB_SLOW_RESET, a hub's: the time after a port's reset before the
                             device there takes an address */
    bool fails;           /* transfers to a device that hangs fail, and are not without end */
    uint8_t held;         /* a command that a bridge answers only from then on */
    uint64_t held_until;
};

struct fake_unit {
    enum fake_kind kind;
    uint32_t speed, port; /* of the controller */
    uint32_t
        route; /* its hubs' ports from the root on, four bits each (USB 3 8.9); 0: it is at the controller's */
    bool connected, fresh, enabled, was_reset;
    bool addressed; /* since its reset, which it needs before it takes another address */
    uint64_t
        trained_at; /* a link of speed super is up: from then on it is enabled, and has a speed */
    uint64_t answers_at;    /* after SET_ADDRESS: 9.2.6.3 */
    unsigned lost_requests; /* control transfers that get no answer */
    bool mute;              /* control transfers have no end */
    bool tells_no_port;     /* only those that ask for the state of a hub's port */
    unsigned
        late;  /* from this control transfer on, each ends only when the next one begins; 0: none */
    bool owes; /* one has not ended for this reason */
    bool halts_late;       /* a control transfer that is to be stopped fails just before */
    bool untrained;        /* its link never comes up */
    uint32_t slot;         /* slot of the controller; 0: it has none */
    bool translator_waits; /* its hub holds the rest of a failed transfer (11.17.5) */
    struct fake_ring ends[FAKE_ENDS];
    /* a hub */
    bool configured, deep, told; /* told: the controller knows that it is a hub */
    uint32_t powered;            /* ports, by bit */
    uint32_t over_current;       /* ports that took too much current and are off, as bits */
    uint32_t had_current;        /* ports that are on again, and whose change is not cleared */
    uint32_t shorted;            /* ports that take too much current whenever they are on */
    unsigned n_power;            /* SET_FEATURE(PORT_POWER) */
    unsigned n_cleared;          /* CLEAR_TT_BUFFER */
    /* a keyboard */
    unsigned n_leds; /* SET_REPORT */
    struct fake_quirks quirks;
    uint64_t described_at; /* when the first descriptor was read; 0: not since its reset */
    uint64_t reset_at;     /* when a hub reset its port */
    bool hangs, holds;
    /* a drive */
    uint32_t more_descriptors; /* bytes of descriptors behind those of its interface */
    uint8_t number;            /* its serial number, a digit; 0: it has none */
    uint8_t unit;              /* number of its last logical unit */
    uint8_t lun;               /* the unit that the command is for */
    uint32_t wrong_residue;    /* bytes that it always reports as left */
    uint8_t disk[DISK_SECTORS * 512];
    uint8_t cdb[16], answer[256], sense;
    uint32_t tag, wanted, moved;
    bool has_command, writes, failed, halted_in, halted_out;
    bool ended; /* it gives no more data */
    bool status_stalled;
    bool recovers; /* its reads and writes fail after they have moved all data */
    bool skips;    /* bytes left of a transfer that ended short (4.10.1.1) */
    enum fault fault;
    unsigned times;       /* number of reads that fail so */
    bool of_any;          /* of other commands, too */
    uint64_t first;       /* the block that `disk` begins with; blocks before it are all alike */
    uint32_t shift;       /* the block of `disk` that comes first; those before it come last */
    uint32_t block_bytes; /* of a block; 0: 512 */
    void (*on_command)(
        struct fake_unit *u); /* a function of the test that may choose a fault; or NULL */
    void (*on_answer)(struct fake_unit *u); /* and change an answer */
};

/* The models count forbidden events here: since the last clear(), and in the whole test (usb_done.h). */
static unsigned n_wrong, n_wrong_in_all;

static inline void wrong(bool is_so)
{
    n_wrong += is_so;
    n_wrong_in_all += is_so;
}

/* ---- a drive ---- */

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

/* SBC-3: READ and WRITE (10), and (16). */
static inline bool moves_blocks(const struct fake_unit *u)
{
    uint8_t c = u->cdb[0];

    return c == 0x28 || c == 0x2a || c == 0x88 || c == 0x8a;
}

static inline uint32_t block_bytes(const struct fake_unit *u)
{
    return u->block_bytes != 0 ? u->block_bytes : 512;
}

static inline uint8_t *command_blocks(struct fake_unit *u)
{
    static uint8_t before[4096];
    uint32_t blocks = DISK_SECTORS * 512 / block_bytes(u);
    bool is_long = u->cdb[0] >= 0x80;
    uint64_t at = be32(u->cdb + 2);

    if (is_long)
        at = at << 32 | be32(u->cdb + 6);
    if (at < u->first && u->wanted <= sizeof before && !u->writes) {
        memset(before, (int)(u->first & 127) | 128, sizeof before);
        return before;
    }
    at = at - u->first + u->shift;
    at -= at >= blocks ? blocks : 0;
    if (at > blocks || u->wanted / block_bytes(u) > blocks - at) {
        wrong(true);
        return u->disk;
    }
    return u->disk + at * block_bytes(u);
}

static inline void answer_capacity(struct fake_unit *u)
{
    uint64_t last = u->first + DISK_SECTORS * 512 / block_bytes(u) - 1;

    if (u->cdb[0] == 0x25) {
        put_be32(u->answer, last < UINT32_MAX ? (uint32_t)last : UINT32_MAX);
        put_be32(u->answer + 4, block_bytes(u));
    } else {
        put_be32(u->answer, (uint32_t)(last >> 32));
        put_be32(u->answer + 4, (uint32_t)last);
        put_be32(u->answer + 8, block_bytes(u));
    }
}

/* Finds where a command's data is. */
static inline uint8_t *command_data(struct fake_unit *u)
{
    if (moves_blocks(u))
        return command_blocks(u);
    memset(u->answer, 0, sizeof u->answer);
    if (u->cdb[0] == 0x25 || (u->cdb[0] == 0x9e && (u->cdb[1] & 31) == 0x10))
        answer_capacity(u);
    if (u->cdb[0] == 0x03) {
        u->answer[0] = 0x70;
        u->answer[2] = u->sense;
    }
    if (u->on_answer != NULL)
        u->on_answer(u);
    return u->answer;
}

static inline void take_command(struct fake_unit *u, const uint8_t *c, uint32_t bytes)
{
    wrong(bytes != 31 || le32(c) != 0x43425355 || u->has_command);
    u->tag = le32(c + 4);
    u->wanted = le32(c + 8);
    u->writes = !(c[12] & 0x80);
    u->lun = c[13];
    wrong(u->lun > u->unit);
    memcpy(u->cdb, c + 15, sizeof u->cdb);
    u->moved = 0;
    u->failed = u->ended = u->status_stalled = false;
    u->has_command = true;
    if (u->on_command != NULL)
        u->on_command(u);
}

static inline bool may_fail(const struct fake_unit *u)
{
    return u->of_any || moves_blocks(u);
}

static inline bool is_faulty(const struct fake_unit *u, enum fault fault)
{
    return u->times != 0 && u->fault == fault && may_fail(u);
}

static inline void send_status(struct fake_unit *u, uint8_t *out)
{
    memset(out, 0, 13);
    memcpy(out, is_faulty(u, NO_STATUS) ? "USBX" : "USBS", 4);
    for (int i = 0; i < 4; i++) {
        out[4 + i] = (uint8_t)((is_faulty(u, OTHER_TAG) ? u->tag + 1 : u->tag) >> 8 * i);
        out[8 + i] = (uint8_t)((u->wanted - u->moved + u->wrong_residue) >> 8 * i);
    }
    out[12] = is_faulty(u, OUT_OF_STEP) ? 2 : u->failed || (u->recovers && moves_blocks(u));
    if (may_fail(u))
        u->times -= u->times != 0;
    u->has_command = false;
}

/* ---- what they say of themselves ---- */

static inline uint16_t bulk_packet(const struct fake_unit *u) /* 5.8.3, USB 3 9.6.6 */
{
    return u->speed >= XHCI_SPEED_SUPER ? 1024 : u->speed == XHCI_SPEED_HIGH ? 512 : 64;
}

static inline uint32_t describe_device(const struct fake_unit *u, uint8_t *out)
{
    static const uint8_t device[18] = { 18,   1,    0,    2, 0, 0, 0, 64, 0x34,
                                        0x12, 0x78, 0x56, 0, 1, 0, 0, 0,  1 };

    memcpy(out, device, sizeof device);
    if (u->kind == FAKE_HUB)
        out[4] = 9;
    if (u->speed >= XHCI_SPEED_SUPER)
        out[7] = 9;
    out[16] = u->number != 0 ? 3 : 0;
    return sizeof device;
}

static inline uint32_t put_end(const struct fake_unit *u, uint8_t *out, uint8_t address)
{
    const uint8_t end[7] = {
        7, 5, address, 2, (uint8_t)bulk_packet(u), (uint8_t)(bulk_packet(u) >> 8), 0
    };
    static const uint8_t companion[6] = { 6, 0x30, 15, 0, 0, 0 };

    memcpy(out, end, sizeof end);
    if (u->kind == FAKE_KEYBOARD)
        memcpy(out + 3, "\3\20\0\12", 4); /* an interrupt endpoint's, of KEYBOARD_PACKET */
    if (u->speed < XHCI_SPEED_SUPER)
        return sizeof end;
    memcpy(out + sizeof end, companion, sizeof companion);
    return sizeof end + sizeof companion;
}

static inline uint32_t describe_configuration(const struct fake_unit *u, uint8_t *out)
{
    static const uint8_t head[18] = { 9, 2, 0, 0, 1, 1, 0, 0,    0, /* */
                                      9, 4, 0, 0, 2, 8, 6, 0x50, 0 };
    uint32_t n = sizeof head;

    memcpy(out, head, sizeof head);
    if (u->kind == FAKE_HUB)
        out[14] = 9;
    if (u->kind == FAKE_KEYBOARD)
        memcpy(out + 14, "\3\1\1", 3);
    n += put_end(u, out + n, 0x81);
    if (u->kind == FAKE_DRIVE)
        n += put_end(u, out + n, 2);
    out[2] = (uint8_t)(n + u->more_descriptors);
    out[3] = (uint8_t)((n + u->more_descriptors) >> 8);
    return n;
}

/* 11.23.2.1, USB 3 10.15.2.1; 0: it has none of that kind. */
static inline uint32_t describe_hub(const struct fake_unit *u, uint8_t type, uint8_t *out)
{
    const uint8_t facts[7] = { 9, type, HUB_PORTS, HUB_THINK << 5, 0, 10, 0 };

    if (u->kind != FAKE_HUB || type != (u->speed >= XHCI_SPEED_SUPER ? 0x2a : 0x29))
        return 0;
    memcpy(out, facts, sizeof facts);
    return sizeof facts;
}

static inline uint32_t describe(const struct fake_unit *u, uint8_t type, uint16_t value,
                                uint8_t *out)
{
    if (type == 0xa0)
        return describe_hub(u, (uint8_t)(value >> 8), out);
    if (value >> 8 == 1)
        return describe_device(u, out);
    if (value >> 8 == 2)
        return describe_configuration(u, out);
    if (value >> 8 != 3 || u->number == 0)
        return 0;
    memcpy(out, "\4\3", 2);
    out[2] = u->number;
    return 4;
}

/* ---- a hub ---- */

/* 11.24.2.7, USB 3 10.16.2.6 */
static inline uint32_t hub_port_status(const struct fake_unit *hub, uint32_t port,
                                       const struct fake_unit *at)
{
    bool is_super = hub->speed >= XHCI_SPEED_SUPER;
    uint32_t status = is_super ? 1u << 9 : 1u << 8;

    if (hub->over_current >> port & 1)
        return 1u << 19;
    if (hub->shorted >> port & 1)
        return 1u << 3;
    if (!(hub->powered >> port & 1))
        return 0;
    if (at == NULL || !at->connected)
        return status;
    if (!is_super && at->speed == XHCI_SPEED_LOW)
        status |= 1u << 9;
    if (!is_super && at->speed == XHCI_SPEED_HIGH)
        status |= 1u << 10;
    if (hub->had_current >> port & 1)
        status |= 1u << 19;
    return status | 1 | (at->enabled ? 2u : 0) | (at->fresh ? 1u << 16 : 0) |
           (at->was_reset ? 1u << 20 : 0);
}

/* Starts the device anew. A command that it was working on has failed, and counts. */
static inline void reset_unit(struct fake_unit *u)
{
    if (u->has_command && may_fail(u))
        u->times -= u->times != 0;
    u->enabled = u->was_reset = u->connected;
    u->addressed = u->translator_waits = false;
    u->has_command = u->halted_in = u->halted_out = u->skips = u->owes = false;
    u->late = 0;
    u->described_at = 0;
    u->hangs = false;
    u->configured = u->deep = u->told = false;
    u->powered = 0;
}

static inline void set_hub_port(struct fake_unit *hub, uint32_t port, uint16_t feature, bool set,
                                struct fake_unit *at)
{
    wrong(!hub->configured || !hub->told || port == 0 || port > HUB_PORTS ||
          (hub->speed >= XHCI_SPEED_SUPER && !hub->deep));
    if (set && feature == 8) {
        hub->powered |= 1u << port & ~hub->shorted;
        hub->n_power++;
        return;
    }
    if (!set && feature == 19 && hub->had_current >> port & 1) {
        hub->had_current &= ~(1u << port);
        return;
    }
    if (!set && feature == 19) {
        hub->over_current &= ~(1u << port);
        hub->powered &= ~(1u << port);
        return;
    }
    wrong(at == NULL || !(hub->powered >> port & 1));
    if (at == NULL)
        return;
    if (set && feature == 4)
        reset_unit(at);
    else if (!set && feature == 16)
        at->fresh = false;
    else if (!set && feature == 20)
        at->was_reset = false;
    else
        wrong(true);
}

#endif
