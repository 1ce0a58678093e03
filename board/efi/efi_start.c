/* Starts from the firmware's call, fills struct machine from the firmware's tables, and calls
 * image_main. */
#include "board/efi/efi_call.h"
#include "board/efi/efi_numa.h"
#include "board/efi/efi_parts.h"
#include "board/isa.h"
#include "board/left_out.h"
#include "boot/boot.h"
#include "boot/canary.h"
#include "boot/panic.h"
#include "boot/stage.h"

static struct efi_boot_state {
    struct machine machine;
    struct device_tree tree;
    const char *one_core; /* why there are no other cores; NULL: nothing to report */
} efi_boot_state;

const struct device_tree *efi_tree(void)
{
    return &efi_boot_state.tree;
}

static void open_tree(void)
{
    const void *blob = efi_table(&efi_tree_guid);
    size_t bytes = blob != NULL ? device_tree_bytes(blob) : 0;

    if (bytes == 0 || device_tree_open(&efi_boot_state.tree, blob, bytes) != ERR_OK)
        efi_boot_state.tree = (struct device_tree){ .blob = NULL };
}

static void report_line(void)
{
    const char *instead = efi_console_instead();

    if (instead != NULL)
        panic_print("line: %s\n", instead);
}

/* Report that the machine has several nodes of memory, which are used as one. */
static void report_nodes(const struct device_tree *tree)
{
    unsigned n = efi_numa_nodes(tree, efi_table(&efi_acpi_guid));

    if (n > 1)
        panic_print("warning: memory has %u nodes (NUMA): the distance between cores and weights "
                    "is ignored\n",
                    n);
}

void efi_start(efi_handle image, struct efi_system_table *system)
{
    struct machine *machine = &efi_boot_state.machine;
    const struct device_tree *tree = &efi_boot_state.tree;

    efi_call_open(image, system);
    machine->entry_ticks = board.ticks();
    boot_stage_enter(BOOT_STAGE_TREE);
    open_tree();
    efi_isa_open();
    boot_stage_enter(BOOT_STAGE_BOARD);
    board.early_init(tree->blob);
    report_line();
    boot_stage_enter(BOOT_STAGE_MEMORY);
    machine->date = efi_clock_date();
    if (machine->date == 0)
        panic_print(
            "warning: the firmware does not know the date (GetTime): /time sets the clock\n");
    efi_memory_take(machine);
    efi_options_read(machine);
    machine->n_cores = 1;
    machine->core_ids[0] = core_hardware_id();
    efi_boot_state.one_core = efi_isa_find_cores(tree, machine);
    if (tree->blob != NULL && machine->n_cores == BOARD_MAX_CORES)
        left_out_note(LEFT_OUT_CORES, device_tree_n_cpus(tree) - machine->n_cores, 0);
    if (efi_boot_state.one_core != NULL)
        panic_print("warning: only one core is used: %s\n", efi_boot_state.one_core);
    report_nodes(tree);
    canary_init(tree->blob != NULL ? tree : NULL);
    cpu_detect(tree->blob != NULL ? tree : NULL, machine);
    boot_stage_enter(BOOT_STAGE_PROGRAM);
    image_main(machine);
}
