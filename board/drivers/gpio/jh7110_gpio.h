/* The 64 lines of JH7110's SYS block, each of which can carry one of many signals (JH7110 TRM, "SYS
 * IOMUX CFG"; Linux's pinctrl-starfive-jh7110-sys.c has the same). This driver has not yet run on
 * hardware, and no emulator has the block. */
#ifndef INGOT_BOARD_DRIVERS_GPIO_JH7110_GPIO_H
#define INGOT_BOARD_DRIVERS_GPIO_JH7110_GPIO_H

#include <stdbool.h>
#include <stdint.h>

enum { JH7110_GPIO_BYTES = 0x1000, JH7110_GPIO_LINES = 64 };

/* Make a line an output or an input. The registers at base are mapped as device memory; line <
 * JH7110_GPIO_LINES. Pull resistors do not change. */
void jh7110_gpio_setup(uintptr_t base, unsigned line, bool output, bool high);
void jh7110_gpio_write(uintptr_t base, unsigned line, bool high);
bool jh7110_gpio_read(uintptr_t base, unsigned line);

#endif
