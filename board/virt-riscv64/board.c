/* QEMU's `virt` machine for riscv64. Addresses come from its device tree. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/cfi_flash.h"
#include "board/drivers/ns16550.h"
#include "board/drivers/riscv_timer.h"
#include "board/drivers/sbi.h"
#include "board/drivers/virtio_blk.h"
#include "board/isa.h"
#include "memory.h"

enum { MAX_SLOTS = 32, VIRTIO_BYTES = 0x200, UART_BYTES = 0x100, TIMEBASE_HZ = 10000000 };

static struct board_state {
    struct device_tree tree; /* blob NULL: none */
    struct ns16550 uart;
    uint64_t ticks_hz;
    uint64_t harts[BOARD_MAX_CORES]; /* by core number: the boot hart is core 0 */
    unsigned n_cores;
    struct virtio_blk cards[BOARD_MAX_BLOCK];
    struct cfi_flash banks[BOARD_MAX_BLOCK];
    struct block_device devices[BOARD_MAX_BLOCK];
    unsigned n_devices;
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

    if (state.tree.blob != NULL && find_uart(&state.tree, &node)) {
        (void)device_tree_reg(&state.tree, &node, 0, &base, NULL);
        (void)device_tree_number(&state.tree, &node, "reg-shift", &shift);
        (void)device_tree_number(&state.tree, &node, "reg-io-width", &width);
    }
    if (mmu_map((uintptr_t)base, UART_BYTES, MAP_DEVICE) == ERR_OK)
        ns16550_init(&state.uart, (uintptr_t)base, (unsigned)(shift & 3), (unsigned)width);
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

static void virt_putc(char c)
{
    ns16550_putc(&state.uart, c);
}

static int virt_getc(void)
{
    return ns16550_getc(&state.uart);
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

static void add_card(uintptr_t mmio)
{
    struct block_device *device = &state.devices[state.n_devices];

    if (mmu_map(mmio, VIRTIO_BYTES, MAP_DEVICE) == ERR_OK &&
        virtio_blk_probe(&state.cards[state.n_devices], mmio, device) == ERR_OK)
        state.n_devices++;
}

/* QEMU fills the slots from the highest address down, in the order of its command line, while the
 * tree may list them either way: so the next one is always the highest below the last. */
static void find_cards(const struct device_tree *tree)
{
    uint64_t last = UINT64_MAX;

    for (unsigned slot = 0; slot < MAX_SLOTS && state.n_devices < BOARD_MAX_BLOCK; slot++) {
        struct device_tree_node node;
        uint64_t base, best = 0;

        device_tree_begin(&node);
        while (device_tree_next_compatible(tree, &node, "virtio,mmio"))
            if (device_tree_reg(tree, &node, 0, &base, NULL) && base < last && base > best)
                best = base;
        if (best == 0)
            return;
        add_card((uintptr_t)best);
        last = best;
    }
}

static void add_bank(uint64_t base, uint64_t bytes)
{
    struct block_device *device = &state.devices[state.n_devices];

    if (mmu_map((uintptr_t)base, (size_t)bytes, MAP_UNCACHED) == ERR_OK &&
        cfi_flash_probe(&state.banks[state.n_devices], (uintptr_t)base, (size_t)bytes, device) ==
            ERR_OK)
        state.n_devices++;
}

/* An erased bank is a device, too: a model is looked for in each. */
static void find_flash(const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t base, bytes;

    device_tree_begin(&node);
    while (device_tree_next_compatible(tree, &node, "cfi-flash"))
        for (unsigned bank = 0; state.n_devices < BOARD_MAX_BLOCK &&
                                device_tree_reg(tree, &node, bank, &base, &bytes);
             bank++)
            add_bank(base, bytes);
}

static unsigned virt_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    state.n_devices = 0;
    if (state.tree.blob != NULL) {
        find_cards(&state.tree);
        find_flash(&state.tree);
    }
    for (unsigned i = 0; i < state.n_devices; i++)
        devices[i] = &state.devices[i];
    return state.n_devices;
}

static _Noreturn void virt_power_off(int status)
{
    ns16550_drain(&state.uart);
    sbi_power_off(status != 0);
    core_halt();
}

const struct board board = {
    .name = "virt-riscv64",
    .early_init = virt_early_init,
    .putc = virt_putc,
    .getc = virt_getc,
    .ticks = riscv_timer_ticks,
    .ticks_hz = virt_ticks_hz,
    .start_core = virt_start_core,
    .wait = core_wait,
    .wake = core_wake,
    .find_storage = virt_find_storage,
    .power_off = virt_power_off,
};
