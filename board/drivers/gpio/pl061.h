/* ARM PL061: eight lines (PrimeCell GPIO (PL061) Technical Reference Manual, DDI 0190, chapter
 * 3). */
#ifndef INGOT_BOARD_DRIVERS_GPIO_PL061_H
#define INGOT_BOARD_DRIVERS_GPIO_PL061_H

#include <stdbool.h>
#include <stdint.h>

enum { PL061_BYTES = 0x1000, PL061_LINES = 8 };

/* Make a line an output or an input. The registers at base are mapped as device memory; line <
 * PL061_LINES. The other lines do not change. */
void pl061_setup(uintptr_t base, unsigned line, bool output, bool high);
void pl061_write(uintptr_t base, unsigned line, bool high);
bool pl061_read(uintptr_t base, unsigned line);

#endif
