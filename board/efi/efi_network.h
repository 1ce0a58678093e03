/* The network of a machine with EFI firmware: frames through its SimpleNetwork protocol (UEFI 2.10,
 * 24.1), polled. The functions are those of struct board_network. Core 0 only. */
#ifndef INGOT_BOARD_EFI_EFI_NETWORK_H
#define INGOT_BOARD_EFI_EFI_NETWORK_H

#include "board/device_tree.h"
#include "board/efi/efi.h"

enum {
    EFI_NETWORK_STOPPED,
    EFI_NETWORK_STARTED,
    EFI_NETWORK_INITIALIZED
}; /* efi_network_mode.state */
enum {
    EFI_NETWORK_UNICAST = 0x01, /* receive filters */
    EFI_NETWORK_MULTICAST = 0x02,
    EFI_NETWORK_BROADCAST = 0x04,
    EFI_NETWORK_ALL = 0x08,
    EFI_NETWORK_ALL_MULTICAST = 0x10,
};
enum { EFI_NETWORK_ETHERNET = 1 /* interface type, RFC 3232 */, EFI_NETWORK_GROUPS = 16 };

struct efi_mac {
    uint8_t bytes[32];
};

struct efi_network_mode {
    uint32_t state, address_bytes, header_bytes, most_bytes, nvram_bytes, nvram_step;
    uint32_t filters, filter; /* supported filters; filters that are set */
    uint32_t most_groups, n_groups;
    struct efi_mac groups[EFI_NETWORK_GROUPS], address, broadcast, permanent;
    uint8_t interface_type;
    bool can_change_address, can_send_several, knows_cable, cable;
};

struct efi_network {
    uint64_t revision;
    efi_status(EFI_API *start)(struct efi_network *network);
    void *stop;
    efi_status(EFI_API *initialize)(struct efi_network *network, uint64_t more_receive,
                                    uint64_t more_send);
    void *reset;
    efi_status(EFI_API *shutdown)(struct efi_network *network);
    efi_status(EFI_API *receive_filters)(struct efi_network *network, uint32_t on, uint32_t off,
                                         bool reset_groups, uint64_t n_groups,
                                         const struct efi_mac *groups);
    void *station_address, *statistics, *group_address, *nvram;
    efi_status(EFI_API *get_status)(struct efi_network *network, uint32_t *interrupts, void **sent);
    efi_status(EFI_API *transmit)(struct efi_network *network, uint64_t header_bytes,
                                  uint64_t bytes, const void *frame, const struct efi_mac *from,
                                  const struct efi_mac *to, const uint16_t *type);
    efi_status(EFI_API *receive)(struct efi_network *network, uint64_t *header_bytes,
                                 uint64_t *bytes, void *frame, struct efi_mac *from,
                                 struct efi_mac *to, uint16_t *type);
    efi_event wait_for_packet;
    const struct efi_network_mode *mode;
};
EFI_GUID(efi_network_guid, 0xa19832b9, 0xac25, 0x11d3, 0x9a, 0x2d, 0x00, 0x90, 0x27, 0x3f, 0xc1,
         0x4d);

/* Start the Ethernet interface whose cable is connected, else the first one, and write its address.
 * Returns NULL, or an error message that says why the network cannot be used. `tree` is ignored. The
 * other functions are as in struct platform_network (runtime/base/platform.h). */
const char *efi_network_open(const struct device_tree *tree, uint8_t address[6]);
bool efi_network_is_up(void);
bool efi_network_send(const uint8_t *frame, size_t bytes);
size_t efi_network_receive(uint8_t *to, size_t room);

#endif
