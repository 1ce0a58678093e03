#include "host/serial_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_WAIT_S = 30 };

void serial_args_help(void)
{
    puts(
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
        "  -h, --help             this text");
}

/* Options that are the board's: flags, and the field of a request. */
static const struct {
    const char *flag, *field;
} settings[] = {
    { "-n", "n" },          { "--temp", "temp" },   { "--top-p", "top_p" },
    { "--top-k", "top_k" }, { "--min-p", "min_p" }, { "--repeat", "repeat" },
    { "-s", "seed" },       { "--seed", "seed" },
};

static bool refuse(const char *word, const char *why)
{
    fprintf(stderr, "ingot: %s: %s; see `ingot serial --help`\n", word, why);
    return false;
}

/* A number goes as it stands, for the board judges it; but it is to stay one value. */
static bool add_setting(struct serial_args *a, const char *field, const char *value)
{
    size_t n = strlen(a->settings), room = sizeof a->settings - n;
    const char *before = "{";
    int more;

    if (value[0] == '\0' || value[strspn(value, "0123456789+-.eE")] != '\0') {
        return refuse(value, "a number is wanted");
    }
    if (n != 0) {
        before = ",";
    }
    more = snprintf(a->settings + n, room, "%s\"%s\":%s", before, field, value);
    if (more <= 0 || (size_t)more + 3 >= room) {
        return refuse(value, "too long");
    }
    return true;
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

static bool set_text(struct serial_args *a, const char *word, const char *value)
{
    const struct {
        const char *word;
        const char **to;
    } texts[] = {
        { "--csv", &a->csv },
        { "-p", &a->prompt },
        { "--prompt", &a->prompt },
        { "--system", &a->system },
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(word, texts[i].word) == 0) {
            *texts[i].to = value;
            return true;
        }
    }
    return false;
}

static bool set_option(struct serial_args *a, const char *word, const char *value)
{
    if (value == NULL) {
        return refuse(word, "unknown, or its value is missing");
    }
    if (strcmp(word, "--baud") == 0) {
        return read_number(word, value, &a->baud);
    }
    if (strcmp(word, "--wait") == 0) {
        return read_number(word, value, &a->wait_s);
    }
    if (set_text(a, word, value)) {
        return true;
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (strcmp(word, settings[i].flag) == 0) {
            return add_setting(a, settings[i].field, value);
        }
    }
    return refuse(word, "unknown option");
}

static bool set_flag(struct serial_args *a, const char *word)
{
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        a->help = true;
        return true;
    }
    if (strcmp(word, "-q") == 0 || strcmp(word, "--quiet") == 0) {
        a->quiet = true;
        return true;
    }
    return false;
}

static bool read_words(struct serial_args *a, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (set_flag(a, argv[i])) {
            continue;
        }
        if (argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!set_option(a, argv[i], argv[i + 1])) {
                return false;
            }
            i++;
        } else if (a->device != NULL) {
            return refuse(argv[i], "one device at a time");
        } else {
            a->device = argv[i];
        }
    }
    return true;
}

bool serial_args_parse(struct serial_args *a, int argc, char **argv)
{
    *a = (struct serial_args){ .wait_s = DEFAULT_WAIT_S };
    if (!read_words(a, argc, argv)) {
        return false;
    }
    if (a->device == NULL && !a->help) {
        return refuse("serial", "which device? such as /dev/ttyUSB0");
    }
    if (a->settings[0] != '\0') {
        strcat(a->settings, "}\n");
    }
    return true;
}
