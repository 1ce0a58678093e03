/* QEMU's virt machine for arm64: PL011 (ARM DDI 0183), the generic timer, PSCI (ARM DEN 0022). */
#include "machine.h"

#define UART ((volatile uint32_t *)0x09000000)

enum { UART_DATA = 0x00 / 4, UART_FLAGS = 0x18 / 4, UART_FULL = 1 << 5 };

#define PSCI_SYSTEM_OFF 0x84000008u

void machine_putc(char c)
{
    while ((UART[UART_FLAGS] & UART_FULL) != 0) {
    }
    UART[UART_DATA] = (uint8_t)c;
}

uint64_t machine_ticks(void *context)
{
    uint64_t ticks;

    (void)context;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

uint64_t machine_hz(void)
{
    uint64_t hz;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}

void machine_off(void)
{
    register uint64_t function __asm__("x0") = PSCI_SYSTEM_OFF;

    for (;;) {
        __asm__ volatile("hvc #0" : "+r"(function)::"x1", "x2", "x3", "memory");
    }
}
