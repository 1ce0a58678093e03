/* `ingot serial`: a conversation with a board in mode=json, over its serial line. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/commands.h"
#include "host/host_model.h"
#include "host/serial_events.h"
#include "host/serial_line.h"

enum {
    CTRL_C = 3,
    STEP_MS = 100,
    ASK_MS = 2000,
    SILENCE_MS = 500,
    DEFAULT_WAIT_S = 30,
    REQUEST_BYTES = 16384
};

static const char help[] =
    "usage: ingot serial DEVICE [options]\n"
    "Talks to a board that has mode=json among its boot arguments (docs/SERIAL.md). A line goes\n"
    "to the model, one that begins with a slash is a command, /help lists them. Ctrl-C stops a\n"
    "reply, and ends the program where there is none; so does Ctrl-D. Replies go to standard\n"
    "output, figures and the board's log to standard error.\n"
    "  --baud RATE            of the line (default 115200)\n"
    "  --csv FILE             append a row of figures for each reply\n"
    "  -p, --prompt TEXT      ask this, print the reply and end\n"
    "  --system TEXT          a new conversation under this system prompt\n"
    "  -n N  --temp T  --top-p P  --top-k K  --min-p P  --repeat R  -s, --seed S\n"
    "                         as on the board: they stay until they are set again\n"
    "  --wait SECONDS         for a sign of the board (default 30)\n"
    "  -q, --quiet            replies and errors only\n"
    "  -h, --help             this text";

/* Options that are the board's: flags, and the field of a request. */
static const struct {
    const char *flag, *field;
} settings[] = {
    { "-n", "n" },          { "--temp", "temp" },   { "--top-p", "top_p" },
    { "--top-k", "top_k" }, { "--min-p", "min_p" }, { "--repeat", "repeat" },
    { "-s", "seed" },       { "--seed", "seed" },
};

enum phase { CONNECTING, IDLE, WAITING, OVER };

static struct {
    const char *device, *csv, *prompt, *system;
    uint32_t baud, wait_s;
    char settings[1024]; /* a request with all of them; "": none */
    bool usage;

    struct serial_line line;
    struct serial_events events;
    enum phase phase;
    int status;
    uint64_t since_ms, asked_ms;
    char typed[REQUEST_BYTES];
    size_t n_typed;
    bool at_end; /* of standard input */
} serial;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted++;
}

/* ---- the command line ---------------------------------------------------------------------- */

static bool refuse(const char *word, const char *why)
{
    fprintf(stderr, "ingot: %s: %s; see `ingot serial --help`\n", word, why);
    return false;
}

static bool add_setting(const char *field, const char *value)
{
    size_t n = strlen(serial.settings), room = sizeof serial.settings - n;
    int more;

    /* as it stands, for the board judges it; but it is to stay one value */
    if (value[0] == '\0' || value[strspn(value, "0123456789+-.eE")] != '\0') {
        return refuse(value, "a number is wanted");
    }
    more = snprintf(serial.settings + n, room, "%s\"%s\":%s", n != 0 ? "," : "{", field, value);
    return more > 0 && (size_t)more + 3 < room ? true : refuse(value, "too long");
}

static bool read_number(const char *word, const char *value, uint32_t *out)
{
    char *end;
    unsigned long n = strtoul(value, &end, 10);

    if (end == value || *end != '\0' || n == 0 || n > 10000000) {
        return refuse(word, "wants a whole number");
    }
    *out = (uint32_t)n;
    return true;
}

static bool set_option(const char *word, const char *value)
{
    if (value == NULL) {
        return refuse(word, "unknown, or its value is missing");
    }
    if (strcmp(word, "--baud") == 0) {
        return read_number(word, value, &serial.baud);
    }
    if (strcmp(word, "--wait") == 0) {
        return read_number(word, value, &serial.wait_s);
    }
    if (strcmp(word, "--csv") == 0) {
        serial.csv = value;
        return true;
    }
    if (strcmp(word, "-p") == 0 || strcmp(word, "--prompt") == 0) {
        serial.prompt = value;
        return true;
    }
    if (strcmp(word, "--system") == 0) {
        serial.system = value;
        return true;
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (strcmp(word, settings[i].flag) == 0) {
            return add_setting(settings[i].field, value);
        }
    }
    return refuse(word, "unknown option");
}

