/* `ingot serial`: a conversation with a board in mode=json, over its serial line. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/args/host_flags.h"
#include "host/cli/commands.h"
#include "host/cli/ending_signals.h"
#include "host/line/serial_args.h"
#include "host/line/serial_events.h"
#include "host/line/serial_line.h"
#include "host/args/shown_streams.h"

enum {
    CTRL_C = 3,
    STEP_MS = 100,
    ASK_MS = 2000,
    SILENCE_MS = 500,
    REQUEST_BYTES = 16384,
    LEAVE_MS = 3000
};

enum phase { CONNECTING, IDLE, WAITING, OVER };

static struct {
    struct serial_args args;
    struct serial_line line;
    struct serial_events events;
    enum phase phase;
    int status;
    uint64_t since_ms, asked_ms;
    uint64_t stayed_ms; /* when a board in the mode for programs last got a byte */
    unsigned n_mode;    /* how often the board was switched to programs */
    bool left;          /* the board was switched back to people */
    char typed[REQUEST_BYTES];
    size_t n_typed;
    bool at_end; /* of standard input */
} serial;

static volatile sig_atomic_t interrupted, ended;

static void on_signal(int number)
{
    if (number == SIGINT) {
        interrupted++;
    } else {
        ended = 1;
    }
}

static void end(int status)
{
    serial.phase = OVER;
    serial.status = status;
}

static void fail(const char *why)
{
    fprintf(stderr, "ingot: %s: %s\n", serial.args.device, why);
    end(EXIT_FAILED);
}

static void send(const char *bytes, size_t n)
{
    if (!serial_send(&serial.line, bytes, n)) {
        fail("the board accepts no more data: it may hang, or hold the line with XOFF");
    }
}

static void stop_reply(void)
{
    static const char ctrl_c = CTRL_C;

    serial.asked_ms = serial_millis();
    send(&ctrl_c, 1);
}

static void request(const char *key, const char *text, size_t bytes)
{
    char out[REQUEST_BYTES];
    size_t n = serial_request(out, sizeof out, key, text, bytes);

    if (n == 0) {
        fprintf(stderr, "error: the line is too long: shorten it\n");
        return;
    }
    send(out, n);
    if (serial.phase == IDLE) {
        serial.phase = WAITING;
    }
}

static void send_settings(void)
{
    send(serial.args.settings, strlen(serial.args.settings));
    serial.args.settings[0] = '\0';
    serial.phase = WAITING;
}

/* Send a line: a command, or a prompt, which a second slash tells from a command. */
static void request_line(const char *text, size_t bytes)
{
    if (text[0] == '/' && bytes > 1 && text[1] >= 'a' && text[1] <= 'z') {
        request("command", text, bytes);
    } else {
        size_t skip = bytes > 1 && text[0] == '/' && text[1] == '/';

        request("prompt", text + skip, bytes - skip);
    }
}

/* Send the prompt of -p; the program ends after the reply, or if the system prompt was refused. */
static void ask_prompt(void)
{
    const char *prompt = serial.args.prompt;

    if (serial.events.errors != 0) {
        end(EXIT_FAILED);
        return;
    }
    if (prompt[0] == '\0') {
        end(EXIT_FINE);
        return;
    }
    request_line(prompt, strlen(prompt));
    serial.args.prompt = "";
}

/* Send the next request; the first ones come from the command line. */
static void go_on(void)
{
    serial.phase = IDLE;
    interrupted = 0;
    if (serial.args.settings[0] != '\0') {
        send_settings();
    } else if (serial.args.system != NULL) {
        request("system", serial.args.system, strlen(serial.args.system));
        serial.args.system = NULL;
    } else if (serial.args.prompt != NULL) {
        ask_prompt();
    } else if (isatty(0) && isatty(1)) {
        printf("> ");
        fflush(stdout);
    }
}

/* True for a log line for people, which begins with "[ 0.123] ". */
static bool is_log_line(const char *line)
{
    size_t n = 1 + strspn(line + (line[0] != '\0'), " 0123456789");

    return line[0] == '[' && line[n] == '.' && strspn(line + n + 1, "0123456789") == 3 &&
           line[n + 4] == ']';
}

/* Remove ECMA-48's control sequences, in place. */
static void strip(char *line)
{
    char *out = line;

    while (*line != '\0') {
        if (*line != '\33') {
            *out++ = *line++;
            continue;
        }
        line++;
        if (*line == '[') {
            line += 1 + strspn(line + 1, "0123456789;?");
        }
        line += *line != '\0';
    }
    *out = '\0';
}

enum {
    MODES = 2 /* attempts to switch a board to programs: an older board needs a second line */
};

