/* Sections are those of the PCI Express Base Specification 3.0 ("Express") and of the PCI Local
 * Bus Specification 3.0; registers of the port have the names that Linux's pcie-brcmstb.c gives
 * them. All accesses go to device memory (nGnRE), so they arrive in the order of the program and
 * need no barriers between them. */
#include "board/drivers/bus/brcm_pcie.h"

#include <stdbool.h>

#include "board/facts.h"

enum { /* registers of the port itself, whose configuration space is at 0 */
       REG_COMMAND = 0x04,
       REG_BAR = 0x10,
       REG_BUSES = 0x18,
       REG_MEMORY = 0x20,
       REG_PREFETCH = 0x24,
       LINK_CAPABILITY = 0xac + 0x0c, /* Express 7.8.6 */
       LINK_STATUS = 0xac + 0x10,     /* described in 7.8.7, its upper half in 7.8.8 */
       LINK_CONTROL_2 = 0xac + 0x30,  /* 7.8.19 */
       VENDOR_SPECIFIC_1 = 0x0188,
       PRIVATE_CLASS = 0x043c,
       PRIVATE_LINK_CAPABILITY = 0x04dc,
       MDIO_ADDRESS = 0x1100,
       MDIO_WRITE_DATA = 0x1104,
       PHY_CONTROL_15 = 0x184c,
       MISC_CONTROL = 0x4008,
       OUT_BUS_LOW = 0x400c,
       OUT_BUS_HIGH = 0x4010,
       BAR1_LOW = 0x402c,
       BAR2_LOW = 0x4034,
       BAR2_HIGH = 0x4038,
       BAR3_LOW = 0x403c,
       RETRY_TIMEOUT = 0x405c,
       PCIE_CONTROL = 0x4064,
       PCIE_STATUS = 0x4068,
       OUT_BASE_LIMIT = 0x4070,
       OUT_BASE_HIGH = 0x4080,
       OUT_LIMIT_HIGH = 0x4084,
       UBUS_CONTROL = 0x40a4,
       UBUS_TIMEOUT = 0x40a8,
       UBUS_BAR2_LOW = 0x40b4,
       UBUS_BAR2_HIGH = 0x40b8,
       READ_ERROR_DATA = 0x4170,
       DEBUG_2711 = 0x4204,
       DEBUG_2712 = 0x4304,
       DEVICE_CONFIG = 0x8000,
       CONFIG_INDEX = 0x9000,
       RESET_2711 = 0x9210,
};
enum { RESET_PERST = 1 << 0, RESET_BRIDGE = 1 << 1 };
enum { CONTROL_NO_PERST = 1 << 2 }; /* BCM2712: 1 releases the device from reset */
enum { STATUS_LINK = 1 << 4 | 1 << 5, STATUS_PORT = 1 << 7 };
enum { DEBUG_CLKREQ = 1 << 1 | 1 << 21, DEBUG_IDDQ = 1 << 27 };
enum {
    MISC_ACCESS = 1 << 12 | 1 << 13 | 1 << 10 | 1 << 7,
    MISC_BURST = 3 << 20,
    MISC_BURST_2712 = 1 << 20,
    MISC_SIZE_AT = 27
};
enum { UBUS_NO_ERRORS = 1 << 13 | 1 << 19, UBUS_ACCESS = 1 };
enum { SIZE_MASK = 31, SIZE_BASE = 15 }; /* a window's size field: log2 of its size, minus 15 */
enum { ASPM = 3 << 10, BAR2_ENDIAN = 3 << 2 };
enum { COMMAND_MEMORY = 1 << 1, COMMAND_MASTER = 1 << 2 };
enum { CLASS_PORT = 0x060400, INDEX_DEVICE = 1 << 20 /* bus 1, device 0, function 0 */ };
enum { RESCAL_START = 0, RESCAL_STATUS = 8 };                 /* reset-brcmstb-rescal.c */
enum { RESETS_SET = 0, RESETS_CLEAR = 4, BANK_BYTES = 0x18 }; /* reset-brcmstb.c */
enum { BAR_IO = 1, BAR_TYPE = 3 << 1, BAR_64 = 2 << 1, BAR_FLAGS = 15 };
enum {
    SETTLE_US = 100,
    RESCAL_US = 1000,
    MDIO_US = 1000,
    PLL_US = 200,
    PERST_US = 100000, /* Express 6.6.1 */
    LINK_US = 100000,
    ANSWER_US = 1000000, /* Express 6.6.1: a device that does not answer after a second is broken */
    MIB_BITS = 20,
};
#define MDIO_DONE (1u << 31)

