/* A virtio-mmio block device in place of virtio_mmio.c, and the driver over it. It takes every liberty
 * that the specification leaves: it sees of the driver's memory only what a barrier has ordered, and
 * what it writes, except the index of the used ring, arrives no sooner than a barrier, either. */
#ifndef INGOT_TESTS_UNIT_FAKE_VIRTIO_H
#define INGOT_TESTS_UNIT_FAKE_VIRTIO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "board/drivers/block/virtio_blk.h"
#include "board/drivers/block/virtio_registers.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/tap.h"

enum { FAKE_SECTORS = 4096, BUFFER_BYTES = 1 << 18, FAKE_PENDING = 4 * VIRTIO_BLK_DEPTH };

static struct virtio_blk driver, seen; /* the driver's memory, and the device's view of it */
static _Alignas(64) uint8_t buffer[BUFFER_BYTES], seen_buffer[BUFFER_BYTES];
static struct block_device device;

struct fake_write {
    uint8_t *to;
    uint8_t from[BUFFER_BYTES / 4];
    uint32_t bytes;
};

static struct fake_virtio {
    uint32_t regs[128];
    uint32_t features[2], taken[2]; /* features that it offered, and those that the driver took */
    uint32_t kind, version, most;   /* device id, version, QUEUE_NUM_MAX */
    uint32_t size_max, seg_max;
    uint64_t n_sectors;
    unsigned torn;                      /* reads of the capacity that change it during the read */
    bool refuses, never_resets, silent; /* silent: it holds requests until fake_release */
    bool backwards;                     /* it ends held requests in reverse order */
    uint8_t status;                     /* of every request */
    uint32_t extra_id;                  /* added to the id of every used element */
    uint16_t taken_index, used_index;
    uint32_t held[FAKE_PENDING], n_held;
    struct fake_write late[FAKE_PENDING]; /* what it wrote and the driver cannot see yet */
    unsigned n_late, n_notified, n_ready;
    unsigned
        n_unordered; /* barriers between which both the index and the elements it stands for changed */
    unsigned n_wrong; /* chains that are not a header, the data that it names, and a status byte */
    unsigned n_early; /* registers written while their memory was not ordered */
    uint8_t disk[FAKE_SECTORS * 512];
} f;

/* ---- what a barrier does ---- */

