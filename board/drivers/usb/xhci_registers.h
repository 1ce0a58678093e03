/* Registers, TRBs and contexts of an xHCI: what the driver's files share. Sections are those of the
 * eXtensible Host Controller Interface specification 1.2. */
#ifndef INGOT_BOARD_DRIVERS_USB_XHCI_REGISTERS_H
#define INGOT_BOARD_DRIVERS_USB_XHCI_REGISTERS_H

#include "board/drivers/usb/xhci.h"

enum { /* 5.3, capabilities */
       CAP_LENGTH = 0x00,
       CAP_STRUCTURE_1 = 0x04,
       CAP_STRUCTURE_2 = 0x08,
       CAP_PARAMETERS = 0x10,
       CAP_DOORBELLS = 0x14,
       CAP_RUNTIME = 0x18,
};
enum { /* 5.4, from the operational base */
       OP_COMMAND = 0x00,
       OP_STATUS = 0x04,
       OP_PAGE_SIZE = 0x08,
       OP_COMMAND_RING = 0x18,
       OP_CONTEXTS = 0x30,
       OP_CONFIG = 0x38,
       OP_PORTS = 0x400, /* 16 bytes each */
};
enum { COMMAND_RUN = 1, COMMAND_RESET = 2 };
enum { STATUS_HALTED = 1, STATUS_FATAL = 1 << 2 | 1 << 12, STATUS_NOT_READY = 1 << 11 };
enum { /* 5.4.8 */
       PORT_CONNECTED = 1 << 0,
       PORT_ENABLED = 1 << 1,
       PORT_OVER_CURRENT = 1 << 3,
       PORT_RESET = 1 << 4,
       PORT_POWER = 1 << 9,
       PORT_CONNECT_CHANGE = 1 << 17,
       PORT_RESET_CHANGE = 1 << 21,
       PORT_CHANGES = 0x7f << 17, /* writing a one clears the bit */
       PORT_KEPT = PORT_POWER | 3 << 14 | 7 << 25,
};
enum { /* 5.5.1, 5.5.2, of interrupter 0, from the runtime base */
       RUN_FRAME = 0x00,
       RUN_TABLE_SIZE = 0x28,
       RUN_TABLE = 0x30,
       RUN_DEQUEUE = 0x38,
       DEQUEUE_BUSY = 1 << 3,
       MICROFRAME = 7,
};
enum { /* 6.4.6 */
       TRB_NORMAL = 1,
       TRB_SETUP = 2,
       TRB_DATA = 3,
       TRB_STATUS = 4,
       TRB_LINK = 6,
       TRB_ENABLE_SLOT = 9,
       TRB_ADDRESS = 11,
       TRB_CONFIGURE = 12,
       TRB_EVALUATE = 13,
       TRB_RESET_ENDPOINT = 14,
       TRB_STOP_ENDPOINT = 15,
       TRB_SET_DEQUEUE = 16,
       TRB_DISABLE_SLOT = 10,
       EVENT_TRANSFER = 32,
       EVENT_COMMAND = 33,
};
enum {
    TRB_CYCLE = 1,
    TRB_TOGGLE = 2,
    TRB_CHAIN = 1 << 4,
    TRB_TELL = 1 << 5,
    TRB_IMMEDIATE = 1 << 6
};
enum { TRB_IN = 1 << 16 };
enum {
    CODE_SUCCESS = 1,
    CODE_BABBLE = 3,
    CODE_TRANSACTION = 4,
    CODE_STALL = 6,
    CODE_NO_SLOTS = 9,
    CODE_SHORT = 13,
    CODE_SPLIT = 36
}; /* 6.4.5 */

/* These are in xhci_mmio.c, which a test replaces by a simulated controller. */
uint32_t xhci_read(const struct xhci *x, unsigned reg);
void xhci_write(const struct xhci *x, unsigned reg, uint32_t value);

#endif
