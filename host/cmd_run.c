/* `ingot run` and `ingot chat`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/commands.h"
#include "board/host/host_board.h"
#include "host/host_app.h"
#include "board/host/host_terminal.h"
#include "runtime/console/console.h"
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

/* A seed of its own for each run, unless one is given. */
static void choose_seed(struct host_args *args)
{
    if (!options_given(&args->options, OPTION_SEED)) {
        args->options.sampler.seed = board.ticks();
    }
}

static void put_to_file(void *file, char c)
{
    (void)fputc(c, file);
}

static int no_input(void *file)
{
    (void)file;
    return CONSOLE_CLOSED;
}

/* The trace of the reply to args->trace, by a console that writes to the file. */
static bool write_trace(const struct host_app *h, const struct host_args *args, struct trace *trace)
{
    static const struct console_setup setup;
    static struct console console;
    struct platform platform = h->platform;
    FILE *to = fopen(args->trace, "we");

    if (to == NULL) {
        fprintf(stderr, "ingot: %s: cannot be written: %s\n", args->trace, strerror(errno));
        return false;
    }
    platform.console = (struct platform_console){ to, .putc = put_to_file, .getc = no_input };
    console_open(&console, &platform, &setup);
    trace_print(&console, trace);
    return fclose(to) == 0;
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
    choose_seed(&args);
    if (!host_app_open(&host, &args, false)) {
        return EXIT_FAILED;
    }
    if (args.trace != NULL) {
        trace_start(trace);
    }
    e = chat_reply(&host.app.chat, args.options.reply.prompt, args.options.reply.prompt_bytes,
                   true);
    host_console_flush();
    if (args.trace != NULL && !write_trace(&host, &args, trace)) {
        return EXIT_FAILED;
    }
    return exit_status(e == ERR_OK || e == ERR_ABORTED);
}

int cmd_chat(int argc, char **argv)
{
    static struct host_args args;
    static struct host_app host;
    int status;

    if (!read_args(&args, argc, argv, &status)) {
        return status;
    }
    choose_seed(&args);
    if (!host_app_open(&host, &args, true)) {
        return EXIT_FAILED;
    }
    host_terminal_take_ctrl_c(true);
    app_talk(&host.app);
    host_console_flush();
    return EXIT_FINE;
}
