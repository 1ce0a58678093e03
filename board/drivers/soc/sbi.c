#include "board/drivers/soc/sbi.h"

enum {
    EID_BASE = 0x10,
    EID_TIME = 0x54494d45,
    EID_IPI = 0x735049,
    EID_RFENCE = 0x52464e43,
    EID_HSM = 0x48534d,
    EID_RESET = 0x53525354,
    EID_LEGACY_SHUTDOWN = 8,
    FID_SET_TIMER = 0,
    FID_SEND_IPI = 0,
    FID_REMOTE_SFENCE_VMA = 1,
    FID_HART_START = 0,
    FID_RESET = 0,
    RESET_SHUTDOWN = 0,
    RESET_COLD_REBOOT = 1,
    REASON_NONE = 0,
    REASON_FAILURE = 1,
};

/* Chapter 3: a7 extension, a6 function; a0 comes back as the error, all but a0 and a1 stay. */
static int64_t sbi_call(uint64_t extension, uint64_t function, uint64_t arg0, uint64_t arg1,
                        uint64_t arg2, uint64_t arg3)
{
    register uint64_t a0 __asm__("a0") = arg0;
    register uint64_t a1 __asm__("a1") = arg1;
    register uint64_t a2 __asm__("a2") = arg2;
    register uint64_t a3 __asm__("a3") = arg3;
    register uint64_t a6 __asm__("a6") = function;
    register uint64_t a7 __asm__("a7") = extension;

    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a3), "r"(a6), "r"(a7) : "memory");
    return (int64_t)a0;
}

/* The value comes in a1. */
uint64_t sbi_base(enum sbi_base which)
{
    register uint64_t a0 __asm__("a0") = 0;
    register uint64_t a1 __asm__("a1") = 0;
    register uint64_t a6 __asm__("a6") = which;
    register uint64_t a7 __asm__("a7") = EID_BASE;

    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a6), "r"(a7) : "memory");
    return a1;
}

enum err sbi_hart_start(uint64_t id, uintptr_t start, uint64_t opaque)
{
    return err_unless(sbi_call(EID_HSM, FID_HART_START, id, start, opaque, 0) == 0, ERR_NO_DEVICE);
}

void sbi_send_ipi(uint64_t mask, uint64_t base)
{
    (void)sbi_call(EID_IPI, FID_SEND_IPI, mask, base, 0, 0);
}

void sbi_set_timer(uint64_t at)
{
    (void)sbi_call(EID_TIME, FID_SET_TIMER, at, 0, 0, 0);
}

void sbi_flush_tlb(uint64_t mask, uint64_t base, uint64_t start, uint64_t bytes)
{
    (void)sbi_call(EID_RFENCE, FID_REMOTE_SFENCE_VMA, mask, base, start, bytes);
}

void sbi_power_off(int failed)
{
    (void)sbi_call(EID_RESET, FID_RESET, RESET_SHUTDOWN, failed ? REASON_FAILURE : REASON_NONE, 0,
                   0);
}

void sbi_shutdown_legacy(void)
{
    (void)sbi_call(EID_LEGACY_SHUTDOWN, 0, 0, 0, 0, 0);
}

void sbi_restart(int failed)
{
    (void)sbi_call(EID_RESET, FID_RESET, RESET_COLD_REBOOT, failed ? REASON_FAILURE : REASON_NONE,
                   0, 0);
}