static uint32_t get(const struct brcm_pcie *p, unsigned reg)
{
    return brcm_pcie_read(p->place.mmio + reg);
}

static void put(const struct brcm_pcie *p, unsigned reg, uint32_t value)
{
    brcm_pcie_write(p->place.mmio + reg, value);
}

static void change(const struct brcm_pcie *p, unsigned reg, uint32_t mask, uint32_t bits)
{
    put(p, reg, (get(p, reg) & ~mask) | bits);
}

static enum err fail(struct brcm_pcie *p, enum err e, const char *why)
{
    p->why = why;
    return e;
}

/* Wait until `bits` of the register equal `value`; read once more after the time-out. */
static bool wait_for(const struct brcm_pcie *p, uintptr_t at, uint32_t bits, uint32_t value,
                     uint32_t us)
{
    uint64_t start = p->place.ticks(), limit = p->place.ticks_hz * us / 1000000;

    for (;;) {
        bool over = p->place.ticks() - start > limit;

        if ((brcm_pcie_read(at) & bits) == value)
            return true;
        if (over)
            return false;
    }
}

static void pause(const struct brcm_pcie *p, uint32_t us)
{
    uint64_t start = p->place.ticks(), least = p->place.ticks_hz * us / 1000000;

    while (p->place.ticks() - start <= least)
        ;
}

static bool is_2712(const struct brcm_pcie *p)
{
    return p->place.chip == BRCM_PCIE_2712;
}

/* ---- resets ---- */

/* Calibrate the block that all ports share (bcm2712.dtsi, pcie_rescal). Do nothing if the link of
 * another port is up, such as that of RP1's port, which the firmware leaves up. */
static enum err calibrate(struct brcm_pcie *p)
{
    uintptr_t at = p->place.rescal, neighbour = p->place.neighbour;
    uint32_t start = brcm_pcie_read(at + RESCAL_START);

    if (neighbour != 0 && (brcm_pcie_read(neighbour + PCIE_STATUS) & STATUS_LINK) == STATUS_LINK)
        return ERR_OK;
    brcm_pcie_write(at + RESCAL_START, start | 1);
    if (!wait_for(p, at + RESCAL_STATUS, 1, 1, RESCAL_US))
        return fail(p, ERR_TIMEOUT,
                    "the PCIe port's calibration does not end: switch the power off and on");
    brcm_pcie_write(at + RESCAL_START, start & ~1u);
    return ERR_OK;
}

static void hold_bridge(const struct brcm_pcie *p, bool hold)
{
    uintptr_t bank = p->place.resets + p->place.reset / 32 * BANK_BYTES;

    if (is_2712(p))
        brcm_pcie_write(bank + (hold ? RESETS_SET : RESETS_CLEAR), 1u << p->place.reset % 32);
    else
        change(p, RESET_2711, RESET_BRIDGE, hold ? RESET_BRIDGE : 0);
}

static void hold_device(const struct brcm_pcie *p, bool hold)
{
    if (is_2712(p))
        change(p, PCIE_CONTROL, CONTROL_NO_PERST, hold ? 0 : CONTROL_NO_PERST);
    else
        change(p, RESET_2711, RESET_PERST, hold ? RESET_PERST : 0);
}

/* Reset the bridge. On BCM2712, PERST can be set only after the bridge's reset has ended. */
static void reset(const struct brcm_pcie *p)
{
    hold_bridge(p, true);
    if (!is_2712(p))
        hold_device(p, true);
    pause(p, SETTLE_US);
    hold_bridge(p, false);
    if (is_2712(p))
        hold_device(p, true);
    /* Switch on the lane's power and its clock, even without a clock request, because not every
     * device has a line for such requests. */
    change(p, is_2712(p) ? DEBUG_2712 : DEBUG_2711, DEBUG_IDDQ | DEBUG_CLKREQ, 0);
    pause(p, SETTLE_US);
}

/* ---- BCM2712's lane ---- */

static bool mdio_write(const struct brcm_pcie *p, uint32_t reg, uint32_t value)
{
    put(p, MDIO_ADDRESS, reg); /* port 0, command 0 */
    (void)get(p, MDIO_ADDRESS);
    put(p, MDIO_WRITE_DATA, MDIO_DONE | value);
    return wait_for(p, p->place.mmio + MDIO_WRITE_DATA, MDIO_DONE, 0, MDIO_US);
}

