/* Any bytes as a device tree: open refuses them, or every question is answered within bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "board/device_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_node(const struct device_tree *tree, const struct device_tree_node *node)
{
    uint64_t base, bytes, number;

    for (unsigned i = 0; i < 8; i++)
        (void)device_tree_reg(tree, node, i, &base, &bytes);
    (void)device_tree_number(tree, node, "reg", &number);
    (void)device_tree_string(tree, node, "status");
    (void)device_tree_lists(tree, node, "compatible", "arm,pl011");
    (void)device_tree_available(tree, node);
}

static void ask(const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t base, bytes, ids[8];
    uint32_t baud;

    device_tree_begin(&node);
    while (device_tree_next(tree, &node))
        ask_node(tree, &node);
    (void)device_tree_next(tree, &node); /* once more after the end */
    for (unsigned i = 0; device_tree_reservation(tree, i, &base, &bytes); i++)
        continue;
    (void)strlen(device_tree_bootargs(tree));
    (void)device_tree_initrd(tree, &base, &bytes);
    (void)device_tree_console(tree, &node, &baud);
    if (device_tree_cpus(tree, 3, ids, 8) > 8)
        abort();
    (void)device_tree_timebase(tree);
    (void)device_tree_find(tree, &node, "/soc/serial@0");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct device_tree tree, copied;
    size_t exact = size > 0 ? size : 1; /* so that ASan sees a step too far */
    uint8_t *blob = malloc(exact), *copy = malloc(exact);

    if (blob == NULL || copy == NULL)
        abort();
    memcpy(blob, data, size);
    if (device_tree_open(&tree, blob, size) == ERR_OK) {
        ask(&tree);
        if (device_tree_copy(&tree, copy, size) != ERR_OK ||
            device_tree_open(&copied, copy, size) != ERR_OK)
            abort();
        ask(&copied);
    }
    free(blob);
    free(copy);
    return 0;
}
