/* `ingot run` and `ingot chat`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/commands.h"
#include "board/host/host_board.h"
#include "host/host_app.h"
#include "board/host/host_terminal.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "runtime/console/trace_print.h"

/* The command's words are read. False: answered already, or wrong, with *status to exit with. */
static bool read_args(struct host_args *args, int argc, char **argv, int *status)
{
    *status = EXIT_USAGE;
    if (!host_args_parse(args, argc, argv)) {
        return false;
    }
    if (args->help) {
        printf("usage: ingot %s MODEL [options]\n", argv[0]);
        host_args_help();
        *status = EXIT_FINE;
        return false;
    }
    if (host_args_wants_templates(args->template)) {
        host_args_list_templates();
        *status = EXIT_FINE;
        return false;
    }
    if (args->model == NULL) {
        fprintf(stderr, "ingot: which model? usage: ingot %s MODEL [options]\n", argv[0]);
        return false;
    }
    return true;
}

static void open_console(struct host_args *args, bool interactive)
{
    if (!options_given(&args->options, OPTION_SEED)) {
        args->options.sampler.seed = board.ticks();
    }
    host_console_open(interactive);
    if (args->options.mode == MODE_JSON) {
        console_speak_json();
    }
}

/* The trace of the reply to args->trace, as the console would have it. */
static bool write_trace(const struct host_args *args, struct trace *trace)
{
    int to = open(args->trace, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (to < 0) {
        fprintf(stderr, "ingot: %s: cannot be written: %s\n", args->trace, strerror(errno));
        return false;
    }
    host_console_to(to);
    console_json_stop(); /* a trace is JSON of its own */
    trace_print(trace);
    host_console_to(1);
    return close(to) == 0;
}

int cmd_run(int argc, char **argv)
{
    static struct host_args args;
    static struct host_app host;
    struct trace *trace = &host.app.trace;
    enum err e;
    int status;

    if (!read_args(&args, argc, argv, &status)) {
        return status;
    }
    open_console(&args, false);
    if (!host_app_open(&host, &args, NULL)) {
        return EXIT_FAILED;
    }
    if (args.trace != NULL) {
        trace_start(trace);
    }
    e = chat_reply(&host.app.chat, args.options.prompt, args.options.prompt_bytes, true);
    host_console_flush();
    if (args.trace != NULL && !write_trace(&args, trace)) {
        return EXIT_FAILED;
    }
    return exit_status(e == ERR_OK || e == ERR_ABORTED);
}

int cmd_chat(int argc, char **argv)
{
    static struct host_args args;
    static struct host_app host;
    const char *greeting = NULL;
    int status;

    if (!read_args(&args, argc, argv, &status)) {
        return status;
    }
    if (isatty(0)) {
        greeting = "Type a line and press Enter; Ctrl-C stops a reply, Ctrl-D ends, /help lists "
                   "commands.";
    }
    open_console(&args, true);
    if (!host_app_open(&host, &args, greeting)) {
        return EXIT_FAILED;
    }
    host_terminal_take_ctrl_c(true);
    app_talk(&host.app);
    host_console_flush();
    return EXIT_FINE;
}
