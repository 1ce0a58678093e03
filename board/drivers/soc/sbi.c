#include "board/drivers/soc/sbi.h"

#include "board/drivers/soc/sbi_call.h"

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
    FID_HART_STATUS = 2,
    FID_RESET = 0,
    RESET_SHUTDOWN = 0,
    RESET_COLD_REBOOT = 1,
    HART_STOPPED = 1,
    REASON_NONE = 0,
    REASON_FAILURE = 1,
};

uint64_t sbi_base(enum sbi_base which)
{
    return sbi_call(EID_BASE, which, 0, 0, 0, 0).value;
}

enum err sbi_hart_start(uint64_t id, uintptr_t start, uint64_t opaque)
{
    return err_unless(sbi_call(EID_HSM, FID_HART_START, id, start, opaque, 0).error == 0,
                      ERR_NO_DEVICE);
}

bool sbi_hart_is_stopped(uint64_t id)
{
    struct sbi_result status = sbi_call(EID_HSM, FID_HART_STATUS, id, 0, 0, 0);

    return status.error == 0 && status.value == HART_STOPPED;
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
