/* StarFive VisionFive 2 after U-Boot: JH7110 ("TRM": JH7110 Technical Reference Manual), U74 cores
 * as harts 1 to 4, hart 0 an S7 that stays asleep. Not yet run on hardware. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/dw_mmc.h"
#include "board/drivers/ns16550.h"
#include "board/drivers/plic.h"
#include "board/drivers/riscv_timer.h"
#include "board/drivers/sbi.h"
#include "board/drivers/sbi_harts.h"
#include "board/drivers/sd_card.h"
#include "board/drivers/serial.h"
#include "board/isa.h"
#include "memory.h"

enum { UART_BYTES = 0x1000, UART_SHIFT = 2, UART_WIDTH = 4, SDIO_FIFO_WORDS = 32, N_SLOTS = 2 };

static struct board_state {
    struct sbi_harts harts;
    struct ns16550 uart;
    struct plic plic;
    struct dw_mmc hosts[N_SLOTS];
    struct sd_card cards[N_SLOTS];
    struct block_device devices[N_SLOTS];
} state;

static void open_uart(void)
{
    struct device_tree_node node;
    uint64_t base = BOARD_UART_ADDRESS;
    uint32_t baud;
    bool found = state.harts.tree.blob != NULL &&
                 device_tree_console(&state.harts.tree, &node, &baud) &&
                 device_tree_lists(&state.harts.tree, &node, "compatible", "snps,dw-apb-uart");

    if (found)
        (void)device_tree_reg(&state.harts.tree, &node, 0, &base, NULL);
    if (mmu_map((uintptr_t)base, UART_BYTES, MAP_DEVICE) != ERR_OK)
        return;
    ns16550_init(&state.uart, (uintptr_t)base, UART_SHIFT, UART_WIDTH);
    serial_open(&ns16550_serial, &state.uart);
    if (found)
        (void)plic_take_input(&state.plic, &state.harts.tree, &node); /* otherwise polled */
}

static void visionfive2_early_init(const void *dtb)
{
    sbi_harts_read(&state.harts, dtb, BOARD_TIMEBASE_HZ);
    open_uart();
}

static void visionfive2_set_baud(uint32_t baud)
{
    ns16550_set_baud(&state.uart, BOARD_UART_HZ, baud);
}

static uint64_t visionfive2_ticks_hz(void)
{
    return state.harts.ticks_hz;
}

static enum err visionfive2_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    return sbi_harts_start(&state.harts, core, entry, arg);
}

/* The controllers' port is coherent with the caches (TRM, "Bus"; the maker's tree calls nothing
 * non-coherent). Clocks, resets and pins are as U-Boot left them when it read from the slot; one
 * that it has not woken has no version, and is left out. */
static unsigned visionfive2_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    static const uintptr_t slots[N_SLOTS] = { BOARD_SDIO1_ADDRESS, BOARD_SDIO0_ADDRESS };
    struct dw_mmc_setup setup = {
        .clock_hz = BOARD_SDIO_HZ,
        .fifo_words = SDIO_FIFO_WORDS,
        .window = { .offset = 0, .end = UINT64_MAX, .coherent = true },
        .ticks = riscv_timer_ticks,
        .ticks_hz = state.harts.ticks_hz,
    };
    unsigned n = 0;

    for (unsigned i = 0; i < N_SLOTS; i++) {
        setup.mmio = slots[i];
        if (mmu_map(slots[i], DW_MMC_BYTES, MAP_DEVICE) != ERR_OK ||
            dw_mmc_open(&state.hosts[n], &setup) != ERR_OK)
            continue;
        if (slots[i] == BOARD_SDIO0_ADDRESS)
            state.hosts[n].host.identify_emmc = sd_emmc_identify;
        sd_card_open(&state.cards[n], &state.hosts[n].host, "SD card at ", slots[i],
                     &state.devices[n]);
        devices[n] = &state.devices[n];
        n++;
    }
    return n;
}

static _Noreturn void visionfive2_power_off(int status)
{
    ns16550_drain(&state.uart);
    sbi_power_off(status != 0);
    sbi_shutdown_legacy();
    core_halt();
}

const struct board board = {
    .name = "visionfive2",
    .early_init = visionfive2_early_init,
    .putc = serial_putc,
    .getc = serial_getc,
    .idle = serial_idle,
    .interrupted = serial_interrupted,
    .lost = serial_lost,
    .flow_control = serial_flow_control,
    .set_baud = visionfive2_set_baud,
    .ticks = riscv_timer_ticks,
    .ticks_hz = visionfive2_ticks_hz,
    .start_core = visionfive2_start_core,
    .wait = core_wait,
    .wake = core_wake,
    .find_storage = visionfive2_find_storage,
    .power_off = visionfive2_power_off,
};
