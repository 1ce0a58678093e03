#include "board/efi/efi_numa.h"

#include <stdbool.h>

#include "board/efi/efi_acpi_table.h"

enum {
    MOST_NODES = 64,
    SRAT_ENTRIES = 48, /* 5.2.16 */
    MEMORY = 1,        /* 5.2.16.2: a range of memory */
    MEMORY_NODE = 2,
    MEMORY_SIZE = 16,
    MEMORY_FLAGS = 28, /* bit 0: the range is enabled */
    MEMORY_BYTES = 40
};

struct nodes {
    uint64_t ids[MOST_NODES];
    unsigned n;
};

static void add(struct nodes *nodes, uint64_t id)
{
    for (unsigned i = 0; i < nodes->n; i++)
        if (nodes->ids[i] == id)
            return;
    if (nodes->n < MOST_NODES)
        nodes->ids[nodes->n++] = id;
}

static void read_tree(struct nodes *nodes, const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t id;

    if (tree->blob == NULL)
        return;
    device_tree_begin(&node);
    while (device_tree_next_type(tree, &node, "memory"))
        if (device_tree_number(tree, &node, "numa-node-id", &id))
            add(nodes, id);
}

static void read_srat(struct nodes *nodes, const uint8_t *srat, size_t bytes)
{
    size_t at = SRAT_ENTRIES;

    while (at + 2 <= bytes && srat[at + 1] >= 2 && at + srat[at + 1] <= bytes) {
        const uint8_t *entry = srat + at;

        if (entry[0] == MEMORY && entry[1] >= MEMORY_BYTES && (entry[MEMORY_FLAGS] & 1) != 0 &&
            efi_acpi_field(entry + MEMORY_SIZE, 8) != 0)
            add(nodes, efi_acpi_field(entry + MEMORY_NODE, 4));
        at += entry[1];
    }
}

unsigned efi_numa_nodes(const struct device_tree *tree, const void *rsdp)
{
    struct nodes nodes = { .n = 0 };
    size_t bytes = 0;
    const uint8_t *srat;

    read_tree(&nodes, tree);
    srat = nodes.n == 0 ? efi_acpi_find(efi_acpi_list(rsdp), "SRAT", &bytes) : NULL;
    if (srat != NULL)
        read_srat(&nodes, srat, bytes);
    return nodes.n != 0 ? nodes.n : 1;
}
