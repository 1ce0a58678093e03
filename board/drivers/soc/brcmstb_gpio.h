/* Pins of Broadcom's set-top GPIO block ("GIO"); BCM2712 has one that is always on. No manual is
 * public; registers are from Linux's gpio-brcmstb. */
#ifndef INGOT_BOARD_DRIVERS_SOC_BRCMSTB_GPIO_H
#define INGOT_BOARD_DRIVERS_SOC_BRCMSTB_GPIO_H

#include <stdbool.h>
#include <stdint.h>

enum { BRCMSTB_GPIO_BYTES = 0x40 };

/* Drive a pin of the block at `base`, mapped as device memory, with 32 pins per bank. The firmware
 * must have given the pin to the block. Other pins of the bank, which the firmware uses, do not
 * change. */
void brcmstb_gpio_write(uintptr_t base, unsigned pin, bool high);

#endif
