/* The firmware below a board's image, as OpenSBI's sources have it (1.2, which HSS contains:
 * sbi_hsm_hart_start, sbi_ecall_base.c and HSS's opensbi_service.c), and PSCI. It prints what it is
 * asked to do. */
#include <inttypes.h>
#include <stdio.h>

#include "board/drivers/soc/psci_call.h"
#include "board/drivers/soc/sbi_call.h"
#include "tests/boards/boot_fake.h"

enum { NOT_SUPPORTED = -2, INVALID_PARAMETER = -3, INVALID_ADDRESS = -5, AVAILABLE_ALREADY = -6 };
enum {
    BASE = 0x10,
    TIME = 0x54494d45,
    IPI = 0x735049,
    RFENCE = 0x52464e43,
    HSM = 0x48534d,
    SRST = 0x53525354,
    OLD_SHUTDOWN = 8
};
enum { RESET_SHUTDOWN, RESET_COLD, RESET_WARM };

static uint32_t started; /* harts as bits; the running one is among them */

/* HSS reports SBI 1.0, its own number, OpenSBI 1.2, and the machine. */
static struct sbi_result tell(uint64_t function)
{
    static const uint64_t values[] = { 0x01000000, 8, 0x00010002, 1, 0x1cf, 1, 0 };

    if (function >= sizeof values / sizeof values[0])
        return (struct sbi_result){ NOT_SUPPORTED, 0 };
    return (struct sbi_result){ 0, values[function] };
}

/* A hart of the monitor, or of another domain (a payload that another core owns), cannot be started
 * by us. */
static int64_t start_hart(uint64_t id, uint64_t address)
{
    started |= 1u << box.hart;
    if (id > 31 || !(box.sbi.domain >> id & 1))
        return INVALID_PARAMETER;
    if (address == 0)
        return INVALID_ADDRESS;
    if (started >> id & 1)
        return AVAILABLE_ALREADY;
    started |= 1u << id;
    printf("hart %" PRIu64 "\n", id);
    return 0;
}

/* 0: it runs, 1: it is stopped (9.3). */
static struct sbi_result hart_status(uint64_t id)
{
    started |= 1u << box.hart;
    if (id > 31 || !(box.sbi.domain >> id & 1))
        return (struct sbi_result){ INVALID_PARAMETER, 0 };
    return (struct sbi_result){ 0, (started >> id & 1) == 0 };
}

static int64_t reset(uint64_t type, uint64_t reason)
{
    if (type > RESET_WARM || reason > 1)
        return INVALID_PARAMETER;
    printf("reset %" PRIu64 " %" PRIu64 "\n", type, reason);
    return 0; /* the real one does not come back */
}

struct sbi_result sbi_call(uint64_t extension, uint64_t function, uint64_t arg0, uint64_t arg1,
                           uint64_t arg2, uint64_t arg3)
{
    struct sbi_result result = { 0, 0 };

    (void)arg2, (void)arg3;
    if (extension == OLD_SHUTDOWN)
        printf("old shutdown\n");
    else if (box.sbi.is_old)
        result.error = NOT_SUPPORTED;
    else if (extension == BASE)
        result = tell(function);
    else if (extension == HSM && function == 0)
        result.error = start_hart(arg0, arg1);
    else if (extension == HSM && function == 2)
        result = hart_status(arg0);
    else if (extension == SRST && function == 0)
        result.error = reset(arg0, arg1);
    else if (extension == IPI && function == 0)
        printf("ipi %" PRIx64 " %" PRIx64 "\n", arg0, arg1);
    else if (extension != TIME && extension != RFENCE)
        result.error = NOT_SUPPORTED;
    return result;
}

int64_t psci_call(bool by_hvc, uint64_t function, uint64_t a, uint64_t b, uint64_t c)
{
    (void)function;
    (void)b;
    (void)c;
    printf("psci %s %llx\n", by_hvc ? "hvc" : "smc", (unsigned long long)a);
    return 0;
}
