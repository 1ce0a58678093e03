/* QEMU's `virt` machine for riscv64. Addresses come from its device tree. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/ns16550.h"
#include "board/drivers/plic.h"
#include "board/drivers/riscv_timer.h"
#include "board/drivers/sbi.h"
#include "board/drivers/serial.h"
#include "board/drivers/tree_storage.h"
#include "board/isa.h"
#include "memory.h"

enum { UART_BYTES = 0x100, TIMEBASE_HZ = 10000000 };

static struct board_state {
    struct device_tree tree; /* blob NULL: none */
    struct ns16550 uart;
    struct plic plic;
    uint64_t ticks_hz;
    uint64_t harts[BOARD_MAX_CORES]; /* by core number: the boot hart is core 0 */
    unsigned n_cores;
    struct tree_storage storage;
} state;

/* The node of stdout-path if it is a 16550, else the first one. */
static bool find_uart(const struct device_tree *tree, struct device_tree_node *node)
{
    uint32_t baud;

    if (device_tree_console(tree, node, &baud) &&
        device_tree_lists(tree, node, "compatible", "ns16550a"))
        return true;
    device_tree_begin(node);
    return device_tree_next_compatible(tree, node, "ns16550a");
}

static void open_uart(void)
{
    struct device_tree_node node;
    uint64_t base = BOARD_UART_ADDRESS, shift = 0, width = 1;
    bool found = state.tree.blob != NULL && find_uart(&state.tree, &node);

    if (found) {
        (void)device_tree_reg(&state.tree, &node, 0, &base, NULL);
        (void)device_tree_number(&state.tree, &node, "reg-shift", &shift);
        (void)device_tree_number(&state.tree, &node, "reg-io-width", &width);
    }
    if (mmu_map((uintptr_t)base, UART_BYTES, MAP_DEVICE) != ERR_OK)
        return;
    ns16550_init(&state.uart, (uintptr_t)base, (unsigned)(shift & 3), (unsigned)width);
    serial_open(&ns16550_serial, &state.uart);
    if (found)
        (void)plic_take_input(&state.plic, &state.tree, &node); /* otherwise the line is polled */
}

static void virt_early_init(const void *dtb)
{
    state.ticks_hz = TIMEBASE_HZ;
    if (dtb != NULL && device_tree_open(&state.tree, dtb, device_tree_bytes(dtb)) == ERR_OK) {
        uint64_t hz = device_tree_timebase(&state.tree);

        state.ticks_hz = hz != 0 ? hz : TIMEBASE_HZ;
        state.n_cores = device_tree_cpus(&state.tree, core_hardware_id(), state.harts,
                                         BOARD_MAX_CORES);
    }
    open_uart();
}

static uint64_t virt_ticks_hz(void)
{
    return state.ticks_hz;
}

static enum err virt_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    if (core == 0 || core >= state.n_cores)
        return ERR_NO_DEVICE;
    return sbi_hart_start(state.harts[core], core_prepare(core, entry, arg), core);
}

static unsigned virt_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    return state.tree.blob != NULL ? tree_storage_find(&state.storage, &state.tree, devices) : 0;
}

static _Noreturn void virt_power_off(int status)
{
    ns16550_drain(&state.uart);
    sbi_power_off(status != 0);
    sbi_shutdown_legacy();
    core_halt();
}

static _Noreturn void virt_restart(void)
{
    ns16550_drain(&state.uart);
    sbi_restart(0);
    core_halt();
}

const struct board board = {
    .name = "virt-riscv64",
    .early_init = virt_early_init,
    .putc = serial_putc,
    .getc = serial_getc,
    .idle = serial_idle,
    .interrupted = serial_interrupted,
    .lost = serial_lost,
    .flow_control = serial_flow_control,
    .ticks = riscv_timer_ticks,
    .ticks_hz = virt_ticks_hz,
    .start_core = virt_start_core,
    .wait = core_wait,
    .wake = core_wake,
    .find_storage = virt_find_storage,
    .restart = virt_restart,
    .power_off = virt_power_off,
};