/* Set the PLL, which expects 100 MHz, for the board's 54 MHz; otherwise no link comes up. */
static enum err set_pll(struct brcm_pcie *p)
{
    static const struct {
        uint16_t reg, value;
    } rows[] = { { 0x1f, 0x1600 }, { 0x16, 0x50b9 }, { 0x17, 0xbda1 }, { 0x18, 0x0094 },
                 { 0x19, 0x97b4 }, { 0x1b, 0x5030 }, { 0x1c, 0x5030 }, { 0x1e, 0x0007 } };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!mdio_write(p, rows[i].reg, rows[i].value))
            return fail(
                p, ERR_TIMEOUT,
                "the PCIe port's lane does not accept settings: switch the power off and on");
    pause(p, PLL_US);
    change(p, PHY_CONTROL_15, 0xff, 0x12); /* period of the power management's clock, in ns */
    return ERR_OK;
}

/* Let a read without an answer return ones instead of aborting, and limit waits. */
static void set_ubus(const struct brcm_pcie *p)
{
    put(p, UBUS_BAR2_LOW, UBUS_ACCESS); /* memory from 0 on */
    put(p, UBUS_BAR2_HIGH, 0);
    change(p, UBUS_CONTROL, 0, UBUS_NO_ERRORS);
    put(p, READ_ERROR_DATA, 0xffffffff);
    put(p, UBUS_TIMEOUT, 0x0b2d0000);
    put(p, RETRY_TIMEOUT, 0x0aba0000);
}

/* ---- windows ---- */

static void set_inbound(const struct brcm_pcie *p)
{
    uint32_t size = p->place.inbound_bits - SIZE_BASE;

    /* Bursts: on a BCM2711, 0 means 128 bytes. On a BCM2712, U-Boot and Circle write 1, Linux
     * writes 2. */
    change(p, MISC_CONTROL, MISC_BURST, MISC_ACCESS | (is_2712(p) ? MISC_BURST_2712 : 0));
    put(p, BAR2_LOW, (uint32_t)p->place.inbound_bus | size);
    put(p, BAR2_HIGH, (uint32_t)(p->place.inbound_bus >> 32));
    change(p, MISC_CONTROL, (uint32_t)SIZE_MASK << MISC_SIZE_AT, size << MISC_SIZE_AT);
    change(p, BAR1_LOW, SIZE_MASK, 0);
    change(p, BAR3_LOW, SIZE_MASK, 0);
    if (is_2712(p))
        set_ubus(p);
}

static void set_outbound(const struct brcm_pcie *p)
{
    uint32_t first = (uint32_t)(p->place.outbound >> MIB_BITS);
    uint32_t last = (uint32_t)((p->place.outbound + p->place.outbound_bytes - 1) >> MIB_BITS);

    put(p, OUT_BUS_LOW, (uint32_t)p->place.outbound_bus);
    put(p, OUT_BUS_HIGH, (uint32_t)(p->place.outbound_bus >> 32));
    put(p, OUT_BASE_LIMIT, (last & 0xfff) << 20 | (first & 0xfff) << 4);
    change(p, OUT_BASE_HIGH, 0xff, first >> 12);
    change(p, OUT_LIMIT_HIGH, 0xff, last >> 12);
}

static void set_port(const struct brcm_pcie *p)
{
    change(p, LINK_CAPABILITY, 15, p->place.generation);
    change(p, LINK_CONTROL_2, 0xffff000f,
           p->place.generation); /* zeros do not change a status register */
    change(p, PRIVATE_LINK_CAPABILITY, ASPM, 0);
    change(p, PRIVATE_CLASS, 0xffffff, CLASS_PORT);
    set_outbound(p);
    change(p, VENDOR_SPECIFIC_1, BAR2_ENDIAN, 0);
}

/* ---- the device ---- */

static bool is_linked(const struct brcm_pcie *p)
{
    return (get(p, PCIE_STATUS) & STATUS_LINK) == STATUS_LINK;
}

/* Without a link, an access to the device causes an abort on the core. */
uint32_t brcm_pcie_config(const struct brcm_pcie *p, unsigned reg)
{
    if (!is_linked(p))
        return UINT32_MAX;
    put(p, CONFIG_INDEX, INDEX_DEVICE);
    return get(p, DEVICE_CONFIG + reg);
}

static void set_config(const struct brcm_pcie *p, unsigned reg, uint32_t value)
{
    if (!is_linked(p))
        return;
    put(p, CONFIG_INDEX, INDEX_DEVICE);
    put(p, DEVICE_CONFIG + reg, value);
}

