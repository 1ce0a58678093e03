/* `ingot run` and `ingot chat`. */
#include <stdio.h>
#include <unistd.h>

#include "board/host/commands.h"
#include "board/host/host_board.h"
#include "board/host/host_model.h"
#include "runtime/chat.h"
#include "runtime/console.h"

static struct host_model model;
static struct chat chat;

/* Opened, loaded and ready, or an exit status other than 0 in *status. */
static bool prepare(struct host_args *args, int argc, char **argv, bool interactive, int *status)
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
    if (args->model == NULL) {
        fprintf(stderr, "ingot: which model? usage: ingot %s MODEL [options]\n", argv[0]);
        return false;
    }
    if (!options_given(&args->options, OPTION_SEED)) {
        args->options.sampler.seed = board.ticks();
    }
    host_console_open(interactive);
    *status = EXIT_FAILED;
    if (!host_model_open(&model, args) || !host_model_load(&model, args)) {
        return false;
    }
    chat_open(&chat, &model.engine, &args->options);
    return true;
}

int cmd_run(int argc, char **argv)
{
    static struct host_args args;
    int status;
    enum err e;

    if (!prepare(&args, argc, argv, false, &status)) {
        return status;
    }
    e = chat_reply(&chat, args.options.prompt, args.options.prompt_bytes, true);
    host_console_flush();
    return e == ERR_OK || e == ERR_ABORTED ? EXIT_FINE : EXIT_FAILED;
}

int cmd_chat(int argc, char **argv)
{
    static struct host_args args;
    int status;

    if (!prepare(&args, argc, argv, true, &status)) {
        return status;
    }
    if (isatty(0)) {
        console_printf("Type a line and press Enter; Ctrl-C stops a reply, Ctrl-D ends.\n");
    }
    chat_loop(&chat);
    host_console_flush();
    return EXIT_FINE;
}
