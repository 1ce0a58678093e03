/* The registers of Synopsys' Ethernet controller of version 5 (GMAC, "Ethernet QoS") that dwmac.c
 * uses. Synopsys' databook is not public: offsets and bits are from U-Boot's dwc_eth_qos.h, and
 * from Linux's dwmac4.h, dwmac4_dma.h and dwmac4_descs.h if a comment says so. */
#ifndef INGOT_BOARD_DRIVERS_NET_DWMAC_REGISTERS_H
#define INGOT_BOARD_DRIVERS_NET_DWMAC_REGISTERS_H

enum {
    DWMAC_CONFIG = 0x000,
    DWMAC_FILTER = 0x008, /* Linux: GMAC_PACKET_FILTER */
    DWMAC_SEND_FLOW = 0x070,
    DWMAC_RECEIVE_FLOW = 0x090,
    DWMAC_QUEUES = 0x0a0,       /* which queues receive */
    DWMAC_QUEUE_ROUTES = 0x0a4, /* Linux: GMAC_RXQ_CTRL1 */
    DWMAC_INTERRUPTS = 0x0b4,   /* Linux: GMAC_INT_EN */
    DWMAC_VERSION = 0x110,      /* Linux: GMAC4_VERSION */
    DWMAC_FEATURES_1 = 0x120,
    DWMAC_MDIO = 0x200,
    DWMAC_MDIO_DATA = 0x204,
    DWMAC_ADDRESS_HIGH = 0x300, /* the last two bytes */
    DWMAC_ADDRESS_LOW = 0x304,  /* the first four bytes, the first in the lowest bits */
    DWMAC_SEND_QUEUE = 0xd00,
    DWMAC_SEND_WEIGHT = 0xd18,
    DWMAC_RECEIVE_QUEUE = 0xd30,
    DWMAC_DMA = 0x1000,
    DWMAC_BUS = 0x1004,
    DWMAC_CHANNEL = 0x1100,
    DWMAC_SENDS = 0x1104,
    DWMAC_RECEIVES = 0x1108,
    DWMAC_SEND_LIST_TOP = 0x1110,
    DWMAC_SEND_LIST = 0x1114,
    DWMAC_RECEIVE_LIST_TOP = 0x1118,
    DWMAC_RECEIVE_LIST = 0x111c,
    DWMAC_SEND_TAIL = 0x1120, /* the device stops before the descriptor at this address */
    DWMAC_RECEIVE_TAIL = 0x1128,
    DWMAC_SEND_LENGTH = 0x112c, /* number of descriptors minus one */
    DWMAC_RECEIVE_LENGTH = 0x1130,
    DWMAC_CHANNEL_INTERRUPTS = 0x1134, /* Linux: DMA_CHAN_INTR_ENA */
};
enum {
    DWMAC_CONFIG_RECEIVES = 1 << 0,
    DWMAC_CONFIG_SENDS = 1 << 1,
    DWMAC_CONFIG_FULL = 1 << 13,
    DWMAC_CONFIG_100 = 1 << 14,  /* with SLOW: 100 Mbit/s, else 10 */
    DWMAC_CONFIG_SLOW = 1 << 15, /* 10 or 100 Mbit/s */
    DWMAC_CONFIG_NO_PADDING =
        1 << 20, /* removes padding and checksum of a frame whose header gives a length */
    DWMAC_CONFIG_NO_CHECKSUM = 1 << 21, /* removes the checksum of a frame whose header gives a
                                           type */
};
enum { DWMAC_FILTER_ALL_GROUPS = 1 << 4 /* Linux: GMAC_PACKET_FILTER_PM */ };
enum { DWMAC_QUEUE_0 = 2 << 0 /* the queue receives frames without a priority */ };
enum { DWMAC_VERSION_5 = 5 /* value of bits 7:4 */ };
enum {
    DWMAC_SEND_FIFO_SHIFT = 6, /* in FEATURES_1, where n means 128 << n bytes */
    DWMAC_RECEIVE_FIFO_SHIFT = 0,
    DWMAC_FIFO_MASK = 31,
};
enum {
    DWMAC_MDIO_BUSY = 1 << 0,
    DWMAC_MDIO_WRITE = 1 << 2,
    DWMAC_MDIO_READ = 3 << 2,
    DWMAC_MDIO_CLOCK = 5 << 8, /* divisor for a register clock of at most 300 MHz */
    DWMAC_MDIO_REG_SHIFT = 16,
    DWMAC_MDIO_PHY_SHIFT = 21,
};
enum {
    DWMAC_QUEUE_WHOLE_SENDS = 1 << 1, /* a frame is sent only when all of it is in the FIFO */
    DWMAC_QUEUE_SENDS_ON = 2 << 2,
    DWMAC_QUEUE_SENDS_SHIFT = 16, /* the queue's part of the FIFO in units of 256 bytes, minus
                                     one */
    DWMAC_QUEUE_WHOLE_RECEIVES = 1 << 5,
    DWMAC_QUEUE_RECEIVES_SHIFT = 20,
};
enum { DWMAC_DMA_RESET = 1 << 0 };
enum { DWMAC_BUS_BURSTS = 7 << 1 /* bursts of 4, 8 and 16 beats */, DWMAC_BUS_READS_SHIFT = 16 };
enum { DWMAC_CHANNEL_TIMES_8 = 1 << 16, DWMAC_CHANNEL_SKIP_SHIFT = 18 };
enum {
    DWMAC_ON = 1 << 0,     /* starts the engine of SENDS or RECEIVES */
    DWMAC_SECOND = 1 << 4, /* read the next frame while one is sent */
    DWMAC_BUFFER_SHIFT = 1,
    DWMAC_BURST_SHIFT = 16,
};

/* A descriptor has a buffer's address, its upper half, the size of a frame to send, and a word of
 * these bits: */
enum {
    DWMAC_BYTES_MASK = 0x7fff,
    DWMAC_ERROR = 1 << 15, /* Linux: RDES3_ERROR_SUMMARY */
    DWMAC_BUFFER_VALID = 1 << 24,
    DWMAC_LAST = 1 << 28,
    DWMAC_FIRST = 1 << 29,
};
#define DWMAC_DEVICES (1u << 31) /* the device owns the descriptor */

#endif
