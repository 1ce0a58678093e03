/* StarFive VisionFive 2 after U-Boot: JH7110 ("TRM": JH7110 Technical Reference Manual), U74 cores
 * as harts 1 to 4, hart 0 an S7 that stays asleep. Not yet run on hardware. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/sd/jh7110_sd.h"
#include "board/drivers/serial/ns16550.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi_machine.h"
#include "board/isa.h"
#include "memory.h"

enum { SDIO_FIFO_WORDS = 32, N_SLOTS = 2 };

static const struct sbi_machine_ns16550 console = { "snps,dw-apb-uart", BOARD_UART_ADDRESS, 0x1000,
                                                    2, 4 };

static struct board_state {
    struct ns16550 uart;
    struct jh7110_sd slots[N_SLOTS];
    struct block_device devices[N_SLOTS];
} board_state;

static void visionfive2_early_init(const void *dtb)
{
    (void)sbi_machine_init(dtb, BOARD_TIMEBASE_HZ);
    sbi_machine_open_ns16550(&board_state.uart, &console);
}

static void visionfive2_set_baud(uint32_t baud)
{
    ns16550_set_baud(&board_state.uart, BOARD_UART_HZ, baud);
}

/* The controllers' port is coherent with the caches (TRM, "Bus"; the maker's tree calls nothing
 * non-coherent). Clocks, resets and pins are as U-Boot left them when it read from the slot; one
 * that it has not woken is listed, and is not touched. The card comes before the eMMC. */
static unsigned visionfive2_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    static const uintptr_t slots[N_SLOTS] = { BOARD_SDIO0_ADDRESS, BOARD_SDIO1_ADDRESS };
    static const struct jh7110_clocks clocks = { BOARD_SYSCRG_ADDRESS, BOARD_SYSCON_ADDRESS };
    struct dw_mmc_setup setup = {
        .fifo_words = SDIO_FIFO_WORDS,
        .window = { .offset = 0, .end = UINT64_MAX, .coherent = true },
        .ticks = riscv_timer_ticks,
        .ticks_hz = sbi_machine_ticks_hz(),
    };
    unsigned n = 0;

    if (mmu_map(clocks.crg, JH7110_CRG_BYTES, MAP_DEVICE) != ERR_OK ||
        mmu_map(clocks.syscon, JH7110_SYSCON_BYTES, MAP_DEVICE) != ERR_OK)
        return 0;
    for (unsigned i = N_SLOTS; i-- > 0;) {
        setup.mmio = slots[i];
        if (mmu_map(slots[i], DW_MMC_BYTES, MAP_DEVICE) != ERR_OK ||
            jh7110_sd_open(&board_state.slots[i], &clocks, i, &setup, &board_state.devices[i]) !=
                ERR_OK)
            continue;
        devices[n++] = &board_state.devices[i];
    }
    return n;
}

const struct board board = {
    .name = "visionfive2",
    .early_init = visionfive2_early_init,
    SERIAL_CONSOLE,
    .set_baud = visionfive2_set_baud,
    SBI_MACHINE,
    .find_storage = visionfive2_find_storage,
    .power_off = sbi_machine_power_off,
};
