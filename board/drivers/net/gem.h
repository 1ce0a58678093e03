/* Cadence's Gigabit Ethernet MAC ("GEM"): PolarFire SoC, FU540, Zynq, Versal and the Pi 5's RP1
 * have it. One queue of each direction, polled; frames are copied, so that the device never
 * reads or writes memory of anybody else's. Clocks, pins and the PHY's delays are as the
 * firmware left them. Run in QEMU alone. */
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
    GEM_SLOTS = 32, /* buffers of a direction: whole lines of descriptors */
    GEM_WORDS = 4,  /* of a descriptor with addresses of 64 bits; one of 32 bits has two */
    GEM_QUEUES = 8, /* that a controller has at most; we use the first */
};

struct gem_setup {
    uintptr_t mmio; /* mapped, GEM_BYTES */
    struct dma_window window;
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
    bool sgmii;   /* the PHY is behind a serial line: phy-mode "sgmii" */
    bool rgmii;   /* the pins' mode is to be set to RGMII, as no firmware has */
    unsigned phy; /* address where the PHY is looked for first */
    const uint8_t
        *address; /* (6) of the interface; NULL: as the firmware left it in the registers */
    /* The clock of what is sent follows the link; NULL: the controller does that, or the
     * firmware has. */
    void (*set_speed)(unsigned mbits);
};

/* Descriptor n is buffers[n]'s. Nobody but the device writes to a line of descriptors that has
 * one of the device's. */
struct gem_ring {
    _Alignas(64) uint32_t words[GEM_SLOTS * GEM_WORDS];
    _Alignas(64) uint8_t buffers[GEM_SLOTS][GEM_BUFFER_BYTES];
    unsigned next;  /* sends: the slot that is filled next; receives: the one that comes next */
    unsigned count; /* sends: slots before it that the device has; receives: not used */
};

/* All state of one controller; zeroed by open. */
struct gem {
    struct gem_ring receives, sends;
    _Alignas(64)
        uint32_t idle[64 / 4]; /* a descriptor without a buffer, for queues that we do not use */
    struct gem_setup setup;
    struct phy phy;
    struct phy_link link;
    bool works;
    bool wide;       /* addresses have 64 bits */
    uint32_t config; /* of the register, without speed */
    uint32_t n_lost; /* frames that came broken, or that did not fit the queue on their way out */
};

/* Start the controller and have its PHY look for a link. *why: an error message after an error.
 * ERR_NO_DEVICE: no PHY answers; ERR_UNSUPPORTED: it cannot be used. */
enum err gem_open(struct gem *g, const struct gem_setup *setup, uint8_t address[6],
                  const char **why);

/* Stop it: no memory is read or written any more. */
void gem_close(struct gem *g);

/* As in runtime/base/platform.h. gem_is_up asks the PHY, and follows a change of its speed: a
 * millisecond at most. */
bool gem_is_up(struct gem *g);
bool gem_send(struct gem *g, const uint8_t *frame, size_t bytes);
size_t gem_receive(struct gem *g, uint8_t *to, size_t room);

/* gem_mmio.c, in whose place a unit test has a controller. */
uint32_t gem_read(const struct gem *g, unsigned reg);
void gem_write(const struct gem *g, unsigned reg, uint32_t value);

#endif
