/* `ingot run` and `ingot chat`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/commands.h"
#include "board/host/host_board.h"
#include "host/host_talk.h"
#include "board/host/host_terminal.h"
#include "runtime/chat/chat.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "runtime/console/trace_print.h"

/* Opened, loaded and ready; or NULL, and an exit status in *status. */
static struct chat *prepare(struct host_args *args, int argc, char **argv, bool interactive,
                            int *status)
{
    *status = EXIT_USAGE;
    if (!host_args_parse(args, argc, argv)) {
        return NULL;
    }
    if (args->help) {
        printf("usage: ingot %s MODEL [options]\n", argv[0]);
        host_args_help();
        *status = EXIT_FINE;
        return NULL;
    }
    if (host_args_wants_templates(args->template)) {
        host_args_list_templates();
        *status = EXIT_FINE;
        return NULL;
    }
    if (args->model == NULL) {
        fprintf(stderr, "ingot: which model? usage: ingot %s MODEL [options]\n", argv[0]);
        return NULL;
    }
    if (!options_given(&args->options, OPTION_SEED)) {
        args->options.sampler.seed = board.ticks();
    }
    host_console_open(interactive);
    if (args->options.mode == MODE_JSON) {
        console_speak_json();
    }
    *status = EXIT_FAILED;
    return host_talk_open(args);
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
    int status;
    struct chat *chat = prepare(&args, argc, argv, false, &status);
    struct trace *trace;
    enum err e;

    if (chat == NULL) {
        return status;
    }
    trace = chat->session->model->transformer.workers->trace;
    if (args.trace != NULL) {
        trace_start(trace);
    }
    e = chat_reply(chat, args.options.prompt, args.options.prompt_bytes, true);
    host_console_flush();
    if (args.trace != NULL && !write_trace(&args, trace)) {
        return EXIT_FAILED;
    }
    return e == ERR_OK || e == ERR_ABORTED ? EXIT_FINE : EXIT_FAILED;
}

int cmd_chat(int argc, char **argv)
{
    static struct host_args args;
    int status;
    struct chat *chat = prepare(&args, argc, argv, true, &status);

    if (chat == NULL) {
        return status;
    }
    if (isatty(0) && args.options.mode != MODE_JSON) {
        console_printf("Type a line and press Enter; Ctrl-C stops a reply, Ctrl-D ends, "
                       "/help lists commands.\n");
    }
    host_terminal_take_ctrl_c(true);
    chat_loop(chat, host_talk_services());
    host_console_flush();
    return EXIT_FINE;
}
