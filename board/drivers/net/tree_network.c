#include "board/drivers/net/tree_network.h"

#include "board/drivers/net/virtio_net.h"
#include "board/isa.h"

static struct virtio_net device;

const char *tree_network_open(const struct device_tree *tree, uint8_t address[6])
{
    struct device_tree_node node;
    uint64_t base;

    if (tree->blob == NULL)
        return "there is no device tree that names a network device";
    device_tree_begin(&node);
    while (device_tree_next_compatible(tree, &node, "virtio,mmio")) {
        const char *why;
        enum err e;

        if (!device_tree_reg(tree, &node, 0, &base, NULL) ||
            mmu_map((uintptr_t)base, VIRTIO_BYTES, MAP_DEVICE) != ERR_OK)
            continue;
        e = virtio_net_open(&device, (uintptr_t)base, address, &why);
        if (e != ERR_NO_DEVICE)
            return why;
    }
    return "the machine has no network device (QEMU: -device virtio-net-device)";
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
