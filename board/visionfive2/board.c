/* StarFive VisionFive 2 after U-Boot: JH7110 ("TRM": JH7110 Technical Reference Manual), U74 cores
 * as harts 1 to 4, hart 0 an S7 that stays asleep. The code has not yet run on hardware. */
#include "board/board.h"

#include "board/device_tree.h"
#include "board/drivers/block/nvme.h"
#include "board/drivers/bus/jh7110_pcie.h"
#include "board/drivers/bus/pci_ecam.h"
#include "board/drivers/gpio/jh7110_gpio.h"
#include "board/drivers/sd/jh7110_sd.h"
#include "board/drivers/serial/ns16550.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/serial/serial_rates.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/drivers/soc/sbi_machine.h"
#include "board/drivers/usb/usb.h"
#include "board/facts.h"
#include "board/isa.h"
#include "memory.h"

enum { SDIO_FIFO_WORDS = 32, N_SLOTS = 2 };
enum {
    MONITOR_HART = 0
}; /* the S7: hart_start accepts this hart, but it never reaches S-mode; in U-Boot 2021.10's tree
      it is okay */

static const struct sbi_machine_ns16550 console = { "snps,dw-apb-uart", BOARD_UART_ADDRESS, 0x1000,
                                                    2, 4 };

static struct board_state {
    struct ns16550 uart;
    struct jh7110_sd slots[N_SLOTS];
    struct block_device devices[N_SLOTS];
    struct nvme nvme;
    struct usb usb;
    struct block_device drive;
    struct pci_ecam pci[2];
} board_state;

static void visionfive2_early_init(const void *dtb)
{
    (void)sbi_machine_init(dtb, BOARD_TIMEBASE_HZ);
    sbi_machine_leave_out(MONITOR_HART);
    sbi_machine_open_ns16550(&board_state.uart, &console);
}

static void visionfive2_set_baud(uint32_t baud)
{
    ns16550_set_baud(&board_state.uart, BOARD_UART_HZ, baud);
}

static uint32_t visionfive2_best_baud(uint32_t most)
{
    return serial_best_baud(BOARD_UART_HZ / 16, 1, most);
}

/* ---- PCI Express ---- */

enum { PORT_USB, PORT_M2, N_PORTS }; /* the VL805 on the board, and the socket */
enum { CLASS_NVM = 0x0108, CLASS_USB = 0x0c03 };

/* Configuration space and windows (jh7110.dtsi, pcie@940000000 and pcie@9c0000000), with the same
 * addresses on the bus and for the cores. */
static const struct pci_ecam ports[N_PORTS] = {
    { .config = 0x940000000,
      .most_buses = 2,
      .is_port = true,
      .low = { 0x30000000, 0x38000000, 0 },
      .high = { 0x900000000, 0x940000000, 0 } },
    { .config = 0x9c0000000,
      .most_buses = 2,
      .is_port = true,
      .low = { 0x38000000, 0x40000000, 0 },
      .high = { 0x980000000, 0x9c0000000, 0 } },
};

/* Find a function of this class. U-Boot has set up the ports and their devices; a port that it has
 * not set up, or has released, is not touched. */
static uintptr_t find_function(unsigned port, unsigned class)
{
    static const struct jh7110_stg stg = { BOARD_STG_CRG_ADDRESS, BOARD_STG_SYSCON_ADDRESS };
    struct pci_ecam *pci = &board_state.pci[port];
    unsigned function = 0;

    *pci = ports[port];

    if (mmu_map(stg.crg, JH7110_STG_CRG_BYTES, MAP_DEVICE) != ERR_OK ||
        mmu_map(stg.syscon, JH7110_STG_SYSCON_BYTES, MAP_DEVICE) != ERR_OK)
        return 0;
    facts_add(jh7110_pcie_facts, &stg);
    if (!jh7110_pcie_is_up(&stg, port) || pci_ecam_open(pci) != ERR_OK)
        return 0;
    facts_add(pci_ecam_facts, pci);
    return pci_ecam_next(pci, &function, class) ? pci_ecam_enable(pci, function) : 0;
}

