#include "board/drivers/block/tree_storage.h"

#include "board/drivers/bus/tree_pci.h"
#include "board/drivers/serial/serial.h"
#include "board/facts.h"
#include "board/isa.h"
#include "board/left_out.h"

enum { MAX_SLOTS = 32 };

static void add_card(struct tree_storage *s, uintptr_t mmio)
{
    struct block_device *device = &s->devices[s->n_devices];

    if (mmu_map(mmio, VIRTIO_BYTES, MAP_DEVICE) == ERR_OK &&
        virtio_blk_probe(&s->cards[s->n_devices], mmio, device) == ERR_OK) {
        device->dma_end = s->dma_end;
        s->n_devices++;
    }
}

/* QEMU fills the slots from the highest address down, in the order of its command line. The tree
 * may list them in either order, so search for the next lower address. */
static void find_cards(struct tree_storage *s, const struct device_tree *tree)
{
    uint64_t last = UINT64_MAX;

    for (unsigned slot = 0; slot < MAX_SLOTS; slot++) {
        struct device_tree_node node;
        uint64_t base, best = 0;

        device_tree_begin(&node);
        while (device_tree_next_compatible(tree, &node, "virtio,mmio"))
            if (device_tree_reg(tree, &node, 0, &base, NULL) && base < last && base > best)
                best = base;
        if (best == 0)
            return;
        if (s->n_devices < BOARD_MAX_BLOCK)
            add_card(s, (uintptr_t)best);
        else if (mmu_map((uintptr_t)best, VIRTIO_BYTES, MAP_DEVICE) == ERR_OK &&
                 virtio_blk_is_there((uintptr_t)best))
            left_out_note(LEFT_OUT_DEVICES, 1, 0);
        last = best;
    }
}

/* All machines with a tree and PCI Express are emulated, so their bus is coherent and reaches all
 * memory, unless the caller sets a limit. */
static struct dma_window pci_window(const struct tree_storage *s)
{
    return (struct dma_window){ .offset = 0,
                                .end = s->dma_end != 0 ? s->dma_end : UINT64_MAX,
                                .coherent = true };
}

static void add_slot(struct tree_storage *s, struct tree_sd_slot *slot, uintptr_t mmio)
{
    struct block_device *device = &s->devices[s->n_devices];
    struct sdhci_setup setup = {
        .mmio = mmio,
        .window = pci_window(s),
        .ticks = board.ticks,
        .ticks_hz = board.ticks_hz(),
    };

    if (sdhci_open(&slot->host, &setup) == ERR_OK) {
        sd_card_open(&slot->card, &slot->host.host, "SD card at ", mmio, device);
        s->n_devices++;
    }
}

/* The table is full: count this function and all later ones of its class as left
 * out. */
static void leave_out(const struct pci_ecam *pci, unsigned function, unsigned class,
                      enum left_out kind)
{
    for (; pci_ecam_next(pci, &function, class); function++)
        left_out_note(kind, 1, 0);
}

static void find_slots(struct tree_storage *s, struct pci_ecam *pci)
{
    enum { CLASS_SD_HOST = 0x0805 }; /* PCI Code and ID Assignment, base class 08h */
    unsigned function = 0, n = 0;

    for (; n < TREE_STORAGE_SLOTS && s->n_devices < BOARD_MAX_BLOCK &&
           pci_ecam_next(pci, &function, CLASS_SD_HOST);
         function++) {
        uintptr_t mmio = pci_ecam_enable(pci, function);

        if (mmio != 0)
            add_slot(s, &s->slots[n++], mmio);
    }
    leave_out(pci, function, CLASS_SD_HOST, LEFT_OUT_DEVICES);
}

static bool put_back_drive(const void *slot)
{
    return pci_ecam_put_back(slot);
}

