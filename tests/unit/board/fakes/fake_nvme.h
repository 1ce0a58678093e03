/* An NVMe controller in place of nvme_mmio.c, and the driver over it. It looks at memory only at
 * doorbells, and sees of it what a barrier has ordered or, if it is not coherent, what was flushed.
 * Addresses of its bus are not those of the cores. */
#ifndef INGOT_TESTS_UNIT_FAKE_NVME_H
#define INGOT_TESTS_UNIT_FAKE_NVME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "board/drivers/block/nvme_registers.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/tap.h"

#ifndef FAKE_DISK_BYTES /* a test may have a larger drive */
#define FAKE_DISK_BYTES (1 << 18)
#endif

enum { DISK_BYTES = FAKE_DISK_BYTES, BUFFER_BYTES = 1 << 17, FAKE_QUEUES = 2, FAKE_HELD = 64 };
static const uint64_t bus_offset = 0x300000000;

/* The memory that the controller reaches: as cores have it, as the controller has it, and as it was
 * fetched. */
static struct reach {
    struct nvme driver;
    _Alignas(4096) uint8_t buffer[BUFFER_BYTES];
} cores, memory, fetched;
static struct block_device device;

/* Memory of a test's own, which a coherent controller reaches as well. */
static struct {
    uint8_t *at;
    size_t bytes;
} beside;

/* Faults of transfers. */
enum nvme_fault {
    NVME_WELL,
    NVME_READ_ERROR,   /* an unrecovered one */
    NVME_ABORTED,      /* the controller aborted it */
    NVME_NO_NAMESPACE, /* it was removed */
    NVME_NO_ANSWER,
    NVME_FATAL, /* and no answer */
    NVME_STRAY, /* an answer to another command comes */
};

struct fake_queue {
    uint64_t commands, completions;
    uint32_t entries, head,
        tail;            /* places in the queue of commands: taken, and as the doorbell says */
    uint32_t done, seen; /* places in the queue of completions: the next one; the doorbell's */
    bool phase;
};

static struct fake_nvme {
    uint32_t cap[2], cc, csts, aqa, asq[2], acq[2];
    struct fake_queue queues[FAKE_QUEUES];
    uint8_t controller[NVME_PAGE], namespace[NVME_PAGE];
    uint8_t active[NVME_PAGE]; /* the numbers of the namespaces above the first */
    bool no_list;              /* it does not know how to list them */
    uint8_t disk[DISK_BYTES];
    bool coherent;
    bool gone, never_ready, never_stops, mute; /* mute: admin commands get no answer */
    bool silent, backwards;                    /* it holds commands until fake_release */
    struct nvme_command held[FAKE_HELD];
    unsigned n_held;
    uint16_t status, extra_id; /* of completions of transfers */
    unsigned fail_once;        /* so many transfers fail */
    enum nvme_fault fault;
    unsigned times;  /* transfers that fail in this way */
    bool pages_only; /* it fails transfers by address and length, whatever it reported about them */
    unsigned n_whole;
    unsigned n_unflushed; /* writes since the last flush, which are only in the drive's cache */
    unsigned n_flushes, n_starts, n_commands, n_wrong, n_early, n_doorbells;
    uint64_t now;
} f;

static inline uint8_t disk_byte(uint64_t at)
{
    return (uint8_t)(at * 7 + at / 512 * 13 + 1);
}

/* ---- memory ---- */

static inline void order(void)
{
    if (f.coherent)
        memcpy(&memory, &cores, sizeof memory);
}

/* Returns the controller's view of bytes on its bus, and their offset; NULL: it may not use
 * them. */
static inline uint8_t *on_bus(uint64_t address, uint64_t bytes, size_t *offset)
{
    uint64_t at = address - bus_offset - (uintptr_t)&cores;

    if (at > sizeof cores || bytes > sizeof cores - at) {
        f.n_wrong++;
        return NULL;
    }
    *offset = (size_t)at;
    return (uint8_t *)&memory + at;
}

