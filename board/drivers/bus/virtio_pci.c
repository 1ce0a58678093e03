/* Sections are those of the VIRTIO 1.2 specification (OASIS, csd01), or after "PCI" those of the
 * PCI Local Bus Specification 3.0. */
#include "board/drivers/bus/virtio_pci.h"

#include <string.h>

#include "board/drivers/bus/virtio.h"
#include "board/isa.h"

enum { /* section 4.1.2 */
       VENDOR = 0x1af4,
       DEVICE_MODERN = 0x1040,       /* the id is this plus the kind of device */
       DEVICE_TRANSITIONAL = 0x1000, /* the kind of device is in the subsystem's number */
};
enum { /* PCI 6.2 and 6.7 */
       REG_COMMAND = 0x04,
       REG_BAR = 0x10,
       REG_SUBSYSTEM = 0x2c,
       REG_CAPABILITIES = 0x34,
       CAPABILITY_VENDOR = 0x09,
       CAPABILITIES_MOST = 48,
       COMMAND_MEMORY = 1 << 1,
       COMMAND_MASTER = 1 << 2,
       BAR_IO = 1 << 0,
       BAR_TYPE = 3 << 1,
       BAR_64 = 2 << 1,
       BAR_FLAGS = 15,
       BARS = 6,
};
enum { /* section 4.1.4 */
       TYPE_COMMON = 1,
       TYPE_NOTIFY = 2,
       TYPE_FIELDS = 4,
       COMMON_BYTES = 56,
       COMMON_QUEUE_SEL = 22,
       COMMON_QUEUE_ENABLE = 28,
       COMMON_QUEUE_NOTIFY = 30,
       DOORBELL_BYTES = 2,
};

/* The place and the width of each register of virtio-mmio (section 4.1.4.3). The halves of an
 * address are written separately (4.1.3.1). */
static const struct place {
    uint16_t reg;
    uint8_t at, bytes;
} places[] = {
    { VIRTIO_DEVICE_FEATURES, 4, 4 },
    { VIRTIO_DEVICE_FEATURES_SEL, 0, 4 },
    { VIRTIO_DRIVER_FEATURES, 12, 4 },
    { VIRTIO_DRIVER_FEATURES_SEL, 8, 4 },
    { VIRTIO_QUEUE_SEL, COMMON_QUEUE_SEL, 2 },
    { VIRTIO_QUEUE_NUM_MAX, 24, 2 },
    { VIRTIO_QUEUE_NUM, 24, 2 },
    { VIRTIO_QUEUE_READY, COMMON_QUEUE_ENABLE, 2 },
    { VIRTIO_STATUS, 20, 1 },
    { VIRTIO_QUEUE_DESC, 32, 4 },
    { VIRTIO_QUEUE_DESC + 4, 36, 4 },
    { VIRTIO_QUEUE_DRIVER, 40, 4 },
    { VIRTIO_QUEUE_DRIVER + 4, 44, 4 },
    { VIRTIO_QUEUE_DEVICE, 48, 4 },
    { VIRTIO_QUEUE_DEVICE + 4, 52, 4 },
    { VIRTIO_CONFIG_GENERATION, 21, 1 },
};

static uint32_t read_at(uintptr_t at, unsigned bytes)
{
    if (bytes == 1)
        return *(const volatile uint8_t *)at;
    return bytes == 2 ? *(const volatile uint16_t *)at : *(const volatile uint32_t *)at;
}

static void write_at(uintptr_t at, unsigned bytes, uint32_t value)
{
    if (bytes == 1)
        *(volatile uint8_t *)at = (uint8_t)value;
    else if (bytes == 2)
        *(volatile uint16_t *)at = (uint16_t)value;
    else
        *(volatile uint32_t *)at = value;
}

/* ---- in place of virtio_mmio.c ---- */

/* A location is the address of the device's struct plus 1, so it is odd; the address of a
 * virtio-mmio register is even. */
static struct virtio_pci *device_of(uintptr_t location)
{
    return (struct virtio_pci *)(location - 1);
}

static const struct place *place_of(unsigned reg)
{
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i].reg == reg)
            return &places[i];
    }
    return NULL;
}

static uint32_t read_register(uintptr_t location, unsigned reg)
{
    const struct virtio_pci *v = device_of(location);
    const struct place *p = place_of(reg);

    switch (reg) {
    case VIRTIO_MAGIC: return MAGIC;
    case VIRTIO_VERSION: return VERSION_MODERN;
    case VIRTIO_DEVICE_ID: return v->device_id;
    default: return p != NULL ? read_at(v->registers + p->at, p->bytes) : 0;
    }
}

static uint8_t read_field(uintptr_t location, unsigned reg)
{
    const struct virtio_pci *v = device_of(location);
    unsigned at = reg - VIRTIO_CONFIG;

    return at < v->fields_bytes ? (uint8_t)read_at(v->fields + at, 1) : 0;
}

/* Find the doorbell of the selected queue, which has its own or shares one (section 4.1.4.4). */
static void find_doorbell(struct virtio_pci *v)
{
    uint32_t which = read_at(v->registers + COMMON_QUEUE_SEL, 2);
    uint64_t at = (uint64_t)read_at(v->registers + COMMON_QUEUE_NOTIFY, 2) * v->notify_step;

    if (which < VIRTIO_PCI_QUEUES && at + DOORBELL_BYTES <= v->notify_bytes)
        v->doorbells[which] = v->notify + (uintptr_t)at;
}

