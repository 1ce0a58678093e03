/* Times every kernel that this computer's CPU supports with the shapes of kernel_calls.c, whose
 * weights (1.3 MB at most) stay in the second or third cache. First a line "cycles: core" where
 * the kernel of the system counts the core's cycles, or "cycles: tsc" for those of the time stamp
 * counter, whose rate is constant; then a line a call, the fastest of several turns:
 * "kernel: SYMBOL ROWS COLS TOKENS WEIGHT_BYTES NANOSECONDS CYCLES", of one call. */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "board/host/host_cpu.h"
#include "tests/bench/kernel_calls.h"

enum { TURNS = 15, ITEMS = 1 << 20, REFERENCE_ITEMS = 1 << 16 };

static struct native_state {
    int counter; /* file of perf_event_open(), or -1 */
    uint8_t memory[KERNEL_CALLS_BYTES] __attribute__((aligned(64)));
} state;

static void open_counter(void)
{
    struct perf_event_attr what = { .type = PERF_TYPE_HARDWARE,
                                    .size = sizeof what,
                                    .config = PERF_COUNT_HW_CPU_CYCLES,
                                    .exclude_kernel = 1 };

    state.counter = (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, 0);
}

static uint64_t now_nanoseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_cycles(void)
{
    uint64_t cycles = 0;

    if (state.counter >= 0 && read(state.counter, &cycles, sizeof cycles) == sizeof cycles) {
        return cycles;
    }
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

static void measure_call(const struct kernel_row *row, const struct kernel_call *call)
{
    size_t items = row->features == CPU_ANY ? REFERENCE_ITEMS : ITEMS;
    size_t n = items / kernel_call_items(call) + 1;
    uint64_t least_time = UINT64_MAX;
    uint64_t least_cycles = UINT64_MAX;

    kernel_call_fill(call);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        uint64_t time = now_nanoseconds();
        uint64_t cycles = now_cycles();

        for (size_t i = 0; i < n; i++) {
            kernel_call_run(call, row->function, 0);
        }
        cycles = now_cycles() - cycles;
        time = now_nanoseconds() - time;
        least_cycles = cycles < least_cycles ? cycles : least_cycles;
        least_time = time < least_time ? time : least_time;
    }
    printf("kernel: %s %zu %zu %zu %zu %.1f %.1f\n", row->symbol, call->rows, call->cols,
           call->tokens, kernel_call_weight_bytes(call), (double)least_time / (double)n,
           (double)least_cycles / (double)n);
}

int main(void)
{
    uint32_t features = host_cpu_features();

    open_counter();
    kernel_calls_init(state.memory);
    printf("cycles: %s\n", state.counter >= 0 ? "core" : "tsc");
    for (size_t i = 0; i < kernel_n_rows; i++) {
        for (size_t j = 0; j < kernel_n_calls; j++) {
            if (kernel_calls[j].op == kernel_rows[i].op &&
                (kernel_rows[i].features & ~features) == 0) {
                measure_call(&kernel_rows[i], &kernel_calls[j]);
            }
        }
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
