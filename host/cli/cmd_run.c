/* `ingot run` and `ingot chat`. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "flash_image/output/output_file.h"
#include "host/cli/commands.h"
#include "board/host/host_board.h"
#include "host/app/host_app.h"
#include "host/app/host_folder.h"
#include "host/app/host_prompt.h"
#include "board/host/host_terminal.h"
#include "runtime/console/console.h"
#include "runtime/console/trace_print.h"
#include "runtime/text/plural.h"

/* Each run gets a new seed, unless one is given. */
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

/* Keep the file, or remove it after an error. Returns false after printing the error. */
static bool end_output(struct output_file *o, bool good)
{
    char error_message[512];
    enum err e = ERR_IO;

    if (o->error != 0) {
        (void)output_fail(o, error_message, sizeof error_message);
    } else if (good) {
        e = output_keep(o, error_message, sizeof error_message);
    } else {
        output_drop(o);
        return false;
    }
    if (e != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
    }
    return e == ERR_OK;
}

/* Opens the output. Returns false after printing the error. */
static bool begin_output(struct output_file *o, const char *path, const struct host_args *args)
{
    const struct output_wish wish = { .path = path, .input = args->model, .other = args->file };
    char error_message[512];

    if (output_open(o, &wish, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    return true;
}

/* Write the trace of the reply to args->trace, through a console that writes to the file. */
static bool write_trace(const struct host_app *h, const struct host_args *args, struct trace *trace)
{
    static const struct console_setup setup;
    static struct console console;
    static struct output_file out;
    struct platform platform = h->platform;
    FILE *to;

    if (!begin_output(&out, args->trace, args)) {
        return false;
    }
    to = output_stream(&out);
    if (to != NULL) {
        platform.console = (struct platform_console){ to, .putc = put_to_file, .getc = no_input };
        console_open(&console, &platform, &setup);
        trace_print(&console, trace);
        (void)fflush(to);
    }
    return end_output(&out, to != NULL);
}

/* Write the reply to a prompt; returns false after printing an error. *stopped: Ctrl-C ended it. */
static bool reply_to(struct host_app *h, const struct host_args *args, const struct text *prompt,
                     bool *stopped)
{
    struct trace *trace = &h->app.trace;
    enum err e;

    if (args->trace != NULL) {
        trace_start(trace);
    }
    e = chat_reply_said(&h->app.chat, prompt->bytes, prompt->n_bytes, true,
                        host_prompt_is_read(args) ? 0 : prompt->n_bytes);
    if (args->trace != NULL && !write_trace(h, args, trace)) {
        return false;
    }
    *stopped = e == ERR_ABORTED;
    return e == ERR_OK || *stopped;
}

/* End the program by SIGINT, as if Ctrl-C had no handler. */
static void end_by_interrupt(void)
{
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
}

static bool run_without_output(struct host_app *h, struct host_args *args,
                               const struct text *prompt)
{
    bool stopped;

    return host_app_open(h, args, false) && reply_to(h, args, prompt, &stopped);
}

/* Run the prompt. With -o, an existing file does not change until the reply is complete. */
static bool run_prompt(struct host_app *h, struct host_args *args, const struct text *prompt)
{
    static struct output_file out;
    bool stopped = false, good;

    host_streams_take_interrupts();
    if (args->output == NULL) {
        return run_without_output(h, args, prompt);
    }
    if (!begin_output(&out, args->output, args)) {
        return false;
    }
    host_console_replies_to(out.fd);
    good = host_app_open(h, args, false) && reply_to(h, args, prompt, &stopped);
    host_console_flush();
    out.error = host_console_error();
    host_console_replies_to(1);
    stopped = stopped && out.error == 0; /* a failed write also stops a reply */
    good = end_output(&out, good && !stopped);
    if (stopped) {
        end_by_interrupt();
    }
    return good;
}

/* Get the prompt, but only if the model exists, so that nobody types in vain. Returns false after
 * printing an error; then *status is the exit status. */
static bool read_prompt(struct text *prompt, const struct host_args *args, int *status)
{
    if (access(args->model, F_OK) != 0) {
        fprintf(stderr, "ingot: %s: %s\n", args->model,
                errno == ENOENT ? "no such file" : strerror(errno));
        *status = EXIT_FAILED;
        return false;
    }
    if (!host_prompt_read(prompt, &cmd_run, args, status)) {
        return false;
    }
    if (!host_prompt_is_read(args)) {
        return true;
    }
    host_prompt_cut_newline(prompt);
    if (prompt->n_bytes == 0) {
        *status =
            command_refuse(&cmd_run, args->file != NULL ? args->file : "standard input",
                           "it is empty: give a prompt with -p TEXT, -f FILE or through a pipe");
    }
    return prompt->n_bytes != 0;
}

static int run(int argc, char **argv)
{
    static struct host_args args;
    static struct host_app host;
    struct text prompt = { 0 };
    int status;

    if (!host_args_read(&cmd_run, &args, argc, argv, &status)) {
        return status;
    }
    choose_seed(&args);
    if (read_prompt(&prompt, &args, &status)) {
        status = exit_status(run_prompt(&host, &args, &prompt));
    }
    text_free(&prompt);
    return status;
}

/* If the model is a folder, choose its first model by name. False after printing an error. */
static bool choose_model(struct host_args *args)
{
    static char path[HOST_PATH_BYTES];
    char error_message[HOST_ERROR_MESSAGE_BYTES];
    unsigned count;

    if (!host_folder_is_of_models(args->model)) {
        return true;
    }
    if (!host_folder_first_model(args->model, path, &count, error_message, sizeof error_message)) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    if (!args->quiet && count > 1) {
        fprintf(stderr, "%u %s in %s: this is %s; /models lists them, /model NAME changes\n", count,
                plural(count, "model", "models"), args->model, path + host_folder_bytes(path));
    }
    args->model = path;
    return true;
}

static int run_chat(int argc, char **argv)
{
    static struct host_args args;
    static struct host_app host;
    int status;

    if (!host_args_read(&cmd_chat, &args, argc, argv, &status)) {
        return status;
    }
    choose_seed(&args);
    host_streams_take_interrupts();
    if (!choose_model(&args) || !host_app_open(&host, &args, true)) {
        return EXIT_FAILED;
    }
    host_terminal_take_ctrl_c(true);
    app_talk(&host.app);
    host_console_flush();
    return EXIT_FINE;
}

/* The rows that both commands use. */
#define ROWS_REPLY \
    HOST_ROW(TEMPLATE), HOST_FLAGS(CONVERSATION), HOST_ROW(TITLE_SAMPLING), HOST_FLAGS(SAMPLING), \
        HOST_ROWS_LOAD, HOST_ROW(PREFIX)
#define ROWS_ACTING HOST_ROW(TITLE_ACTING), HOST_FLAGS(ACTING), HOST_ROWS_COMPUTER
#define ROWS_OUTPUT HOST_FLAGS(PRINTED), HOST_FLAGS(LINE), HOST_ROW(JSON), HOST_ROW(QUIET)

static const struct command_option file = {
    .name = "--file",
    .letter = "-f",
    .value = "FILE",
    .help = "read the prompt from this file; -: standard input",
    .field = offsetof(struct host_args, file),
};
static const struct command_option output = {
    .name = "--output",
    .letter = "-o",
    .value = "FILE",
    .help = "write the reply there",
    .field = offsetof(struct host_args, output),
};
static const struct command_option *const run_options[] = {
    HOST_ROW(TITLE_REPLY),  HOST_ROW(PROMPT), &file,       ROWS_REPLY,      ROWS_ACTING,
    HOST_ROW(TITLE_OUTPUT), &output,          ROWS_OUTPUT, HOST_ROW(TRACE), NULL,
};
static const struct command_option *const chat_options[] = {
    HOST_ROW(TITLE_REPLY), ROWS_REPLY,  HOST_ROW(TITLE_LEARNING),
    HOST_FLAGS(LEARNING),  ROWS_ACTING, HOST_ROW(TITLE_OUTPUT),
    ROWS_OUTPUT,           NULL,
};

const struct command cmd_run = {
    .name = "run",
    .operands = "MODEL",
    .missing = "which model?",
    .summary = "answer one prompt",
    .about =
        "Answers a prompt, or continues it if the model has no chat template. The prompt is -p TEXT,\n"
        "the file of -f, or standard input. The reply goes to standard output, log and figures to\n"
        "standard error. MODEL is an .ingot, or anything that `ingot pack` takes.",
    .example = "ingot run model.ingot -p \"Once upon a time\" -n 64\n"
               "echo \"What is 7 plus 8?\" | ingot run model.ingot -q",
    .options = run_options,
    .flags = FOR_RUN,
    .operand_field = offsetof(struct host_args, model),
    .run = run,
};

const struct command cmd_chat = {
    .name = "chat",
    .operands = "MODEL",
    .missing = "which model?",
    .summary = "talk on this terminal",
    .about =
        "Holds a conversation: a line goes to the model; a line that begins with a slash is a\n"
        "command, and /help lists them. Ctrl-C stops a reply, Ctrl-D ends. MODEL is an .ingot,\n"
        "anything that `ingot pack` takes, or a folder of such files: the first by name is\n"
        "loaded; /model loads another one of the folder.",
    .example = "ingot chat model.ingot --system \"Answer briefly.\"\ningot chat models/",
    .options = chat_options,
    .flags = FOR_CHAT,
    .operand_field = offsetof(struct host_args, model),
    .run = run_chat,
};
