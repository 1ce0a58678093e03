/* Pins of Broadcom's set-top blocks ("GIO"), of which BCM2712 has one that is always on. No manual
 * is public: registers are those of Linux's gpio-brcmstb. */
#ifndef INGOT_BOARD_DRIVERS_SOC_BRCMSTB_GPIO_H
#define INGOT_BOARD_DRIVERS_SOC_BRCMSTB_GPIO_H

#include <stdbool.h>
#include <stdint.h>

enum { BRCMSTB_GPIO_BYTES = 0x40 };

/* Drive a pin of the block at `base`, mapped as device memory, with 32 pins a bank. The firmware
 * has given the pin to the block, and uses other pins of the bank, which do not change. */
void brcmstb_gpio_write(uintptr_t base, unsigned pin, bool high);

#endif