/* The board shows the prompt for people: switch it to programs. At the end the program switches the
 * board back; a board to which nothing was sent for a minute switches back by itself. */
static void take_prompt(void)
{
    char mode[32];

    if (serial.n_mode == MODES) {
        fail("the board stays in chat mode and refuses /mode json: unlock its line, or put "
             "mode=json among its boot arguments (cmdline.txt on its card) and start it again");
        return;
    }
    if (serial.n_mode == 0 && !serial.events.quiet) {
        fprintf(stderr, "(the board was in chat mode: it is in /mode json until this program "
                        "ends)\n");
    }
    serial.line.n_in = 0;
    serial.line.in[0] = '\0';
    serial.asked_ms = serial.stayed_ms = serial_millis();
    send(mode, serial_mode_line(mode, SERIAL_SILENCE_S, serial.n_mode++));
}

static void look_for_board(void)
{
    serial.events.errors += serial.phase == WAITING; /* the running request gets no answer */
    serial.phase = CONNECTING;
    serial.n_mode = 0;
}

/* Take a line that is not an event: a line of firmware, of the report of a trap, or of a board that
 * talks to people, perhaps after a restart. */
static void take_text(char *line)
{
    strip(line);
    if (serial.phase == CONNECTING && serial.n_mode != 0) {
        return; /* the echo of /mode json */
    }
    if (is_log_line(line) && serial.phase != CONNECTING) {
        look_for_board();
    }
    if (!serial.events.quiet && line[0] != '\0') {
        fprintf(stderr, "| %s\n", line);
    }
}

static bool is_time_to_ask(void)
{
    return serial_millis() - serial.asked_ms >= ASK_MS;
}

static void take_line(void *context, char *line, size_t bytes)
{
    enum serial_kind kind;

    (void)context;
    if (serial.phase == OVER) {
        return;
    }
    kind = serial_events_take(&serial.events, line, bytes);
    if (kind == SERIAL_NOT_JSON) {
        take_text(line);
    } else if (kind == SERIAL_RESTART) {
        look_for_board();
    } else if (kind == SERIAL_TOKEN && serial.phase == CONNECTING && is_time_to_ask()) {
        stop_reply(); /* a reply that nobody reads any more */
    } else if ((kind == SERIAL_READY && serial.phase == CONNECTING) ||
               (kind == SERIAL_DONE && serial.phase == WAITING)) {
        go_on();
    }
}

/* True if the last text of the line is a prompt for people. */
static bool is_at_prompt(void)
{
    char waiting[128];

    snprintf(waiting, sizeof waiting, "%.127s", serial.line.in);
    strip(waiting);
    return serial_millis() - serial.line.heard_ms > SILENCE_MS && strcmp(waiting, "> ") == 0;
}

/* Before the first request, wait for the board, which may be starting or writing a reply. */
static void wait_for_board(void)
{
    uint64_t now = serial_millis(), silent = now - serial.line.heard_ms;

    if (is_at_prompt()) {
        take_prompt();
    } else if (silent >= serial.args.wait_s * 1000u &&
               now - serial.since_ms >= serial.args.wait_s * 1000u) {
        fail("the board is silent: check its power, that TX is at RX, and that --baud is its rate");
    } else if (is_time_to_ask() && silent > SILENCE_MS) {
        serial.asked_ms = now;
        serial_ask(&serial.line);
    }
}

/* ---- the person ---------------------------------------------------------------------------- */

static void take_typed(const char *text, size_t bytes)
{
    if (bytes != 0 && text[bytes - 1] == '\r') { /* a file of another system */
        bytes--;
    }
    if (bytes == 0) {
        go_on();
    } else {
        request_line(text, bytes);
    }
}

/* Send one typed line; later lines wait. At the end of the input, or if the buffer is full, the
 * text so far is a line. */
static void next_typed(void)
{
    char *newline = memchr(serial.typed, '\n', serial.n_typed);
    size_t bytes = serial.n_typed, taken = serial.n_typed;
    char line[REQUEST_BYTES];

    if (newline == NULL && !serial.at_end && serial.n_typed < sizeof serial.typed) {
        return;
    }
    if (serial.n_typed == 0) {
        end(EXIT_FINE);
        return;
    }
    if (newline != NULL) {
        bytes = (size_t)(newline - serial.typed);
        taken = bytes + 1;
    }
    memcpy(line, serial.typed, bytes);
    serial.n_typed -= taken;
    memmove(serial.typed, serial.typed + taken, serial.n_typed);
    take_typed(line, bytes);
}

