/* Takes the arena from the firmware: the largest free range of pages. UEFI 2.10, 7.2. */
#include "board/efi/efi_call.h"
#include "board/efi/efi_parts.h"
#include "board/left_out.h"
#include "board/min_max.h"
#include "boot/panic.h"

enum {
    MIB = 1024 * 1024,
    LEFT_BYTES = 64 * MIB,
    LEAST_BYTES = 4 * MIB,
    MAP_SLACK = 4096,
    EFI_TRIED = 0
};

/* The memory map from the last call. Any allocation changes the map, so this is only a list of
 * candidates. */
struct memory_map {
    uint8_t *entries;
    uint64_t bytes, step;
};

static struct efi_memory_descriptor *map_entry(const struct memory_map *map, uint64_t i)
{
    return (struct efi_memory_descriptor *)(void *)(map->entries + i * map->step);
}

static bool map_read(struct memory_map *map)
{
    uint64_t key, room = 0;
    uint32_t version;
    void *pool;

    *map = (struct memory_map){ .step = sizeof(struct efi_memory_descriptor) };
    (void)EFI_CALL(efi_boot()->get_memory_map(&room, NULL, &key, &map->step, &version));
    room += MAP_SLACK; /* allocating the buffer may split a range */
    if (efi_failed(EFI_CALL(efi_boot()->allocate_pool(EFI_LOADER_DATA, room, &pool))))
        return false;
    map->entries = pool;
    map->bytes = room;
    if (!efi_failed(
            EFI_CALL(efi_boot()->get_memory_map(&map->bytes, pool, &key, &map->step, &version))))
        return true;
    (void)EFI_CALL(efi_boot()->free_pool(pool));
    return false;
}

/* True if memory of this type is counted as RAM: devices and hidden memory are not. */
static bool is_ram(uint32_t type)
{
    return (type >= 1 && type <= EFI_CONVENTIONAL) || type == EFI_ACPI_RECLAIM;
}

/* True for free memory, except memory for devices or special purposes, such as memory on a card,
 * which is slow. */
static bool is_free(const struct efi_memory_descriptor *e)
{
    return e->type == EFI_CONVENTIONAL && (e->attributes & EFI_MEMORY_SPECIFIC) == 0;
}

static uint64_t bytes_of(const struct memory_map *map, bool free_alone)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < map->bytes / map->step; i++) {
        const struct efi_memory_descriptor *e = map_entry(map, i);

        if (free_alone ? is_free(e) : is_ram(e->type))
            sum += e->n_pages * EFI_PAGE;
    }
    return sum;
}

/* Find the largest free range that was not tried yet; NULL if there is none. */
static struct efi_memory_descriptor *largest(const struct memory_map *map)
{
    struct efi_memory_descriptor *best = NULL;

    for (uint64_t i = 0; i < map->bytes / map->step; i++) {
        struct efi_memory_descriptor *e = map_entry(map, i);

        if (is_free(e) && (best == NULL || e->n_pages > best->n_pages))
            best = e;
    }
    return best;
}

/* Allocate pages at `at`, or anywhere. If the firmware refuses this number of bytes, try half. */
static bool take(struct memory_range *range, enum efi_allocate how, uint64_t at, uint64_t bytes)
{
    for (; bytes >= LEAST_BYTES; bytes = bytes / 2 / EFI_PAGE * EFI_PAGE) {
        uint64_t place = at;

        if (efi_failed(EFI_CALL(
                efi_boot()->allocate_pages(how, EFI_LOADER_DATA, bytes / EFI_PAGE, &place))))
            continue;
        *range = (struct memory_range){ (uint8_t *)(uintptr_t)place, (size_t)bytes };
        return true;
    }
    return false;
}

/* Take the range from its start, but without page 0, because NULL points there. */
static bool take_range(struct memory_range *range, uint64_t start, uint64_t bytes)
{
    uint64_t at = max_u64(start, EFI_PAGE);

    return take(range, EFI_ALLOCATE_ADDRESS, at, bytes - min_u64(at - start, bytes));
}

static void report_refused(uint64_t wanted, const struct memory_range *given)
{
    if (given->bytes + EFI_PAGE < wanted) /* page 0 is left out */
        panic_print(
            "warning: the firmware refuses %zu MiB in one piece (AllocatePages): %zu MiB are used\n",
            (size_t)(wanted / MIB), given->bytes / MIB);
}

/* We take only one range: firmware's own drivers may need memory below 1 or 4 GiB for their
 * buffers. */
static void note_left_out(const struct memory_map *map)
{
    for (uint64_t i = 0; i < map->bytes / map->step; i++) {
        const struct efi_memory_descriptor *e = map_entry(map, i);

        if (is_free(e) && e->n_pages * EFI_PAGE > LEFT_BYTES)
            left_out_note(LEFT_OUT_FIRMWARE_RAM, 1, e->n_pages * EFI_PAGE);
    }
}

void efi_memory_take(struct machine *machine)
{
    uint64_t most, wanted;
    struct memory_map map;
    struct efi_memory_descriptor *e;

    if (!map_read(&map))
        panic("the firmware does not say which memory is free: GetMemoryMap failed");
    machine->ram_bytes = (size_t)bytes_of(&map, false);
    most = bytes_of(&map, true);
    most = (most > 2 * LEFT_BYTES ? most - LEFT_BYTES : most / 2) / EFI_PAGE * EFI_PAGE;
    e = largest(&map);
    wanted = e != NULL ? min_u64(e->n_pages * EFI_PAGE, most) : 0;
    while (machine->n_ram == 0 && (e = largest(&map)) != NULL) {
        if (take_range(&machine->ram[0], e->start, min_u64(e->n_pages * EFI_PAGE, most)))
            machine->n_ram = 1;
        e->type = EFI_TRIED;
    }
    note_left_out(&map);
    (void)EFI_CALL(efi_boot()->free_pool(map.entries));
    if (machine->n_ram == 0 && take(&machine->ram[0], EFI_ALLOCATE_ANY, 0, most))
        machine->n_ram = 1;
    if (machine->n_ram == 0)
        panic("the firmware gives no memory: AllocatePages fails even for %u MiB",
              LEAST_BYTES / MIB);
    report_refused(wanted, &machine->ram[0]);
}
