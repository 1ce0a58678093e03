/* Raspberry Pi 5: BCM2712, four Cortex-A76. Not yet run on hardware, and no emulator has it: what
 * is not shared with rpi4 is this file alone. */
#include "board/board.h"

#include "board/drivers/bcm_sd.h"
#include "board/drivers/generic_timer.h"
#include "board/drivers/gic.h"
#include "board/drivers/psci.h"
#include "board/drivers/raspberry_pi.h"
#include "board/drivers/serial.h"
#include "board/isa.h"
#include "memory.h"

/* GIC-400 (bcm2712.dtsi, interrupt-controller@7fff9000). */
static struct gic gic = {
    .version = &gic_v2,
    .ranges = { { BOARD_GIC_DISTRIBUTOR, 0x1000 }, { BOARD_GIC_INTERFACE, 0x1000 } },
    .n_ranges = 2,
};

static void rpi5_listen(void)
{
    (void)gic_listen(&gic, core_hardware_id()); /* version 2 always succeeds */
}

/* The UART's clock is the firmware's, and so is the rate that it has set. */
static const struct raspberry_pi_places places = {
    .uart = BOARD_UART,
    .mailbox = BOARD_MAILBOX,
    .watchdog = BOARD_WATCHDOG,
    .listen = rpi5_listen,
};

static struct raspberry_pi pi;

static struct rpi5_storage {
    struct bcm_sd sd;
    struct block_device device;
} storage;

enum { LINE_UART = 32 + 121, SD_HZ = 200000000 }; /* bcm2712.dtsi, serial@7d001000 and clk_emmc2 */

/* The firmware's PSCI: bcm2712.dtsi has its node, which says SMC. */
static const struct psci psci = { .conduit = PSCI_SMC };

static void rpi5_early_init(const void *dtb)
{
    for (unsigned i = 0; i < gic.n_ranges; i++)
        (void)mmu_map(gic.ranges[i].base, gic.ranges[i].bytes, MAP_DEVICE);
    (void)gic_init(&gic);
    raspberry_pi_init(&pi, &places, dtb);
    raspberry_pi_open_console(&pi);
    (void)gic_take_input(&gic, LINE_UART);
}

static void core_main(void *arg)
{
    struct raspberry_pi_core *core = arg;

    rpi5_listen();
    core->entry(core->arg);
}

static enum err rpi5_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    uint64_t ids[RASPBERRY_PI_CORES];
    unsigned n = 0;

    if (pi.tree.blob != NULL)
        n = device_tree_cpus(&pi.tree, core_hardware_id(), ids, RASPBERRY_PI_CORES);
    if (core == 0 || core >= n)
        return ERR_NO_DEVICE;
    pi.cores[core].entry = entry;
    pi.cores[core].arg = arg;
    return psci_core_on(&psci, ids[core], core_prepare(core, core_main, &pi.cores[core]), core);
}

static void rpi5_wait(const _Atomic uint32_t *word, uint32_t old)
{
    bool on = core_interrupts_mask();

    if (atomic_load(word) == old) /* a change after this look ends the sleep at once */
        gic_sleep(&gic);
    core_interrupts_restore(on);
}

static void rpi5_wake(const _Atomic uint32_t *word)
{
    (void)word;
    gic_wake_others(&gic);
}

/* The firmware has read us from this card, so that pins and supplies are set; the signals stay at
 * 3.3 V. The controller sees memory as the cores do (bcm2712.dtsi, dma-ranges of its bus). */
static unsigned rpi5_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    const struct bcm_sd_place place = {
        .kind = BCM_SD_2712,
        .mmio = BOARD_SD,
        .clock_hz = SD_HZ,
        .window = { .offset = 0, .end = (uint64_t)1 << 36, .coherent = false },
        .ticks = generic_timer_ticks,
        .ticks_hz = generic_timer_hz(),
    };

    if (mmu_map(BOARD_SD, SDHCI_REGISTER_BYTES, MAP_DEVICE) != ERR_OK ||
        bcm_sd_open(&storage.sd, &place, &storage.device) != ERR_OK)
        return 0;
    devices[0] = &storage.device;
    return 1;
}

const struct board board = {
    .name = "rpi5",
    .early_init = rpi5_early_init,
    .putc = serial_putc,
    .getc = serial_getc,
    .idle = serial_idle,
    .interrupted = serial_interrupted,
    .lost = serial_lost,
    .flow_control = serial_flow_control,
    .ticks = generic_timer_ticks,
    .ticks_hz = generic_timer_hz,
    .start_core = rpi5_start_core,
    .wait = rpi5_wait,
    .wake = rpi5_wake,
    .find_storage = rpi5_find_storage,
    .health = raspberry_pi_health,
    .watchdog = raspberry_pi_watchdog,
    .alive = raspberry_pi_alive,
    .last_run = raspberry_pi_last_run,
    .is_emulated = raspberry_pi_is_emulated,
    .restart = raspberry_pi_restart,
    .power_off = raspberry_pi_power_off,
};
