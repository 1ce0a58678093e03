/* Sections are those of the PCI Local Bus Specification 3.0, chapter 6, and of the PCI Express Base
 * Specification 3.0; the node is described in the PCI Bus Binding to IEEE 1275. */
#include "board/drivers/bus/pci_ecam.h"

#include "board/isa.h"

enum {
    FUNCTIONS = 256,
    FUNCTION_BYTES = 4096, /* Express 7.2.2 */
    REG_ID = 0x00,         /* 6.2.1 */
    REG_COMMAND = 0x04,    /* 6.2.2 */
    REG_CLASS = 0x08,      /* 6.2.1, upper half */
    REG_BAR = 0x10,        /* 6.2.5.1 */
    COMMAND_MEMORY = 1 << 1,
    COMMAND_MASTER = 1 << 2,
    BAR_IO = 1 << 0,
    BAR_TYPE = 3 << 1,
    BAR_64 = 2 << 1,
    BAR_FLAGS = 15,
};

/* Rows of `ranges`: three cells of the bus, two of the CPU, two of the size. */
enum { ROW_BYTES = 28, SPACE_MASK = 3 << 24, SPACE_MEMORY_32 = 2 << 24 };

static volatile uint32_t *config(const struct pci_ecam *pci, unsigned function, unsigned reg)
{
    return (volatile uint32_t *)(pci->config + (uintptr_t)function * FUNCTION_BYTES + reg);
}

static uint64_t cell(const uint8_t *p)
{
    return (uint64_t)p[0] << 24 | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 8 | p[3];
}

static bool find_window(struct pci_ecam *pci, const struct device_tree *tree,
                        const struct device_tree_node *node)
{
    uint32_t bytes;
    const uint8_t *row = device_tree_property(tree, node, "ranges", &bytes);

    for (; row != NULL && bytes >= ROW_BYTES; row += ROW_BYTES, bytes -= ROW_BYTES) {
        uint64_t bus = cell(row + 4) << 32 | cell(row + 8);

        if ((cell(row) & SPACE_MASK) != SPACE_MEMORY_32)
            continue;
        pci->next = cell(row + 12) << 32 | cell(row + 16);
        pci->end = pci->next + (cell(row + 20) << 32 | cell(row + 24));
        pci->to_bus = bus - pci->next;
        return true;
    }
    return false;
}

enum err pci_ecam_find(struct pci_ecam *pci, const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t base, bytes;

    device_tree_begin(&node);
    if (!device_tree_next_compatible(tree, &node, "pci-host-ecam-generic") ||
        !device_tree_reg(tree, &node, 0, &base, &bytes) || bytes < FUNCTIONS * FUNCTION_BYTES ||
        !find_window(pci, tree, &node))
        return ERR_NO_DEVICE;
    pci->config = (uintptr_t)base;
    return mmu_map(pci->config, FUNCTIONS * FUNCTION_BYTES, MAP_DEVICE);
}

bool pci_ecam_next(const struct pci_ecam *pci, unsigned *function, unsigned class)
{
    for (; *function < FUNCTIONS; ++*function) {
        if (*config(pci, *function, REG_ID) != 0xffffffff && /* no function there */
            *config(pci, *function, REG_CLASS) >> 16 == class)
            return true;
    }
    return false;
}

/* 6.2.5.1: the bits that a BAR keeps of all ones tell its size. An address must be a multiple of
 * it. */
static uint64_t assign_bar(struct pci_ecam *pci, unsigned function, uint64_t size)
{
    uint64_t at = (pci->next + size - 1) & ~(size - 1);

    if (size == 0 || at > pci->end || size > pci->end - at)
        return 0;
    pci->next = at + size;
    *config(pci, function, REG_BAR) = (uint32_t)(at + pci->to_bus);
    if ((*config(pci, function, REG_BAR) & BAR_TYPE) == BAR_64)
        *config(pci, function, REG_BAR + 4) = (uint32_t)((at + pci->to_bus) >> 32);
    return at;
}

uintptr_t pci_ecam_enable(struct pci_ecam *pci, unsigned function)
{
    volatile uint32_t *bar = config(pci, function, REG_BAR);
    uint32_t before = *bar;
    uint64_t size, at;

    *config(pci, function, REG_COMMAND) &= ~(uint32_t)COMMAND_MEMORY;
    *bar = 0xffffffff;
    size = (uint32_t)(~(*bar & ~(uint32_t)BAR_FLAGS) + 1);
    *bar = before;
    if ((before & BAR_IO) || size == 0)
        return 0;
    at = (before & ~(uint32_t)BAR_FLAGS) - pci->to_bus;
    if ((before & ~(uint32_t)BAR_FLAGS) == 0)
        at = assign_bar(pci, function, size);
    if (at == 0 || mmu_map((uintptr_t)at, (size_t)size, MAP_DEVICE) != ERR_OK)
        return 0;
    *config(pci, function, REG_COMMAND) |= COMMAND_MEMORY | COMMAND_MASTER;
    return (uintptr_t)at;
}