static void read_typed(void)
{
    ssize_t n = read(0, serial.typed + serial.n_typed, sizeof serial.typed - serial.n_typed);

    shown_streams_begin_row(); /* the terminal has shown the typed text */
    if (n > 0) {
        serial.n_typed += (size_t)n;
    } else if (n == 0 || errno != EINTR) {
        serial.at_end = true;
    }
}

static void obey_interrupt(void)
{
    if (serial.phase == WAITING && interrupted == 1) {
        stop_reply();
        return;
    }
    fprintf(stderr, "\n");
    if (serial.phase == IDLE) {
        end(EXIT_FINE);
    } else {
        end(EXIT_FAILED);
    }
}

/* Tell the board that the program is there; look for a board that has switched to people. */
static void stay(void)
{
    if (serial.phase == IDLE && is_at_prompt()) {
        look_for_board();
    } else if (serial_millis() - serial.stayed_ms >= SERIAL_STAY_MS) {
        serial.stayed_ms = serial_millis();
        send("\n", 1);
    }
}

/* Wait for the line, and for standard input if it is used. */
static void step(void)
{
    bool typed = false, *watched = NULL;

    if (serial.phase == IDLE && !serial.at_end) {
        watched = &typed;
    }
    if (!serial_step(&serial.line, STEP_MS, watched, take_line, NULL)) {
        fprintf(stderr, "ingot: %s: %s\n", serial.line.path, serial.line.error_message);
        end(EXIT_FAILED);
    }
    if (typed && serial.phase == IDLE) {
        read_typed();
    }
    if (serial.phase == CONNECTING) {
        wait_for_board();
    } else if (serial.n_mode != 0) {
        stay();
    }
}

static void take_last(void *context, char *line, size_t bytes)
{
    (void)context;
    serial.left = serial.left || (bytes != 0 && line[0] == '{' && strstr(line, "\"id\":\"left\"") &&
                                  strstr(line, "\"done\""));
}

/* Let a board that was switched to programs talk to people again. */
static void leave(void)
{
    static const char chat[] = "{\"id\":\"left\",\"command\":\"/mode chat\"}\n";
    uint64_t start = serial_millis();

    if (serial.n_mode == 0) {
        return;
    }
    (void)serial_send(&serial.line, "\3", 1); /* end a running reply */
    (void)serial_send(&serial.line, chat, sizeof chat - 1);
    while (!serial.left && serial_millis() - start < LEAVE_MS &&
           serial_step(&serial.line, STEP_MS, NULL, take_last, NULL)) {
    }
}

static void talk(void)
{
    int answered = 0;

    serial.since_ms = serial.asked_ms = serial_millis();
    serial_ask(&serial.line);
    while (serial.phase != OVER) {
        if (ended != 0) {
            end(EXIT_FAILED);
        } else if (interrupted > answered) {
            obey_interrupt();
        }
        answered = interrupted;
        if (serial.phase == IDLE) {
            next_typed();
        }
        if (ferror(stdout)) {
            end(EXIT_FAILED); /* the replies cannot be printed: main prints the reason */
        }
        if (serial.phase != OVER) {
            step();
        }
    }
}

static int run(int argc, char **argv)
{
    int status;

    serial_args_init(&serial.args);
    if (!command_line_read(&cmd_serial, &serial.args, argc, argv, &status)) {
        return status;
    }
    serial_args_end_settings(&serial.args);
    serial.events.quiet = serial.args.quiet;
    if (!serial_open(&serial.line, serial.args.device, serial.args.baud)) {
        fprintf(stderr, "ingot: %s\n", serial.line.error_message);
        return EXIT_FAILED;
    }
    if (serial.args.csv != NULL && !serial_csv_open(&serial.events, serial.args.csv)) {
        return EXIT_FAILED;
    }
    ending_signals_take(on_signal);
    shown_streams_wrap();
    talk();
    leave();
    if (!serial_csv_close(&serial.events)) {
        return EXIT_FAILED;
    }
    return serial.status;
}

const struct command cmd_serial = {
    .name = "serial",
    .operands = "DEVICE",
    .missing = "which device? such as /dev/ttyUSB0;",
    .summary = "talk to a board over its serial line",
    .about =
        "Talks to a board in JSON lines (docs/SERIAL.md). A board in chat mode is switched to JSON\n"
        "until the program ends. A line that begins with a slash is a command (/help lists them), every\n"
        "other line goes to the model. Ctrl-C stops a reply; without a running reply it ends the\n"
        "program, as Ctrl-D does. Replies go to standard output, figures and log to standard error.",
    .example = "ingot serial /dev/ttyUSB0 --csv figures.csv",
    .options = serial_options,
    .flags = FOR_SERIAL,
    .set_flag = serial_args_add_setting,
    .operand_field = offsetof(struct serial_args, device),
    .run = run,
};
