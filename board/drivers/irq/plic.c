#include "board/drivers/irq/plic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/interrupt.h"
#include "board/isa.h"

/* Byte offsets, chapters 3 to 9. */
#define PRIORITY(line) (UINT64_C(4) * (line))
#define ENABLE(context, line) (0x2000 + UINT64_C(0x80) * (context) + (line) / 32 * 4)
#define THRESHOLD(context) (0x200000 + UINT64_C(0x1000) * (context))
#define CLAIM(context) (THRESHOLD(context) + 4)

enum { MAX_LINES = 1024, CELL_BYTES = 4, TARGET_CELLS = 2, CAUSE_S_EXTERNAL = 9, MOST_CLAIMS = 64 };

static struct plic {
    uintptr_t base;
    size_t bytes;
    uint32_t context; /* number of the context for the S-mode of core 0's hart */
} plic;

static volatile uint32_t *reg(uint64_t offset)
{
    return (volatile uint32_t *)(plic.base + offset);
}

static uint32_t cell(const uint8_t *value, uint32_t index)
{
    value += index * CELL_BYTES;
    return (uint32_t)value[0] << 24 | (uint32_t)value[1] << 16 | (uint32_t)value[2] << 8 | value[3];
}

/* Find the phandle of the interrupt controller in that hart's cpu node. */
static bool find_hart(const struct device_tree *tree, uint64_t hart, uint64_t *phandle)
{
    struct device_tree_node node;
    uint64_t id;
    int depth;

    device_tree_begin(&node);
    do {
        if (!device_tree_next_type(tree, &node, "cpu"))
            return false;
    } while (!device_tree_reg(tree, &node, 0, &id, NULL) || id != hart);
    depth = node.depth;
    while (device_tree_next(tree, &node) && node.depth > depth)
        if (device_tree_lists(tree, &node, "compatible", "riscv,cpu-intc"))
            return device_tree_number(tree, &node, "phandle", phandle);
    return false;
}

static enum err find(const struct device_tree *tree)
{
    static const char *const names[] = { "sifive,plic-1.0.0", "riscv,plic0" };
    struct device_tree_node node;
    uint64_t base, size, phandle;
    const uint8_t *targets = NULL;
    uint32_t bytes = 0;

    for (unsigned i = 0; targets == NULL && i < sizeof names / sizeof names[0]; i++) {
        device_tree_begin(&node);
        if (device_tree_next_compatible(tree, &node, names[i]))
            targets = device_tree_property(tree, &node, "interrupts-extended", &bytes);
    }
    if (targets == NULL || !device_tree_reg(tree, &node, 0, &base, &size) ||
        !find_hart(tree, core_hardware_id(), &phandle))
        return ERR_NO_DEVICE;
    for (uint32_t i = 0; i < bytes / (TARGET_CELLS * CELL_BYTES); i++) {
        if (cell(targets, TARGET_CELLS * i) != phandle ||
            cell(targets, TARGET_CELLS * i + 1) != CAUSE_S_EXTERNAL || CLAIM(i) + 4 > size)
            continue;
        plic.base = (uintptr_t)base;
        plic.bytes = (size_t)size;
        plic.context = i;
        return ERR_OK;
    }
    return ERR_NO_DEVICE;
}

static void plic_serve(void *state)
{
    uint32_t line;

    (void)state;
    for (unsigned i = 0; i < MOST_CLAIMS && (line = *reg(CLAIM(plic.context))) != 0; i++) {
        irq_deliver(line);
        *reg(CLAIM(plic.context)) = line;
    }
}

static enum err plic_enable(void *state, uint32_t line)
{
    (void)state;
    if (line == 0 || line >= MAX_LINES)
        return ERR_NO_DEVICE;
    /* A line of priority 0 never interrupts (chapter 4); all our lines have priority 1. */
    *reg(PRIORITY(line)) = 1;
    *reg(ENABLE(plic.context, line)) |= 1u << line % 32;
    *reg(CLAIM(plic.context)) = line; /* firmware may have left this line claimed */
    return ERR_OK;
}

/* Complete the interrupt first, while the line is enabled: the controller ignores completions of
 * disabled lines (chapter 9), and the line could never be taken again. */
static void plic_disable(void *state, uint32_t line)
{
    (void)state;
    *reg(CLAIM(plic.context)) = line;
    *reg(ENABLE(plic.context, line)) &= ~(1u << line % 32);
}

static const struct irq_controller plic_controller = {
    .enable = plic_enable,
    .disable = plic_disable,
    .serve = plic_serve,
};

enum err plic_init(const struct device_tree *tree)
{
    enum err e = find(tree);

    if (e != ERR_OK)
        return e;
    e = mmu_map(plic.base, plic.bytes, MAP_DEVICE);
    if (e != ERR_OK)
        return e;
    for (uint32_t line = 0; line < MAX_LINES; line += 32) /* disable interrupts that firmware
                                                             left on */
        *reg(ENABLE(plic.context, line)) = 0;
    *reg(THRESHOLD(plic.context)) = 0;
    irq_attach(&plic_controller, NULL);
    return ERR_OK;
}

uint32_t plic_device_line(const struct device_tree *tree, const struct device_tree_node *node)
{
    uint32_t bytes;
    const uint8_t *interrupts = device_tree_property(tree, node, "interrupts", &bytes);

    if (interrupts == NULL || bytes < CELL_BYTES)
        return 0;
    return cell(interrupts, 0);
}
