/* The Ethernet port of a Raspberry Pi 5: the Cadence GEM of RP1, whose PHY is reset by one of
 * RP1's lines. This driver has not yet run on hardware, and no emulator has the port. */
#ifndef INGOT_BOARD_DRIVERS_NET_RP1_GEM_H
#define INGOT_BOARD_DRIVERS_NET_RP1_GEM_H

#include "board/device_tree.h"
#include "board/drivers/bus/rp1_link.h"
#include "board/drivers/net/gem.h"

/* Start the controller. `port` is the address of RP1's PCIe port, not yet mapped; the tree has the
 * address of the interface. Returns NULL or an error message. */
const char *rp1_gem_open(struct gem *g, const struct device_tree *tree, uintptr_t port,
                         uint64_t (*ticks)(void), uint64_t ticks_hz, uint8_t address[6]);

#endif