static inline uint8_t *in_beside(uint64_t address, uint64_t bytes)
{
    uint64_t at = address - bus_offset - (uintptr_t)beside.at;

    return f.coherent && at < beside.bytes && bytes <= beside.bytes - at ? beside.at + at : NULL;
}

static inline void read_bus(uint64_t address, void *to, size_t bytes)
{
    size_t offset;
    const uint8_t *from = in_beside(address, bytes);

    if (from == NULL)
        from = on_bus(address, bytes, &offset);

    if (from != NULL)
        memcpy(to, from, bytes);
}

static inline void write_bus(uint64_t address, const void *from, size_t bytes)
{
    size_t offset;
    uint8_t *to = in_beside(address, bytes);

    if (to != NULL) {
        memcpy(to, from, bytes);
        return;
    }
    to = on_bus(address, bytes, &offset);
    if (to == NULL)
        return;
    memcpy(to, from, bytes);
    if (f.coherent)
        memcpy((uint8_t *)&cores + offset, from, bytes);
    else
        dma_log_evict(offset, bytes);
}

/* ---- commands ---- */

static inline uint64_t page_of(const struct nvme_command *c, uint32_t nth, uint32_t n_pages)
{
    uint64_t page = 0;

    if (nth == 0)
        return c->prp1;
    if (n_pages == 2)
        return c->prp2;
    read_bus(c->prp2 + 8 * (nth - 1), &page, sizeof page);
    return page;
}

/* Describes a data block (4.4): address, length, and a type of zero. */
static inline void move_whole(const struct nvme_command *c, uint8_t *data, uint32_t bytes,
                              bool to_bus)
{
    f.n_whole++;
    f.n_wrong += c->prp2 != bytes || c->prp1 % 4 != 0 || (f.controller[536] & 3) == 0;
    if (to_bus)
        write_bus(c->prp1, data, bytes);
    else
        read_bus(c->prp1, data, bytes);
}

static inline void move(const struct nvme_command *c, uint8_t *data, uint32_t bytes, bool to_bus)
{
    uint32_t start = c->prp1 % NVME_PAGE, n_pages = (start + bytes + NVME_PAGE - 1) / NVME_PAGE;

    for (uint32_t i = 0; i < n_pages; i++) {
        uint64_t at = page_of(c, i, n_pages);
        uint32_t room = NVME_PAGE - (uint32_t)(at % NVME_PAGE), n = bytes < room ? bytes : room;

        f.n_wrong += i > 0 && at % NVME_PAGE != 0;
        if (to_bus)
            write_bus(at, data, n);
        else
            read_bus(at, data, n);
        data += n;
        bytes -= n;
    }
    f.n_wrong += bytes != 0;
}

static inline void complete(unsigned queue, const struct nvme_command *c, uint16_t status)
{
    struct fake_queue *q = &f.queues[queue];
    struct nvme_completion done = { .sq_head = (uint16_t)q->head,
                                    .sq_id = (uint16_t)queue,
                                    .id = (uint16_t)(c->id + (queue != 0 ? f.extra_id : 0)),
                                    .status = (uint16_t)(status << 1 | q->phase) };

    write_bus(q->completions + q->done * sizeof done, &done, sizeof done);
    if (++q->done == q->entries) {
        q->done = 0;
        q->phase = !q->phase;
    }
    f.n_wrong += q->done == q->seen; /* the queue overflows */
}

static inline void obey_admin(const struct nvme_command *c)
{
    struct fake_queue *io = &f.queues[1];

    if (f.mute)
        return;
    switch (c->opcode) {
    case ADMIN_IDENTIFY:
        f.n_wrong += c->prp1 % NVME_PAGE != 0;
        f.n_wrong += c->dword10 == IDENTIFY_ACTIVE && c->namespace_id != 1;
        if (c->dword10 == IDENTIFY_ACTIVE && f.no_list) {
            complete(0, c, 0x002); /* invalid field */
            return;
        }
        write_bus(c->prp1,
                  c->dword10 == IDENTIFY_ACTIVE       ? f.active
                  : c->dword10 == IDENTIFY_CONTROLLER ? f.controller
                                                      : f.namespace,
                  NVME_PAGE);
        break;
    case ADMIN_CREATE_CQ:
        *io = (struct fake_queue){ .completions = c->prp1, .phase = true };
        io->entries = (c->dword10 >> 16) + 1;
        f.n_wrong += c->dword11 != 1 || (c->dword10 & 0xffff) != 1;
        break;
    case ADMIN_CREATE_SQ:
        io->commands = c->prp1;
        f.n_wrong += c->dword11 != (1 << 16 | 1) || io->completions == 0;
        break;
    default: f.n_wrong += c->opcode != ADMIN_SET_FEATURES;
    }
    complete(0, c, 0);
}

