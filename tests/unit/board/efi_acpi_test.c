/* Cores from ACPI: the tables of a machine as its firmware may write them, and broken ones. */
#include "board/efi/arm64/efi_acpi.h"

#include <string.h>

#include "board/left_out.h"
#include "tests/unit/board/fakes/acpi_tables.h"
#include "tests/unit/tap.h"

enum { GICC_BYTES = 80, MOST = 20, PPTT_MOST = 1024 };

static struct {
    uint8_t fadt[276], madt[44 + MOST * GICC_BYTES + 8], other[36], pptt[PPTT_MOST];
    size_t madt_bytes, pptt_bytes; /* pptt_bytes 0: there is no such table */
} t;
static struct efi_acpi_cores cores;

static void close_all(void)
{
    acpi_add(t.other, "SPCR", sizeof t.other);
    acpi_add(t.fadt, "FACP", sizeof t.fadt);
    acpi_add(t.madt, "APIC", t.madt_bytes);
    if (t.pptt_bytes != 0)
        acpi_add(t.pptt, "PPTT", t.pptt_bytes);
    (void)acpi_close();
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

    acpi_put(entry + 8, id >> 8, 4); /* its number in other tables */
    acpi_put(entry + 12, enabled, 4);
    acpi_put(entry + 68, id, 8);
    add_entry(11, GICC_BYTES);
}

/* Describes PSCI by HVC, a distributor, and the cores 0, 0x100 (which is off), 0x200 and 0x300. */
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
    return efi_acpi_read_cores(acpi.rsdp, self, &cores);
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
       "cores that are enabled are found, and started by HVC");
    OK(read_cores(0x300) == NULL && cores.n == 3 && cores.ids[0] == 0x300 && cores.ids[1] == 0 &&
           cores.ids[2] == 0x200,
       "the core that asks is the first");
    t.fadt[129] = 1;
    close_all();
    OK(read_cores(0) == NULL && !cores.hvc, "PSCI is called by SMC");
    while (t.madt_bytes + GICC_BYTES <= sizeof t.madt)
        add_core(0x1000 + t.madt_bytes, true);
    close_all();
    OK(read_cores(7) == NULL && cores.n == BOARD_MAX_CORES && cores.ids[0] == 7,
       "Ingot takes the first cores of too many: %u of them", cores.n);
    OK(left_out_number(LEFT_OUT_CORES) == 3 + (MOST - 4) + 1 - BOARD_MAX_CORES,
       "the cores that are left out are counted: %u", left_out_number(LEFT_OUT_CORES));
}

/* Describes two fast cores and two that save power, of ACPI 6.0; older tables lack that byte. */
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
       "a core of a higher class counts as faster: %u, %u and %u", capacity[0], capacity[1],
       capacity[2]);
    t.madt[44 + 8 + 1] = 76; /* an entry of ACPI 5.1, whose next byte is another entry's */
    t.madt_bytes = 44 + 8 + 76;
    close_all();
    (void)read_cores(0);
    OK(cores.n == 1 && cores.strength[0] == 0, "an entry that is too short has no class");
}

/* ---- caches: the PPTT ------------------------------------------------------------------------- */

/* Returns the byte of the table at which the structure begins. */
static uint32_t add_structure(uint8_t type, uint8_t bytes)
{
    uint32_t at = (uint32_t)t.pptt_bytes;

    t.pptt[at] = type;
    t.pptt[at + 1] = bytes;
    t.pptt_bytes += bytes;
    return at;
}

static uint32_t add_cache(uint32_t kib, uint32_t next)
{
    uint32_t at = add_structure(1, 24);

    acpi_put(t.pptt + at + 4, kib != 0, 4);
    acpi_put(t.pptt + at + 8, next, 4);
    acpi_put(t.pptt + at + 12, kib * 1024, 4);
    return at;
}

/* Adds a node that owns one cache or two. flags 10: a core. */
static uint32_t add_node(uint32_t flags, uint32_t parent, uint32_t uid, uint32_t one, uint32_t two)
{
    unsigned n = two != 0 ? 2 : 1;
    uint32_t at = add_structure(0, (uint8_t)(20 + 4 * n));

    acpi_put(t.pptt + at + 4, flags, 4);
    acpi_put(t.pptt + at + 8, parent, 4);
    acpi_put(t.pptt + at + 12, uid, 4);
    acpi_put(t.pptt + at + 16, n, 4);
    acpi_put(t.pptt + at + 20, one, 4);
    if (n == 2)
        acpi_put(t.pptt + at + 24, two, 4);
    return at;
}

/* As on a chip with small and large cores: of the cores 0, 2 and 3, which power_up switches on, each has the first two levels for
 * itself, and all have one of 3 MiB; core 1 is off. small, large: KiB of the second level. */
