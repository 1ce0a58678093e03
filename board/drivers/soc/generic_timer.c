#include "board/drivers/soc/generic_timer.h"

uint64_t generic_timer_ticks(void)
{
    uint64_t ticks;

    /* Without the barrier the read may be done early (DDI 0487, CNTVCT_EL0). */
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
}

uint64_t generic_timer_hz(void)
{
    uint64_t hz;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}
