/* QEMU's `virt` machine for arm64. Addresses come from its device tree. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/generic_timer.h"
#include "board/drivers/gic.h"
#include "board/drivers/pl011.h"
#include "board/drivers/psci.h"
#include "board/drivers/serial.h"
#include "board/drivers/tree_storage.h"
#include "board/isa.h"
#include "memory.h"

enum { UART_BYTES = 0x1000 };

static struct board_state {
    struct device_tree tree; /* blob NULL: none */
    struct pl011 uart;
    struct psci psci;
    struct gic gic;
    struct {
        void (*entry)(void *arg);
        void *arg;
        bool listens; /* written by the core itself */
    } cores[BOARD_MAX_CORES];
    atomic_bool deaf; /* some core does not listen: nobody sleeps in WFI */
    uint64_t core_ids[BOARD_MAX_CORES];
    unsigned n_cores;
    struct tree_storage storage;
} state;

/* The UART of stdout-path if it is a PL011, else the first one; and its interrupt. */
static uintptr_t find_uart(const struct device_tree *tree, uint32_t *line)
{
    struct device_tree_node node;
    uint32_t baud; /* emulated: any rate will do */
    uint64_t base;

    if (!device_tree_console(tree, &node, &baud) ||
        !device_tree_lists(tree, &node, "compatible", "arm,pl011")) {
        device_tree_begin(&node);
        if (!device_tree_next_compatible(tree, &node, "arm,pl011"))
            return BOARD_UART_ADDRESS;
    }
    *line = gic_device_line(tree, &node);
    return device_tree_reg(tree, &node, 0, &base, NULL) ? (uintptr_t)base : BOARD_UART_ADDRESS;
}

static enum err find_gic(struct gic *gic)
{
    enum err e = gic_find(gic, &state.tree);

    for (unsigned i = 0; e == ERR_OK && i < gic->n_ranges; i++)
        e = mmu_map(gic->ranges[i].base, gic->ranges[i].bytes, MAP_DEVICE);
    return e == ERR_OK ? gic_init(gic) : e;
}

/* On each core, before it waits or wakes. */
static void listen(void)
{
    bool *listens = &state.cores[core_number()].listens;

    *listens = gic_listen(&state.gic, core_hardware_id()) == ERR_OK;
    if (!*listens)
        atomic_store(&state.deaf, true);
}

static void virt_early_init(const void *dtb)
{
    uintptr_t uart = BOARD_UART_ADDRESS;
    uint32_t line = 0;

    if (dtb != NULL &&
        device_tree_open(&state.tree, dtb, device_tree_bytes(dtb)) == ERR_OK) {
        uart = find_uart(&state.tree, &line);
        /* Without PSCI there is one core, or the cores wait in the pen of start.S. */
        (void)psci_init(&state.psci, &state.tree);
        if (find_gic(&state.gic) != ERR_OK)
            state.gic.version = NULL;
        state.n_cores = device_tree_cpus(&state.tree, core_hardware_id(), state.core_ids,
                                         BOARD_MAX_CORES);
    }
    listen();
    if (mmu_map(uart, UART_BYTES, MAP_DEVICE) != ERR_OK)
        return;
    pl011_init(&state.uart, uart, 0, 0);
    serial_open(&pl011_serial, &state.uart);
    if (state.cores[0].listens)
        (void)gic_take_input(&state.gic, line); /* otherwise the line is polled */
}

static void core_main(void *arg)
{
    unsigned core = core_number();

    (void)arg;
    listen();
    state.cores[core].entry(state.cores[core].arg);
}

static enum err virt_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    uintptr_t start;

    if (core == 0 || core >= state.n_cores)
        return ERR_NO_DEVICE;
    state.cores[core].entry = entry;
    state.cores[core].arg = arg;
    start = core_prepare(core, core_main, NULL);
    if (state.psci.conduit == PSCI_NONE)
        return ERR_OK;
    return psci_core_on(&state.psci, state.core_ids[core], start, core);
}

/* QEMU's WFE does not sleep: with fewer processors than cores, waiting cores would take the time
 * of those that work. WFI does, where a GIC can end it. */
static void virt_wait(const _Atomic uint32_t *word, uint32_t old)
{
    bool on = core_interrupts_mask();

    if (atomic_load(&state.deaf))
        core_wait(word, old);
    else if (atomic_load(word) == old) /* a change after this look ends the sleep at once */
        gic_sleep(&state.gic);
    core_interrupts_restore(on);
}

/* Both: a core may sleep in WFI from before another one turned out deaf, which waits by WFE. */
static void virt_wake(const _Atomic uint32_t *word)
{
    core_wake(word);
    if (state.cores[core_number()].listens)
        gic_wake_others(&state.gic);
}

static unsigned virt_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    return state.tree.blob != NULL ? tree_storage_find(&state.storage, &state.tree, devices) : 0;
}

enum secure_pin { SECURE_PIN_OFF, SECURE_PIN_RESET }; /* QEMU, hw/arm/virt.c */

/* A tree without PSCI means that we were entered at EL3 and are in the secure world, which owns
 * these pins: direction out, then data through the address mask of the pin (PL061, DDI 0190,
 * section 3.3). */
static void raise_secure_pin(enum secure_pin pin)
{
    uint8_t bit = (uint8_t)(1u << pin);

    if (state.tree.blob == NULL || state.psci.conduit != PSCI_NONE ||
        mmu_map(BOARD_SECURE_GPIO, 0x1000, MAP_DEVICE) != ERR_OK)
        return;
    *(volatile uint8_t *)(uintptr_t)(BOARD_SECURE_GPIO + 0x400) = bit;
    *(volatile uint8_t *)(uintptr_t)(BOARD_SECURE_GPIO + (uintptr_t)(bit << 2)) = bit;
}

static _Noreturn void virt_power_off(int status)
{
    (void)status; /* neither way has room for it */
    pl011_drain(&state.uart);
    psci_system_off(&state.psci);
    raise_secure_pin(SECURE_PIN_OFF);
    core_halt();
}

static _Noreturn void virt_restart(void)
{
    pl011_drain(&state.uart);
    psci_system_reset(&state.psci);
    raise_secure_pin(SECURE_PIN_RESET);
    core_halt();
}

const struct board board = {
    .name = "virt-arm64",
    .early_init = virt_early_init,
    .putc = serial_putc,
    .getc = serial_getc,
    .idle = serial_idle,
    .interrupted = serial_interrupted,
    .lost = serial_lost,
    .flow_control = serial_flow_control,
    .ticks = generic_timer_ticks,
    .ticks_hz = generic_timer_hz,
    .start_core = virt_start_core,
    .wait = virt_wait,
    .wake = virt_wake,
    .find_storage = virt_find_storage,
    .restart = virt_restart,
    .power_off = virt_power_off,
};
