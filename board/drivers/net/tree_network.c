#include "board/drivers/net/tree_network.h"

#include "board/drivers/bus/tree_pci.h"
#include "board/drivers/bus/virtio_pci.h"
#include "board/drivers/net/virtio_net.h"
#include "board/isa.h"

enum { CLASS_ETHERNET = 0x0200, DEVICE_NET = 1 };

static struct virtio_net device;

/* ERR_NO_DEVICE: the tree has no such device. Otherwise *why is NULL or an error message. */
static enum err open_mmio(const struct device_tree *tree, uint8_t address[6], const char **why)
{
    struct device_tree_node node;
    uint64_t base;

    device_tree_begin(&node);
    while (device_tree_next_compatible(tree, &node, "virtio,mmio")) {
        enum err e;

        if (!device_tree_reg(tree, &node, 0, &base, NULL) ||
            mmu_map((uintptr_t)base, VIRTIO_BYTES, MAP_DEVICE) != ERR_OK)
            continue;
        e = virtio_net_open(&device, (uintptr_t)base, address, why);
        if (e != ERR_NO_DEVICE)
            return e;
    }
    return ERR_NO_DEVICE;
}

static enum err open_pci(const struct device_tree *tree, uint8_t address[6], const char **why)
{
    static struct virtio_pci card;
    const struct pci_ecam *pci = tree_pci(tree);
    unsigned function = 0;

    for (; pci != NULL && pci_ecam_next(pci, &function, CLASS_ETHERNET); function++) {
        uintptr_t location = virtio_pci_open(&card, pci, function, DEVICE_NET);

        if (location != 0)
            return virtio_net_open(&device, location, address, why);
    }
    return ERR_NO_DEVICE;
}

const char *tree_network_open(const struct device_tree *tree, uint8_t address[6])
{
    const char *why;

    if (tree->blob == NULL)
        return "there is no device tree that names a network device";
    if (open_mmio(tree, address, &why) != ERR_NO_DEVICE ||
        open_pci(tree, address, &why) != ERR_NO_DEVICE)
        return why;
    return "the machine has no network device (QEMU: -device virtio-net-device or virtio-net-pci)";
}

bool tree_network_is_up(void)
{
    return virtio_net_is_up(&device);
}

bool tree_network_send(const uint8_t *frame, size_t bytes)
{
    return virtio_net_send(&device, frame, bytes);
}

size_t tree_network_receive(uint8_t *to, size_t room)
{
    return virtio_net_receive(&device, to, room);
}
