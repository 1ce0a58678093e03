/* The PHY of a network controller in a device tree. */
#ifndef INGOT_BOARD_DRIVERS_NET_TREE_PHY_H
#define INGOT_BOARD_DRIVERS_NET_TREE_PHY_H

#include "board/device_tree.h"

enum tree_phy {
    TREE_PHY_NONE,      /* the controller has no phy-handle */
    TREE_PHY_BELOW,     /* the phy-handle names *phy, which is below this controller */
    TREE_PHY_ELSEWHERE, /* the phy-handle names a node on another controller's bus */
};

enum tree_phy tree_phy(const struct device_tree *tree, const struct device_tree_node *node,
                       struct device_tree_node *phy);

/* Find the first node below the controller `node` whose name begins with "ethernet-phy": StarFive's
 * trees describe a PHY there without a handle. Returns true with the node in *phy; false if there
 * is none, with *phy past the controller. */
bool tree_phy_first(const struct device_tree *tree, const struct device_tree_node *node,
                    struct device_tree_node *phy);

#endif