static bool parse(int argc, char **argv)
{
    serial.wait_s = DEFAULT_WAIT_S;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            serial.usage = true;
        } else if (strcmp(argv[i], "-q") == 0 || strcmp(argv[i], "--quiet") == 0) {
            serial.events.quiet = true;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!set_option(argv[i], i + 1 < argc ? argv[i + 1] : NULL)) {
                return false;
            }
            i++;
        } else if (serial.device != NULL) {
            return refuse(argv[i], "one device at a time");
        } else {
            serial.device = argv[i];
        }
    }
    if (serial.device == NULL && !serial.usage) {
        return refuse("serial", "which device? such as /dev/ttyUSB0");
    }
    if (serial.settings[0] != '\0') {
        strcat(serial.settings, "}\n");
    }
    return true;
}

/* ---- the board ----------------------------------------------------------------------------- */

static void end(int status)
{
    serial.phase = OVER;
    serial.status = status;
}

static void fail(const char *why)
{
    fprintf(stderr, "ingot: %s: %s\n", serial.device, why);
    end(EXIT_FAILED);
}

static void send(const char *bytes, size_t n)
{
    if (!serial_send(&serial.line, bytes, n)) {
        fail("it takes nothing any more: is it hung, or does it hold the line with XOFF?");
    }
}

/* Ctrl-C: a board with nothing to stop says that it is ready. */
static void ask(void)
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
    serial.phase = serial.phase == IDLE ? WAITING : serial.phase;
}

/* The next thing to ask for; to begin with, what the command line says. */
static void go_on(void)
{
    serial.phase = IDLE;
    interrupted = 0;
    if (serial.settings[0] != '\0') {
        send(serial.settings, strlen(serial.settings));
        serial.settings[0] = '\0';
        serial.phase = WAITING;
    } else if (serial.system != NULL) {
        request("system", serial.system, strlen(serial.system));
        serial.system = NULL;
    } else if (serial.prompt != NULL && serial.prompt[0] != '\0' && serial.events.errors == 0) {
        request(serial.prompt[0] == '/' ? "command" : "prompt", serial.prompt,
                strlen(serial.prompt));
        serial.prompt = "";
    } else if (serial.prompt != NULL) {
        end(serial.events.errors == 0 ? EXIT_FINE : EXIT_FAILED);
    } else if (isatty(0)) {
        printf("> ");
        fflush(stdout);
    }
}

/* "[    0.123] " begins a log line for people. */
static bool is_log_line(const char *line)
{
    size_t n = 1 + strspn(line + (line[0] != '\0'), " 0123456789");

    return line[0] == '[' && line[n] == '.' && strspn(line + n + 1, "0123456789") == 3 &&
           line[n + 4] == ']';
}

/* Without ECMA-48's control sequences, in place. */
static void strip(char *line)
{
    char *out = line;

    while (*line != '\0') {
        if (*line == '\33') {
            line += line[1] != '[' ? 1 : 2 + strspn(line + 2, "0123456789;?");
            line += *line != '\0';
        } else {
            *out++ = *line++;
        }
    }
    *out = '\0';
}

static void say_mode(void)
{
    fail("this board talks to people: put mode=json among its boot arguments (cmdline.txt on its "
         "card) and start it again");
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
        strip(line);
        if (is_log_line(line)) {
            say_mode();
        } else if (!serial.events.quiet && line[0] != '\0') {
            fprintf(stderr, "| %s\n", line); /* firmware; or what a trap reports */
        }
    } else if (kind == SERIAL_RESTART) {
        serial.events.errors += serial.phase == WAITING; /* nothing answers any more */
        serial.phase = CONNECTING;
    } else if ((kind == SERIAL_READY && serial.phase == CONNECTING) ||
               (kind == SERIAL_DONE && serial.phase == WAITING)) {
        go_on();
    }
}

