#include "board/drivers/block/pcie_drive.h"

#include <string.h>

#include "board/drivers/serial/serial.h"
#include "board/facts.h"
#include "board/isa.h"

enum {
    CLASS_NVME = 0x010802, /* PCI Code and ID Assignment, base classes 01h and 0Ch */
    CLASS_XHCI = 0x0c0330,
    ID_VL805 = 0x34831106,
    VL805_PROGRAM = 0x50, /* version of the VL805's program; 0 if it has none (Linux,
                             drivers/firmware/raspberrypi.c) */
    MIN_PROGRAM_MS = 1,   /* five times as long as U-Boot waits for the start */
};

static bool map_port(const struct brcm_pcie_place *p)
{
    return mmu_map(p->mmio, BRCM_PCIE_BYTES, MAP_DEVICE) == ERR_OK &&
           (p->rescal == 0 || (mmu_map(p->rescal, BRCM_PCIE_RESCAL_BYTES, MAP_DEVICE) == ERR_OK &&
                               mmu_map(p->resets, BRCM_PCIE_RESETS_BYTES, MAP_DEVICE) == ERR_OK));
}

/* Give the VL805 its program, before BAR 0 is set, because the new program may forget BAR 0. */
static void give_program(const struct brcm_pcie *port, void (*reload)(void))
{
    uint64_t start = port->place.ticks();

    if (port->id != ID_VL805 || reload == NULL || brcm_pcie_config(port, VL805_PROGRAM) != 0)
        return;
    reload();
    while (port->place.ticks() - start <= port->place.ticks_hz / 1000 * MIN_PROGRAM_MS)
        ;
}

static unsigned open_device(struct pcie_drive *d, uintptr_t mmio, struct dma_window window,
                            struct block_device **out)
{
    const struct brcm_pcie_place *p = &d->port.place;

    if (d->port.class == CLASS_NVME) {
        struct nvme_setup setup = {
            .mmio = mmio, .window = window, .ticks = p->ticks, .ticks_hz = p->ticks_hz
        };

        out[0] = &d->device;
        return nvme_open(&d->nvme, &setup, &d->device) == ERR_OK;
    }
    struct xhci_setup setup = {
        .mmio = mmio, .window = window, .ticks = p->ticks, .ticks_hz = p->ticks_hz
    };

    serial_join(usb_take, &d->usb);
    return usb_open(&d->usb, &setup, out, USB_DRIVES);
}

static unsigned complain(struct pcie_drive *d, const char *why, struct block_device **out)
{
    d->device = (struct block_device){ .name = "PCIe port", .error_message = why };
    out[0] = &d->device;
    return 1;
}

unsigned pcie_drive_open(struct pcie_drive *drive, const struct brcm_pcie_place *place,
                         struct dma_window window, void (*reload)(void), struct block_device **out)
{
    uintptr_t mmio;
    size_t bytes;
    enum err e;

    if (!map_port(place))
        return 0;
    e = brcm_pcie_open(&drive->port, place);
    facts_add(brcm_pcie_facts, &drive->port);
    if (e != ERR_OK)
        return e == ERR_NO_DEVICE ? 0 : complain(drive, drive->port.why, out);
    if (drive->port.class != CLASS_NVME && drive->port.class != CLASS_XHCI)
        return complain(drive,
                        "the device at the PCIe port is neither an NVMe drive nor a USB controller",
                        out);
    if (drive->port.class == CLASS_XHCI)
        give_program(&drive->port, reload);
    mmio = brcm_pcie_enable(&drive->port, &bytes);
    if (mmio == 0)
        return complain(drive, drive->port.why, out);
    return mmu_map(mmio, bytes, MAP_DEVICE) == ERR_OK ? open_device(drive, mmio, window, out) : 0;
}
