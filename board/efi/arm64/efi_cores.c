/* The clock and the other cores of an arm64 machine under EFI. */
#include <string.h>

#include "board/drivers/soc/generic_timer.h"
#include "board/drivers/soc/psci.h"
#include "board/efi/arm64/efi_acpi.h"
#include "board/efi/efi_call.h"
#include "board/efi/efi_parts.h"
#include "board/isa.h"

/* start.S has switched on everything that kernels need. */
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

static const char *find_by_acpi(struct machine *machine)
{
    struct efi_acpi_cores cores;
    const char *why = efi_acpi_read_cores(efi_table(&efi_acpi_guid), core_hardware_id(), &cores);

    if (why != NULL)
        return why;
    psci_open(cores.hvc ? PSCI_HVC : PSCI_SMC, cores.ids, cores.n);
    machine->n_cores = cores.n;
    memcpy(machine->core_ids, cores.ids, cores.n * sizeof cores.ids[0]);
    efi_acpi_capacities(&cores, machine->core_capacity);
    return NULL;
}

const char *efi_isa_find_cores(const struct device_tree *tree, struct machine *machine)
{
    if (tree->blob == NULL)
        return find_by_acpi(machine);
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
