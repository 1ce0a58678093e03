/* Registers of a virtio device on PCI under the numbers of virtio-mmio: a function's configuration
 * space and its BAR are memory here. A function with an error is refused. */
#include "board/drivers/bus/virtio_pci.h"

#include <string.h>

#include "board/drivers/bus/virtio.h"
#include "board/isa.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/tap.h"

enum {
    NET = 1,
    BAR_BYTES = 16384,
    COMMON = 0,
    ISR = 0x1000,
    FIELDS = 0x2000,
    NOTIFY = 0x3000,
    STEP = 4,
    MEMORY_AND_MASTER = 6,
};

static _Alignas(4096) uint32_t config[1024];
static _Alignas(4096) uint8_t bar[BAR_BYTES];
static struct pci_ecam pci;
static struct virtio_pci card;
static unsigned n_outside; /* mappings beside the BAR */
static bool maps;

enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping)
{
    n_outside += mapping != MAP_DEVICE || base < (uintptr_t)bar ||
                 base + bytes > (uintptr_t)bar + sizeof bar;
    return maps ? ERR_OK : ERR_RANGE;
}

static void put_capability(unsigned at, unsigned next, unsigned type, unsigned number,
                           uint32_t offset, uint32_t bytes)
{
    config[at / 4] = type << 24 | 20u << 16 | next << 8 | 9;
    config[at / 4 + 1] = number;
    config[at / 4 + 2] = offset;
    config[at / 4 + 3] = bytes;
}

/* As in QEMU: MSI-X first, and registers in BAR 4, of 64 bits. */
static void power_up(void)
{
    uint64_t at = (uintptr_t)bar;

    memset(config, 0, sizeof config);
    memset(bar, 0, sizeof bar);
    memset(&card, 0xa5, sizeof card);
    n_outside = 0;
    maps = true;
    config[0] = 0x10411af4;
    config[0x20 / 4] = (uint32_t)at | 0xc;
    config[0x24 / 4] = (uint32_t)(at >> 32);
    config[0x34 / 4] = 0x98;
    config[0x98 / 4] = 0x8411;
    put_capability(0x84, 0x70, 5, 0, 0, 0);
    put_capability(0x70, 0x60, 2, 4, NOTIFY, 0x1000);
    config[0x80 / 4] = STEP;
    put_capability(0x60, 0x50, 4, 4, FIELDS, 0x1000);
    put_capability(0x50, 0x40, 3, 4, ISR, 0x1000);
    put_capability(0x40, 0, 1, 4, COMMON, 0x1000);
    pci = (struct pci_ecam){ .config = (uintptr_t)config, .n_buses = 1, .most_buses = 1 };
}

static uintptr_t open_it(void)
{
    return virtio_pci_open(&card, &pci, 0, NET);
}

static uint32_t word(unsigned at, unsigned bytes)
{
    uint32_t value = 0;

    memcpy(&value, bar + at, bytes);
    return value;
}

static void test_registers(void)
{
    static const struct {
        unsigned reg, at, bytes;
    } rows[] = {
        { VIRTIO_DEVICE_FEATURES_SEL, 0, 4 }, { VIRTIO_DRIVER_FEATURES_SEL, 8, 4 },
        { VIRTIO_DRIVER_FEATURES, 12, 4 },    { VIRTIO_STATUS, 20, 1 },
        { VIRTIO_QUEUE_SEL, 22, 2 },          { VIRTIO_QUEUE_NUM, 24, 2 },
        { VIRTIO_QUEUE_DESC, 32, 4 },         { VIRTIO_QUEUE_DESC + 4, 36, 4 },
        { VIRTIO_QUEUE_DRIVER, 40, 4 },       { VIRTIO_QUEUE_DRIVER + 4, 44, 4 },
        { VIRTIO_QUEUE_DEVICE, 48, 4 },       { VIRTIO_QUEUE_DEVICE + 4, 52, 4 },
        { VIRTIO_QUEUE_READY, 28, 2 },
    };
    uintptr_t at = open_it();
    unsigned right = 0;

    OK(at != 0 && n_outside == 0, "the function is ours, and nothing beside its BAR is mapped");
    OK((config[1] & MEMORY_AND_MASTER) == MEMORY_AND_MASTER, "memory and bus mastering are on");
    OK(virtio_is_there(at, NET) && !virtio_is_there(at, 2) &&
           virtio_read(at, VIRTIO_VERSION) == VERSION_MODERN,
       "the function is a network device of version 1");
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t before[56], after[56];
        unsigned others = 0;

        memcpy(before, bar, sizeof before);
        virtio_write(at, rows[i].reg, 0x01020304 + i);
        memcpy(after, bar, sizeof after);
        for (unsigned k = 0; k < sizeof before; k++)
            others += before[k] != after[k] && (k < rows[i].at || k >= rows[i].at + rows[i].bytes);
        right += others == 0 &&
                 memcmp(after + rows[i].at, &(uint32_t){ 0x01020304 + i }, rows[i].bytes) == 0;
    }
    OK(right == sizeof rows / sizeof rows[0],
       "each register is written at its place, in its width");
    memcpy(bar + 4, &(uint32_t){ 0x8001 }, 4);
    memcpy(bar + 24, &(uint16_t){ 256 }, 2);
    bar[FIELDS + 5] = 0x56;
    OK(virtio_read(at, VIRTIO_DEVICE_FEATURES) == 0x8001 &&
           virtio_read(at, VIRTIO_QUEUE_NUM_MAX) == 256 &&
           virtio_read_byte(at, VIRTIO_CONFIG + 5) == 0x56,
       "each register is read at its place, with the device's own fields");
    OK(virtio_read_byte(at, VIRTIO_CONFIG + 0x1000) == 0 && virtio_read(at, 0x0c4) == 0,
       "there is nothing beyond these registers");
}

