/* A GPIO block of PolarFire SoC's microprocessor subsystem: 32 lines (PolarFire SoC register
 * map, "GPIO"; Linux's gpio-mpfs.c has the same). This driver never ran on hardware: QEMU has no
 * model of the block. */
#ifndef INGOT_BOARD_DRIVERS_GPIO_MSS_GPIO_H
#define INGOT_BOARD_DRIVERS_GPIO_MSS_GPIO_H

#include <stdbool.h>
#include <stdint.h>

enum { MSS_GPIO_BYTES = 0x1000, MSS_GPIO_LINES = 32, MSS_SYSREG_BYTES = 0x1000 };

/* Switch on the clock of block `index` (0 to 2), and take it out of reset. SYSREG is mapped as
 * device memory at `sysreg`. */
void mss_gpio_wake(uintptr_t sysreg, unsigned index);

/* Make a line an output or an input. The registers at base are mapped as device memory; line <
 * MSS_GPIO_LINES. */
void mss_gpio_setup(uintptr_t base, unsigned line, bool output, bool high);
void mss_gpio_write(uintptr_t base, unsigned line, bool high);
bool mss_gpio_read(uintptr_t base, unsigned line);

#endif