/* Express 2.3.1: vendor 1 means "not yet". */
static enum err meet_device(struct brcm_pcie *p)
{
    uint64_t start = p->place.ticks(), limit = p->place.ticks_hz * ANSWER_US / 1000000;

    put(p, REG_BUSES, 1 << 16 | 1 << 8);
    for (;;) {
        bool over = p->place.ticks() - start > limit;

        p->id = brcm_pcie_config(p, 0);
        if (p->id != UINT32_MAX && (p->id & 0xffff) != 1 && p->id != 0)
            break;
        if (over)
            return fail(p, ERR_TIMEOUT,
                        "the PCIe device does not answer: switch the power off and on");
    }
    p->class = brcm_pcie_config(p, 8) >> 8;
    return ERR_OK;
}

static enum err link(struct brcm_pcie *p)
{
    hold_device(p, false);
    pause(p, PERST_US);
    if (!wait_for(p, p->place.mmio + PCIE_STATUS, STATUS_LINK, STATUS_LINK, LINK_US))
        return fail(p, ERR_NO_DEVICE, "nothing is at the PCIe port, or its link does not come up");
    if (!(get(p, PCIE_STATUS) & STATUS_PORT))
        return fail(p, ERR_IO,
                    "the PCIe port is set up as a device, not as a root port: switch the power off "
                    "and on");
    return meet_device(p);
}

void brcm_pcie_facts(const void *of, const struct facts *f)
{
    const struct brcm_pcie *p = of;
    uint32_t link_status = get(p, LINK_STATUS) >> 16;

    fact_number(f, "pcie port", FACT_HEX, p->place.mmio);
    fact_number(f, "pcie status", FACT_HEX, get(p, PCIE_STATUS));
    fact_text(f, "pcie link", is_linked(p) ? "up" : "down");
    fact_number(f, "pcie link generation", FACT_COUNT, link_status & 15); /* Express 7.8.8 */
    fact_number(f, "pcie link lanes", FACT_COUNT, link_status >> 4 & 63);
    fact_number(f, "pcie device and vendor", FACT_HEX, p->id);
    fact_number(f, "pcie class", FACT_HEX, p->class);
    if (p->why != NULL)
        fact_text(f, "pcie problem", p->why);
}

enum err brcm_pcie_open(struct brcm_pcie *p, const struct brcm_pcie_place *place)
{
    enum err e = ERR_OK;

    *p = (struct brcm_pcie){ .place = *place };
    if (is_2712(p))
        e = calibrate(p);
    if (e != ERR_OK)
        return e;
    reset(p);
    if (is_2712(p))
        e = set_pll(p);
    if (e != ERR_OK)
        return e;
    set_inbound(p);
    set_port(p);
    e = link(p);
    if (e != ERR_OK)
        hold_device(p, true); /* ends the device's transfers */
    return e;
}

/* The size of BAR 0: the bits that a BAR keeps when ones are written (PCI 6.2.5.1). Returns 0 if
 * BAR 0 is not a memory BAR below 4 GiB. */
static uint32_t bar_bytes(const struct brcm_pcie *p, bool *wide)
{
    uint32_t bar = brcm_pcie_config(p, REG_BAR), kept;

    set_config(p, REG_COMMAND, 0);
    set_config(p, REG_BAR, UINT32_MAX);
    kept = brcm_pcie_config(p, REG_BAR) & ~(uint32_t)BAR_FLAGS;
    *wide = (bar & BAR_TYPE) == BAR_64;
    return bar & BAR_IO ? 0 : ~kept + 1;
}

uintptr_t brcm_pcie_enable(struct brcm_pcie *p, size_t *bytes)
{
    bool wide;
    uint32_t size = bar_bytes(p, &wide), base = (uint32_t)p->place.outbound_bus;
    uint32_t limit = base + (uint32_t)(p->place.outbound_bytes - 1);

    if (size == 0 || size > p->place.outbound_bytes || base % size != 0) {
        p->why = "the PCIe device's registers do not fit the port's window: use another device";
        return 0;
    }
    set_config(p, REG_BAR, base);
    if (wide)
        set_config(p, REG_BAR + 4, 0);
    put(p, REG_MEMORY, (limit & 0xfff00000) | (base >> 16 & 0xfff0));
    put(p, REG_PREFETCH, 0x0000fff0); /* base above limit: closed */
    put(p, REG_COMMAND, COMMAND_MEMORY | COMMAND_MASTER);
    set_config(p, REG_COMMAND, COMMAND_MEMORY | COMMAND_MASTER);
    *bytes = size;
    return (uintptr_t)p->place.outbound;
}