static void find_drives(struct tree_storage *s, struct pci_ecam *pci)
{
    enum { CLASS_NVM = 0x0108 }; /* base class 01h */
    unsigned function = 0, n = 0;

    for (; n < TREE_STORAGE_DRIVES && pci_ecam_next(pci, &function, CLASS_NVM); function++) {
        struct nvme_setup setup = { .mmio = pci_ecam_enable(pci, function),
                                    .window = pci_window(s),
                                    .ticks = board.ticks,
                                    .ticks_hz = board.ticks_hz(),
                                    .put_back = put_back_drive,
                                    .slot = &s->drive_slots[n] };

        pci_ecam_keep(pci, function, &s->drive_slots[n]);
        if (setup.mmio != 0 &&
            nvme_open(&s->drives[n], &setup, &s->devices[s->n_devices]) == ERR_OK)
            s->n_devices++, n++;
    }
    leave_out(pci, function, CLASS_NVM, LEFT_OUT_DEVICES);
}

static void add_usb(struct tree_storage *s, struct usb *usb, uintptr_t mmio)
{
    struct xhci_setup setup = {
        .mmio = mmio, .window = pci_window(s), .ticks = board.ticks, .ticks_hz = board.ticks_hz()
    };

    serial_join(usb_take, usb);
    s->n_devices += usb_open(usb, &setup, &s->found[s->n_devices], BOARD_MAX_BLOCK - s->n_devices);
}

static void find_usb(struct tree_storage *s, struct pci_ecam *pci)
{
    enum { CLASS_USB = 0x0c03, INTERFACE_XHCI = 0x30 }; /* base class 0Ch */
    unsigned function = 0, n = 0;

    for (; n < TREE_STORAGE_USB && s->n_devices < BOARD_MAX_BLOCK &&
           pci_ecam_next(pci, &function, CLASS_USB);
         function++) {
        uintptr_t mmio = 0;

        if (pci_ecam_interface(pci, function) == INTERFACE_XHCI)
            mmio = pci_ecam_enable(pci, function);
        if (mmio != 0)
            add_usb(s, &s->usb[n++], mmio);
    }
    leave_out(pci, function, CLASS_USB, LEFT_OUT_CONTROLLERS);
}

static void add_bank(struct tree_storage *s, uintptr_t base, size_t bytes)
{
    struct block_device *device = &s->devices[s->n_devices];

    /* Map the bank as uncached normal memory, because unaligned and vector loads work there. */
    if (mmu_map(base, bytes, MAP_UNCACHED) == ERR_OK &&
        cfi_flash_probe(&s->banks[s->n_devices], base, bytes, device) == ERR_OK)
        s->n_devices++;
}

static void find_flash(struct tree_storage *s, const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t base, bytes;

    device_tree_begin(&node);
    while (device_tree_next_compatible(tree, &node, "cfi-flash"))
        for (unsigned bank = 0;
             s->n_devices < BOARD_MAX_BLOCK && device_tree_reg(tree, &node, bank, &base, &bytes);
             bank++)
            if (base != 0) /* a bank at 0 is for firmware, and NULL must stay unmapped */
                add_bank(s, (uintptr_t)base, (size_t)bytes);
}

unsigned tree_storage_find(struct tree_storage *storage, const struct device_tree *tree,
                           struct block_device *devices[BOARD_MAX_BLOCK])
{
    struct pci_ecam *pci;

    storage->n_devices = 0;
    for (unsigned i = 0; i < BOARD_MAX_BLOCK; i++)
        storage->found[i] = &storage->devices[i];
    if (tree->blob == NULL)
        return 0;
    pci = tree_pci(tree);
    if (pci != NULL)
        facts_add(pci_ecam_facts, pci);
    if (pci != NULL)
        find_drives(storage, pci);
    if (pci != NULL)
        find_usb(storage, pci);
    find_cards(storage, tree);
    if (pci != NULL)
        find_slots(storage, pci);
    find_flash(storage, tree);
    for (unsigned i = 0; i < storage->n_devices; i++)
        devices[i] = storage->found[i];
    return storage->n_devices;
}
