#include "host/line/serial_args.h"

#include <stdio.h>
#include <string.h>

#include "host/args/host_flags.h"

enum { DEFAULT_WAIT_S = 30 };

/* A number is sent unchanged, because the board checks it. A value with other characters is refused
 * here. */
enum option_result serial_args_add_setting(void *arguments, const struct command_option *o,
                                           const char *value)
{
    struct serial_args *a = arguments;
    size_t n = strlen(a->settings), room = sizeof a->settings - n;
    const char *before = n != 0 ? "," : "{";
    int more;

    if (value[0] == '\0' || value[strspn(value, "0123456789+-.eE")] != '\0') {
        return OPTION_REFUSED;
    }
    more = snprintf(a->settings + n, room, "%s\"%s\":%s", before, o->word, value);
    if (more <= 0 || (size_t)more + 3 >= room) {
        a->settings[n] = '\0';
        return OPTION_REFUSED;
    }
    return OPTION_TAKEN;
}

static enum option_result set_number(void *arguments, const struct command_option *o,
                                     const char *value)
{
    return strspn(value, "0") == strlen(value) ? OPTION_REFUSED
                                               : command_take_number(arguments, o, value);
}

#define FIELD(member) offsetof(struct serial_args, member)
#define WHOLE "a whole number from 1 to 10000000"

static const struct command_option rows[] = {
    { .name = "--baud",
      .value = "RATE",
      .takes = WHOLE,
      .help = "rate of the line (default 115200)",
      .set = set_number,
      .field = FIELD(baud) },
    { .name = "--csv",
      .value = "FILE",
      .help = "append a row of figures for each reply",
      .field = FIELD(csv) },
    { .name = "--prompt",
      .letter = "-p",
      .value = "TEXT",
      .help = "ask this, print the reply and end",
      .field = FIELD(prompt) },
    { .name = "--system",
      .value = "TEXT",
      .help = "begin a new conversation with this system prompt",
      .field = FIELD(system) },
    { .name = "--wait",
      .value = "SECONDS",
      .takes = WHOLE,
      .help = "how long to wait for the board (default 30)",
      .set = set_number,
      .field = FIELD(wait_s) },
    { .name = "--quiet",
      .letter = "-q",
      .help = "print replies and errors only",
      .field = FIELD(quiet) },
    { .help = "settings of the board, which keeps each until it is set again" },
};

const struct command_option *const serial_options[] = {
    &rows[0],
    &rows[1],
    &rows[2],
    &rows[3],
    &rows[4],
    &rows[5],
    &rows[6],
    HOST_FLAGS(CONVERSATION),
    HOST_FLAGS(SAMPLING),
    NULL,
};

void serial_args_init(struct serial_args *a)
{
    *a = (struct serial_args){ .wait_s = DEFAULT_WAIT_S };
}

void serial_args_end_settings(struct serial_args *a)
{
    if (a->settings[0] != '\0') {
        strcat(a->settings, "}\n");
    }
}
