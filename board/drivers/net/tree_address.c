#include "board/drivers/net/tree_address.h"

enum { ADDRESS_BYTES = 6 };

const uint8_t *tree_address(const struct device_tree *tree, const struct device_tree_node *node)
{
    static const char *const names[] = { "mac-address", "local-mac-address" };

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint32_t bytes = 0;
        const uint8_t *a = device_tree_property(tree, node, names[i], &bytes);
        bool empty = true;

        if (a == NULL || bytes != ADDRESS_BYTES ||
            (a[0] & 1) != 0) /* this bit marks the address of a group */
            continue;
        for (unsigned j = 0; j < ADDRESS_BYTES; j++)
            empty = empty && a[j] == 0;
        if (!empty)
            return a;
    }
    return NULL;
}
