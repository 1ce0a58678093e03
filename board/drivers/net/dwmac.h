/* Synopsys' Ethernet controller of version 5 (GMAC, "Ethernet QoS") with a PHY on RGMII, which the JH7110 has twice: one channel, polled; frames are
 * copied, so that the device never reads or writes memory of anybody else's. Clocks and resets are the caller's (jh7110_gmac.h). Not yet run
 * on hardware, and no emulator has it. */
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

/* Each in a cache line of its own: one that the device has is never written back with another one that is ours. */
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
    unsigned bus_bytes;   /* width of its bus to memory: 4, 8 or 16 */
    unsigned phy;         /* address where the PHY is searched first */
    struct yt8531 yt8531; /* zeros: the PHY is another one, or stays as the firmware left it */
    bool
        gigabit_only; /* its clock for sending is that of 1000 Mbit/s: a slower link does not count */
    const uint8_t *address; /* (6) of the interface; NULL: there is none */
};

/* All state of one controller; zeroed by open. */
struct dwmac {
    struct dwmac_ring receives, sends;
    struct dwmac_setup setup;
    struct phy phy;
    struct phy_link link; /* the speed that the controller is set to */
    unsigned taken, given,
        n_sent; /* frames so far: taken from the device, given to it, and sent by it */
    bool works;
    uint32_t n_lost; /* frames that came broken, or that did not fit the queue on their way out */
};

/* Set it up, write its address, and have the PHY negotiate. ERR_OK: *why is NULL, else a sentence. ERR_NO_DEVICE: no PHY answers;
 * ERR_TIMEOUT: it stays in reset; ERR_UNSUPPORTED: another version, no address, or memory out of reach. */
enum err dwmac_open(struct dwmac *d, const struct dwmac_setup *setup, uint8_t address[6],
                    const char **why);

/* Stop it: afterwards it does not read or write memory, once the caller has put it into reset, too. */
void dwmac_close(struct dwmac *d);

/* Whether there is a link, as of the last dwmac_is_up, that does not count because of gigabit_only. */
bool dwmac_is_too_slow(const struct dwmac *d);

/* As in runtime/base/platform.h; dwmac_is_up also sets the controller for a link that has changed. */
bool dwmac_is_up(struct dwmac *d);
bool dwmac_send(struct dwmac *d, const uint8_t *frame, size_t bytes);
size_t dwmac_receive(struct dwmac *d, uint8_t *to, size_t room);

/* dwmac_mmio.c, in whose place a unit test has a controller. */
uint32_t dwmac_read(const struct dwmac *d, unsigned reg);
void dwmac_write(const struct dwmac *d, unsigned reg, uint32_t value);

#endif
