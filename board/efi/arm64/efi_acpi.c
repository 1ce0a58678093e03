#include "board/efi/arm64/efi_acpi.h"

#include <string.h>

#include "board/efi/efi_acpi_table.h"
#include "board/left_out.h"
#include "board/min_max.h"

enum {
    FADT_ARM_BOOT = 129, /* 5.2.9.4: bit 0: there is PSCI; bit 1: it is called by HVC */
    MADT_ENTRIES = 44,   /* 5.2.12 */
    GICC = 11,           /* 5.2.12.14: a core */
    GICC_UID = 8,
    GICC_FLAGS = 12, /* bit 0: the core is enabled */
    GICC_MPIDR = 68,
    GICC_BYTES = 76,
    GICC_CLASS = 76, /* efficiency class, since ACPI 6.0: a core of a higher class is faster */
    GICC_CLASS_BYTES = 80,
    PPTT_NODE = 0, /* 5.2.29.1: a core, or a group of cores with common parts */
    PPTT_FLAGS = 4,
    PPTT_HAS_UID = 1 << 1,
    PPTT_IS_LEAF = 1 << 3,
    PPTT_PARENT = 8, /* offset of the parent in the table; 0 if there is none */
    PPTT_UID = 12,
    PPTT_N_OWNED = 16, /* number of the node's own caches; their offsets in the table follow */
    PPTT_OWNED = 20,
    PPTT_CACHE = 1, /* 5.2.29.2 */
    PPTT_NEXT = 8,  /* offset of the next level's cache; 0 if there is none, or if a node lists
                       that cache among its own */
    PPTT_SIZE = 12,
    PPTT_HAS_SIZE = 1, /* a bit of the cache's flags */
    PPTT_CACHE_BYTES = 24,
    PPTT_MOST_LEVELS = 8, /* longest path; a longer one is a loop */
    KIB = 1024
};

/* Add a core. The calling core is always first, wherever it is in the table. */
static void add_core(struct efi_acpi_cores *cores, const uint8_t *gicc)
{
    uint64_t id = efi_acpi_field(gicc + GICC_MPIDR, 8);
    unsigned i = id == cores->ids[0] ? 0 : cores->n;

    if (i == BOARD_MAX_CORES) {
        left_out_note(LEFT_OUT_CORES, 1, 0);
        return;
    }
    cores->n += i != 0;
    cores->ids[i] = id;
    cores->uids[i] = (uint32_t)efi_acpi_field(gicc + GICC_UID, 4);
    cores->strength[i] = gicc[1] >= GICC_CLASS_BYTES ? gicc[GICC_CLASS] : 0;
}

static void read_madt(struct efi_acpi_cores *cores, const uint8_t *madt, size_t bytes)
{
    size_t at = MADT_ENTRIES;

    while (at + 2 <= bytes && madt[at + 1] >= 2 && at + madt[at + 1] <= bytes) {
        const uint8_t *entry = madt + at;

        if (entry[0] == GICC && entry[1] >= GICC_BYTES && (entry[GICC_FLAGS] & 1) != 0)
            add_core(cores, entry);
        at += entry[1];
    }
}

static bool are_equal(const struct efi_acpi_cores *cores)
{
    for (unsigned i = 1; i < cores->n; i++)
        if (cores->strength[i] != cores->strength[0])
            return false;
    return true;
}

/* ---- caches ----------------------------------------------------------------------------------- */

struct pptt {
    const uint8_t *table;
    size_t bytes;
};

/* Find the structure of this type at that offset in the table; NULL if there is none. */
static const uint8_t *pptt_at(const struct pptt *p, uint64_t at, uint8_t type, uint8_t least)
{
    const uint8_t *s = p->table + at;

    if (at < EFI_ACPI_HEADER_BYTES || at + 2 > p->bytes || s[0] != type || s[1] < least ||
        at + s[1] > p->bytes)
        return NULL;
    return s;
}

static const uint8_t *find_leaf(const struct pptt *p, uint32_t uid)
{
    const uint32_t leaf = PPTT_HAS_UID | PPTT_IS_LEAF;
    size_t at = EFI_ACPI_HEADER_BYTES;

    while (at + 2 <= p->bytes && p->table[at + 1] >= 2) {
        const uint8_t *s = pptt_at(p, at, PPTT_NODE, PPTT_OWNED);

        if (s != NULL && (efi_acpi_field(s + PPTT_FLAGS, 4) & leaf) == leaf &&
            efi_acpi_field(s + PPTT_UID, 4) == uid)
            return s;
        at += p->table[at + 1];
    }
    return NULL;
}

