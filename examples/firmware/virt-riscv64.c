/* QEMU's virt machine for riscv64: 16550, the time CSR, SBI's system reset. */
#include "machine.h"

#define UART ((volatile uint8_t *)0x10000000)

enum { UART_DATA = 0, UART_STATUS = 5, UART_EMPTY = 1 << 5, TIMEBASE_HZ = 10000000 };

#define SBI_SRST 0x53525354u

void machine_putc(char c)
{
    while ((UART[UART_STATUS] & UART_EMPTY) == 0) {
    }
    UART[UART_DATA] = (uint8_t)c;
}

uint64_t machine_ticks(void *context)
{
    uint64_t ticks;

    (void)context;
    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
}

uint64_t machine_hz(void)
{
    return TIMEBASE_HZ;
}

void machine_off(void)
{
    register uint64_t type __asm__("a0") = 0;   /* shutdown ... */
    register uint64_t reason __asm__("a1") = 0; /* ... as it should be */
    register uint64_t function __asm__("a6") = 0;
    register uint64_t extension __asm__("a7") = SBI_SRST;

    for (;;) {
        __asm__ volatile("ecall"
                         : "+r"(type), "+r"(reason)
                         : "r"(function), "r"(extension)
                         : "memory");
    }
}
