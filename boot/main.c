/* The image from the first log line to the prompt: everything that was found is put together
 * here and nowhere else. All state lies in one struct. */
#include "boot/boot.h"

#include <string.h>

#include "board/board.h"
#include "boot/platform.h"
#include "boot/talk.h"
#include "kernels/kernels.h"
#include "kernels/tuning.h"
#include "runtime/chat/report.h"
#include "runtime/compute/workers.h"
#include "runtime/console/console.h"
#include "runtime/options/options.h"
#include "runtime/base/crc32c.h"
#include "runtime/text/format_text.h"

enum { WATCHDOG_SECONDS = 15 };

static struct main_state {
    struct platform platform;
    struct trace trace;
    struct options options;
    struct kernels kernels;
    struct workers workers;
    uint32_t watchdog_millis; /* 0: not armed */
    bool bad_options;
} state;

static uint8_t input_buffer[BOARD_INPUT_BYTES];

static void __attribute__((noreturn)) stop(int status)
{
    console_log("power off");
    board.power_off(status);
}

static void __attribute__((noreturn)) give_up(const char *problem)
{
    console_log("error: %s", problem);
    stop(1);
}

/* Nothing feeds the watchdog while everybody sleeps. */
static void idle(void)
{
    if (state.watchdog_millis != 0) {
        board.watchdog(0, "waiting for input");
    }
    board.idle();
    if (state.watchdog_millis != 0) {
        board.watchdog(state.watchdog_millis, "talking");
    }
}

static void open_console(const struct machine *machine)
{
    struct console_port port = {
        .putc = board.putc,
        .getc = board.getc,
        .ticks = board.ticks,
        .ticks_hz = board.ticks_hz,
        .idle = board.idle != NULL ? idle : NULL,
        .interrupted = board.interrupted,
        .lost = board.lost,
        .start_ticks = machine->entry_ticks,
        .serial = true,
        .echo = true,
    };

    console_init(&port);
    if (board.set_input_buffer != NULL) {
        (void)board.set_input_buffer(input_buffer, sizeof input_buffer);
    }
}

/* How to write stands in the words whose report is still to be written: they are read twice. At
 * another rate than the board's own, and to somebody who waits for one reply, nothing is asked. */
static void find_terminal(const struct machine *machine)
{
    const struct options *o = &state.options;

    options_init(&state.options);
    (void)options_parse(&state.options, machine->args, NULL);
    if (o->mode == MODE_JSON) {
        console_speak_json();
    } else if (o->term != CONSOLE_AUTO ||
               !(options_given(o, OPTION_BAUD) || options_given(o, OPTION_PROMPT))) {
        console_find_terminal((enum console_terminal)o->term);
    }
}

/* How the last run ended, if not as it should. */
static void report_last_run(void)
{
    struct board_last_run last;
    char seconds[FORMAT_NUMBER_BYTES];

    if (board.last_run == NULL) {
        return;
    }
    board.last_run(&last);
    if (last.end != BOARD_RUN_HUNG && last.end != BOARD_RUN_RESET) {
        return;
    }
    console_log("warning: %s the last run %s s after its start, while it was %s",
                last.end == BOARD_RUN_HUNG ? "the watchdog ended" : "a reset cut off",
                format_milli(seconds, last.alive_millis, 1),
                last.doing[0] != '\0' ? last.doing : "doing nobody knows what");
}

/* Core 0 comes by many times a second: only a board that hangs restarts. Not by default in an
 * emulator, whose watchdog goes off at once. */
static void watch(const char *doing)
{
    uint32_t seconds = WATCHDOG_SECONDS;

    if (board.watchdog == NULL) {
        return;
    }
    if (options_given(&state.options, OPTION_WATCHDOG)) {
        seconds = state.options.watchdog;
    } else if (board.is_emulated()) {
        seconds = 0;
    }
    state.watchdog_millis = seconds * 1000;
    board.watchdog(state.watchdog_millis, doing);
}

static void say_option(void *context, bool fatal, const char *sentence)
{
    (void)context;
    state.bad_options = state.bad_options || fatal;
    console_log("%s: %s", fatal ? "error" : "warning", sentence);
}