/* Nothing is asked yet, and the board may be starting, or be in the middle of a reply. */
static void wait_for_board(void)
{
    uint64_t now = serial_millis(), silent = now - serial.line.heard_ms;
    char waiting[128];

    snprintf(waiting, sizeof waiting, "%.127s", serial.line.in);
    strip(waiting);
    if (silent > SILENCE_MS && strcmp(waiting, "> ") == 0) {
        say_mode();
    } else if (silent >= serial.wait_s * 1000u && now - serial.since_ms >= serial.wait_s * 1000u) {
        fail("nothing is heard: has the board power, is TX at RX, and is --baud its rate?");
    } else if (now - serial.asked_ms >= ASK_MS && silent > SILENCE_MS) {
        ask();
    }
}

/* ---- the person ---------------------------------------------------------------------------- */

static void take_typed(char *text, size_t bytes)
{
    if (bytes == 0) {
        go_on();
    } else if (text[0] == '/' && bytes > 1 && text[1] >= 'a' && text[1] <= 'z') {
        request("command", text, bytes);
    } else {
        size_t skip = bytes > 1 && text[0] == '/' && text[1] == '/';

        request("prompt", text + skip, bytes - skip);
    }
}

/* One line of what was typed; the rest waits. */
static void next_typed(void)
{
    char *newline = memchr(serial.typed, '\n', serial.n_typed);
    size_t bytes = newline != NULL ? (size_t)(newline - serial.typed) : serial.n_typed;
    char line[REQUEST_BYTES];

    if (newline == NULL && !serial.at_end && serial.n_typed < sizeof serial.typed) {
        return;
    }
    if (serial.n_typed == 0) {
        end(EXIT_FINE);
        return;
    }
    memcpy(line, serial.typed, bytes);
    serial.n_typed -= bytes + (newline != NULL);
    memmove(serial.typed, serial.typed + bytes + (newline != NULL), serial.n_typed);
    take_typed(line, bytes);
}

static void read_typed(void)
{
    ssize_t n = read(0, serial.typed + serial.n_typed, sizeof serial.typed - serial.n_typed);

    serial.at_end = serial.at_end || n == 0 || (n < 0 && errno != EINTR);
    serial.n_typed += n > 0 ? (size_t)n : 0;
}

static void obey_interrupt(void)
{
    if (serial.phase != WAITING || interrupted > 1) {
        fprintf(stderr, "\n");
        end(serial.phase == IDLE ? EXIT_FINE : EXIT_FAILED);
    } else {
        ask();
        interrupted = 1; /* a second one ends the program */
    }
}

static void talk(void)
{
    int answered = 0;

    serial.since_ms = serial_millis();
    ask();
    while (serial.phase != OVER) {
        bool typed = false, listens = serial.phase == IDLE && !serial.at_end;

        if (interrupted > answered) {
            obey_interrupt();
        }
        answered = interrupted;
        if (serial.phase == IDLE) {
            next_typed();
        }
        if (serial.phase != OVER &&
            !serial_step(&serial.line, STEP_MS, listens ? &typed : NULL, take_line, NULL)) {
            end(EXIT_FAILED);
        }
        if (typed && serial.phase == IDLE) {
            read_typed();
        }
        if (serial.phase == CONNECTING) {
            wait_for_board();
        }
    }
}

int cmd_serial(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = on_interrupt };

    if (!parse(argc, argv)) {
        return EXIT_USAGE;
    }
    if (serial.usage) {
        puts(help);
        return EXIT_FINE;
    }
    if (!serial_open(&serial.line, serial.device, serial.baud) ||
        (serial.csv != NULL && !serial_csv_open(&serial.events, serial.csv))) {
        return EXIT_FAILED;
    }
    sigaction(SIGINT, &action, NULL);
    talk();
    if (serial.events.csv != NULL && fclose(serial.events.csv) != 0) {
        fprintf(stderr, "ingot: %s: could not be written completely\n", serial.csv);
        return EXIT_FAILED;
    }
    return serial.status;
}
