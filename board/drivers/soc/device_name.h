/* Names of devices for messages: a kind and an address, "virtio-blk at 0xa003e00". */
#ifndef INGOT_BOARD_DRIVERS_SOC_DEVICE_NAME_H
#define INGOT_BOARD_DRIVERS_SOC_DEVICE_NAME_H

#include <stddef.h>
#include <stdint.h>

/* Write kind (at most 21 bytes) and address to name. */
static inline void device_name_set(char name[40], const char *kind, uintptr_t address)
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;
    int shift = 60;

    while (kind[at] != '\0' && at < 21) {
        name[at] = kind[at];
        at++;
    }
    name[at++] = '0';
    name[at++] = 'x';
    while (shift > 0 && ((uint64_t)address >> shift) == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        name[at++] = digits[((uint64_t)address >> shift) & 15];
    name[at] = '\0';
}

#endif
