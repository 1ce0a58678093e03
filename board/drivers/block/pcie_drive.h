/* The device at a Raspberry Pi's PCIe port: an NVMe drive, or an xHCI with its drives. */
#ifndef INGOT_BOARD_DRIVERS_BLOCK_PCIE_DRIVE_H
#define INGOT_BOARD_DRIVERS_BLOCK_PCIE_DRIVE_H

#include "board/block_device.h"
#include "board/drivers/block/nvme.h"
#include "board/drivers/bus/brcm_pcie.h"
#include "board/drivers/usb/usb.h"

struct pcie_drive {
    struct brcm_pcie port;
    union {
        struct nvme nvme;
        struct usb usb;
    };
    struct block_device device; /* the NVMe drive, or the port if there is no NVMe drive */
};

/* Bring up the port. Returns the number of devices in out, at most USB_DRIVES; a device that cannot
 * be used says why in its `error_message`. `reload` makes the firmware load a VL805's program again
 * after a reset; NULL if the firmware cannot. The function maps the port's registers. */
unsigned pcie_drive_open(struct pcie_drive *drive, const struct brcm_pcie_place *place,
                         struct dma_window window, void (*reload)(void), struct block_device **out);

#endif
