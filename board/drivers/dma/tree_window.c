#include "board/drivers/dma/tree_window.h"

#include <string.h>

enum { PATH_BYTES = 32, MAX_CELLS = 4 /* Devicetree 2.3.5 */ };

static bool find_bus(const struct device_tree *tree, struct device_tree_node *bus, const char *name)
{
    const char *path = NULL;
    char at_root[PATH_BYTES] = "/";

    if (device_tree_find(tree, bus, "/aliases"))
        path = device_tree_string(tree, bus, name);
    if (path == NULL && strlen(name) < sizeof at_root - 1)
        path = strcat(at_root, name);
    return path != NULL && device_tree_find(tree, bus, path);
}

/* Take a number of `cells` cells; clear *fits if it has more than 64 bits. */
static uint64_t take_cells(const uint8_t **at, uint32_t cells, bool *fits)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < 4 * cells; i++) {
        *fits = *fits && value >> 56 == 0;
        value = value << 8 | *(*at)++;
    }
    return value;
}

/* A row has the bus address, our address, and the size. If the property is empty, the bus uses our
 * addresses. */
static struct dma_window read_ranges(const struct device_tree_node *bus, const uint8_t *ranges,
                                     uint32_t bytes)
{
    uint32_t child = bus->level[bus->depth].address_cells;
    uint32_t size = bus->level[bus->depth].size_cells;
    uint32_t parent = bus->level[bus->depth - 1].address_cells, row = 4 * (child + parent + size);
    struct dma_window window = { 0, 0, false };

    if (child > MAX_CELLS || parent > MAX_CELLS || size > MAX_CELLS || row == 0)
        return window;
    if (bytes == 0)
        window.end = UINT64_MAX;
    for (; bytes >= row; bytes -= row) {
        bool fits = true;
        uint64_t theirs = take_cells(&ranges, child, &fits);
        uint64_t ours = take_cells(&ranges, parent, &fits);
        uint64_t span = take_cells(&ranges, size, &fits);

        /* Only a row that starts with memory's first byte counts, because buffers may be anywhere
         * after it. */
        if (fits && ours == 0 && span > window.end)
            window = (struct dma_window){ theirs, span, false };
    }
    return window;
}

struct dma_window tree_window(const struct device_tree *tree, const char *name, bool coherent)
{
    struct dma_window window = { 0, 0, coherent };
    struct device_tree_node bus;
    const uint8_t *ranges;
    uint32_t bytes;

    if (tree->blob == NULL || !find_bus(tree, &bus, name) || bus.depth < 1)
        return window;
    ranges = device_tree_property(tree, &bus, "dma-ranges", &bytes);
    if (ranges != NULL)
        window = read_ranges(&bus, ranges, bytes);
    window.coherent = coherent;
    return window;
}
