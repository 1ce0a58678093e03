/* Broadcom's Ethernet controller of the Raspberry Pi 4: GENET, version 5, with a PHY on RGMII. The
 * 256 descriptors are registers; one queue in each direction uses some of them, and is polled.
 * Frames are copied, so the device never reads or writes other memory. Clocks, pins and the PHY's
 * delays keep the firmware's settings. The driver has never run on hardware; no emulator has the
 * controller. */
#ifndef INGOT_BOARD_DRIVERS_NET_GENET_H
#define INGOT_BOARD_DRIVERS_NET_GENET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/drivers/dma/dma.h"
#include "board/drivers/net/ethernet_phy.h"
#include "board/err.h"

enum {
    GENET_BYTES = 0x10000,    /* of registers */
    GENET_FRAME_BYTES = 1514, /* without the checksum */
    GENET_BUFFER_BYTES = 2048,
    GENET_SLOTS = 32, /* buffers in each direction: a power of two */
};

struct genet_setup {
    uintptr_t mmio; /* mapped, GENET_BYTES */
    struct dma_window window;
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
    unsigned phy; /* address at which the PHY is tried first */
    const uint8_t *
        address; /* the interface's 6 bytes; NULL: the address that the firmware left in registers */
};

/* All state of one controller; zeroed by open. */
struct genet {
    _Alignas(DMA_LINE_BYTES) uint8_t received[GENET_SLOTS][GENET_BUFFER_BYTES];
    _Alignas(DMA_LINE_BYTES) uint8_t sent[GENET_SLOTS][GENET_BUFFER_BYTES];
    struct genet_setup setup;
    struct phy phy;
    struct phy_link link;  /* the link for which the controller is set */
    uint16_t taken, given; /* indices of the queues: frames taken, and frames given to be sent */
    bool works;
    uint32_t n_lost; /* frames that were broken, or that did not fit the send queue */
};

/* Start the controller, set its address, and let its PHY negotiate a link. Sets *why to NULL after
 * ERR_OK, else to an error message. ERR_NO_DEVICE: no PHY answers; ERR_UNSUPPORTED: the controller
 * has another version, there is no address, or the controller cannot reach our memory. */
enum err genet_open(struct genet *g, const struct genet_setup *setup, uint8_t address[6],
                    const char **why);

/* As runtime/base/platform.h says; genet_is_up also sets the controller for a changed link. */
bool genet_is_up(struct genet *g);
bool genet_send(struct genet *g, const uint8_t *frame, size_t bytes);
size_t genet_receive(struct genet *g, uint8_t *to, size_t room);

/* These are in genet_mmio.c; a unit test replaces them by a simulated controller. */
uint32_t genet_read(const struct genet *g, unsigned reg);
void genet_write(const struct genet *g, unsigned reg, uint32_t value);

#endif
