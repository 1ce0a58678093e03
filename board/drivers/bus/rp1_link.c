/* "Express" is the PCI Express Base Specification 3.0. Names of the port's registers are those
 * of Linux's pcie-brcmstb.c. A read through the window while the link is down aborts, so the
 * port's state is read first. */
#include "board/drivers/bus/rp1_link.h"

#include "board/drivers/bus/brcm_pcie.h"
#include "board/facts.h"

enum {
    REG_COMMAND = 0x04,
    LINK_STATUS = 0xac + 0x10, /* as in brcm_pcie.c */
    OUT_BUS_LOW = 0x400c,
    OUT_BUS_HIGH = 0x4010,
    PCIE_STATUS = 0x4068,
    OUT_BASE_LIMIT = 0x4070,
    OUT_BASE_HIGH = 0x4080,
    OUT_LIMIT_HIGH = 0x4084,
    DEVICE_CONFIG = 0x8000,
    DEVICE_BAR_1 = DEVICE_CONFIG + 0x14,
    CONFIG_INDEX = 0x9000,
};
enum { STATUS_LINK = 1 << 4 | 1 << 5, STATUS_PORT = 1 << 7 };
enum { COMMAND_MEMORY = 1 << 1, COMMAND_MASTER = 1 << 2, COMMAND_BITS = 0xffff };
enum { INDEX_DEVICE = 1 << 20 }; /* bus 1, device 0, function 0 */
enum { ID_RP1 = 0x00011de4 };
enum { BAR_FLAGS = 15, PERIPHERAL_BYTES = 4 << 20, MIB_BITS = 20 };

/* Inbound windows of the port: bus addresses, and the memory that they show. */
enum {
    WINDOWS = 3,
    SIZE_MASK = 31,
    SIZE_BASE = 15,
    SIZE_SMALL = 28 /* size codes from 28 on mean 4 to 32 KiB */
};
static const struct {
    uint16_t bus, memory; /* registers of the low halves; the high halves follow them */
} inbound[WINDOWS] = { { 0x402c, 0x40ac }, { 0x4034, 0x40b4 }, { 0x403c, 0x40bc } };

static enum err fail(struct rp1_link *r, enum err e, const char *why)
{
    r->why = why;
    return e;
}

static uint64_t pair(uintptr_t port, unsigned low)
{
    return brcm_pcie_read(port + low) | (uint64_t)brcm_pcie_read(port + low + 4) << 32;
}

/* Read the window's start. Bits 20 to 31 of start and end are in one register, higher bits in
 * two. */
static uint64_t window_begin(uintptr_t port)
{
    return (uint64_t)(brcm_pcie_read(port + OUT_BASE_HIGH) & 255) << 32 |
           (uint64_t)(brcm_pcie_read(port + OUT_BASE_LIMIT) >> 4 & 0xfff) << MIB_BITS;
}

static uint64_t window_end(uintptr_t port)
{
    return ((uint64_t)(brcm_pcie_read(port + OUT_LIMIT_HIGH) & 255) << 32 |
            (uint64_t)(brcm_pcie_read(port + OUT_BASE_LIMIT) >> 20) << MIB_BITS) +
           (1 << MIB_BITS);
}

static void let_memory(uintptr_t command)
{
    uint32_t bits = brcm_pcie_read(command) & COMMAND_BITS; /* writing ones to the bits above these
                                                               would clear them */

    if ((bits & (COMMAND_MEMORY | COMMAND_MASTER)) != (COMMAND_MEMORY | COMMAND_MASTER))
        brcm_pcie_write(command, bits | COMMAND_MEMORY | COMMAND_MASTER);
}

/* Find the largest window that begins at the first byte of memory. */
static enum err find_memory(struct rp1_link *r, uintptr_t port)
{
    unsigned most = 0;

    for (unsigned i = 0; i < WINDOWS; i++) {
        uint64_t bus = pair(port, inbound[i].bus), memory = pair(port, inbound[i].memory);
        unsigned size = bus & SIZE_MASK;

        if (size > most && size < SIZE_SMALL && (memory & 0xfffffff000) == 0) {
            most = size;
            r->window = (struct dma_window){ .offset = bus & ~(uint64_t)0xfff,
                                             .end = (uint64_t)1 << (size + SIZE_BASE),
                                             .coherent = false };
        }
    }
    return most != 0
               ? ERR_OK
               : fail(r, ERR_UNSUPPORTED,
                      "the firmware left RP1 without access to memory: its USB ports are not used");
}

void rp1_link_facts(const void *of, const struct facts *f)
{
    const struct rp1_link *r = of;

    fact_number(f, "rp1 port", FACT_HEX, r->port);
    fact_number(f, "rp1 status", FACT_HEX, brcm_pcie_read(r->port + PCIE_STATUS));
    fact_number(f, "rp1 link generation", FACT_COUNT,
                brcm_pcie_read(r->port + LINK_STATUS) >> 16 & 15);
    fact_number(f, "rp1 link lanes", FACT_COUNT, brcm_pcie_read(r->port + LINK_STATUS) >> 20 & 63);
    fact_number(f, "rp1 peripherals", FACT_HEX, r->peripherals);
    fact_number(f, "rp1 memory ends", FACT_HEX, r->window.end);
    if (r->why != NULL)
        fact_text(f, "rp1 problem", r->why);
}

enum err rp1_link_open(struct rp1_link *r, uintptr_t port)
{
    uint32_t status = brcm_pcie_read(port + PCIE_STATUS);
    uint64_t bus, begin;

    *r = (struct rp1_link){ .port = port };
    if ((status & STATUS_PORT) == 0 || (status & STATUS_LINK) != STATUS_LINK)
        return fail(
            r, ERR_NO_DEVICE,
            "RP1 is held in reset, so its USB ports are not used: write pciex4_reset=0 into config.txt");
    /* The port shows the configuration space of one function at a time. */
    brcm_pcie_write(port + CONFIG_INDEX, INDEX_DEVICE);
    if (brcm_pcie_read(port + DEVICE_CONFIG) != ID_RP1)
        return fail(r, ERR_UNSUPPORTED,
                    "the device at the second PCIe port is not an RP1: its USB ports are not used");
    begin = window_begin(port);
    bus = pair(port, OUT_BUS_LOW) & ~(uint64_t)0xfff;
    /* BAR 1 is the registers' bus address; the outbound window maps it for the cores. */
    r->peripherals = begin + ((brcm_pcie_read(port + DEVICE_BAR_1) & ~(uint32_t)BAR_FLAGS) - bus);
    if (r->peripherals < begin || r->peripherals + PERIPHERAL_BYTES > window_end(port))
        return fail(r, ERR_UNSUPPORTED,
                    "the PCIe window does not reach RP1's registers: RP1's USB ports are not used");
    let_memory(port + REG_COMMAND);
    let_memory(port + DEVICE_CONFIG + REG_COMMAND);
    return find_memory(r, port);
}
