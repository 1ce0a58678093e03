/* Answers from the device tree what boot and the boards ask about the machine. */
#include "board/device_tree.h"

#include <string.h>

bool device_tree_is_one(const void *blob)
{
    static const uint8_t magic[4] = { 0xd0, 0x0d, 0xfe, 0xed };

    return memcmp(blob, magic, sizeof magic) == 0;
}

const char *device_tree_bootargs(const struct device_tree *tree)
{
    struct device_tree_node chosen;
    const char *text = NULL;

    if (device_tree_find(tree, &chosen, "/chosen"))
        text = device_tree_string(tree, &chosen, "bootargs");
    if (text == NULL)
        return "";
    return text;
}

bool device_tree_initrd(const struct device_tree *tree, uint64_t *base, uint64_t *size)
{
    struct device_tree_node chosen;
    uint64_t start, end;

    if (!device_tree_find(tree, &chosen, "/chosen") ||
        !device_tree_number(tree, &chosen, "linux,initrd-start", &start) ||
        !device_tree_number(tree, &chosen, "linux,initrd-end", &end) || start >= end)
        return false;
    *base = start;
    *size = end - start;
    return true;
}

static uint32_t decimal_read(const char *text)
{
    uint32_t value = 0;

    for (; *text >= '0' && *text <= '9' && value < 100000000; text++)
        value = value * 10 + (uint32_t)(*text - '0');
    return value;
}

bool device_tree_console(const struct device_tree *tree, struct device_tree_node *node,
                         uint32_t *baud)
{
    const char *path = NULL, *options;
    size_t length;
    char alias[32];

    *baud = 0;
    if (device_tree_find(tree, node, "/chosen"))
        path = device_tree_string(tree, node, "stdout-path");
    if (path == NULL)
        return false;
    options = strchr(path, ':');
    length = options != NULL ? (size_t)(options - path) : strlen(path);
    if (options != NULL)
        *baud = decimal_read(options + 1);
    if (path[0] == '/')
        return device_tree_find(tree, node, path);
    if (length >= sizeof alias || !device_tree_find(tree, node, "/aliases"))
        return false;
    memcpy(alias, path, length);
    alias[length] = '\0';
    path = device_tree_string(tree, node, alias);
    return path != NULL && device_tree_find(tree, node, path);
}

/* True if a hart with an ISA such as "rv64imafdc_zba" can run the image, which is rv64gc. Single
 * letters come before the first longer extension (RISC-V, chapter on naming). */
static bool isa_can_work(const char *isa)
{
    size_t letters = strcspn(isa, "_");

    if (strncmp(isa, "rv64", 4) != 0)
        return false;
    for (const char *need = "mafdc"; *need != '\0'; need++) {
        const char *has = strchr(isa + 4, *need), *g = strchr(isa + 4, 'g');

        if ((has == NULL || has >= isa + letters) &&
            (*need == 'c' || g == NULL || g >= isa + letters))
            return false;
    }
    return true;
}

/* True if a cpu can run the image. A RISC-V hart without mmu-type is a monitor core. A hart without
 * FPU is a monitor core even if it has an mmu-type: StarFive's tree of 2021.10 gives the S7 core
 * the mmu-type sv39. The ISA is in isa-base and isa-extensions, or in isa if they are missing
 * (binding riscv/cpus). */
static bool cpu_can_work(const struct device_tree *tree, const struct device_tree_node *node)
{
    const char *mmu = device_tree_string(tree, node, "mmu-type");
    const char *isa = device_tree_string(tree, node, "riscv,isa");
    const char *base = device_tree_string(tree, node, "riscv,isa-base");

    if (isa == NULL && base == NULL)
        return true;
    if (mmu == NULL || strcmp(mmu, "riscv,none") == 0 ||
        (base != NULL && strcmp(base, "rv64i") != 0))
        return false;
    if (device_tree_string(tree, node, "riscv,isa-extensions") != NULL)
        return device_tree_lists(tree, node, "riscv,isa-extensions", "d");
    return isa == NULL || isa_can_work(isa);
}

bool device_tree_next_cpu(const struct device_tree *tree, struct device_tree_node *node)
{
    while (device_tree_next_type(tree, node, "cpu"))
        if (cpu_can_work(tree, node))
            return true;
    return false;
}

unsigned device_tree_cpus(const struct device_tree *tree, uint64_t first, uint64_t *ids,
                          unsigned max)
{
    struct device_tree_node node;
    uint64_t id;
    unsigned n = 0, front = 0;

    device_tree_begin(&node);
    while (device_tree_next_cpu(tree, &node)) {
        if (!device_tree_reg(tree, &node, 0, &id, NULL))
            continue;
        if (id == first)
            front = n < max ? n : max - 1; /* the core that boots is always in the list */
        if (n < max || id == first)
            ids[n < max ? n++ : front] = id;
    }
    for (; front > 0 && n > 0; front--) {
        id = ids[front];
        ids[front] = ids[front - 1];
        ids[front - 1] = id;
    }
    return n;
}

unsigned device_tree_n_cpus(const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t id;
    unsigned n = 0;

    device_tree_begin(&node);
    while (device_tree_next_cpu(tree, &node))
        n += device_tree_reg(tree, &node, 0, &id, NULL);
    return n;
}

/* Read the tree's facts about the core with that id: dmips per MHz, and MHz; 0 if not given. */
static void read_capacity(const struct device_tree *tree, uint64_t id, uint64_t *dmips,
                          uint64_t *mhz)
{
    struct device_tree_node node;
    uint64_t reg, hz;

    *dmips = *mhz = 0;
    device_tree_begin(&node);
    while (device_tree_next_cpu(tree, &node)) {
        if (!device_tree_reg(tree, &node, 0, &reg, NULL) || reg != id)
            continue;
        (void)device_tree_number(tree, &node, "capacity-dmips-mhz", dmips);
        if (device_tree_number(tree, &node, "clock-frequency", &hz))
            *mhz = hz / 1000000;
        return;
    }
}

void device_tree_capacities(const struct device_tree *tree, const uint64_t *ids, unsigned n,
                            uint32_t *capacity)
{
    bool all = true, clocks = true;
    uint64_t dmips, mhz;

    for (unsigned i = 0; i < n; i++) {
        read_capacity(tree, ids[i], &dmips, &mhz);
        all = all && dmips >= 1 && dmips <= 0xffff;
        clocks = clocks && mhz >= 1 && mhz <= 0xffff;
    }
    for (unsigned i = 0; i < n; i++) {
        read_capacity(tree, ids[i], &dmips, &mhz);
        capacity[i] = all ? (uint32_t)(dmips * (clocks ? mhz : 1)) : 0;
    }
}

size_t device_tree_cache(const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t level, bytes;

    device_tree_begin(&node);
    while (device_tree_next(tree, &node)) {
        if (device_tree_number(tree, &node, "cache-level", &level) && level == 2 &&
            device_tree_number(tree, &node, "cache-size", &bytes) && bytes <= SIZE_MAX)
            return (size_t)bytes;
    }
    return 0;
}

uint64_t device_tree_timebase(const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t hz;

    if (device_tree_find(tree, &node, "/cpus") &&
        device_tree_number(tree, &node, "timebase-frequency", &hz))
        return hz;
    device_tree_begin(&node);
    while (device_tree_next_type(tree, &node, "cpu"))
        if (device_tree_number(tree, &node, "timebase-frequency", &hz))
            return hz;
    return 0;
}
