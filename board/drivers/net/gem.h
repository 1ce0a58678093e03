/* Cadence's Gigabit Ethernet MAC ("GEM"): PolarFire SoC, FU540, Zynq, Versal and the Pi 5's RP1
 * have it. One queue in each direction is used, and it is polled. Frames are copied, so the device
 * never reads or writes other memory. Clocks, pins and the PHY's delays keep the firmware's
 * settings. The driver has run only in QEMU. */
#ifndef INGOT_BOARD_DRIVERS_NET_GEM_H
#define INGOT_BOARD_DRIVERS_NET_GEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/drivers/dma/dma.h"
#include "board/drivers/net/ethernet_phy.h"
#include "board/err.h"

enum {
    GEM_BYTES = 0x1000,     /* of registers */
    GEM_FRAME_BYTES = 1514, /* without the checksum */
    GEM_BUFFER_BYTES = 1536,
    GEM_SLOTS = 32, /* buffers in each direction; their descriptors fill whole cache lines */
    GEM_WORDS = 4,  /* words of a descriptor with 64-bit addresses; with 32-bit addresses: two */
    GEM_QUEUES = 8, /* most queues of a controller; only the first is used */
};

struct gem_setup {
    uintptr_t mmio; /* mapped, GEM_BYTES */
    struct dma_window window;
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
    bool sgmii;   /* the PHY is connected by SGMII: phy-mode "sgmii" */
    bool rgmii;   /* set the pins' mode to RGMII, because no firmware does */
    unsigned phy; /* address at which the PHY is tried first */
    const uint8_t *
        address; /* the interface's 6 bytes; NULL: the address that the firmware left in registers */
    /* Sets the transmit clock to the link's speed; NULL if controller or firmware does that. */
    void (*set_speed)(unsigned mbits);
};

/* Descriptor n belongs to buffers[n]. Only the device writes to a cache line that contains one of
 * its descriptors. */
struct gem_ring {
    _Alignas(64) uint32_t words[GEM_SLOTS * GEM_WORDS];
    _Alignas(64) uint8_t buffers[GEM_SLOTS][GEM_BUFFER_BYTES];
    unsigned next;  /* sending: the slot to fill next; receiving: the slot of the next frame */
    unsigned count; /* sending: earlier slots that the device still has; receiving: not used */
};

/* All state of one controller; zeroed by open. */
struct gem {
    struct gem_ring receives, sends;
    _Alignas(64) uint32_t idle[64 / 4]; /* a descriptor without a buffer, for unused queues */
    struct gem_setup setup;
    struct phy phy;
    struct phy_link link;
    bool works;
    bool wide;       /* addresses have 64 bits */
    uint32_t config; /* value of register GEM_CONFIG, without the speed */
    uint32_t n_lost; /* frames that were broken, or that did not fit the send queue */
};

/* Start the controller and let its PHY negotiate a link. After an error, sets *why to a message.
 * ERR_NO_DEVICE: no PHY answers; ERR_UNSUPPORTED: the controller cannot be used. */
enum err gem_open(struct gem *g, const struct gem_setup *setup, uint8_t address[6],
                  const char **why);

/* Stop the controller: afterwards it does not read or write memory. */
void gem_close(struct gem *g);

/* As in runtime/base/platform.h. gem_is_up asks the PHY and follows a change of the PHY's speed,
 * which takes at most a millisecond. */
bool gem_is_up(struct gem *g);
bool gem_send(struct gem *g, const uint8_t *frame, size_t bytes);
size_t gem_receive(struct gem *g, uint8_t *to, size_t room);

/* These are in gem_mmio.c; a unit test replaces them by a simulated controller. */
uint32_t gem_read(const struct gem *g, unsigned reg);
void gem_write(const struct gem *g, unsigned reg, uint32_t value);

#endif