static const struct dma_window pcie_window = { .offset = 0, .end = UINT64_MAX, .coherent = true };

static bool open_drive(void)
{
    struct nvme_setup setup = { .mmio = find_function(PORT_M2, CLASS_NVM),
                                .window = pcie_window,
                                .ticks = riscv_timer_ticks,
                                .ticks_hz = sbi_machine_ticks_hz() };

    return setup.mmio != 0 && nvme_open(&board_state.nvme, &setup, &board_state.drive) == ERR_OK;
}

static unsigned open_usb(struct block_device **out)
{
    struct xhci_setup setup = { .mmio = find_function(PORT_USB, CLASS_USB),
                                .window = pcie_window,
                                .ticks = riscv_timer_ticks,
                                .ticks_hz = sbi_machine_ticks_hz() };

    if (setup.mmio == 0)
        return 0;
    serial_join(usb_take, &board_state.usb);
    return usb_open(&board_state.usb, &setup, out, USB_DRIVES);
}

/* ---- cards ---- */

/* Find the card slots. The controllers' port is coherent with the caches (TRM, "Bus"; the maker's
 * tree marks nothing as non-coherent). Clocks, resets and pins keep the settings with which U-Boot
 * read from the slot; a slot that U-Boot has not started is listed, but is not touched. The card
 * comes before the eMMC. */
static unsigned find_cards(struct block_device *devices[N_SLOTS])
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

static unsigned visionfive2_find_storage(struct block_device *devices[BOARD_MAX_BLOCK])
{
    unsigned n = 0;

    if (open_drive())
        devices[n++] = &board_state.drive;
    n += open_usb(devices + n);
    return n + find_cards(devices + n);
}

/* ---- the 40 pins ---- */

/* The 40 pins have the lines from 36 on, except 41 and 62; of the lines below 36 they have only
 * those of the serial line (VisionFive 2 40-Pin GPIO Header User Guide). */
enum { UART_TRANSMIT = 5, UART_RECEIVE = 6, ROW_FIRST = 36, NOT_ON_ROW = 41, CARD_RESET = 62 };

static const char *visionfive2_line_error_message(unsigned line)
{
    if (line == UART_TRANSMIT || line == UART_RECEIVE)
        return "lines 5 and 6 belong to the serial line";
    if (line < ROW_FIRST || line >= JH7110_GPIO_LINES || line == NOT_ON_ROW || line == CARD_RESET)
        return "lines of the 40-pin header are 36 to 40, 42 to 61 and 63";
    if (mmu_map(BOARD_IOMUX, JH7110_GPIO_BYTES, MAP_DEVICE) != ERR_OK)
        return "the GPIO's registers cannot be mapped";
    return NULL;
}

static void visionfive2_line_setup(unsigned line, bool output, bool high)
{
    jh7110_gpio_setup(BOARD_IOMUX, line, output, high);
}

static void visionfive2_line_write(unsigned line, bool high)
{
    jh7110_gpio_write(BOARD_IOMUX, line, high);
}

static bool visionfive2_line_read(unsigned line)
{
    return jh7110_gpio_read(BOARD_IOMUX, line);
}

static const struct board_pins lines = {
    .error_message = visionfive2_line_error_message,
    .setup = visionfive2_line_setup,
    .write = visionfive2_line_write,
    .read = visionfive2_line_read,
};

const struct board board = {
    .name = "visionfive2",
    .early_init = visionfive2_early_init,
    SERIAL_CONSOLE,
    .set_baud = visionfive2_set_baud,
    .best_baud = visionfive2_best_baud,
    SBI_MACHINE,
    .find_storage = visionfive2_find_storage,
    .pins = &lines,
    .set_keyboard = usb_set_layout,
    .has_keyboard = usb_has_keyboard,
    .look_for_storage = usb_look,
    .power_off = sbi_machine_power_off,
};
