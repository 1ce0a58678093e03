/* Makes struct machine from the device tree. The MMU is on and maps only the image; this file and
 * the board's early_init map everything else. */
#include "boot/boot.h"

#include <string.h>

#include "board/device_tree.h"
#include "board/left_out.h"
#include "board/min_max.h"
#include "boot/canary.h"
#include "boot/panic.h"
#include "boot/stage.h"

enum { PAGE = 4096, MAX_FREE = 128, TREE_BYTES = 96 * 1024 };

/* Free RAM, from which parts are taken out; ends are exclusive and cannot wrap (see free_add). */
struct span {
    uint64_t start, end;
};

static struct boot_state {
    struct machine machine;
    struct device_tree tree;
    struct span free[MAX_FREE];
    unsigned n_free;
    _Alignas(8) uint8_t blob[TREE_BYTES];
} boot_state;

static uint64_t page_floor(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

/* The end saturates at the last page, which is never RAM. */
static uint64_t page_ceil(uint64_t address)
{
    if (address > UINT64_MAX - PAGE)
        return page_floor(UINT64_MAX);
    return page_floor(address + PAGE - 1);
}

static uint64_t range_end(uint64_t base, uint64_t bytes)
{
    return base + min_u64(bytes, UINT64_MAX - base);
}

/* Free RAM consists of whole pages. Adjacent ranges (the nodes of a NUMA machine) are merged. */
static void free_add(uint64_t start, uint64_t end)
{
    start = page_ceil(start);
    end = page_floor(end);
    for (unsigned i = 0; start < end && i < boot_state.n_free; i++) {
        if (boot_state.free[i].start != end && boot_state.free[i].end != start)
            continue;
        if (boot_state.free[i].start == end)
            boot_state.free[i].start = start;
        else
            boot_state.free[i].end = end;
        return;
    }
    if (start >= end)
        return;
    if (boot_state.n_free < MAX_FREE)
        boot_state.free[boot_state.n_free++] = (struct span){ start, end };
    else
        left_out_note(LEFT_OUT_CUT_RAM, 1, end - start);
}

/* Remove [base, base + bytes), rounded outward to pages, from the free RAM. A hole inside a
 * range splits it. If the table is full, the upper part is not used, which is safe. */
static void free_remove(uint64_t base, uint64_t bytes)
{
    uint64_t start = page_floor(base), end = page_ceil(range_end(base, bytes));

    for (unsigned i = 0; bytes != 0 && i < boot_state.n_free; i++) {
        struct span *span = &boot_state.free[i];
        uint64_t old_end = span->end;

        if (end <= span->start || start >= span->end)
            continue;
        if (start <= span->start) {
            span->start = min_u64(end, span->end);
            continue;
        }
        span->end = start;
        free_add(end, old_end);
    }
}

static void map_or_panic(uint64_t base, uint64_t bytes, enum mapping mapping, const char *what)
{
    enum err e = mmu_map((uintptr_t)base, (size_t)bytes, mapping);

    if (e != ERR_OK)
        panic("cannot map the %s at %lx, %lu bytes: %s", what, (unsigned long)base,
              (unsigned long)bytes, err_text(e));
}

/* Firmware puts the tree anywhere, often in the middle of RAM. Copy the tree, so that the arena
 * stays in one piece. A tree that is too large to copy stays where it is. */
static const void *copy_tree(void)
{
    if (device_tree_copy(&boot_state.tree, boot_state.blob, sizeof boot_state.blob) != ERR_OK ||
        device_tree_open(&boot_state.tree, boot_state.blob, sizeof boot_state.blob) != ERR_OK)
        return boot_state.tree.blob;
    return boot_state.blob;
}

/* The address is loaded from this variable, because the address may be out of PC-relative reach. */
static const volatile uintptr_t default_tree = (uintptr_t)image_device_tree_address;

static const void *open_tree(const void *dtb)
{
    uintptr_t base = dtb != NULL ? (uintptr_t)dtb : default_tree;
    size_t bytes;

    if (base < PAGE || base % 4 != 0) /* page 0 stays unmapped; only ATAGs could be there */
        return NULL;
    /* Map the header first, because the tree's size is in it. The tree is mapped as RAM, because
     * its memory becomes RAM later. */
    if (mmu_map(base, DEVICE_TREE_HEADER_BYTES, MAP_DATA) != ERR_OK)
        return NULL;
    bytes = device_tree_bytes((const void *)base);
    if (bytes == 0 || mmu_map(base, bytes, MAP_DATA) != ERR_OK ||
        device_tree_open(&boot_state.tree, (const void *)base, bytes) != ERR_OK) {
        if (device_tree_is_one((const void *)base))
            left_out_note(LEFT_OUT_TREE, 1, bytes);
        boot_state.tree = (struct device_tree){ .blob = NULL }; /* for boot_tree */
        return NULL;
    }
    return copy_tree();
}

static void read_memory(const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t base, bytes;

    device_tree_begin(&node);
    while (device_tree_next_type(tree, &node, "memory")) {
        for (unsigned i = 0; device_tree_reg(tree, &node, i, &base, &bytes); i++) {
            boot_state.machine.ram_bytes += (size_t)bytes;
            free_remove(base, bytes); /* overlapping nodes do not give a page twice */
            free_add(base, range_end(base, bytes));
        }
    }
}

/* Remove the ranges of the reservation block. A loader that passes an initrd lists it there, too
 * (U-Boot, fdt_initrd). */
static void remove_reservations(const struct device_tree *tree)
{
    uint64_t base, bytes;

    for (unsigned i = 0; device_tree_reservation(tree, i, &base, &bytes); i++)
        free_remove(base, bytes);
}

/* Remove /reserved-memory, which the firmware keeps. */
static void remove_reserved(const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t base, bytes;
    int depth;

    if (!device_tree_find(tree, &node, "/reserved-memory"))
        return;
    depth = node.depth;
    while (device_tree_next(tree, &node) && node.depth > depth) {
        if (!device_tree_available(tree, &node))
            continue;
        for (unsigned i = 0; device_tree_reg(tree, &node, i, &base, &bytes); i++)
            free_remove(base, bytes);
    }
}

/* A preloaded model is used only if all of it lies in RAM and none of it over the image. */
static void read_initrd(const struct device_tree *tree)
{
    uint64_t base, bytes;

    if (!device_tree_initrd(tree, &base, &bytes))
        return;
    for (unsigned i = 0; i < boot_state.n_free; i++) {
        if (base < boot_state.free[i].start || base >= boot_state.free[i].end ||
            bytes > boot_state.free[i].end - base)
            continue;
        map_or_panic(base, bytes, MAP_RODATA, "initrd");
        boot_state.machine.initrd.base = (uint8_t *)(uintptr_t)base;
        boot_state.machine.initrd.bytes = (size_t)bytes;
        free_remove(base, bytes);
        return;
    }
}

/* Return the largest remaining range, or NULL if no range remains. */
static struct span *largest_free(void)
{
    struct span *best = NULL;
    uint64_t most = 0;

    for (unsigned i = 0; i < boot_state.n_free; i++) {
        if (boot_state.free[i].end - boot_state.free[i].start > most) {
            best = &boot_state.free[i];
            most = best->end - best->start;
        }
    }
    return best;
}

/* Move the largest free ranges to machine.ram, the largest first, and map them. Ranges that the
 * MMU cannot reach or that exceed the table are left out. */
static void take_ram(void)
{
    struct machine *machine = &boot_state.machine;
    struct span *best;

    while ((best = largest_free()) != NULL) {
        struct memory_range range = { (uint8_t *)(uintptr_t)best->start,
                                      (size_t)(best->end - best->start) };

        best->start = best->end;
        if (machine->n_ram < BOARD_MAX_RAM &&
            mmu_map((uintptr_t)range.base, range.bytes, MAP_DATA) == ERR_OK)
            machine->ram[machine->n_ram++] = range;
        else
            left_out_note(LEFT_OUT_RAM, 1, range.bytes);
    }
}

static void read_arguments(const struct device_tree *tree)
{
    const char *text = device_tree_bootargs(tree);
    size_t length = strlen(text);

    boot_state.machine.args_bytes = length; /* arguments_read reports
                                             * a text that was cut */
    boot_state.machine.args_limit = sizeof boot_state.machine.args - 1;
    memcpy(boot_state.machine.args, text, min_size(length, sizeof boot_state.machine.args - 1));
}

static void read_cores(const struct device_tree *tree)
{
    struct machine *machine = &boot_state.machine;
    uint32_t found = device_tree_n_cpus(tree);

    machine->core_ids[0] = core_hardware_id();
    machine->n_cores = max_u32(device_tree_cpus(tree, machine->core_ids[0], machine->core_ids,
                                                BOARD_MAX_CORES),
                               1);
    if (found > machine->n_cores)
        left_out_note(LEFT_OUT_CORES, found - machine->n_cores, 0);
    device_tree_capacities(tree, machine->core_ids, machine->n_cores, machine->core_capacity);
}

static void remove_own(void)
{
    free_remove(0, PAGE); /* NULL stays unmapped */
    free_remove((uintptr_t)image_start, (size_t)(stacks_start - image_start) + STACKS_BYTES);
}

static void read_tree(const struct device_tree *tree)
{
    read_memory(tree);
    remove_own();
    free_remove((uintptr_t)tree->blob, tree->total_bytes); /* no effect on a copied tree */
    remove_reserved(tree);
    read_initrd(tree); /* read before the reservation block, which also lists the initrd */
    remove_reservations(tree);
    read_arguments(tree);
    read_cores(tree);
}

static void ask_board(void)
{
    struct machine *machine = &boot_state.machine;

    board.describe(machine);
    for (unsigned i = 0; i < machine->n_ram; i++) {
        uint64_t base = (uintptr_t)machine->ram[i].base;

        machine->ram_bytes += machine->ram[i].bytes;
        free_add(base, range_end(base, machine->ram[i].bytes));
    }
    machine->n_ram = 0; /* take_ram() fills the list again */
    remove_own();
}

const struct device_tree *boot_tree(void)
{
    return &boot_state.tree;
}

void boot_start(const void *dtb)
{
    uint64_t entry_ticks = board.ticks();

    boot_stage_enter(BOOT_STAGE_TREE);
    dtb = open_tree(dtb);
    boot_stage_enter(BOOT_STAGE_BOARD);
    board.early_init(dtb);
    boot_stage_enter(BOOT_STAGE_MEMORY);
    if (dtb == NULL && board.describe == NULL)
        panic("no valid device tree: the firmware must pass its address (QEMU does for -kernel)");
    boot_state.machine.entry_ticks = entry_ticks;
    if (dtb != NULL)
        read_tree(&boot_state.tree);
    else
        ask_board();
    if (boot_state.machine.ram_bytes == 0)
        panic("the firmware describes no memory");
    canary_init(dtb != NULL ? &boot_state.tree : NULL);
    take_ram();
    if (board.amend != NULL)
        board.amend(&boot_state.machine);
    if (boot_state.machine.n_ram == 0)
        panic("no RAM is left after the image, of %lu bytes",
              (unsigned long)boot_state.machine.ram_bytes);
    cpu_detect(dtb != NULL ? &boot_state.tree : NULL, &boot_state.machine);
    boot_stage_enter(BOOT_STAGE_PROGRAM);
    image_main(&boot_state.machine);
}
