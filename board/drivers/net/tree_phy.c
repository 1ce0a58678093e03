#include "board/drivers/net/tree_phy.h"

#include <string.h>

enum tree_phy tree_phy(const struct device_tree *tree, const struct device_tree_node *node,
                       struct device_tree_node *phy)
{
    uint64_t wanted, handle;

    *phy = *node;
    if (!device_tree_number(tree, node, "phy-handle", &wanted))
        return TREE_PHY_NONE;
    while (device_tree_next(tree, phy) && phy->depth > node->depth) {
        if (device_tree_number(tree, phy, "phandle", &handle) && handle == wanted)
            return TREE_PHY_BELOW;
    }
    return TREE_PHY_ELSEWHERE;
}

bool tree_phy_first(const struct device_tree *tree, const struct device_tree_node *node,
                    struct device_tree_node *phy)
{
    static const char name[] = "ethernet-phy";

    *phy = *node;
    while (device_tree_next(tree, phy) && phy->depth > node->depth) {
        if (strncmp(phy->name, name, sizeof name - 1) == 0)
            return true;
    }
    return false;
}
