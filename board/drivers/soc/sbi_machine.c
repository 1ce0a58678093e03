#include "board/drivers/soc/sbi_machine.h"

#include "board/board.h"
#include "board/drivers/irq/plic.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/serial/tree_console.h"
#include "board/drivers/soc/sbi.h"
#include "board/isa.h"

static struct sbi_machine {
    struct device_tree tree;
    uint64_t ticks_hz;
    uint64_t harts[BOARD_MAX_CORES]; /* by core number: the hart that booted is core 0 */
    unsigned n_harts;
} sbi_machine;

const struct device_tree *sbi_machine_init(const void *dtb, uint64_t timebase_hz)
{
    uint64_t hz;

    sbi_machine.ticks_hz = timebase_hz;
    if (dtb == NULL || device_tree_open(&sbi_machine.tree, dtb, device_tree_bytes(dtb)) != ERR_OK)
        return &sbi_machine.tree;
    hz = device_tree_timebase(&sbi_machine.tree);
    sbi_machine.ticks_hz = hz != 0 ? hz : timebase_hz;
    sbi_machine.n_harts = device_tree_cpus(&sbi_machine.tree, core_hardware_id(), sbi_machine.harts,
                                           BOARD_MAX_CORES);
    return &sbi_machine.tree;
}

void sbi_machine_leave_out(uint64_t hart)
{
    unsigned n = 0;

    for (unsigned i = 0; i < sbi_machine.n_harts; i++)
        if (sbi_machine.harts[i] != hart || hart == core_hardware_id())
            sbi_machine.harts[n++] = sbi_machine.harts[i];
    sbi_machine.n_harts = n;
}

/* True if the tree names the hart, even as disabled: a disabled hart must not run. */
static bool is_named(uint64_t hart)
{
    const struct device_tree *tree = &sbi_machine.tree;
    struct device_tree_node node;
    uint64_t id;

    device_tree_begin(&node);
    while (device_tree_next(tree, &node))
        if (device_tree_lists(tree, &node, "device_type", "cpu") &&
            device_tree_reg(tree, &node, 0, &id, NULL) && id == hart)
            return true;
    return false;
}

void sbi_machine_add_unnamed(struct machine *machine, uint64_t first, uint64_t last)
{
    for (uint64_t hart = first; hart <= last && machine->n_cores < BOARD_MAX_CORES; hart++) {
        if (is_named(hart) || !sbi_hart_is_stopped(hart))
            continue;
        machine->core_capacity[machine->n_cores] = machine->core_capacity[0]; /* same kind */
        machine->core_ids[machine->n_cores++] = hart;
        sbi_machine.harts[sbi_machine.n_harts++] = hart;
    }
}

void sbi_machine_listen(const struct device_tree_node *uart)
{
    if (plic_init(&sbi_machine.tree) == ERR_OK)
        (void)serial_listen(plic_device_line(&sbi_machine.tree, uart));
}

void sbi_machine_open_ns16550(struct ns16550 *uart, const struct sbi_machine_ns16550 *place)
{
    struct device_tree_node node;
    uintptr_t base = tree_console_map(&sbi_machine.tree, place->kind, place->address, place->bytes,
                                      &node);

    ns16550_init(uart, base, place->shift, place->width);
    serial_open(&ns16550_serial, uart);
    sbi_machine_listen(&node);
}

uint64_t sbi_machine_ticks_hz(void)
{
    return sbi_machine.ticks_hz;
}

enum err sbi_machine_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    if (core == 0 || core >= sbi_machine.n_harts)
        return ERR_NO_DEVICE;
    return sbi_hart_start(sbi_machine.harts[core], core_prepare(core, entry, arg), core);
}

void sbi_machine_restart(void)
{
    serial_drain();
    sbi_restart(0);
}

_Noreturn void sbi_machine_power_off(int status)
{
    serial_drain();
    sbi_power_off(status != 0);
    /* SRST has returned: an old firmware has only the legacy call. */
    sbi_shutdown_legacy();
    core_halt();
}
