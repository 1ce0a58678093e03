/* `ingot serve`: offers a model on this computer, or boards, to programs that speak OpenAI's API
 * over HTTP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/commands.h"
#include "host/app/host_app.h"
#include "host/boards/serve_boards.h"
#include "host/serve/serve_http.h"
#include "host/serve/serve_listen.h"
#include "host/serve/serve_model.h"
#include "runtime/text/shown_text.h"

struct arguments {
    struct host_args host; /* must be the first member, because the shared rows set it */
    const char *address, *token, *port, *baud, *kept_mib;
    struct serve_kept_setup kept;
    struct serve_guard guard;             /* values of --allow-origin and --allow-host */
    const char *lines[SERVE_BOARDS_MOST]; /* of boards */
    uint32_t n_lines;
};

/* Reads the setup. Returns false after printing the error; then *status is the exit status. */
static bool read_setup(const struct arguments *a, struct serve_setup *s, int *status)
{
    char *end = NULL;
    long port = a->port != NULL ? strtol(a->port, &end, 10) : 8080;

    *status = EXIT_USAGE;
    if (a->port != NULL && (end == a->port || *end != '\0' || port < 0 || port > 65535)) {
        (void)command_refuse(&cmd_serve, "--port",
                             "takes a number from 0 to 65535; 0: any free port");
        return false;
    }
    if (a->token != NULL && (a->token[0] == '\0' || strlen(a->token) > 200)) {
        (void)command_refuse(&cmd_serve, "--token", "takes a text of up to 200 bytes");
        return false;
    }
    s->port = (int)port;
    s->address = a->address != NULL ? a->address : "127.0.0.1";
    s->guard = a->guard;
    s->guard.token = a->token;
    if (a->token == NULL && serve_is_allowed("https://any.example", &s->guard)) {
        (void)command_refuse(&cmd_serve, "--allow-origin",
                             "* lets every page send requests: give a --token");
        return false;
    }
    if (!serve_listen_is_loopback(s->address) && a->token == NULL) {
        (void)command_refuse(&cmd_serve, "--address",
                             "other computers could send requests, too: give a --token");
        return false;
    }
    return true;
}

static void set_defaults(struct api_defaults *d, const struct options *o, const char *model)
{
    (void)shown_name(d->model, sizeof d->model, model);
    d->system = options_given(o, OPTION_SYSTEM) ? o->reply.system : NULL;
    d->sampler = o->sampler;
    d->chosen = options_given_sampling(o).given;
    d->seeded = options_given(o, OPTION_SEED);
    d->no_thinking = o->reply.think == THINK_OFF;
    d->n = o->reply.n;
}

/* Reads --baud; *baud is 0 if it is not given. Returns false after printing the error. */
static bool read_baud(const struct arguments *a, uint32_t *baud)
{
    char *end = NULL;
    long n = a->baud != NULL ? strtol(a->baud, &end, 10) : 0;

    *baud = (uint32_t)n;
    if (a->baud != NULL && (end == a->baud || *end != '\0' || n < 300 || n > 4000000)) {
        (void)command_refuse(&cmd_serve, "--baud", "takes a number from 300 to 4000000");
        return false;
    }
    return true;
}

/* Takes an operand: a model on this computer, or a board's line. */
static bool take_operand(void *arguments, const char *word)
{
    struct arguments *a = arguments;

    if (!serve_boards_is_line(word)) {
        if (a->host.model != NULL || a->n_lines != 0) {
            return false;
        }
        a->host.model = word;
        return true;
    }
    if (a->host.model != NULL || a->n_lines == SERVE_BOARDS_MOST) {
        return false;
    }
    a->lines[a->n_lines++] = word;
    return true;
}

static bool serve_boards(const struct arguments *a, uint32_t baud, struct serve_setup *s)
{
    static struct serve_backend backend;
    struct serve_wake wake = { NULL, serve_http_wake };
    char model[API_MODEL_BYTES];
    bool good;

    if (!serve_http_open(s)) {
        return false;
    }
    s->backend = &backend;
    good = serve_boards_open(&backend, a->lines, a->n_lines, baud, wake, model);
    if (good) {
        set_defaults(&s->defaults, &a->host.options, model);
        good = serve_http_run();
        serve_boards_close(&backend);
    }
    serve_http_close();
    return good;
}

/* Reads --kept-mib. Returns false after printing the error. */
static bool read_kept(struct arguments *a)
{
    char *end = NULL;
    long n = a->kept_mib != NULL ? strtol(a->kept_mib, &end, 10) : 0;

    a->kept.is_given = a->kept_mib != NULL;
    a->kept.mib = (uint32_t)n;
    if (a->kept_mib != NULL &&
        (end == a->kept_mib || *end != '\0' || n < 0 || n > SERVE_KEPT_MOST_MIB)) {
        (void)command_refuse(&cmd_serve, "--kept-mib",
                             "takes a number of MiB from 0 to 1048576; 0 keeps no prompts");
        return false;
    }
    return true;
}

static bool serve(struct host_app *h, struct serve_setup *s, const struct serve_kept_setup *kept)
{
    static struct serve_backend backend;
    struct serve_wake wake = { NULL, serve_http_wake };
    bool good;

    if (!serve_http_open(s)) {
        return false;
    }
    s->backend = &backend;
    good = serve_model_open(&backend, &h->app, wake, kept);
    if (good) {
        good = serve_http_run();
        serve_model_close(&backend);
    }
    serve_http_close();
    return good;
}

