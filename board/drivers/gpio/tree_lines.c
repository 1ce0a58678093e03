#include "board/drivers/gpio/tree_lines.h"

#include "board/drivers/gpio/pl061.h"
#include "board/isa.h"

uintptr_t tree_lines_find(const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t base;

    device_tree_begin(&node);
    if (tree == NULL || tree->blob == NULL ||
        !device_tree_next_compatible(tree, &node, "arm,pl061") ||
        !device_tree_reg(tree, &node, 0, &base, NULL) ||
        mmu_map((uintptr_t)base, PL061_BYTES, MAP_DEVICE) != ERR_OK)
        return 0;
    return (uintptr_t)base;
}
