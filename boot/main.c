/* The image from the first log line to power-off. Only this file passes the machine's parts to
 * the application. All state is in one struct. */
#include "boot/boot.h"

#include <string.h>

#include "board/board.h"
#include "board/interrupt.h"
#include "board/left_out.h"
#include "boot/arguments.h"
#include "boot/diag.h"
#include "boot/network.h"
#include "boot/platform.h"
#include "boot/screen.h"
#include "boot/signing.h"
#include "boot/stage.h"
#include "runtime/app/app.h"
#include "runtime/app/app_storage.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

enum { MEMORY_ALIGN = 64, LEFT_OUT_BYTES = 768 };

static struct main_state {
    struct platform platform;
    struct console console;
    struct options options;
    struct app_storage storage;
    struct app *app; /* lies at the start of the arena, with the conversation's buffers */
} state;

static void __attribute__((noreturn)) stop(int status)
{
    console_log(&state.console, "power off");
    board.power_off(status);
}

static void __attribute__((noreturn)) give_up(const char *error_message)
{
    console_log(&state.console, "error: %s", error_message);
    stop(1);
}

static void idle(void *context)
{
    bool told;

    (void)context;
    /* boot_network_turn sleeps for a short time; if there is no network, the board sleeps here. */
    if (!boot_network_turn(state.app, &told)) {
        app_sleeps(state.app);
        board.idle();
        app_wakes(state.app);
    }
    /* A log line interrupted what is being typed: show the input again. */
    if (app_storage_look(&state.storage, state.app) || told) {
        console_resume_line(&state.console);
    }
}

static void open_console(void)
{
    static const struct console_setup setup = { .serial = true, .echo = true };

    /* A platform without idle cannot wait for a byte, so its line is polled. */
    if (state.platform.console.idle != NULL) {
        state.platform.console.idle = idle;
    }
    console_open(&state.console, &state.platform, &setup);
}

/* Return zeroed memory from the front of the arena, NULL if the arena is too small. */
static void *take_memory(size_t bytes)
{
    struct memory_range *arena = &state.platform.memory.arena;
    size_t skipped = -(uintptr_t)arena->base % MEMORY_ALIGN;
    uint8_t *taken = arena->base + skipped;

    if (arena->bytes < skipped + bytes) {
        return NULL;
    }
    arena->base = taken + bytes;
    arena->bytes -= skipped + bytes;
    return memset(taken, 0, bytes);
}

/* Give the board a larger input buffer than its own, which has buffered the input until now. */
static void give_input_buffer(void)
{
    void *buffer;

    if (board.set_input_buffer == NULL) {
        return;
    }
    /* If there is no memory for the buffer, the board keeps its own small one. */
    buffer = take_memory(BOARD_INPUT_BYTES);
    if (buffer != NULL) {
        (void)board.set_input_buffer(buffer, BOARD_INPUT_BYTES);
    }
}

/* Report how the last run ended, if it ended abnormally. */
static void report_last_run(void)
{
    const char *doing = "at an unknown task", *what = "a reset cut off";
    struct board_last_run last;
    char seconds[FORMAT_NUMBER_BYTES];

    if (board.last_run == NULL) {
        return;
    }
    board.last_run(&last);
    if (last.end != BOARD_RUN_HUNG && last.end != BOARD_RUN_RESET) {
        return;
    }
    if (last.end == BOARD_RUN_HUNG) {
        what = "the watchdog ended";
    } else if (last.armed) {
        what = "a reset, or the watchdog, ended";
    }
    if (last.doing[0] != '\0') {
        doing = last.doing;
    }
    console_log(&state.console, "warning: %s the last run %s s after its start, while it was %s",
                what, format_milli(seconds, last.alive_millis, 1), doing);
}

/* Report interrupt lines that were turned off; devices that depend on them may not work. */
static void report_strays(void)
{
    uint32_t line, n = irq_strays(&line);

    if (n != 0) {
        console_log(
            &state.console,
            "warning: %u interrupt lines without a driver were on and are now off; the last is %u",
            (unsigned)n, (unsigned)line);
    }
}

