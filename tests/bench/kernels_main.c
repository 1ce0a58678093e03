/* An image that calls every kernel the CPU supports with the shapes of kernel_calls.c. Boot
 * arguments: "count" times the assembly, "ref" the references, "trace" calls each row once with few
 * rows of weights, for whoever watches (kernels.py); and after it, a blank between, a part of the
 * symbols that are wanted. Under `-icount shift=0` the counter counts
 * instructions. A line a call: "kernel: SYMBOL ROWS COLS TOKENS WEIGHT_BYTES CALLS TICKS EMPTY HZ";
 * EMPTY is what as many calls of a function that returns at once take. */
#include <assert.h>
#include <string.h>

#include "board/board.h"
#include "boot/boot.h"
#include "boot/platform.h"
#include "runtime/console/console.h"
#include "tests/bench/kernel_calls.h"

/* About as many items for one measurement: the counter steps by 16 or 100. The references are
 * slow. */
enum { ITEMS = 1 << 20, REFERENCE_ITEMS = 1 << 16 };

static struct platform platform;
static struct console console;

static uint64_t measure(const struct kernel_call *call, void (*function)(void), size_t n)
{
    uint64_t start = board.ticks();

    for (size_t i = 0; i < n; i++) {
        kernel_call_run(call, function, 0);
    }
    return board.ticks() - start;
}

static void measure_call(const struct kernel_row *row, const struct kernel_call *call, size_t n)
{
    uint64_t ticks;

    kernel_call_fill(call);
    ticks = measure(call, row->function, n);
    console_printf(&console, "kernel: %s %lu %lu %lu %lu %lu %llu %llu %llu\n", row->symbol,
                   (unsigned long)call->rows, (unsigned long)call->cols,
                   (unsigned long)call->tokens, (unsigned long)kernel_call_weight_bytes(call),
                   (unsigned long)n, (unsigned long long)ticks,
                   (unsigned long long)measure(call, kernel_call_nothing, n),
                   (unsigned long long)board.ticks_hz());
}

static void measure_row(const struct kernel_row *row, size_t items, bool trace)
{
    bool found = false;

    for (size_t i = 0; i < kernel_n_calls; i++) {
        const struct kernel_call *call = &kernel_calls[i];
        struct kernel_call small = kernel_call_small(call);

        if (call->op != row->op || (found && trace)) {
            continue;
        }
        found = true;
        measure_call(row, trace ? &small : call, trace ? 1 : items / kernel_call_items(call) + 1);
    }
    assert(found && "every op has a call");
}

void image_main(const struct machine *machine)
{
    static const struct console_setup setup = { .serial = true };
    const char *part = strchr(machine->args, ' ');
    bool reference = strncmp(machine->args, "ref", 3) == 0;
    bool trace = strncmp(machine->args, "trace", 5) == 0;

    board_platform(&platform, machine);
    console_open(&console, &platform, &setup);
    assert(machine->ram[0].bytes >= KERNEL_CALLS_BYTES);
    kernel_calls_init(machine->ram[0].base);
    console_printf(&console, "cpu: %s\n", machine->cpu_name);
    for (size_t i = 0; i < kernel_n_rows; i++) {
        const struct kernel_row *row = &kernel_rows[i];

        if ((row->features == CPU_ANY) == reference &&
            (row->features & ~machine->cpu_features) == 0 &&
            (part == NULL || strstr(row->symbol, part + 1) != NULL)) {
            measure_row(row, reference ? REFERENCE_ITEMS : ITEMS, trace);
        }
    }
    board.power_off(0);
}
