#include "board/drivers/sbi.h"

/* Extensions and functions, SBI 1.0 chapters 4, 5, 9 and 10. */
enum {
    SBI_LEGACY_SHUTDOWN = 0x08,
    SBI_BASE = 0x10,
    SBI_BASE_PROBE = 3,
    SBI_HSM = 0x48534d,
    SBI_HSM_START = 0,
    SBI_SRST = 0x53525354,
    SBI_SRST_RESET = 0,
};
enum { SRST_SHUTDOWN = 0, SRST_NO_REASON = 0, SRST_SYSTEM_FAILURE = 1 };

struct sbi_result {
    int64_t error; /* 0: fine */
    uint64_t value;
};

/* All registers but a0 and a1 are preserved (chapter 3). */
static struct sbi_result sbi_call(uint64_t extension, uint64_t function, uint64_t x, uint64_t y,
                                  uint64_t z)
{
    register uint64_t a0 __asm__("a0") = x;
    register uint64_t a1 __asm__("a1") = y;
    register uint64_t a2 __asm__("a2") = z;
    register uint64_t a6 __asm__("a6") = function;
    register uint64_t a7 __asm__("a7") = extension;

    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a6), "r"(a7) : "memory");
    return (struct sbi_result){ (int64_t)a0, a1 };
}

static bool sbi_has(uint64_t extension)
{
    struct sbi_result probe = sbi_call(SBI_BASE, SBI_BASE_PROBE, extension, 0, 0);

    return probe.error == 0 && probe.value != 0;
}

enum err sbi_hart_start(uint64_t hart, uintptr_t entry, uint64_t opaque)
{
    if (!sbi_has(SBI_HSM) || sbi_call(SBI_HSM, SBI_HSM_START, hart, entry, opaque).error != 0)
        return ERR_NO_DEVICE;
    return ERR_OK;
}

void sbi_shutdown(bool failed)
{
    if (sbi_has(SBI_SRST))
        (void)sbi_call(SBI_SRST, SBI_SRST_RESET, SRST_SHUTDOWN,
                       failed ? SRST_SYSTEM_FAILURE : SRST_NO_REASON, 0);
    (void)sbi_call(SBI_LEGACY_SHUTDOWN, 0, 0, 0, 0);
}
