/* The clock and the other cores of a PC under EFI. */
#include <cpuid.h>

#include "board/efi/efi_call.h"
#include "board/efi/efi_parts.h"
#include "board/efi/x86_64/efi_core.h"
#include "board/isa.h"
#include "board/left_out.h"

/* EFI_MP_SERVICES_PROTOCOL: UEFI Platform Initialization 1.7, volume 2, 13.4. */
struct mp_services {
    efi_status(EFI_API *count)(struct mp_services *mp, uint64_t *n, uint64_t *enabled);
    efi_status(EFI_API *info)(struct mp_services *mp, uint64_t number, void *info);
    void *start_all;
    efi_status(EFI_API *start_one)(struct mp_services *mp, void(EFI_API *procedure)(void *arg),
                                   uint64_t number, efi_event event, uint64_t timeout_micros,
                                   void *arg, bool *finished);
    void *switch_bsp, *enable;
    efi_status(EFI_API *who_am_i)(struct mp_services *mp, uint64_t *number);
};
EFI_GUID(mp_services_guid, 0x3fdda605, 0xa76e, 0x4f46, 0xad, 0x29, 0x12, 0xf4, 0x53, 0x1b, 0x3d,
         0x08);

struct processor_info {
    uint64_t id;     /* its APIC id */
    uint32_t status; /* bits: the processor started the machine, is enabled, is healthy */
    uint32_t package, core, thread, more[6];
};
enum { STATUS_FIRST = 1, STATUS_ENABLED = 2 };

static struct cores {
    uint64_t ticks_hz;
    struct mp_services *mp;
    uint64_t numbers[BOARD_MAX_CORES]; /* the number that the firmware uses for each core */
    unsigned n;
} cores;

uint64_t efi_isa_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

uint64_t efi_isa_ticks_hz(void)
{
    return cores.ticks_hz;
}

/* Get the rate of the TSC from leaf 0x15 if it has crystal and ratio, or measure it while the
 * firmware waits. */
void efi_isa_open(void)
{
    enum { WAIT_MICROS = 20000, CRYSTAL = 0x15 };
    unsigned denominator = 0, numerator = 0, crystal = 0, d;
    uint64_t start;

    if (__get_cpuid(CRYSTAL, &denominator, &numerator, &crystal, &d) != 0 && denominator != 0 &&
        numerator != 0)
        cores.ticks_hz = (uint64_t)crystal * numerator / denominator;
    if (cores.ticks_hz != 0)
        return;
    start = efi_isa_ticks();
    (void)EFI_CALL(efi_boot()->stall(WAIT_MICROS));
    cores.ticks_hz = (efi_isa_ticks() - start) * (1000000 / WAIT_MICROS);
}

/* Add the processor as the next core, if StartupThisAP can start it. */
static void add_core(struct machine *machine, uint64_t number)
{
    struct processor_info info = { 0 };

    if (efi_failed(EFI_CALL(cores.mp->info(cores.mp, number, &info))) ||
        (info.status & STATUS_FIRST) != 0 || (info.status & STATUS_ENABLED) == 0)
        return;
    if (cores.n == BOARD_MAX_CORES) {
        left_out_note(LEFT_OUT_CORES, 1, 0);
        return;
    }
    machine->core_ids[cores.n] = info.id;
    cores.numbers[cores.n++] = number;
}

const char *efi_isa_find_cores(const struct device_tree *tree, struct machine *machine)
{
    uint64_t n = 0, enabled = 0;

    (void)tree;
    cores.n = 1;
    cores.mp = efi_protocol(&mp_services_guid);
    if (cores.mp == NULL)
        return "the firmware has no MP services";
    if (efi_failed(EFI_CALL(cores.mp->count(cores.mp, &n, &enabled))))
        return "the firmware's MP services fail (GetNumberOfProcessors)";
    for (uint64_t i = 0; i < n; i++)
        add_core(machine, i);
    machine->n_cores = cores.n;
    return NULL;
}

/* The procedure never returns; because the call passes an event, the firmware does not wait for the
 * procedure's end. */
enum err efi_isa_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    efi_event event;

    if (core == 0 || core >= cores.n ||
        efi_failed(EFI_CALL(efi_boot()->create_event(0, 0, NULL, NULL, &event))))
        return ERR_NO_DEVICE;
    core_keep_job(core, entry, arg);
    if (efi_failed(EFI_CALL(cores.mp->start_one(cores.mp, core_begin, cores.numbers[core], event, 0,
                                                (void *)(uintptr_t)core, NULL))))
        return ERR_NO_DEVICE;
    return ERR_OK;
}