static void add_caches(uint32_t small, uint32_t large)
{
    uint32_t package;

    t.pptt_bytes = 36;
    package = add_node(1, 0, 0, add_cache(3072, 0), 0);
    for (uint32_t uid = 0; uid < 4; uid++) {
        uint32_t second = add_cache(uid < 3 ? small : large, 0);

        (void)add_node(10, package, uid, add_cache(32, second), add_cache(32, 0));
    }
}

static bool guesses(uint32_t first, uint32_t second, uint32_t third)
{
    uint32_t capacity[BOARD_MAX_CORES];

    close_all();
    (void)read_cores(0);
    efi_acpi_capacities(&cores, capacity);
    return cores.n == 3 && capacity[0] == first && capacity[1] == second && capacity[2] == third;
}

static void test_caches(void)
{
    uint32_t cluster;

    power_up();
    add_caches(128, 512);
    OK(guesses(512, 512, 1024) && cores.strength[0] == 3072 + 64 + 128,
       "among cores of one class, larger caches count as faster: %u KiB and %u", cores.strength[0],
       cores.strength[2]);
    t.madt[44 + 8 + 76] = 1; /* core 0's class */
    OK(guesses(1024, 512, 512), "classes that differ come before caches");
    power_up();
    add_caches(256, 256);
    OK(guesses(0, 0, 0), "cores with equal caches are alike");
    power_up();
    t.pptt_bytes = 36;
    cluster = add_node(0, 0, 0, add_cache(512, 0), 0);
    (void)add_node(10, cluster, 0, add_cache(32, 0), 0);
    (void)add_node(10, cluster, 2, add_cache(32, 0), 0);
    cluster = add_node(0, 0, 0, add_cache(1024, 0), 0);
    (void)add_node(10, cluster, 3, add_cache(32, 0), 0);
    OK(guesses(512, 512, 1024), "a second level that a cluster owns counts for each of its cores");
    t.pptt[t.pptt_bytes - 24 + 12] = 9; /* core 3 has another number */
    OK(guesses(0, 0, 0), "a table that leaves a core out says nothing");
}

static void test_broken_caches(void)
{
    uint32_t ring;

    power_up();
    t.pptt_bytes = 36;
    for (uint32_t uid = 0; uid < 4; uid++)
        (void)add_node(10, 0, uid, add_cache(0, 0), 0);
    OK(guesses(0, 0, 0), "caches without a size are skipped");
    power_up();
    t.pptt_bytes = 36;
    ring = add_cache(32, 36);
    for (uint32_t uid = 0; uid < 4; uid++)
        (void)add_node(10, (uint32_t)t.pptt_bytes, uid, ring, 0);
    OK(guesses(0, 0, 0), "caches in a circle, and nodes that are their own parents, are ignored");
    power_up();
    add_caches(128, 512);
    acpi_put(t.pptt + 36 + 8, 0x7fffffff, 4);  /* the level after the last one */
    acpi_put(t.pptt + 60 + 8, 0xfffffff0, 4);  /* the package's parent */
    acpi_put(t.pptt + 60 + 16, 0xffffffff, 4); /* it owns more than the table has room for */
    OK(guesses(512, 512, 1024), "bytes after the table's end are not read");
    t.pptt_bytes -= 30;
    OK(guesses(0, 0, 0), "a table that ends within a core is ignored");
    t.pptt[36 + 1] = 0;
    OK(guesses(0, 0, 0), "a structure without a length ends the table");
}

static void test_broken(void)
{
    power_up();
    OK(efi_acpi_read_cores(NULL, 5, &cores) != NULL && cores.n == 1 && cores.ids[0] == 5,
       "without ACPI the first core is known");
    acpi.rsdp[8]++;
    OK(refused("RSDP"), "a first table with a wrong sum is refused");
    power_up();
    acpi.rsdp[15] = 0;
    acpi_close_sum(acpi.rsdp, sizeof acpi.rsdp, 32);
    OK(refused("RSDP"), "ACPI 1.0, which has no XSDT, is refused");
    power_up();
    acpi_put(acpi.rsdp + 24, 0, 8);
    acpi_close_sum(acpi.rsdp, sizeof acpi.rsdp, 32);
    OK(refused("RSDP"), "a root without an XSDT is refused");
    power_up();
    t.madt[60]++;
    OK(refused("MADT"), "a table of cores with a wrong sum is refused");
    power_up();
    acpi_put(t.madt + 4, 1u << 30, 4);
    OK(refused("MADT"), "a table that claims a gigabyte is not summed");
    power_up();
    t.fadt[129] = 0;
    close_all();
    OK(refused("PSCI"), "a machine without PSCI is refused");
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
    test_caches();
    test_broken_caches();
    test_broken();
    return tap_done();
}