static inline void obey_io(const struct nvme_command *c)
{
    uint32_t block = 1u << f.namespace[128 + 2];
    uint64_t at = ((uint64_t)c->dword11 << 32 | c->dword10) * block;
    uint64_t bytes = (uint64_t)((c->dword12 & 0xffff) + 1) * block;
    uint16_t status = f.fail_once > 0 ? 0x281 : f.status; /* an unrecovered read error */

    if (c->flags != 0 && f.pages_only)
        status = 0x011; /* SGL descriptor type invalid */

    f.n_commands++;
    f.n_wrong += c->namespace_id != 1;
    f.fail_once -= f.fail_once > 0;
    f.n_unflushed += c->opcode == IO_WRITE;
    if (c->opcode == IO_FLUSH) {
        f.n_flushes++;
        f.n_unflushed = 0;
    }
    if (c->opcode == IO_FLUSH)
        status = 0;
    else if (at > DISK_BYTES || bytes > DISK_BYTES - at || c->opcode > IO_READ)
        f.n_wrong++;
    else if (status == 0 && c->flags == FLAG_SGL)
        move_whole(c, f.disk + at, (uint32_t)bytes, c->opcode == IO_READ);
    else if (status == 0)
        move(c, f.disk + at, (uint32_t)bytes, c->opcode == IO_READ);
    complete(1, c, status);
}

/* Makes a transfer fail. False: this one does not. */
static inline bool fail_io(const struct nvme_command *c)
{
    static const uint16_t statuses[] = {
        [NVME_READ_ERROR] = 0x281, [NVME_ABORTED] = 0x007, [NVME_NO_NAMESPACE] = 0x00b
    };
    struct nvme_command other = *c;

    if (f.times == 0 || f.fault == NVME_WELL)
        return false;
    f.times--;
    if (f.fault < NVME_NO_ANSWER)
        complete(1, c, statuses[f.fault]);
    if (f.fault == NVME_FATAL)
        f.csts |= CSTS_FATAL;
    other.id ^= 0x300;
    if (f.fault == NVME_STRAY)
        complete(1, &other, 0);
    return true;
}

static inline void fake_release(void)
{
    for (unsigned i = 0; i < f.n_held; i++)
        obey_io(&f.held[f.backwards ? f.n_held - 1 - i : i]);
    f.n_held = 0;
}

static inline void ring(unsigned queue, uint32_t tail)
{
    struct fake_queue *q = &f.queues[queue];
    const struct nvme_command *mine = queue == 0 ? cores.driver.admin_commands
                                                 : cores.driver.commands;

    f.n_wrong += tail >= q->entries;
    for (; q->head != tail; q->head = (q->head + 1) % q->entries) {
        struct nvme_command c = { 0 };

        read_bus(q->commands + q->head * sizeof c, &c, sizeof c);
        if (memcmp(&c, &mine[q->head], sizeof c) != 0)
            f.n_early++; /* the doorbell came before the command that it is for */
        if (queue == 0)
            obey_admin(&c);
        else if (fail_io(&c))
            continue;
        else if (f.silent && f.n_held < FAKE_HELD)
            f.held[f.n_held++] = c;
        else
            obey_io(&c);
    }
    f.n_wrong += queue != 0 && f.n_held >= q->entries; /* more than the queue holds */
}

/* ---- registers ---- */