static void start_queue(uintptr_t at, uint16_t which, uint16_t doorbell)
{
    virtio_write(at, VIRTIO_QUEUE_SEL, which);
    memcpy(bar + 30, &doorbell, 2);
    virtio_write(at, VIRTIO_QUEUE_READY, 1);
}

static void test_doorbells(void)
{
    uintptr_t at;

    power_up();
    at = open_it();
    virtio_write(at, VIRTIO_QUEUE_NOTIFY, 1);
    OK(word(NOTIFY, 4) == 0, "a queue that was not started has no doorbell");
    start_queue(at, 0, 7);
    start_queue(at, 1, 9);
    virtio_write(at, VIRTIO_QUEUE_NOTIFY, 1);
    OK(word(NOTIFY + 9 * STEP, 4) == 1 && word(NOTIFY + 7 * STEP, 4) == 0,
       "each queue has its own doorbell");
    start_queue(at, 0, 0x1000 / STEP);
    start_queue(at, VIRTIO_PCI_QUEUES, 1);
    virtio_write(at, VIRTIO_QUEUE_NOTIFY, 0);
    virtio_write(at, VIRTIO_QUEUE_NOTIFY, VIRTIO_PCI_QUEUES);
    virtio_write(at, VIRTIO_QUEUE_NOTIFY, 0xffffffff);
    OK(word(NOTIFY + 4, 4) == 0 && word(NOTIFY + 7 * STEP, 4) == 0,
       "a doorbell beyond the window, or of a queue that we do not have, is not written");
}

static bool is_refused(unsigned at, uint32_t value)
{
    power_up();
    config[at / 4] = value;
    return open_it() == 0 && n_outside == 0 && (config[1] & MEMORY_AND_MASTER) == 0;
}

static void test_refused(void)
{
    OK(is_refused(0, 0x10418086), "another maker's device is refused");
    OK(is_refused(0, 0x10421af4), "a block device is refused");
    OK(is_refused(0, 0x10001af4), "an old device of another kind is refused");
    OK(is_refused(0x34, 0), "a device without capabilities is refused");
    OK(is_refused(0x60, 0x40 << 8 | 9), "a device without a field of its own is refused");
    OK(is_refused(0x44, 6), "registers in a BAR that does not exist are refused");
    OK(is_refused(0x44, 0xff), "registers in the last BAR of all are refused");
    OK(is_refused(0x44, 0), "registers in a BAR without an address are refused");
    OK(is_refused(0x48, 2), "registers at an odd place are refused");
    OK(is_refused(0x4c, 55), "too few registers are refused");
    OK(is_refused(0x4c, 0), "a device without registers is refused");
    power_up();
    config[0x20 / 4] = 0x1001;
    config[0x24 / 4] = 0;
    OK(open_it() == 0 && n_outside == 0, "registers in I/O space are refused");
    power_up();
    config[0x40 / 4] = 2u << 24 | 0x84 << 8 | 9;
    OK(open_it() == 0, "a list of capabilities that goes round ends");
    power_up();
    maps = false;
    OK(open_it() == 0, "a BAR that cannot be mapped is refused");
    power_up();
    config[0] = 0x10001af4;
    config[0x2c / 4] = NET << 16;
    OK(open_it() != 0, "a device of both kinds is taken by its subsystem");
}

int main(void)
{
    power_up();
    test_registers();
    test_doorbells();
    test_refused();
    return tap_done();
}
