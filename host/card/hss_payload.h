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

#endif
