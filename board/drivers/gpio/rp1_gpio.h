/* The lines of the row of 40 pins on a Raspberry Pi 5: bank 0 of RP1 (RP1 Peripherals, Raspberry
 * Pi 2023, section 3; Linux's pinctrl-rp1.c has the same). This driver has not yet run on hardware,
 * and no emulator has RP1. */
#ifndef INGOT_BOARD_DRIVERS_GPIO_RP1_GPIO_H
#define INGOT_BOARD_DRIVERS_GPIO_RP1_GPIO_H

#include <stdbool.h>
#include <stdint.h>

/* Offset and size in RP1's peripherals: functions, levels, pads. */
enum { RP1_GPIO_PLACE = 0xd0000, RP1_GPIO_BYTES = 0x30000, RP1_GPIO_LINES = 28 };

/* Make a line an output or an input. The RP1_GPIO_BYTES bytes at RP1_GPIO_PLACE are mapped at base
 * as device memory; line < RP1_GPIO_LINES. Pull resistors do not change. */
void rp1_gpio_setup(uintptr_t base, unsigned line, bool output, bool high);
void rp1_gpio_write(uintptr_t base, unsigned line, bool high);
bool rp1_gpio_read(uintptr_t base, unsigned line);

/* Give this function to a line, unless the line has one already. */
void rp1_gpio_lend(uintptr_t base, unsigned line, unsigned function);

#endif