/* Name the cores and the memory that are not used because they exceed a limit of the image. */
static void report_left_out(void)
{
    char text[LEFT_OUT_BYTES];

    left_out_tell(text, sizeof text);
    if (text[0] != '\0') {
        console_log(&state.console, "warning: found but not used: %s (docs/HARDWARE.md, Bounds)",
                    text);
    }
}

static void open_screen(const struct machine *machine)
{
    if (state.options.machine.screen == SCREEN_ON) {
        boot_screen_open(&state.platform, machine);
    }
}

static void report_screen(void)
{
    if (state.platform.screen.columns != 0) {
        console_log(&state.console, "screen: %u x %u characters",
                    (unsigned)state.platform.screen.columns, (unsigned)state.platform.screen.rows);
    } else if (boot_screen_error_message() != NULL) {
        console_log(&state.console, "warning: the display is not used: %s",
                    boot_screen_error_message());
        boot_stage_warn(BOOT_NO_PICTURE); /* users without a serial line see it on the LED */
    } else if (boot_screen_none() != NULL) {
        console_log(&state.console, "screen: none, %s", boot_screen_none());
    }
}

static void report_desk(void)
{
    if (state.platform.screen.columns != 0 && board.has_keyboard != NULL && board.has_keyboard()) {
        console_log(
            &state.console,
            "screen and keyboard are connected, so no other computer is needed; the serial line works too");
    }
}

static void open_app(const struct machine *machine, uint32_t spare_sequences)
{
    struct app_setup setup = {
        .platform = &state.platform,
        .console = &state.console,
        .files = &state.storage.files,
        .signing = boot_signing(),
        .options = &state.options,
        .front = APP_CONSOLE,
        .chats = !options_given(&state.options, OPTION_PROMPT),
        .spare_sequences = spare_sequences,
        .greeting = "Type a line and press Enter; Ctrl-C stops a reply, /help lists commands.",
    };
    enum err e = app_start(state.app, &setup);

    if (e == ERR_OK) {
        e = app_storage_open(&state.storage, state.app);
    }
    report_left_out();
    /* USB is up now, and so is its keyboard. */
    report_desk();
    /* Report this before the model is loaded, because loading may fail. */
    if (e == ERR_OK && state.options.show.diag) {
        diag_report(&state.console, machine, state.storage.storage.devices,
                    state.storage.storage.n_devices);
    }
    if (e == ERR_OK) {
        e = app_open(state.app);
    }
    if (e != ERR_OK) {
        give_up(state.app->error_message);
    }
}

/* A script that gave prompt= gets its reply even if an option was invalid; the exit status then
 * reports a failure. */
static int exit_status(enum err e)
{
    bool disobeyed = !option_set_is_empty(&state.options.refused) || state.app->gave_up;

    return e != ERR_OK || (disobeyed && options_given(&state.options, OPTION_PROMPT));
}

void image_main(const struct machine *machine)
{
    char ram[FORMAT_NUMBER_BYTES];
    uint32_t spare_sequences;

    board_platform(&state.platform, machine);
    /* Take the memory of the application first. A failure is reported below, when the console
     * works. */
    state.app = take_memory(sizeof *state.app);
    /* The console works from here on; its options are read before the first log line. */
    open_console();
    give_input_buffer();
    arguments_find_terminal(&state.options, &state.console, machine);
    open_screen(machine);
    /* Report the machine and how its last run ended. */
    console_log(&state.console, "Ingot " INGOT_VERSION_TEXT " on %s: %u x %s, %s RAM", board.name,
                machine->n_cores, machine->cpu_name, format_bytes(ram, machine->ram_bytes));
    report_screen();
    report_health(&state.console);
    report_last_run();
    report_strays();
    report_left_out();
    /* Read all options. End the boot if prompt= is wrong, because a script waits for the reply. */
    if (!arguments_read(&state.options, &state.console, machine)) {
        give_up("correct prompt= in the boot arguments (QEMU -append, or cmdline.txt on the card)");
    }
    if (state.app == NULL) {
        give_up("too little RAM for the application");
    }
    /* The network takes its memory once, before the application plans with the rest. */
    spare_sequences = boot_network_open(&state.platform, &state.options, &state.console,
                                        take_memory);
    open_app(machine, spare_sequences);
    stop(exit_status(app_run(state.app)));
}
