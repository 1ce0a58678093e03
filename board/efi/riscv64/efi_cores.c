/* The clock and the other harts of a RISC-V machine under EFI. */
#include "board/device_tree.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi.h"
#include "board/efi/efi_call.h"
#include "board/efi/efi_parts.h"
#include "board/isa.h"

/* RISCV_EFI_BOOT_PROTOCOL (RISC-V UEFI Protocol Specification 1.0): only the firmware knows which
 * hart runs us. */
struct boot_protocol {
    uint64_t revision;
    efi_status (*get_boot_hart)(struct boot_protocol *protocol, uint64_t *hart);
};
EFI_GUID(boot_protocol_guid, 0xccd15fec, 0x6f73, 0x4eec, 0x83, 0x95, 0x3e, 0x69, 0xe4, 0xb9, 0x40,
         0xbf);

extern uint64_t core_hart[BOARD_MAX_CORES]; /* hart id of each core, from boot/riscv64/core.c */

static struct cores {
    uint64_t ticks_hz;
    uint64_t harts[BOARD_MAX_CORES];
    unsigned n;
} cores;

static bool find_boot_hart(uint64_t *hart)
{
    struct boot_protocol *protocol = efi_protocol(&boot_protocol_guid);
    struct device_tree_node chosen;
    const struct device_tree *tree = efi_tree();

    if (protocol != NULL && !efi_failed(EFI_CALL(protocol->get_boot_hart(protocol, hart))))
        return true;
    return tree->blob != NULL && device_tree_find(tree, &chosen, "/chosen") &&
           device_tree_number(tree, &chosen, "boot-hartid", hart);
}

uint64_t efi_isa_ticks(void)
{
    return riscv_timer_ticks();
}

uint64_t efi_isa_ticks_hz(void)
{
    return cores.ticks_hz;
}

const char *efi_isa_find_cores(const struct device_tree *tree, struct machine *machine)
{
    uint64_t hart = 0;

    if (!find_boot_hart(&hart))
        return "the firmware does not say which hart runs this program";
    core_hart[0] = hart;
    machine->core_ids[0] = hart;
    if (tree->blob == NULL)
        return "the firmware has no device tree";
    cores.n = device_tree_cpus(tree, hart, cores.harts, BOARD_MAX_CORES);
    if (cores.n == 0 || cores.harts[0] != hart)
        return "the device tree does not name the hart that runs this program";
    for (unsigned i = 0; i < cores.n; i++)
        machine->core_ids[i] = cores.harts[i];
    machine->n_cores = cores.n;
    device_tree_capacities(tree, machine->core_ids, machine->n_cores, machine->core_capacity);
    return NULL;
}

enum err efi_isa_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    if (core == 0 || core >= cores.n)
        return ERR_NO_DEVICE;
    return sbi_hart_start(cores.harts[core], core_prepare(core, entry, arg), core);
}

/* Take the clock's rate from the tree, or measure it while the firmware waits 50 ms. */
void efi_isa_open(void)
{
    enum { WAIT_MICROS = 50000 };
    const struct device_tree *tree = efi_tree();
    uint64_t start;

    cores.ticks_hz = tree->blob != NULL ? device_tree_timebase(tree) : 0;
    if (cores.ticks_hz != 0)
        return;
    start = riscv_timer_ticks();
    (void)EFI_CALL(efi_boot()->stall(WAIT_MICROS));
    cores.ticks_hz = (riscv_timer_ticks() - start) * (1000000 / WAIT_MICROS);
}
