/* The number of memory nodes of a machine, by its device tree and by ACPI's SRAT as firmware may
 * write them. */
#include "board/efi/efi_numa.h"

#include <string.h>

#include "tests/unit/board/fakes/acpi_tables.h"
#include "tests/unit/board/fakes/tree_writer.h"
#include "tests/unit/tap.h"

enum { RANGE_BYTES = 40, MOST_RANGES = 80 };

static struct {
    uint8_t srat[48 + MOST_RANGES * RANGE_BYTES + 16];
    size_t bytes;
} t;
static struct writer w;
static struct device_tree tree, none;

static unsigned by_acpi(void)
{
    acpi_add(t.srat, "SRAT", t.bytes);
    return efi_numa_nodes(&none, acpi_close());
}

static void begin_srat(void)
{
    memset(&t, 0, sizeof t);
    t.bytes = 48;
}

static void add_range(uint32_t node, uint64_t size, bool enabled)
{
    uint8_t *entry = t.srat + t.bytes;

    entry[0] = 1;
    entry[1] = RANGE_BYTES;
    acpi_put(entry + 2, node, 4);
    acpi_put(entry + 16, size, 8);
    acpi_put(entry + 28, enabled, 4);
    t.bytes += RANGE_BYTES;
}

static void test_srat(void)
{
    OK(efi_numa_nodes(&none, NULL) == 1, "a machine that says nothing has one node");
    begin_srat();
    OK(by_acpi() == 1, "a table without ranges gives one node");
    add_range(0, 0xa0000, true);
    add_range(0, 1 << 30, true);
    OK(by_acpi() == 1, "two ranges of one node are one node");
    add_range(7, 1 << 30, false);
    add_range(8, 0, true);
    OK(by_acpi() == 1, "a range that is switched off, or an empty one, is not counted");
    add_range(0x10001, (uint64_t)32 << 30, true);
    t.srat[t.bytes + 1] = 16; /* a core's: type 0 */
    t.bytes += 16;
    OK(by_acpi() == 2, "a second node has a number of more than 8 bits");
    begin_srat();
    for (uint32_t i = 0; i < MOST_RANGES; i++)
        add_range(i, 1 << 20, true);
    OK(by_acpi() == 64, "64 nodes are counted at most");
    begin_srat();
    add_range(0, 1 << 20, true);
    add_range(1, 1 << 20, true);
    t.bytes -= 8;
    OK(by_acpi() == 1, "a range that the table ends in is left out");
    t.srat[50]++;
    OK(efi_numa_nodes(&none, acpi.rsdp) == 1, "a table with a wrong sum says nothing");
}

static void add_memory(const char *name, bool numbered, uint32_t node)
{
    begin(&w, name);
    text(&w, "device_type", "memory");
    if (numbered)
        CELLS(&w, "numa-node-id", node);
    end(&w);
}

static unsigned by_tree(bool numbered)
{
    memset(&w, 0, sizeof w);
    begin(&w, "");
    add_memory("memory@40000000", numbered, 0);
    add_memory("memory@60000000", numbered, 0);
    add_memory("memory@80000000", numbered, 3);
    end(&w);
    finish(&w, 0);
    (void)device_tree_open(&tree, w.blob, w.n_blob);
    return efi_numa_nodes(&tree, NULL);
}

int main(void)
{
    test_srat();
    OK(by_tree(true) == 2, "two of three memory nodes share a numa-node-id");
    OK(by_tree(false) == 1, "a tree without numbers gives one node");
    return tap_done();
}