static int run(int argc, char **argv)
{
    static struct arguments a;
    static struct host_app h;
    static struct serve_setup setup;
    uint32_t baud;
    int status;

    host_args_init(&a.host, "serve");
    if (!command_line_read(&cmd_serve, &a, argc, argv, &status) ||
        !read_setup(&a, &setup, &status)) {
        return status;
    }
    if (!read_baud(&a, &baud) || !read_kept(&a)) {
        return EXIT_USAGE;
    }
    if (a.n_lines != 0) {
        return exit_status(serve_http_is_built() && serve_boards(&a, baud, &setup));
    }
    if (a.host.model == NULL) {
        return command_refuse(&cmd_serve, "which model?",
                              "give a model's file, or the devices of boards");
    }
    if (!options_given(&a.host.options, OPTION_TOGETHER)) {
        a.host.options.load.together = GROUP_MOST;
    }
    a.host.options.load.spec = SPECULATIVE_OFF;
    if (!serve_http_is_built() || !host_app_plan(&h, &a.host) || !host_app_load(&h)) {
        return EXIT_FAILED;
    }
    set_defaults(&setup.defaults, &a.host.options, app_model_name(&h.app));
    return exit_status(serve(&h, &setup, &a.kept));
}

static enum option_result take_origin(void *arguments, const struct command_option *o,
                                      const char *value)
{
    struct arguments *a = arguments;

    (void)o;
    return serve_allow_origin(&a->guard, value) ? OPTION_TAKEN : OPTION_REFUSED;
}

static enum option_result take_host(void *arguments, const struct command_option *o,
                                    const char *value)
{
    struct arguments *a = arguments;

    (void)o;
    return serve_allow_host(&a->guard, value) ? OPTION_TAKEN : OPTION_REFUSED;
}

static const struct command_option title = { .help = "the server" };
static const struct command_option port = {
    .name = "--port",
    .value = "PORT",
    .help = "the port to listen at (default 8080); 0: any free port, printed in the first line",
    .field = offsetof(struct arguments, port),
};
static const struct command_option address = {
    .name = "--address",
    .value = "ADDRESS",
    .help = "the IPv4 or IPv6 address or the network card to listen at (default 127.0.0.1:\n"
            "this computer only); all others need a --token",
    .field = offsetof(struct arguments, address),
};
static const struct command_option token = {
    .name = "--token",
    .value = "TEXT",
    .help = "the secret that requests must send: Authorization: Bearer TEXT",
    .field = offsetof(struct arguments, token),
};
static const struct command_option allow_origin = {
    .name = "--allow-origin",
    .also = "--origin",
    .value = "ORIGIN",
    .takes =
        "the origin of a page, such as http://localhost:3000, without a path; up to 16 of them",
    .help = "a page of another site that may send requests, such as http://localhost:3000; may be\n"
            "given again; *: every page, with a --token",
    .set = take_origin,
    .is_list = true,
};
static const struct command_option allow_host = {
    .name = "--allow-host",
    .also = "--host",
    .value = "NAME",
    .takes = "a name of this computer, such as host.docker.internal; up to 16 of them",
    .help = "one more name of this computer that requests may use, such as\n"
            "host.docker.internal; may be given again",
    .set = take_host,
    .is_list = true,
};
static const struct command_option kept = {
    .name = "--kept",
    .value = "FILE",
    .help = "keep computed prompts in this file for the next start; it is created if it\n"
            "does not exist. Whoever reads it sees the prompts",
    .field = offsetof(struct arguments, kept.path),
};
static const struct command_option kept_mib = {
    .name = "--kept-mib",
    .value = "N",
    .help = "memory for computed prompts (default 256, at most a sixteenth of the memory;\n"
            "0: none); a new --kept FILE is four times as large",
    .field = offsetof(struct arguments, kept_mib),
};
static const struct command_option baud_row = {
    .name = "--baud",
    .value = "RATE",
    .help = "rate of the boards' serial lines (default 115200)",
    .field = offsetof(struct arguments, baud),
};
static const struct command_option *const options[] = {
    &title,
    &port,
    &address,
    &token,
    &allow_origin,
    &allow_host,
    &baud_row,
    &kept,
    &kept_mib,
    HOST_ROW(TITLE_REPLY),
    HOST_FLAGS(CONVERSATION),
    HOST_ROW(TITLE_SAMPLING),
    HOST_FLAGS(SAMPLING),
    HOST_ROWS_LOAD,
    HOST_ROWS_COMPUTER,
    HOST_ROW(TITLE_OUTPUT),
    HOST_ROW(QUIET),
    NULL,
};

const struct command cmd_serve = {
    .name = "serve",
    .operands = "MODEL|DEVICE...",
    .summary = "answer programs over HTTP, as OpenAI's API does",
    .about =
        "Serves a model to programs: OpenAI's, Anthropic's and Ollama's APIs, and a page in the\n"
        "browser (docs/SERVE.md). Up to eight requests run at once. Fields that a request omits\n"
        "default to the options below. Ctrl-C ends the server.\n\n"
        "With serial devices or sockets (unix:PATH, tcp:HOST:PORT) in place of a model, boards\n"
        "answer, and each takes one request at a time. The boards have their own models, so the\n"
        "options of model and memory do not apply.",
    .example = "ingot serve model.ingot --port 8080\ningot serve /dev/ttyUSB0 /dev/ttyUSB1",
    .options = options,
    .flags = FOR_SERVE,
    .operand = take_operand,
    .run = run,
};
