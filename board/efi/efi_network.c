#include "board/efi/efi_network.h"

#include <string.h>

#include "board/board.h"
#include "board/efi/efi_call.h"
#include "board/min_max.h"
#include "boot/boot.h"

/* A received frame may be longer than one of ours: with a VLAN tag, and with the checksum, which
 * some drivers of U-Boot (e1000) leave there. */
enum {
    FRAMES = 8,
    FRAME_BYTES = 1514,
    RECEIVED_BYTES = 2048,
    HEADER_BYTES = 14,
    ADDRESS_BYTES = 6
};

static struct efi_network_state {
    struct efi_network *network; /* NULL: none was opened */
    uint32_t taken;              /* bit n: the firmware has frames[n] */
    _Alignas(64) uint8_t frames[FRAMES][FRAME_BYTES + 2];
    _Alignas(64) uint8_t received[RECEIVED_BYTES];
} net;

/* An empty tree for boot/network.c, because a program for EFI does not contain boot/boot.c. Nobody
 * reads the tree here. */
const struct device_tree *boot_tree(void)
{
    static const struct device_tree none;

    return &none;
}

static bool is_ethernet(const struct efi_network_mode *mode)
{
    return mode != NULL && mode->interface_type == EFI_NETWORK_ETHERNET &&
           mode->address_bytes == ADDRESS_BYTES && mode->header_bytes == HEADER_BYTES;
}

/* Initialize the interface (section 24.1): the firmware's own network may have left it stopped,
 * started or initialized. */
static bool initialize(struct efi_network *n)
{
    if (n->mode->state == EFI_NETWORK_STOPPED && efi_failed(EFI_CALL(n->start(n))))
        return false;
    /* Drop waiting frames: they came for the firmware's own network. */
    if (n->mode->state == EFI_NETWORK_INITIALIZED)
        (void)EFI_CALL(n->shutdown(n));
    return !efi_failed(EFI_CALL(n->initialize(n, 0, 0)));
}

/* Set the filters. We need multicast for mDNS and IPv6's neighbour discovery. If the device has no
 * filter for all multicast frames, it receives everything. U-Boot has no such filter: its mask is
 * 0, and it answers EFI_UNSUPPORTED (lib/efi_loader/efi_net.c). */
static bool set_filters(struct efi_network *n)
{
    uint32_t can = n->mode->filters, want = EFI_NETWORK_UNICAST | EFI_NETWORK_BROADCAST;
    efi_status status;

    if (can & EFI_NETWORK_ALL_MULTICAST)
        want |= EFI_NETWORK_ALL_MULTICAST;
    else
        want |= EFI_NETWORK_ALL;
    if ((want & can) == 0)
        return true;
    status = EFI_CALL(n->receive_filters(n, want & can, 0, true, 0, NULL));
    return status == EFI_UNSUPPORTED || !efi_failed(status);
}

static bool start(struct efi_network *n)
{
    return initialize(n) && set_filters(n);
}

/* Open the device exclusively, so that the firmware's own network, which reads from it in the
 * background, releases it. Returns NULL if the device cannot be used. */
static struct efi_network *open_handle(efi_handle handle, const char **why)
{
    struct efi_network *n = efi_protocol_of(handle, &efi_network_guid);
    void *own = NULL;

    if (n == NULL || !is_ethernet(n->mode))
        return NULL;
    *why = "the firmware does not release its network device (OpenProtocol)";
    if (efi_failed(EFI_CALL(efi_boot()->open_protocol(handle, &efi_network_guid, &own, efi_image(),
                                                      NULL, EFI_OPEN_EXCLUSIVE))))
        return NULL;
    n = own;
    *why = "the firmware's network device does not start (SimpleNetwork)";
    return start(n) ? n : NULL;
}

/* Get the status (section 24.1, GetStatus): the firmware checks the cable, and returns a frame that
 * it has sent. False: it returned none. */
static bool take_back(void)
{
    void *sent = NULL;
    uint32_t interrupts;

    if (efi_failed(EFI_CALL(net.network->get_status(net.network, &interrupts, &sent))) ||
        sent == NULL)
        return false;
    for (unsigned i = 0; i < FRAMES; i++) {
        if (sent == net.frames[i])
            net.taken &= ~(1u << i);
    }
    return true;
}

/* Return true if the cable is connected, or if the device cannot say so. */
bool efi_network_is_up(void)
{
    const struct efi_network_mode *mode = net.network->mode;

    (void)take_back();
    return !mode->knows_cable || mode->cable;
}

/* Open the device whose cable is connected, else the first device that works. */
const char *efi_network_open(const struct device_tree *tree, uint8_t address[6])
{
    const char *why = "the firmware has no network device (SimpleNetwork)";
    struct efi_network *first = NULL;
    efi_handle *handles;
    uint64_t n = efi_handles(&efi_network_guid, &handles);
    bool found = false;

    (void)tree;
    memset(&net, 0, sizeof net);
    for (uint64_t i = 0; i < n && !found; i++) {
        net.network = open_handle(handles[i], &why);
        found = net.network != NULL && efi_network_is_up();
        if (net.network != NULL && !found) {
            first = first != NULL ? first : net.network;
            (void)EFI_CALL(net.network->shutdown(net.network));
        }
    }
    efi_handles_free(handles);
    if (!found)
        net.network = first != NULL && start(first) ? first : NULL;
    if (net.network == NULL)
        return why;
    memcpy(address, net.network->mode->address.bytes, ADDRESS_BYTES);
    return NULL;
}

bool efi_network_send(const uint8_t *frame, size_t bytes)
{
    struct efi_network *n = net.network;
    unsigned slot = 0;

    for (unsigned i = 0; i < FRAMES && take_back(); i++) {
    }
    while (slot < FRAMES && (net.taken >> slot & 1))
        slot++;
    if (slot == FRAMES || bytes > FRAME_BYTES)
        return false;
    memcpy(net.frames[slot], frame, bytes);
    if (efi_failed(EFI_CALL(n->transmit(n, 0, bytes, net.frames[slot], NULL, NULL, NULL))))
        return false;
    net.taken |= 1u << slot;
    return true;
}

/* U-Boot keeps a frame that does not fit in the buffer, and would never pass on the next one. So the
 * firmware gets a buffer for any frame, and bytes beyond the room are dropped here. */
size_t efi_network_receive(uint8_t *to, size_t room)
{
    struct efi_network *n = net.network;
    uint64_t bytes = sizeof net.received;

    if (efi_failed(EFI_CALL(n->receive(n, NULL, &bytes, net.received, NULL, NULL, NULL))))
        return 0;
    bytes = min_u64(min_u64(bytes, sizeof net.received), room);
    memcpy(to, net.received, bytes);
    return (size_t)bytes;
}

const struct board_network board_network = {
    .open = efi_network_open,
    .is_up = efi_network_is_up,
    .send = efi_network_send,
    .receive = efi_network_receive,
};
