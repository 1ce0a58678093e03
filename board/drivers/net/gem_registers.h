/* Registers and bits of Cadence's GEM. Source: AMD, Zynq UltraScale+ Devices Register Reference
 * (UG1087), GEM; Microchip, PolarFire SoC register map, MAC. The pins' mode (user_io) is at
 * 0x00c here; the older MACB has it at 0x0c0 (macb.h of Linux and U-Boot). */
#ifndef INGOT_BOARD_DRIVERS_NET_GEM_REGISTERS_H
#define INGOT_BOARD_DRIVERS_NET_GEM_REGISTERS_H

enum {
    GEM_CONTROL = 0x000,
    GEM_CONFIG = 0x004,
    GEM_STATUS = 0x008,
    GEM_PINS = 0x00c,
    GEM_DMA = 0x010,
    GEM_SEND_STATUS = 0x014,
    GEM_RECEIVE_BASE = 0x018,
    GEM_SEND_BASE = 0x01c,
    GEM_RECEIVE_STATUS = 0x020,
    GEM_INTERRUPTS = 0x024,
    GEM_INTERRUPTS_OFF = 0x02c,
    GEM_PHY = 0x034,
    GEM_HASH_LOW = 0x080,
    GEM_HASH_HIGH = 0x084,
    GEM_ADDRESS_LOW = 0x088,
    GEM_ADDRESS_HIGH = 0x08c,
    GEM_PCS = 0x200,
    GEM_DESIGN_1 = 0x280,
    GEM_DESIGN_6 = 0x294,
    GEM_SEND_BASE_1 = 0x440, /* queue 1; the other queues follow */
    GEM_RECEIVE_BASE_1 = 0x480,
    GEM_SEND_BASE_TOP = 0x4c8, /* the upper half of the bases of all queues */
    GEM_RECEIVE_BASE_TOP = 0x4d4,
    GEM_INTERRUPTS_OFF_1 = 0x620,
};

enum {
    GEM_CONTROL_RECEIVES = 1 << 2,
    GEM_CONTROL_SENDS = 1 << 3,
    GEM_CONTROL_PHY = 1 << 4,
    GEM_CONTROL_CLEAR = 1 << 5,
    GEM_CONTROL_START = 1 << 9,
    GEM_CONTROL_HALT = 1 << 10,
};
#define GEM_CONFIG_100 (1u << 0)
#define GEM_CONFIG_FULL (1u << 1)
#define GEM_CONFIG_HASH (1u << 6)
#define GEM_CONFIG_1536 (1u << 8)
#define GEM_CONFIG_1000 (1u << 10)
#define GEM_CONFIG_PCS (1u << 11)
#define GEM_CONFIG_NO_CHECKSUM (1u << 17) /* do not write a frame's checksum to memory */
#define GEM_CONFIG_PHY_CLOCK (7u << 18)   /* bus clock / 224: at most 2.5 MHz up to 560 MHz */
#define GEM_CONFIG_WIDTH_SHIFT 21
#define GEM_CONFIG_SGMII (1u << 27)
enum { GEM_PINS_RGMII = 1 };
enum { GEM_PCS_NEGOTIATES = 1 << 12 }; /* pcs_control: negotiates with the PHY, over SGMII */
enum { GEM_STATUS_PHY_IDLE = 1 << 2 };
#define GEM_DMA_BURST 16u        /* beats */
#define GEM_DMA_MEMORY (7u << 8) /* use all of the controller's own memory, in both directions */
#define GEM_DMA_BUFFER_SHIFT 16  /* size of a buffer in units of 64 bytes */
#define GEM_DMA_DROPS (1u << 24) /* drop a frame that has no buffer, instead of keeping it */
#define GEM_DMA_64 (1u << 30)
enum { GEM_SEND_GOES = 1 << 3, GEM_SEND_TROUBLE = 1 << 2 | 1 << 4 | 1 << 6 | 1 << 8 };
enum { GEM_RECEIVE_TROUBLE = 1 << 3 };
#define GEM_PHY_READ (1u << 30 | 2u << 28 | 2u << 16) /* clause 22 */
#define GEM_PHY_WRITE (1u << 30 | 1u << 28 | 2u << 16)
#define GEM_DESIGN_6_64 (1u << 23)

/* A descriptor: word 0 has the address and flags, word 1 the status; with 64-bit addresses the
 * address's upper half and an unused word follow. */
#define GEM_RECEIVE_OURS (1u << 0)
#define GEM_RECEIVE_WRAP (1u << 1)
#define GEM_RECEIVE_BYTES 0x1fffu
#define GEM_RECEIVE_FIRST (1u << 14)
#define GEM_RECEIVE_LAST (1u << 15)
#define GEM_SEND_OURS (1u << 31)
#define GEM_SEND_WRAP (1u << 30)
#define GEM_SEND_LAST (1u << 15)

#endif
