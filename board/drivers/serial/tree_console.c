#include "board/drivers/serial/tree_console.h"

#include "board/isa.h"

uintptr_t tree_console_map(const struct device_tree *tree, const char *kind, uintptr_t address,
                           size_t bytes, struct device_tree_node *node)
{
    uint64_t base = address;
    uint32_t baud;

    if (tree->blob == NULL || !device_tree_console(tree, node, &baud) ||
        !device_tree_lists(tree, node, "compatible", kind) ||
        !device_tree_reg(tree, node, 0, &base, NULL))
        device_tree_begin(node); /* which has no properties */
    if (mmu_map((uintptr_t)base, bytes, MAP_DEVICE) != ERR_OK)
        return 0;
    return (uintptr_t)base;
}
