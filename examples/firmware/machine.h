/* The machine under the firmware: a serial line, a counter, and a way to switch off. Each machine
 * has a file with these functions. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

/* Blocks while the transmitter is full. */
void machine_putc(char c);

/* A counter that goes up `machine_hz` times a second; context is ignored. */
uint64_t machine_ticks(void *context);
uint64_t machine_hz(void);

/* Does not return. */
void machine_off(void) __attribute__((noreturn));

#endif
