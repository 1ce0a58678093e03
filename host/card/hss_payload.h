/* Checks a payload of HSS, PolarFire SoC's first loader, as HSS checks it before the start:
 * Microchip's hart-software-services, include/hss_types.h, services/boot/hss_boot_service.c and
 * init/hss_boot_init.c. */
#ifndef INGOT_HOST_CARD_HSS_PAYLOAD_H
#define INGOT_HOST_CARD_HSS_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if HSS would start the payload at the beginning of the file. If false, error_message
 * (bytes) has the file's name and the reason. */
bool hss_payload_check(const char *path, char *error_message, size_t bytes);

/* True if a checked payload has a U-Boot that starts Ingot by extlinux.conf. U-Boot's environment
 * must set kernel_addr_r, without which label_boot of boot/pxe_utils.c skips the label; Microchip's
 * 2023.02 to 2023.09 do not set it (include/configs/microchip_mpfs_icicle.h). U-Boot must be
 * 2022.04 or later: label_boot of earlier versions, such as Microchip's before 2023.09, passes no
 * device tree. */
bool hss_payload_starts_cards(const char *path);

#endif
