/* AMD Versal ACAP, two Cortex-A72, after U-Boot, or in QEMU's xlnx-versal-virt. "AM011" is the Versal
 * ACAP Technical Reference Manual. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/generic_timer.h"
#include "board/drivers/gic.h"
#include "board/drivers/pl011.h"
#include "board/drivers/psci.h"
#include "board/drivers/sd_card.h"
#include "board/drivers/sdhci.h"
#include "board/drivers/serial.h"
#include "board/isa.h"
#include "memory.h"

enum { UART_BYTES = 0x1000, SLOTS = 2 };

static struct board_state {
    struct device_tree tree;
    struct pl011 uart;
    struct psci psci;
    struct gic gic;
    bool listens[BOARD_MAX_CORES]; /* a member is written by its core */
    atomic_bool deaf;              /* some core does not listen: nobody sleeps in WFI */
    struct {
        void (*entry)(void *arg);
        void *arg;
    } cores[BOARD_MAX_CORES];
    uint64_t core_ids[BOARD_MAX_CORES];
    unsigned n_cores;
    struct slot {
        struct sdhci host;
        struct sd_card card;
        struct block_device device;
    } slots[SLOTS];
} state;

static void map_gic(void)
{
    enum err e = gic_find(&state.gic, &state.tree);

    for (unsigned i = 0; e == ERR_OK && i < state.gic.n_ranges; i++)
        e = mmu_map(state.gic.ranges[i].base, state.gic.ranges[i].bytes, MAP_DEVICE);
    if (e != ERR_OK || gic_init(&state.gic) != ERR_OK)
        state.gic.version = NULL;
}

/* On each core, before it waits or wakes. */
static void listen(void)
{
    bool *listens = &state.listens[core_number()];

    *listens = gic_listen(&state.gic, core_hardware_id()) == ERR_OK;
    if (!*listens)
        atomic_store(&state.deaf, true);
}

/* The firmware's rate is kept: its clock comes through a controller that the firmware owns. */
static void open_uart(void)
{
    struct device_tree_node node;
    uint64_t base = BOARD_UART_ADDRESS;
    uint32_t baud;
    bool found = state.tree.blob != NULL && device_tree_console(&state.tree, &node, &baud) &&
                 device_tree_lists(&state.tree, &node, "compatible", "arm,pl011");

    if (found)
        (void)device_tree_reg(&state.tree, &node, 0, &base, NULL);
    if (mmu_map((uintptr_t)base, UART_BYTES, MAP_DEVICE) != ERR_OK)
        return;
    pl011_init(&state.uart, (uintptr_t)base, 0, 0);
    serial_open(&pl011_serial, &state.uart);
    if (found && state.listens[0])
        (void)gic_take_input(&state.gic, gic_device_line(&state.tree, &node));
}

static void versal_early_init(const void *dtb)
{
    if (dtb != NULL && device_tree_open(&state.tree, dtb, device_tree_bytes(dtb)) == ERR_OK) {
        (void)psci_init(&state.psci, &state.tree); /* without it there is one core */
        map_gic();
        state.n_cores = device_tree_cpus(&state.tree, core_hardware_id(), state.core_ids,
                                         BOARD_MAX_CORES);
    }
    listen();
    open_uart();
}

static void core_main(void *arg)
{
    unsigned core = core_number();

    (void)arg;
    listen();
    state.cores[core].entry(state.cores[core].arg);
}

static enum err versal_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    if (core == 0 || core >= state.n_cores)
        return ERR_NO_DEVICE;
    state.cores[core].entry = entry;
    state.cores[core].arg = arg;
    return psci_core_on(&state.psci, state.core_ids[core], core_prepare(core, core_main, NULL),
                        core);
}

static void versal_wait(const _Atomic uint32_t *word, uint32_t old)
{
    bool on = core_interrupts_mask();

    if (atomic_load(&state.deaf))
        core_wait(word, old);
    else if (atomic_load(word) == old) /* a change after this look ends the sleep at once */
        gic_sleep(&state.gic);
    core_interrupts_restore(on);
}

static void versal_wake(const _Atomic uint32_t *word)
{
    core_wake(word);
    if (state.listens[core_number()])
        gic_wake_others(&state.gic);
}

/* AM011, "SD/eMMC Controller": of the standard, version 3. It is not taken to be coherent, which is
 * right either way. Clock and delay lines are the firmware's; so the card stays at 3.3 V. */
static bool open_slot(struct slot *slot, const struct device_tree_node *node)
{
    struct sdhci_setup setup = {
        .quirks = SDHCI_NO_1V8,
        .window = { .offset = 0, .end = UINT64_MAX, .coherent = false },
        .ticks = generic_timer_ticks,
        .ticks_hz = generic_timer_hz(),
    };
    uint64_t base;

    if (!device_tree_reg(&state.tree, node, 0, &base, NULL) ||
        mmu_map((uintptr_t)base, SDHCI_REGISTER_BYTES, MAP_DEVICE) != ERR_OK)
        return false;
    setup.mmio = (uintptr_t)base;
    if (sdhci_open(&slot->host, &setup) != ERR_OK)
        return false;
    sd_card_open(&slot->card, &slot->host.host, "SD card at ", setup.mmio, &slot->device);
    return true;
}

static unsigned versal_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    struct device_tree_node node;
    unsigned n = 0;

    device_tree_begin(&node);
    while (n < SLOTS && device_tree_next_compatible(&state.tree, &node, "arasan,sdhci-8.9a")) {
        if (open_slot(&state.slots[n], &node)) {
            devices[n] = &state.slots[n].device;
            n++;
        }
    }
    return n;
}

static _Noreturn void versal_power_off(int status)
{
    (void)status; /* PSCI has no room for it */
    pl011_drain(&state.uart);
    psci_system_off(&state.psci);
    core_halt();
}

const struct board board = {
    .name = "versal",
    .early_init = versal_early_init,
    .putc = serial_putc,
    .getc = serial_getc,
    .idle = serial_idle,
    .interrupted = serial_interrupted,
    .lost = serial_lost,
    .flow_control = serial_flow_control,
    .ticks = generic_timer_ticks,
    .ticks_hz = generic_timer_hz,
    .start_core = versal_start_core,
    .wait = versal_wait,
    .wake = versal_wake,
    .find_storage = versal_find_storage,
    .power_off = versal_power_off,
};