static void set_baud(uint32_t baud)
{
    if (board.set_baud == NULL) {
        console_log("warning: baud=%u has no effect on %s", (unsigned)baud, board.name);
    } else {
        console_log("the console goes on at %u baud", (unsigned)baud);
        board.set_baud(baud);
    }
    if (!options_given(&state.options, OPTION_PROMPT) && state.options.mode != MODE_JSON) {
        console_find_terminal((enum console_terminal)state.options.term);
    }
}

static void read_options(const struct machine *machine)
{
    struct options_report report = { say_option, NULL };

    options_init(&state.options);
    if (machine->args_bytes >= sizeof machine->args) {
        console_log("error: %lu bytes of boot arguments, and %u are the limit",
                    (unsigned long)machine->args_bytes, BOARD_ARGS_BYTES - 1);
        state.bad_options = true;
    }
    (void)options_parse(&state.options, machine->args, &report); /* said by say_option */
    if (state.bad_options) {
        give_up("correct the boot arguments (QEMU -append, or cmdline.txt on the card)");
    }
    if (!options_given(&state.options, OPTION_SEED)) {
        state.options.sampler.seed = board.ticks();
    }
    if (options_given(&state.options, OPTION_BAUD)) {
        set_baud(state.options.baud);
    }
    if (state.options.pio && board.use_pio != NULL) {
        board.use_pio();
    } else if (state.options.pio) {
        console_log("warning: pio is not to be had on this board");
    }
    if (board.flow_control != NULL && state.options.flow == FLOW_ON) {
        board.flow_control(true);
    }
}

static void start_workers(const struct machine *machine)
{
    unsigned n = machine->n_cores;

    if (state.options.cores != 0 && state.options.cores < n) {
        n = state.options.cores;
    }
    workers_start(&state.workers, &state.platform, n);
    trace_open(&state.trace, &state.platform.clock);
    state.workers.trace = &state.trace;
    console_log("cores: %u of %u at work", state.workers.n_cores, machine->n_cores);
    if (options_given(&state.options, OPTION_CORES) &&
        state.workers.n_cores < state.options.cores) {
        console_log("warning: cores=%u, and this machine has %u", (unsigned)state.options.cores,
                    state.workers.n_cores);
    }
}

/* After start_workers: cores that are not at work have no say. */
static void choose_kernels(const struct machine *machine)
{
    uint32_t present = cpu_features_common(state.workers.n_cores), features = present;
    char names[KERNELS_TEXT_BYTES];

    if (state.options.isa[0] != '\0' && !kernels_force(present, state.options.isa, &features)) {
        console_log("warning: isa=%s is not to be had on this CPU, which has %s, or ref: using "
                    "the best",
                    state.options.isa, kernels_features_text(names, present));
    }
    kernels_select(&state.kernels,
                   present); /* whatever isa= computes with, files are checked fast */
    crc32c_use(&state.kernels);
    kernels_select(&state.kernels, features);
    state.kernels.ahead = machine->tuning->ahead;
    report_kernels(features, state.kernels.ahead);
    /* All that the CPU has, whatever isa= chose; the arena is still empty. */
    if (state.options.selftest &&
        !report_selftest(&state.kernels, present, state.options.sampler.seed, machine->ram[0])) {
        give_up("the self-test cannot vouch for this machine; start without `selftest` to go on");
    }
}

void image_main(const struct machine *machine)
{
    struct talk_setup setup = { &state.platform, &state.options, &state.kernels, &state.workers };
    char ram[FORMAT_NUMBER_BYTES];

    board_platform(&state.platform, machine);
    open_console(machine);
    find_terminal(machine);
    console_log("Ingot " INGOT_VERSION_TEXT " on %s: %u x %s, %s RAM", board.name, machine->n_cores,
                machine->cpu_name, format_bytes(ram, machine->ram_bytes));
    report_health();
    report_last_run();
    read_options(machine);
    watch("starting");
    start_workers(machine);
    choose_kernels(machine);
    watch("loading the model");
    if (!talk_open(&setup)) {
        give_up(talk_problem());
    }
    watch("talking");
    stop(talk());
}