static inline void set_enabled(bool on)
{
    struct fake_queue *q = &f.queues[0];

    if (!on) {
        f.csts = f.never_stops ? f.csts : 0;
        f.n_held = 0;
        return;
    }
    f.n_starts++;
    *q = (struct fake_queue){ .commands = (uint64_t)f.asq[1] << 32 | f.asq[0],
                              .completions = (uint64_t)f.acq[1] << 32 | f.acq[0],
                              .entries = (f.aqa & 0xfff) + 1,
                              .phase = true };
    f.n_wrong += (f.aqa >> 16) + 1 != q->entries || (f.cc & 0xfffff0) != CC_ENTRY_SIZES;
    f.csts = f.never_ready ? f.csts : CSTS_READY;
}

uint32_t nvme_read(const struct nvme *n, unsigned reg)
{
    (void)n;
    if (f.gone)
        return UINT32_MAX;
    if (reg == NVME_CAP || reg == NVME_CAP + 4)
        return f.cap[reg == NVME_CAP + 4];
    return reg == NVME_CC ? f.cc : f.csts;
}

void nvme_write(const struct nvme *n, unsigned reg, uint32_t value)
{
    uint32_t stride = 4u << (f.cap[1] & 15), bell = (reg - NVME_DOORBELLS) / stride;

    (void)n;
    if (reg == NVME_CC) {
        bool was = f.cc & CC_ENABLE;
        f.cc = value;
        if (was != (value & CC_ENABLE))
            set_enabled(value & CC_ENABLE);
    } else if (reg == NVME_AQA) {
        f.aqa = value;
    } else if (reg == NVME_ASQ || reg == NVME_ASQ + 4) {
        f.asq[reg != NVME_ASQ] = value;
    } else if (reg == NVME_ACQ || reg == NVME_ACQ + 4) {
        f.acq[reg != NVME_ACQ] = value;
    } else if (reg < NVME_DOORBELLS || bell >= 2 * FAKE_QUEUES ||
               (reg - NVME_DOORBELLS) % stride != 0) {
        f.n_wrong++;
    } else if (bell % 2 == 1) {
        f.queues[bell / 2].seen = value;
    } else {
        f.n_doorbells++;
        ring(bell / 2, value);
    }
}

/* A millisecond a look. */
static inline uint64_t fake_ticks(void)
{
    return f.now += 1000;
}

/* ---- a drive ---- */

static inline void power_up(bool coherent, unsigned block_shift)
{
    uint64_t blocks = (uint64_t)DISK_BYTES >> block_shift;

    memset(&f, 0, sizeof f);
    memset(&cores, 0x5a, sizeof cores);
    memset(&dma_log, 0, sizeof dma_log);
    f.coherent = coherent;
    if (!coherent)
        dma_log_watch((uint8_t *)&cores, (uint8_t *)&memory, (uint8_t *)&fetched, sizeof cores);
    dma_log.ordered = order;
    f.cap[0] = 1u << 24 | 1023; /* half a second; 1024 entries */
    f.cap[1] = 1u << 5 | 1;     /* the doorbells of block commands are 8 bytes apart */
    f.controller[512] = 0x66;
    f.controller[513] = 0x44;
    f.controller[525] = 1;
    f.namespace[128 + 2] = (uint8_t)block_shift;
    memcpy(f.namespace, &blocks, sizeof blocks);
    for (uint32_t i = 0; i < DISK_BYTES; i++)
        f.disk[i] = disk_byte(i);
}

/* A slot that says whether the drive is there; counts how often it was asked. */
static bool slot_is_used, slot_is_full;
static unsigned slot_asked;

static bool fake_put_back(const void *slot)
{
    slot_asked += slot == &slot_asked;
    return slot_is_full;
}

static inline enum err fake_open(void)
{
    struct nvme_setup setup = { .mmio = 0x10000000,
                                .window = { bus_offset, UINT64_MAX, f.coherent },
                                .ticks = fake_ticks,
                                .ticks_hz = 1000000,
                                .put_back = slot_is_used ? fake_put_back : NULL,
                                .slot = &slot_asked };

    return nvme_open(&cores.driver, &setup, &device);
}

#endif
