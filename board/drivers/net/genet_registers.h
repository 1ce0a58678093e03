/* The registers of GENET, version 5, that genet.c uses. Broadcom has published no manual: offsets
 * and bits are facts from U-Boot's bcmgenet.c, and from Linux's bcmgenet.h if a comment says so. */
#ifndef INGOT_BOARD_DRIVERS_NET_GENET_REGISTERS_H
#define INGOT_BOARD_DRIVERS_NET_GENET_REGISTERS_H

enum {
    GENET_REVISION = 0x000,
    GENET_PORT = 0x004,
    GENET_RECEIVE_FLUSH = 0x008,
    GENET_RGMII = 0x08c,
    GENET_RECEIVE_BUFFER = 0x300,
    GENET_SEND_BUFFER_SIZE = 0x3b4,
    GENET_SEND_BUFFER = 0x600, /* Linux: TBUF_CTRL, of TBUF at 0x600 */
    GENET_COMMAND = 0x808,
    GENET_ADDRESS_HIGH = 0x80c, /* the first four bytes, the first in the highest bits */
    GENET_ADDRESS_LOW = 0x810,  /* the last two */
    GENET_FRAME_MOST = 0x814,
    GENET_SEND_FLUSH = 0xb34,
    GENET_COUNTERS = 0xd80,
    GENET_MDIO = 0xe14,
    GENET_FILTERS = 0xe50, /* which filters are on (Linux: UMAC_MDF_CTRL, of UMAC at 0x800) */
    GENET_FILTER_ADDRESS = 0xe54, /* address of filter 0: two bytes, then four; those of the other
                              * filters follow */
    GENET_RECEIVES = 0x2000,      /* descriptors, then queues, then the engine */
    GENET_SENDS = 0x4000,
};
enum { GENET_REVISION_5 = 6 /* value of bits 24 to 27 in the device called version 5 */ };
enum { GENET_PORT_EXTERNAL_RGMII = 3 };
enum {
    GENET_RGMII_LINK = 1 << 4,
    GENET_RGMII_NO_OUT_OF_BAND = 1 << 5,
    GENET_RGMII_ON = 1 << 6,
    GENET_RGMII_NO_DELAY = 1 << 16, /* the controller does not delay the transmit clock; the PHY or
                                     * the wires do (Linux: ID_MODE_DIS) */
};
enum { GENET_RECEIVE_ALIGNS = 1 << 1 /* puts two bytes before a frame */ };
/* A block of 64 bytes comes before each frame, received or sent (Linux: RBUF_64B_EN). */
enum { GENET_STATUS_BLOCK = 1 << 0 };
enum {
    GENET_COMMAND_SENDS = 1 << 0,
    GENET_COMMAND_RECEIVES = 1 << 1,
    GENET_COMMAND_SPEED_SHIFT = 2, /* 0: 10, 1: 100, 2: 1000 Mbit/s */
    GENET_COMMAND_HALF = 1 << 10,  /* half duplex (Linux: CMD_HD_EN) */
    GENET_COMMAND_RESET = 1 << 13,
    GENET_COMMAND_LOOP = 1 << 15, /* set with the reset bit, so that there is a receive clock */
};
/* Only frames to an address in a filter are received (Linux: MAX_MDF_FILTER; filter 0 has the
 * highest bit). */
enum { GENET_MOST_FILTERS = 17, GENET_FILTER_BYTES = 8 };
enum { GENET_COUNTERS_CLEAR = 7 };
enum {
    GENET_MDIO_WRITE = 1 << 26,
    GENET_MDIO_READ = 2 << 26,
    GENET_MDIO_FAILED = 1 << 28,
    GENET_MDIO_BUSY = 1 << 29,
    GENET_MDIO_PHY_SHIFT = 21,
    GENET_MDIO_REG_SHIFT = 16,
};

/* Offsets from the base of a direction. */
enum {
    GENET_DESCRIPTORS = 256,
    GENET_DESCRIPTOR_BYTES = 12, /* the words are status, address, and the address's upper half */
    GENET_QUEUES = 0xc00,
    GENET_QUEUE_BYTES = 0x40,
    GENET_QUEUE = 16, /* the default queue, for frames that no filter selects */
    GENET_QUEUE_AT = GENET_QUEUES + GENET_QUEUE * GENET_QUEUE_BYTES,
    GENET_ENGINE = GENET_QUEUES + (GENET_QUEUE + 1) * GENET_QUEUE_BYTES,
    GENET_ENGINE_QUEUES = GENET_ENGINE + 0x00,
    GENET_ENGINE_CONTROL = GENET_ENGINE + 0x04,
    GENET_ENGINE_STATUS = GENET_ENGINE + 0x08, /* Linux: DMA_STATUS */
    GENET_ENGINE_BURST = GENET_ENGINE + 0x0c,
    /* Registers of a queue, for both directions; the device advances one of the two indices, and we
     * advance the other. */
    GENET_QUEUE_POINTER_1 = GENET_QUEUE_AT + 0x00,
    GENET_QUEUE_DEVICE = GENET_QUEUE_AT + 0x08,
    GENET_QUEUE_OURS = GENET_QUEUE_AT + 0x0c,
    GENET_QUEUE_SIZE = GENET_QUEUE_AT + 0x10, /* number of descriptors << 16 | bytes of a buffer */
    GENET_QUEUE_START = GENET_QUEUE_AT + 0x14,
    GENET_QUEUE_END = GENET_QUEUE_AT + 0x1c,
    GENET_QUEUE_DONE = GENET_QUEUE_AT + 0x24,
    GENET_QUEUE_FLOW = GENET_QUEUE_AT + 0x28,
    GENET_QUEUE_POINTER_2 = GENET_QUEUE_AT + 0x2c,
};
enum { GENET_ENGINE_ON = 1 << 0, GENET_ENGINE_QUEUE = 1 << (GENET_QUEUE + 1) };
enum { GENET_ENGINE_STOPPED = 1 << 0 /* Linux: DMA_DISABLED */ };
enum { GENET_BURST = 8 /* the longest burst that BCM2711 supports */ };
enum { GENET_FLOW_RECEIVES = 5 << 16 | 16 };

/* A descriptor's status. */
enum {
    GENET_BYTES_SHIFT = 16,
    GENET_BYTES_MASK = 0xfff,
    GENET_LAST = 1 << 14,
    GENET_FIRST = 1 << 13,
    GENET_SEND_TAG = 0x3f << 7,
    GENET_SEND_CHECKSUM = 1 << 6,
    GENET_RECEIVE_WRONG =
        0x1f, /* too long, bad length, code or checksum, or an overrun (Linux: DMA_RX_*) */
};

#endif
