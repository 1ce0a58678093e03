#include "runtime/compute/selftest.h"

#include "kernels/selftest/tester.h"
#include "runtime/console/console.h"

static void log_fault(const char *line)
{
    console_log("  %s", line);
}

/* The start of TESTER_WORK_BYTES within work[bytes], or NULL. */
static uint8_t *place_work_space(uint8_t *work, size_t bytes)
{
    size_t skip = (size_t)(-(uintptr_t)work % TESTER_PAGE);

    return bytes >= skip && bytes - skip >= TESTER_WORK_BYTES ? work + skip : NULL;
}

static bool check(const struct kernel_row *row, uint32_t features, uint64_t seed)
{
    struct tester t;
    char faults[160];

    tester_run_row(&t, row, features, seed, log_fault);
    if (t.faults == 0) {
        console_log("selftest: %s ok, %u cases", row->symbol, (unsigned)t.n_cases);
        return true;
    }
    tester_faults_text(t.faults, faults, sizeof faults);
    console_log("selftest: %s FAILED, %u cases: %s", row->symbol, (unsigned)t.n_cases, faults);
    return false;
}

bool selftest_run(struct kernels *k, uint32_t features, uint64_t seed, uint8_t *work, size_t bytes)
{
    uint8_t *space = place_work_space(work, bytes);
    unsigned n = 0;
    unsigned failed = 0;
    bool trusted = true;

    if (space == NULL) {
        console_log("selftest: %u KiB of free RAM are needed", TESTER_WORK_BYTES / 1024 + 4);
        return false;
    }
    console_log("selftest: seed=%llu", (unsigned long long)seed);
    tester_open(space);
    for (size_t i = 0; i < kernel_n_rows && !console_aborted(); i++) {
        const struct kernel_row *row = &kernel_rows[i];

        if (row->features & ~features) {
            continue;
        }
        n++;
        if (!check(row, features, seed)) {
            failed++;
            trusted = trusted && row->features != CPU_ANY;
            kernels_use_reference(k, row->op);
        }
    }
    if (console_aborted()) {
        console_log("selftest: stopped after %u kernels, of which %u FAILED", n, failed);
    } else if (failed == 0) {
        console_log("selftest: all %u kernels equal their references", n);
    } else {
        console_log("selftest: %u of %u kernels FAILED%s", failed, n,
                    trusted ? ": references do their work, slower and right" : "");
    }
    return trusted;
}
