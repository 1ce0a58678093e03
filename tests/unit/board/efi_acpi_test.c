/* Cores by ACPI: the tables of a machine as its firmware may write them, and broken ones. */
#include "board/efi/arm64/efi_acpi.h"

#include <string.h>

#include "board/left_out.h"
#include "tests/unit/tap.h"

enum { GICC_BYTES = 80, MOST = 20 };

static struct {
    uint8_t rsdp[36], xsdt[36 + 3 * 8], fadt[276], madt[44 + MOST * GICC_BYTES + 8], other[36];
    size_t madt_bytes;
} t;
static struct efi_acpi_cores cores;

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* The byte at `where` makes the sum 0. */
static void close_sum(uint8_t *table, size_t bytes, size_t where)
{
    uint8_t sum = 0;

    table[where] = 0;
    for (size_t i = 0; i < bytes; i++)
        sum = (uint8_t)(sum + table[i]);
    table[where] = (uint8_t)-sum;
}

static void head(uint8_t *table, const char *signature, size_t bytes)
{
    memcpy(table, signature, 4);
    put(table + 4, bytes, 4);
    close_sum(table, bytes, 9);
}

static void close_all(void)
{
    head(t.other, "SPCR", sizeof t.other);
    head(t.fadt, "FACP", sizeof t.fadt);
    head(t.madt, "APIC", t.madt_bytes);
    put(t.xsdt + 36, (uintptr_t)t.other, 8);
    put(t.xsdt + 44, (uintptr_t)t.fadt, 8);
    put(t.xsdt + 52, (uintptr_t)t.madt, 8);
    head(t.xsdt, "XSDT", sizeof t.xsdt);
    memcpy(t.rsdp, "RSD PTR ", 8);
    t.rsdp[15] = 2;
    put(t.rsdp + 24, (uintptr_t)t.xsdt, 8);
    close_sum(t.rsdp, sizeof t.rsdp, 32);
}

static void add_entry(uint8_t type, uint8_t bytes)
{
    t.madt[t.madt_bytes] = type;
    t.madt[t.madt_bytes + 1] = bytes;
    t.madt_bytes += bytes;
}

static void add_core(uint64_t id, bool enabled)
{
    uint8_t *entry = t.madt + t.madt_bytes;

    put(entry + 12, enabled, 4);
    put(entry + 68, id, 8);
    add_entry(11, GICC_BYTES);
}

/* PSCI by HVC; a distributor, then cores 0, 0x100 and 0x200, of which the second is off, and 0x300. */
static void power_up(void)
{
    memset(&t, 0, sizeof t);
    t.madt_bytes = 44;
    t.fadt[129] = 3;
    add_entry(12, 8);
    add_core(0, true);
    add_core(0x100, false);
    add_core(0x200, true);
    add_core(0x300, true);
    close_all();
}

static const char *read_cores(uint64_t self)
{
    return efi_acpi_read_cores(t.rsdp, self, &cores);
}

static bool refused(const char *part)
{
    const char *why = read_cores(0);

    return why != NULL && strstr(why, part) != NULL && cores.n == 1 && cores.ids[0] == 0;
}

static void test_cores(void)
{
    power_up();
    OK(read_cores(0) == NULL && cores.hvc && cores.n == 3 && cores.ids[1] == 0x200 &&
           cores.ids[2] == 0x300,
       "cores that are enabled, by HVC");
    OK(read_cores(0x300) == NULL && cores.n == 3 && cores.ids[0] == 0x300 && cores.ids[1] == 0 &&
           cores.ids[2] == 0x200,
       "the core that asks is the first");
    t.fadt[129] = 1;
    close_all();
    OK(read_cores(0) == NULL && !cores.hvc, "by SMC");
    while (t.madt_bytes + GICC_BYTES <= sizeof t.madt)
        add_core(0x1000 + t.madt_bytes, true);
    close_all();
    OK(read_cores(7) == NULL && cores.n == BOARD_MAX_CORES && cores.ids[0] == 7,
       "more cores than Ingot takes: %u of them", cores.n);
    OK(left_out_number(LEFT_OUT_CORES) == 3 + (MOST - 4) + 1 - BOARD_MAX_CORES,
       "those that are left out are counted: %u", left_out_number(LEFT_OUT_CORES));
}

/* Two fast cores and two that save power, of ACPI 6.0; older tables have no such byte. */
static void test_classes(void)
{
    uint32_t capacity[BOARD_MAX_CORES];

    power_up();
    (void)read_cores(0x200);
    efi_acpi_capacities(&cores, capacity);
    OK(capacity[0] == 0 && capacity[1] == 0 && capacity[2] == 0, "cores of one class are alike");
    t.madt[44 + 8 + 76] = 1;                  /* core 0 */
    t.madt[44 + 8 + 2 * GICC_BYTES + 76] = 3; /* core 0x200 */
    t.madt[44 + 8 + 3 * GICC_BYTES + 76] = 2; /* core 0x300 */
    close_all();
    (void)read_cores(0x200);
    efi_acpi_capacities(&cores, capacity);
    OK(cores.n == 3 && capacity[0] == 1024 && capacity[1] == 512 && capacity[2] == 768,
       "a core of a higher class counts as faster, the one that asks too: %u, %u and %u",
       capacity[0], capacity[1], capacity[2]);
    t.madt[44 + 8 + 1] = 76; /* an entry of ACPI 5.1, whose next byte is another entry's */
    t.madt_bytes = 44 + 8 + 76;
    close_all();
    (void)read_cores(0);
    OK(cores.n == 1 && cores.classes[0] == 0, "an entry that is too short has no class");
}

static void test_broken(void)
{
    power_up();
    OK(efi_acpi_read_cores(NULL, 5, &cores) != NULL && cores.n == 1 && cores.ids[0] == 5,
       "no ACPI at all");
    t.rsdp[8]++;
    OK(refused("RSDP"), "a first table with a wrong sum");
    power_up();
    t.rsdp[15] = 0;
    close_sum(t.rsdp, sizeof t.rsdp, 32);
    OK(refused("RSDP"), "ACPI 1.0, without an XSDT");
    power_up();
    put(t.rsdp + 24, 0, 8);
    close_sum(t.rsdp, sizeof t.rsdp, 32);
    OK(refused("RSDP"), "no XSDT");
    power_up();
    t.madt[60]++;
    OK(refused("MADT"), "a table of cores with a wrong sum");
    power_up();
    put(t.madt + 4, 1u << 30, 4);
    OK(refused("MADT"), "a table that claims a gigabyte is not summed");
    power_up();
    t.fadt[129] = 0;
    close_all();
    OK(refused("PSCI"), "no PSCI");
    power_up();
    t.madt[45] = 0; /* the first entry's length */
    close_all();
    OK(read_cores(0) == NULL && cores.n == 1, "an entry without a length ends the table");
    power_up();
    t.madt_bytes -= 8;
    close_all();
    OK(read_cores(0) == NULL && cores.n == 2, "an entry that the table ends in is left out");
}

int main(void)
{
    test_cores();
    test_classes();
    test_broken();
    return tap_done();
}