/* Return the KiB of the cache at that offset and of all caches at its next levels. */
static uint32_t cache_kib(const struct pptt *p, uint64_t at)
{
    uint32_t kib = 0;
    const uint8_t *s;

    for (unsigned level = 0; level < PPTT_MOST_LEVELS; level++) {
        s = pptt_at(p, at, PPTT_CACHE, PPTT_CACHE_BYTES);
        if (s == NULL)
            break;
        if ((efi_acpi_field(s + PPTT_FLAGS, 4) & PPTT_HAS_SIZE) != 0)
            kib += (uint32_t)(efi_acpi_field(s + PPTT_SIZE, 4) / KIB);
        at = efi_acpi_field(s + PPTT_NEXT, 4);
    }
    return kib;
}

/* Return the KiB of the caches that the node owns, each with the caches that follow it at the next
 * levels. */
static uint32_t owned_kib(const struct pptt *p, const uint8_t *node)
{
    uint64_t n = min_u64(efi_acpi_field(node + PPTT_N_OWNED, 4), (node[1] - PPTT_OWNED) / 4u);
    uint32_t kib = 0;

    for (uint64_t i = 0; i < n; i++)
        kib += cache_kib(p, efi_acpi_field(node + PPTT_OWNED + 4 * i, 4));
    return kib;
}

/* Return the KiB of a core's caches, including those of its cluster and above. Fast cores have
 * larger caches than cores that save power. */
static uint32_t core_kib(const struct pptt *p, uint32_t uid)
{
    const uint8_t *node = find_leaf(p, uid);
    uint32_t kib = 0;

    for (unsigned level = 0; level < PPTT_MOST_LEVELS && node != NULL; level++) {
        kib += owned_kib(p, node);
        node = pptt_at(p, efi_acpi_field(node + PPTT_PARENT, 4), PPTT_NODE, PPTT_OWNED);
    }
    return kib;
}

/* Read strengths from the PPTT. If the PPTT lacks a core, all strengths are 0. */
static void read_pptt(struct efi_acpi_cores *cores, const uint8_t *list)
{
    struct pptt p = { .bytes = 0 };
    bool all = true;

    p.table = efi_acpi_find(list, "PPTT", &p.bytes);
    for (unsigned i = 0; i < cores->n; i++) {
        cores->strength[i] = p.table != NULL ? core_kib(&p, cores->uids[i]) : 0;
        all = all && cores->strength[i] != 0;
    }
    if (!all)
        memset(cores->strength, 0, sizeof cores->strength);
}

/* ----------------------------------------------------------------------------------------------- */

const char *efi_acpi_read_cores(const void *rsdp, uint64_t self, struct efi_acpi_cores *cores)
{
    const uint8_t *list = efi_acpi_list(rsdp), *fadt, *madt;
    size_t fadt_bytes, madt_bytes;

    *cores = (struct efi_acpi_cores){ .n = 1, .ids = { self } };
    if (rsdp == NULL)
        return "the firmware has neither a device tree nor ACPI";
    if (list == NULL)
        return "ACPI's first table (RSDP) is broken";
    fadt = efi_acpi_find(list, "FACP", &fadt_bytes);
    madt = efi_acpi_find(list, "APIC", &madt_bytes);
    if (fadt == NULL || madt == NULL)
        return "ACPI lacks the table of the machine (FADT) or of its cores (MADT)";
    if (fadt_bytes < FADT_ARM_BOOT + 2 || (fadt[FADT_ARM_BOOT] & 1) == 0)
        return "ACPI names no PSCI";
    cores->hvc = (fadt[FADT_ARM_BOOT] & 2) != 0;
    read_madt(cores, madt, madt_bytes);
    if (are_equal(cores))
        read_pptt(cores, list);
    return NULL;
}

void efi_acpi_capacities(const struct efi_acpi_cores *cores, uint32_t *capacity)
{
    const uint32_t half = EFI_ACPI_CAPACITY / 2;
    uint32_t least = cores->strength[0], most = least;

    for (unsigned i = 1; i < cores->n; i++) {
        least = min_u32(least, cores->strength[i]);
        most = max_u32(most, cores->strength[i]);
    }
    for (unsigned i = 0; i < cores->n; i++) {
        uint64_t above = cores->strength[i] - least;

        capacity[i] = least == most ? 0u : half + (uint32_t)(half * above / (most - least));
    }
}
