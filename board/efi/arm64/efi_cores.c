/* The clock and the other cores of an arm64 machine under EFI. */
#include "board/drivers/soc/generic_timer.h"
#include "board/drivers/soc/psci.h"
#include "board/efi/efi_parts.h"
#include "board/isa.h"

/* start.S has switched everything on. */
void efi_isa_open(void)
{
}

uint64_t efi_isa_ticks(void)
{
    return generic_timer_ticks();
}

uint64_t efi_isa_ticks_hz(void)
{
    return generic_timer_hz();
}

const char *efi_isa_find_cores(const struct device_tree *tree, struct machine *machine)
{
    if (tree->blob == NULL)
        return "the firmware has no device tree";
    psci_init(tree);
    if (!psci_is_there())
        return "the device tree names no PSCI";
    machine->n_cores = device_tree_cpus(tree, core_hardware_id(), machine->core_ids,
                                        BOARD_MAX_CORES);
    device_tree_capacities(tree, machine->core_ids, machine->n_cores, machine->core_capacity);
    return NULL;
}

enum err efi_isa_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    return psci_start_core(core, entry, arg);
}