static void write_register(uintptr_t location, unsigned reg, uint32_t value)
{
    struct virtio_pci *v = device_of(location);
    const struct place *p = place_of(reg);

    if (reg == VIRTIO_QUEUE_NOTIFY) {
        if (value < VIRTIO_PCI_QUEUES && v->doorbells[value] != 0)
            write_at(v->doorbells[value], DOORBELL_BYTES, value);
        return;
    }
    if (reg == VIRTIO_QUEUE_READY)
        find_doorbell(v);
    if (p != NULL)
        write_at(v->registers + p->at, p->bytes, value);
}

static const struct virtio_registers registers = { read_register, read_field, write_register };

/* ---- the function ---- */

static uint32_t config(const struct pci_kept *f, unsigned reg)
{
    return read_at(f->config + reg, 4);
}

/* True if device and subsystem number are those of this kind of device (section 4.1.2). */
static bool is_device(const struct pci_kept *f, uint32_t device_id)
{
    uint32_t device = f->id >> 16;

    if ((f->id & 0xffff) != VENDOR)
        return false;
    return device == DEVICE_MODERN + device_id ||
           (device >= DEVICE_TRANSITIONAL && device < DEVICE_MODERN &&
            config(f, REG_SUBSYSTEM) >> 16 == device_id);
}

/* The CPU's address of a memory BAR; 0 if it is not a memory BAR, or has no address. */
static uint64_t bar_address(const struct pci_ecam *pci, const struct pci_kept *f, unsigned number)
{
    uint32_t bar;
    uint64_t at;

    if (number >= BARS)
        return 0;
    bar = config(f, REG_BAR + 4 * number);
    at = bar & ~(uint32_t)BAR_FLAGS;
    if ((bar & BAR_TYPE) == BAR_64 && number + 1 < BARS)
        at |= (uint64_t)config(f, REG_BAR + 4 * (number + 1)) << 32;
    if ((bar & BAR_IO) || at == 0)
        return 0;
    return at >> 32 != 0 ? at - pci->high.to_bus : at - pci->low.to_bus;
}

/* Map the registers that the capability at `at` describes (section 4.1.4). Returns 0 if the
 * capability is unusable. */
static uintptr_t map_capability(const struct pci_ecam *pci, const struct pci_kept *f, unsigned at,
                                uint32_t *bytes)
{
    uint64_t bar = bar_address(pci, f, config(f, at + 4) & 0xff);
    uint32_t offset = config(f, at + 8);

    *bytes = config(f, at + 12);
    if (bar == 0 || *bytes == 0 || offset % 4 != 0 || bar + offset > UINTPTR_MAX - *bytes ||
        mmu_map((uintptr_t)(bar + offset), *bytes, MAP_DEVICE) != ERR_OK)
        return 0;
    return (uintptr_t)(bar + offset);
}

/* Take a capability; the first usable one of each type counts (section 4.1.4). */
static void take_capability(struct virtio_pci *v, const struct pci_ecam *pci,
                            const struct pci_kept *f, unsigned at)
{
    unsigned type = config(f, at) >> 24;
    uint32_t bytes;
    uintptr_t mapped;

    if (type != TYPE_COMMON && type != TYPE_NOTIFY && type != TYPE_FIELDS)
        return;
    mapped = map_capability(pci, f, at, &bytes);
    if (type == TYPE_COMMON && v->registers == 0 && bytes >= COMMON_BYTES) {
        v->registers = mapped;
    } else if (type == TYPE_NOTIFY && v->notify == 0) {
        v->notify = mapped;
        v->notify_bytes = bytes;
        v->notify_step = config(f, at + 16);
    } else if (type == TYPE_FIELDS && v->fields == 0) {
        v->fields = mapped;
        v->fields_bytes = bytes;
    }
}

/* Find the registers through the list of capabilities (PCI 6.7). */
static void find_registers(struct virtio_pci *v, const struct pci_ecam *pci,
                           const struct pci_kept *f)
{
    unsigned at = config(f, REG_CAPABILITIES) & 0xfc;

    for (unsigned i = 0; at >= 0x40 && i < CAPABILITIES_MOST; i++) {
        if ((config(f, at) & 0xff) == CAPABILITY_VENDOR)
            take_capability(v, pci, f, at);
        at = config(f, at) >> 8 & 0xfc;
    }
}

uintptr_t virtio_pci_open(struct virtio_pci *v, const struct pci_ecam *pci, unsigned function,
                          uint32_t device_id)
{
    struct pci_kept f;

    pci_ecam_keep(pci, function, &f);
    memset(v, 0, sizeof *v);
    v->device_id = device_id;
    if (!is_device(&f, device_id))
        return 0;
    find_registers(v, pci, &f);
    if (v->registers == 0 || v->notify == 0 || v->fields == 0)
        return 0;
    write_at(f.config + REG_COMMAND, 2, config(&f, REG_COMMAND) | COMMAND_MEMORY | COMMAND_MASTER);
    virtio_use(&registers);
    return (uintptr_t)v + 1;
}
