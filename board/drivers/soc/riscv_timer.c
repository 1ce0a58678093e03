#include "board/drivers/soc/riscv_timer.h"

uint64_t riscv_timer_ticks(void)
{
    uint64_t ticks;

    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
}
