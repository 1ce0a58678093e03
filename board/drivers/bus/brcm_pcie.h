/* A PCI Express root port with the one device behind it: reset, link, windows, BAR 0. The port is
 * BCM2711's (Pi 4, CM4), or BCM2712's external one (Pi 5). No manual of the blocks is public:
 * registers, order and waits are those of Linux's and U-Boot's drivers (board/drivers/STEPS.md).
 * This driver has not yet run on hardware, and no emulator has the ports. */
#ifndef INGOT_BOARD_DRIVERS_BUS_BRCM_PCIE_H
#define INGOT_BOARD_DRIVERS_BUS_BRCM_PCIE_H

#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum brcm_pcie_chip { BRCM_PCIE_2711, BRCM_PCIE_2712 };

enum { BRCM_PCIE_BYTES = 0x9310, BRCM_PCIE_RESCAL_BYTES = 16, BRCM_PCIE_RESETS_BYTES = 48 };

struct brcm_pcie_place {
    enum brcm_pcie_chip chip;
    uintptr_t mmio;
    uintptr_t rescal, resets; /* BCM2712: registers of the calibration that its ports share, and of
                                 the resets */
    uintptr_t
        neighbour;  /* BCM2712: mapped registers of another port, which shares the calibration and
                      may be running; 0: none */
    unsigned reset; /* BCM2712: number of the bridge's reset */
    unsigned generation; /* highest generation of the link, 1 to 3 */
    /* Addresses at which the cores and the bus (below 4 GiB) see the device's registers, and their
     * size; multiples of 1 MiB. */
    uint64_t outbound, outbound_bus, outbound_bytes;
    /* The bus address at which the device sees the first 2^inbound_bits bytes of our memory; a
     * multiple of that size. */
    uint64_t inbound_bus;
    unsigned inbound_bits;
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
};

struct brcm_pcie {
    struct brcm_pcie_place place;
    uint32_t id;     /* device << 16 | vendor */
    uint32_t class;  /* base class, subclass, programming interface */
    const char *why; /* an error message after an error */
};

/* Bring up the port, from reset to a device that answers. This takes less than 0.5 s if nothing is
 * plugged in, and 1.5 s if the device does not answer. Registers are mapped. ERR_NO_DEVICE: no
 * link; ERR_TIMEOUT, ERR_IO: p->why. */
enum err brcm_pcie_open(struct brcm_pcie *p, const struct brcm_pcie_place *place);

/* A word of the device's configuration space; all ones if the link is down. */
uint32_t brcm_pcie_config(const struct brcm_pcie *p, unsigned reg);

/* Give BAR 0 its address, open the port's window, switch memory and bus mastering on. Returns the
 * address at which cores see the device's registers, and sets *bytes to their size; the caller maps
 * them. If the address is 0, see p->why. */
uintptr_t brcm_pcie_enable(struct brcm_pcie *p, size_t *bytes);

/* Report the port, its link and its device, for the option `diag`. `of` is a struct brcm_pcie that
 * was opened, even with an error. */
struct facts;
void brcm_pcie_facts(const void *of, const struct facts *f);

/* These are in brcm_pcie_mmio.c, which a test replaces by a simulated port. */
uint32_t brcm_pcie_read(uintptr_t at);
void brcm_pcie_write(uintptr_t at, uint32_t value);

#endif