static inline bool same(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

static inline bool is_zero(const void *at, size_t bytes)
{
    const uint8_t *byte = at;

    while (bytes > 0 && *byte == 0)
        byte++, bytes--;
    return bytes == 0;
}

static inline bool contents_are_seen(void)
{
    return same(driver.desc, seen.desc, sizeof seen.desc) &&
           same(driver.avail.ring, seen.avail.ring, sizeof seen.avail.ring) &&
           same(driver.headers, seen.headers, sizeof seen.headers) &&
           same(buffer, seen_buffer, BUFFER_BYTES);
}

static inline void order(void)
{
    if (driver.avail.index != seen.avail.index && !contents_are_seen())
        f.n_unordered++;
    for (unsigned i = 0; i < f.n_late; i++)
        memcpy(f.late[i].to, f.late[i].from, f.late[i].bytes);
    f.n_late = 0;
    memcpy(&seen, &driver, sizeof seen);
    memcpy(seen_buffer, buffer, sizeof seen_buffer);
}

/* ---- the queue ---- */

static inline void write_late(void *to, const void *from, uint32_t bytes)
{
    struct fake_write *w = &f.late[f.n_late];

    if (f.n_late == FAKE_PENDING || bytes > sizeof w->from) {
        f.n_wrong++;
        return;
    }
    f.n_late++;
    w->to = to;
    w->bytes = bytes;
    memcpy(w->from, from, bytes);
}

static inline void move_data(const struct virtq_desc *d, uint64_t *at)
{
    uint8_t *to = (uint8_t *)(uintptr_t)d->address;
    size_t offset = (size_t)(to - buffer);

    if (offset > BUFFER_BYTES || d->bytes > BUFFER_BYTES - offset ||
        *at + d->bytes > sizeof f.disk) {
        f.n_wrong++;
        return;
    }
    for (uint32_t n = 0; n < d->bytes; n += sizeof f.late[0].from) {
        uint32_t left = d->bytes - n;
        uint32_t part = left < sizeof f.late[0].from ? left : (uint32_t)sizeof f.late[0].from;

        if (d->flags & DESC_WRITE)
            write_late(to + n, f.disk + *at + n, part);
        else
            memcpy(f.disk + *at + n, seen_buffer + offset + n, part);
    }
    *at += d->bytes;
}

static inline void run_chain(uint32_t head)
{
    const struct virtq_desc *d = &seen.desc[head];
    size_t slot = (size_t)((uint8_t *)(uintptr_t)d->address - (uint8_t *)driver.headers) /
                  sizeof driver.headers[0];
    uint64_t at;

    if (slot >= VIRTIO_BLK_DEPTH || d->bytes != 16 || d->flags != DESC_NEXT) {
        f.n_wrong++;
        return;
    }
    at = seen.headers[slot].sector * 512;
    for (d = &seen.desc[d->next]; d->flags & DESC_NEXT; d = &seen.desc[d->next]) {
        f.n_wrong += ((d->flags & DESC_WRITE) != 0) != (seen.headers[slot].type == REQUEST_IN);
        if (f.status == REQUEST_OK)
            move_data(d, &at);
    }
    f.n_wrong += d->bytes != 1 || d->flags != DESC_WRITE;
    write_late((void *)(uintptr_t)d->address, &f.status, 1);
}

/* The index arrives at once, the element and the rest at the driver's next barrier. */
static inline void use(uint32_t head)
{
    struct {
        uint32_t id, bytes;
    } element = { head + f.extra_id, 1 };

    run_chain(head);
    write_late(&driver.used.ring[f.used_index++ & (driver.queue_size - 1)], &element,
               sizeof element);
    *(volatile uint16_t *)&driver.used.index = f.used_index;
}

static inline void fake_release(void)
{
    for (uint32_t i = 0; i < f.n_held; i++)
        use(f.held[f.backwards ? f.n_held - 1 - i : i]);
    f.n_held = 0;
}

static inline void take_offered(void)
{
    while (f.taken_index != seen.avail.index && f.n_held < FAKE_PENDING)
        f.held[f.n_held++] = seen.avail.ring[f.taken_index++ & (driver.queue_size - 1)];
    if (!f.silent)
        fake_release();
}

/* ---- the registers: instead of virtio_mmio.c ---- */

static inline uint32_t capacity_word(unsigned r)
{
    uint64_t n = f.n_sectors;

    if (f.torn > 0 &&
        r == VIRTIO_CAPACITY) { /* a reader who ignores the generation takes both halves */
        f.torn--;
        f.regs[VIRTIO_CONFIG_GENERATION / 4]++;
        n = 77;
    }
    return (uint32_t)(r == VIRTIO_CAPACITY ? n : n >> 32);
}

uint32_t virtio_read(uintptr_t mmio, unsigned r)
{
    (void)mmio;
    switch (r) {
    case VIRTIO_MAGIC: return MAGIC;
    case VIRTIO_VERSION: return f.version;
    case VIRTIO_DEVICE_ID: return f.kind;
    case VIRTIO_DEVICE_FEATURES: return f.features[f.regs[VIRTIO_DEVICE_FEATURES_SEL / 4] & 1];
    case VIRTIO_QUEUE_NUM_MAX: return f.most;
    case VIRTIO_CAPACITY:
    case VIRTIO_CAPACITY + 4: return capacity_word(r);
    case VIRTIO_SIZE_MAX: return f.size_max;
    case VIRTIO_SEG_MAX: return f.seg_max;
    default: return f.regs[r / 4];
    }
}

static inline void write_status(uint32_t value)
{
    if (value == 0 && f.never_resets)
        return;
    if (value == 0) { /* it ends its work, and what it wrote is still on its way */
        f.n_early += !contents_are_seen();
        for (uint32_t i = 0; i < f.n_held; i++)
            run_chain(f.held[i]);
        f.taken_index = f.used_index = 0;
        f.n_held = 0;
        f.regs[VIRTIO_QUEUE_READY / 4] = 0;
    }
    if (f.refuses)
        value &= ~(uint32_t)STATUS_FEATURES_OK;
    f.regs[VIRTIO_STATUS / 4] = value;
}

uint8_t virtio_read_byte(uintptr_t mmio, unsigned r)
{
    (void)mmio;
    return (uint8_t)(f.regs[r / 4] >> r % 4 * 8);
}

void virtio_write(uintptr_t mmio, unsigned r, uint32_t value)
{
    (void)mmio;
    if (r == VIRTIO_STATUS) {
        write_status(value);
        return;
    }
    f.regs[r / 4] = value;
    if (r == VIRTIO_DRIVER_FEATURES)
        f.taken[f.regs[VIRTIO_DRIVER_FEATURES_SEL / 4] & 1] = value;
    if (r == VIRTIO_QUEUE_READY) {
        f.n_ready++;
        f.n_early += !contents_are_seen() || !is_zero(&driver.used, sizeof driver.used) ||
                     !is_zero(&seen.used, sizeof seen.used) ||
                     driver.avail.flags != seen.avail.flags;
    }
    if (r == VIRTIO_QUEUE_NOTIFY) {
        f.n_notified++;
        f.n_early += !contents_are_seen() || driver.avail.index != seen.avail.index;
        take_offered();
    }
}

/* ---- set-up ---- */

static inline uint8_t disk_byte(uint64_t sector, unsigned at)
{
    return (uint8_t)(sector * 37 + at * 5 + at / 256);
}

static inline void power_up(void)
{
    memset(&f, 0, sizeof f);
    memset(&dma_log, 0, sizeof dma_log);
    memset(&driver, 0xa5, sizeof driver); /* contents of memory before anybody wrote it */
    memset(buffer, 0, sizeof buffer);
    dma_log.ordered = order;
    f.kind = DEVICE_BLOCK;
    f.version = VERSION_MODERN;
    f.features[1] = FEATURE_HIGH_VERSION_1;
    f.most = 1024;
    f.n_sectors = FAKE_SECTORS;
    for (unsigned i = 0; i < sizeof f.disk; i++)
        f.disk[i] = disk_byte(i / 512, i % 512);
}

#endif
