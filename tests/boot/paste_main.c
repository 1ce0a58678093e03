/* An image that is busy while somebody pastes: core 0 runs the self-test's cases of every assembly
 * kernel again and again, the other cores a kernel that they check, and nobody looks for input.
 * Ctrl-C ends that; then all that was received is taken out of the ring and told, as
 *
 *   received BYTES bytes, crc32c CRC, lost LOST; ROWS kernels, FAULTS faults
 *
 * Boot arguments: "flow": with XON/XOFF; "again": twice over, the CRC goes on; "trap": the handler
 * of the interrupt that a byte causes does what must not be done. */
#include <stdatomic.h>
#include <string.h>

#include "board/board.h"
#include "boot/boot.h"
#include "kernels/kernels.h"
#include "kernels/selftest/tester.h"
#include "boot/platform.h"
#include "runtime/console/console.h"
#include "runtime/base/crc32c.h"

/* Neighbours in the list are alike. */
enum { STRIDE = 7 };
enum { FLOATS = 1000, SEED = 1, UNMAPPED = 28u, GIB_SHIFT = 30 };

static struct paste_state {
    struct platform platform;
    struct console console;
    struct kernels kernels;
    struct {
        _Atomic uint32_t faults;
        float in[FLOATS], first[FLOATS], out[FLOATS];
    } cores[BOARD_MAX_CORES];
    uint32_t crc, received, lost, n_rows, faults;
    size_t next;
    uint8_t input[BOARD_INPUT_BYTES];
} state;

static void core_main(void *arg)
{
    unsigned core = core_number();

    (void)arg;
    for (unsigned i = 0; i < FLOATS; i++)
        state.cores[core].in[i] = (float)(i * 7 % 1000 + core) / 64.0f - 8.0f;
    for (bool once = false;; once = true) {
        float *out = once ? state.cores[core].out : state.cores[core].first;

        state.kernels.silu_mul_f32(out, state.cores[core].in, state.cores[core].in, FLOATS);
        if (once && memcmp(out, state.cores[core].first, FLOATS * sizeof *out) != 0)
            atomic_fetch_add(&state.cores[core].faults, 1);
    }
}

static void start_others(const struct machine *machine)
{
    for (unsigned core = 1; core < machine->n_cores; core++)
        (void)board.start_core(core, core_main, NULL); /* fewer are not a fault of the line */
}

/* Runs an assembly kernel; the references keep to registers that the compiler knows. */
static void compute(const struct machine *machine)
{
    struct tester t;

    while (!board.interrupted()) {
        const struct kernel_row *row = &kernel_rows[state.next % kernel_n_rows];

        state.next += STRIDE;
        if (row->features == CPU_ANY || (row->features & ~machine->cpu_features) != 0)
            continue;
        state.n_rows++;
        tester_run_row(&t, row, machine->cpu_features, SEED, NULL, NULL);
        state.faults += t.faults != 0;
    }
}

static void tell(void)
{
    int byte;

    while ((byte = board.getc()) >= 0) {
        uint8_t one = (uint8_t)byte;

        state.crc = crc32c(state.crc, &one, 1);
        state.received++;
    }
    state.lost += board.lost();
    for (unsigned core = 1; core < BOARD_MAX_CORES; core++)
        state.faults += atomic_exchange(&state.cores[core].faults, 0);
    console_printf(&state.console, "received %u bytes, crc32c %x, lost %u; %u kernels, %u faults\n",
                   (unsigned)state.received, (unsigned)state.crc, (unsigned)state.lost,
                   (unsigned)state.n_rows, (unsigned)state.faults);
}

static void trap(void *context)
{
    (void)context;
    *(volatile uint32_t *)((uintptr_t)UNMAPPED << GIB_SHIFT) = 1;
}

void image_main(const struct machine *machine)
{
    static const struct console_setup setup = { .serial = true };

    board_platform(&state.platform, machine);
    console_open(&state.console, &state.platform, &setup);
    (void)board.set_input_buffer(state.input, sizeof state.input);
    kernels_select(&state.kernels, machine->cpu_features);
    tester_open(machine->ram[0].base + -(uintptr_t)machine->ram[0].base % TESTER_PAGE);
    start_others(machine);
    if (strstr(machine->args, "trap") != NULL)
        core_interrupts_on(trap, NULL);
    if (strstr(machine->args, "flow") != NULL)
        board.flow_control(true);
    console_printf(&state.console, "busy\n");
    compute(machine);
    tell();
    if (strstr(machine->args, "again") != NULL) {
        compute(machine);
        tell();
    }
    board.power_off(0);
}
