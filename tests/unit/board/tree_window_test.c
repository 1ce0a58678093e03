/* The RAM that EMMC2 sees, from trees as the firmware of a Pi 4 leaves them for each stepping, and
 * from trees without that information. */
#include "board/drivers/dma/tree_window.h"

#include "tests/unit/board/fakes/tree_writer.h"
#include "tests/unit/tap.h"

static struct writer w;
static struct device_tree tree;

/* Cells of the root's addresses and of the bus's; both sizes have one and two as it is there. */
static void begin_tree(uint32_t root_cells)
{
    memset(&w, 0, sizeof w);
    begin(&w, "");
    CELLS(&w, "#address-cells", root_cells);
    CELLS(&w, "#size-cells", 1);
}

static struct dma_window window_of(void)
{
    end(&w);
    finish(&w, 0);
    if (device_tree_open(&tree, w.blob, w.n_blob) != ERR_OK)
        return (struct dma_window){ 1, 1, true };
    return tree_window(&tree, "emmc2bus", false);
}

static void begin_bus(const char *name)
{
    begin(&w, name);
    CELLS(&w, "#address-cells", 2);
    CELLS(&w, "#size-cells", 1);
}

static bool is(struct dma_window window, uint64_t offset, uint64_t end)
{
    return window.offset == offset && window.end == end && !window.coherent;
}

static void test_steppings(void)
{
    begin_tree(2);
    begin_bus("emmc2bus");
    CELLS(&w, "dma-ranges", 0, 0xc0000000, 0, 0, 0x40000000);
    end(&w);
    OK(is(window_of(), 0xc0000000, 0x40000000), "B0 sees 1 GiB at 0xc0000000");
    begin_tree(2);
    begin_bus("emmc2bus");
    CELLS(&w, "dma-ranges", 0, 0, 0, 0, 0xfc000000);
    end(&w);
    OK(is(window_of(), 0, 0xfc000000), "C0 sees all memory below the peripherals");
    begin_tree(2);
    begin(&w, "aliases");
    text(&w, "emmc2bus", "/emmc2-bus@fe000000");
    end(&w);
    begin_bus("emmc2-bus@fe000000");
    CELLS(&w, "dma-ranges", 0, 0, 0, 0, 0xfc000000);
    end(&w);
    OK(is(window_of(), 0, 0xfc000000), "a bus of another name is found by its alias");
    begin_tree(1);
    begin_bus("emmc2bus");
    CELLS(&w, "dma-ranges", 0, 0xc0000000, 0, 0x40000000);
    end(&w);
    OK(is(window_of(), 0xc0000000, 0x40000000), "a root may have addresses of one cell");
}

static void test_rows(void)
{
    begin_tree(2);
    begin_bus("emmc2bus");
    CELLS(&w, "dma-ranges", 4, 0, 0, 0x80000000, 0x10000000, 0, 0xc0000000, 0, 0, 0x40000000);
    end(&w);
    OK(is(window_of(), 0xc0000000, 0x40000000), "the row with our address 0 is taken of two");
    begin_tree(2);
    begin_bus("emmc2bus");
    CELLS(&w, "dma-ranges", 0, 0, 0, 0x80000000, 0x40000000);
    end(&w);
    OK(is(window_of(), 0, 0), "there is no window without a row for our address 0");
    begin_tree(2);
    begin_bus("emmc2bus");
    property(&w, "dma-ranges", "", 0);
    end(&w);
    OK(is(window_of(), 0, UINT64_MAX), "a bus with an empty property sees what we see");
    begin_tree(2);
    begin_bus("emmc2bus");
    CELLS(&w, "dma-ranges", 0, 0, 0, 0);
    end(&w);
    OK(is(window_of(), 0, 0), "half a row makes no window");
}

/* Numbers of up to four cells (Devicetree 2.3.5), as a bus of PCI has three for its addresses. */
static void test_cells(void)
{
    begin_tree(2);
    begin(&w, "emmc2bus");
    CELLS(&w, "#address-cells", 3);
    CELLS(&w, "#size-cells", 2);
    CELLS(&w, "dma-ranges", 0x43000000, 0, 0, 0, 0, 1, 0, 0, 0, 0xc0000000, 0, 0, 0, 0x40000000);
    end(&w);
    OK(is(window_of(), 0xc0000000, 0x40000000), "addresses of three cells have 64 bits");
    begin_tree(4);
    begin(&w, "emmc2bus");
    CELLS(&w, "#address-cells", 4);
    CELLS(&w, "#size-cells", 4);
    CELLS(&w, "dma-ranges", 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 2, 0);
    end(&w);
    OK(is(window_of(), (uint64_t)4 << 32, (uint64_t)2 << 32), "numbers of four cells are read");
    begin_tree(2);
    begin(&w, "emmc2bus");
    CELLS(&w, "#address-cells", 5);
    CELLS(&w, "#size-cells", 1);
    CELLS(&w, "dma-ranges", 0, 0, 0, 0, 0, 0, 0, 0x40000000);
    end(&w);
    OK(is(window_of(), 0, 0), "a number of five cells is left alone");
}

static void test_silence(void)
{
    begin_tree(2);
    begin_bus("emmc2bus");
    end(&w);
    OK(is(window_of(), 0, 0), "without dma-ranges there is no window");
    begin_tree(2);
    OK(is(window_of(), 0, 0), "there is no window without such a bus");
    begin_tree(2);
    begin(&w, "aliases");
    text(&w, "emmc2bus", "/nowhere");
    end(&w);
    OK(is(window_of(), 0, 0), "an alias that leads nowhere makes no window");
    memset(&tree, 0, sizeof tree);
    OK(tree_window(&tree, "emmc2bus", true).end == 0, "there is no window without a tree");
}

int main(void)
{
    test_steppings();
    test_rows();
    test_cells();
    test_silence();
    return tap_done();
}
