/* Microchip PolarFire SoC Icicle Kit, after HSS and U-Boot or in QEMU's microchip-icicle-kit. "TRM"
 * is the PolarFire SoC MSS Technical Reference Manual, DS60001702. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/gpio/mss_gpio.h"
#include "board/drivers/sd/cadence_sd.h"
#include "board/drivers/serial/ns16550.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/serial/serial_rates.h"
#include "board/drivers/soc/mss_ram.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi.h"
#include "board/drivers/soc/sbi_machine.h"
#include "board/drivers/soc/semihosting.h"
#include "board/isa.h"
#include "memory.h"

static const struct sbi_machine_ns16550 console = { "ns16550a", BOARD_UART_ADDRESS, 0x400, 2, 4 };

static struct board_state {
    const struct device_tree *tree;
    struct ns16550 uart;
    struct cadence_sd sd;
    struct block_device card;
} board_state;

/* HSS talks on MMUART0; stdout-path of U-Boot's tree is MMUART1. */
static void icicle_early_init(const void *dtb)
{
    board_state.tree = sbi_machine_init(dtb, BOARD_TIMEBASE_HZ);
    sbi_machine_open_ns16550(&board_state.uart, &console);
}

static void icicle_set_baud(uint32_t baud)
{
    ns16550_set_baud(&board_state.uart, BOARD_UART_HZ, baud);
}

static uint32_t icicle_best_baud(uint32_t most)
{
    return serial_best_baud(BOARD_UART_HZ / 16, 1, most);
}

enum { FIRST_U54 = 1, LAST_U54 = 4 };

/* HSS's own tree names only hart 1, and a U-Boot without a tree of its own (OF_BOARD) passes HSS's
 * tree on, so ask HSS for the other harts. */
static void icicle_amend(struct machine *machine)
{
    sbi_machine_add_unnamed(machine, FIRST_U54, LAST_U54);
    mss_ram_leave_twins_out(board_state.tree, machine);
}

/* The controller is coherent (TRM, "L2 cache": masters of the FPGA and of the AXI switch go through
 * it). HSS switches the controller on only if HSS loads from the card. */
static unsigned icicle_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    const struct sdhci_setup setup = {
        .mmio = BOARD_SD,
        .window = { .offset = 0, .end = UINT64_MAX, .coherent = true },
        .ticks = riscv_timer_ticks,
        .ticks_hz = sbi_machine_ticks_hz(),
    };

    if (mmu_map(BOARD_SD, CADENCE_SD_BYTES, MAP_DEVICE) != ERR_OK ||
        mmu_map(BOARD_SYSREG, CADENCE_SYSREG_BYTES, MAP_DEVICE) != ERR_OK ||
        cadence_sd_open(&board_state.sd, &setup, BOARD_SYSREG, &board_state.card) != ERR_OK)
        return 0;
    devices[0] = &board_state.card;
    return 1;
}

/* GPIO 2 goes into the FPGA, whose design decides where its lines lead (in the kit's design, LEDs
 * at 16 to 19). */
enum { GPIO_BLOCK = 2 };

static const char *icicle_line_error_message(unsigned line)
{
    if (line >= MSS_GPIO_LINES)
        return "GPIO 2 has the lines 0 to 31";
    if (mmu_map(BOARD_GPIO_2, MSS_GPIO_BYTES, MAP_DEVICE) != ERR_OK ||
        mmu_map(BOARD_SYSREG, MSS_SYSREG_BYTES, MAP_DEVICE) != ERR_OK)
        return "the GPIO's registers cannot be mapped";
    return NULL;
}

static void icicle_line_setup(unsigned line, bool output, bool high)
{
    mss_gpio_wake(BOARD_SYSREG, GPIO_BLOCK);
    mss_gpio_setup(BOARD_GPIO_2, line, output, high);
}

static void icicle_line_write(unsigned line, bool high)
{
    mss_gpio_write(BOARD_GPIO_2, line, high);
}

static bool icicle_line_read(unsigned line)
{
    return mss_gpio_read(BOARD_GPIO_2, line);
}

static const struct board_pins lines = {
    .error_message = icicle_line_error_message,
    .setup = icicle_line_setup,
    .write = icicle_line_write,
    .read = icicle_line_read,
};

/* HSS can switch off by SRST. OpenSBI in QEMU cannot, and QEMU's machine has no power switch. */
static _Noreturn void icicle_power_off(int status)
{
    serial_drain();
    sbi_power_off(status != 0);
    semihosting_exit(status);
}

const struct board board = {
    .name = "icicle",
    .early_init = icicle_early_init,
    .amend = icicle_amend,
    SERIAL_CONSOLE,
    .set_baud = icicle_set_baud,
    .best_baud = icicle_best_baud,
    SBI_MACHINE,
    .find_storage = icicle_find_storage,
    .pins = &lines,
    .power_off = icicle_power_off,
};
