/* Synopsys' Ethernet controller (GMAC, "Ethernet QoS"), version 5, with a PHY on RGMII; the JH7110
 * has two. The driver uses one channel and polls it. Frames are copied, so the device never reads
 * or writes other memory. The caller sets clocks and resets (jh7110_gmac.h). The driver has not run
 * on hardware. */
#ifndef INGOT_BOARD_DRIVERS_NET_DWMAC_H
#define INGOT_BOARD_DRIVERS_NET_DWMAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/drivers/dma/dma.h"
#include "board/drivers/net/ethernet_phy.h"
#include "board/drivers/net/yt8531.h"
#include "board/err.h"

enum {
    DWMAC_REGISTER_BYTES = 0x2000,
    DWMAC_FRAME_BYTES = 1514, /* without the checksum */
    DWMAC_BUFFER_BYTES = 2048,
    DWMAC_SLOTS = 16,
};

/* Each descriptor has a cache line of its own. If two shared a line, writing back our descriptor
 * would overwrite one that belongs to the device. */
struct dwmac_descriptor {
    _Alignas(DMA_LINE_BYTES) volatile uint32_t words[4];
};

struct dwmac_ring {
    struct dwmac_descriptor slots[DWMAC_SLOTS];
    _Alignas(DMA_LINE_BYTES) uint8_t buffers[DWMAC_SLOTS][DWMAC_BUFFER_BYTES];
};

struct dwmac_setup {
    uintptr_t mmio; /* mapped, DWMAC_REGISTER_BYTES */
    struct dma_window window;
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
    unsigned bus_bytes;   /* width of the bus to memory: 4, 8 or 16 */
    unsigned phy;         /* address at which the PHY is tried first */
    struct yt8531 yt8531; /* all zero: the PHY is not a YT8531, or keeps the firmware's settings */
    bool gigabit_only;    /* the transmit clock suits only 1000 Mbit/s: slower links do not count */
    const uint8_t *address; /* the interface's 6 bytes; NULL if not known, which is an error */
};

/* All state of one controller; zeroed by open. */
struct dwmac {
    struct dwmac_ring receives, sends;
    struct dwmac_setup setup;
    struct phy phy;
    struct phy_link link; /* the link for which the controller is set */
    unsigned taken, given,
        n_sent; /* numbers of frames: taken from the device, given to it, and sent by it */
    bool works;
    uint32_t n_lost; /* frames that were broken, or that did not fit the send queue */
};

/* Start the controller, set its address, and let its PHY negotiate a link. Sets *why to NULL after
 * ERR_OK, else to an error message. ERR_NO_DEVICE: no PHY answers; ERR_TIMEOUT: the controller
 * stays in reset; ERR_UNSUPPORTED: the controller has another version, there is no address, or the
 * controller cannot reach our memory. */
enum err dwmac_open(struct dwmac *d, const struct dwmac_setup *setup, uint8_t address[6],
                    const char **why);

/* Stop the controller. It may still read or write memory until the caller puts it into reset. */
void dwmac_close(struct dwmac *d);

/* True if the last dwmac_is_up found a link that does not count because of gigabit_only. */
bool dwmac_is_too_slow(const struct dwmac *d);

/* As runtime/base/platform.h says; dwmac_is_up also sets the controller for a changed link. */
bool dwmac_is_up(struct dwmac *d);
bool dwmac_send(struct dwmac *d, const uint8_t *frame, size_t bytes);
size_t dwmac_receive(struct dwmac *d, uint8_t *to, size_t room);

/* These are in dwmac_mmio.c; a unit test replaces them by a simulated controller. */
uint32_t dwmac_read(const struct dwmac *d, unsigned reg);
void dwmac_write(const struct dwmac *d, unsigned reg, uint32_t value);

#endif
