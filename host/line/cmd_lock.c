#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "host/cli/commands.h"
#include "runtime/options/lock_value.h"

struct arguments {
    const char *pin; /* NULL: from standard input */
};

/* Read the PIN from standard input, so that it does not appear in a list of processes. False:
 * there is none. */
static bool read_pin(char *pin, size_t bytes)
{
    if (fgets(pin, (int)bytes, stdin) == NULL) {
        return false;
    }
    pin[strcspn(pin, "\r\n")] = '\0';
    return true;
}

static int make(const char *pin)
{
    struct lock_value w;
    char text[LOCK_TEXT_BYTES];
    size_t n = strlen(pin);

    if (n < LOCK_PIN_LEAST || n > LOCK_PIN_MOST || strpbrk(pin, " \t") != NULL) {
        return command_refuse(&cmd_lock, "PIN", "takes 4 to 64 characters without spaces");
    }
    if (getrandom(w.salt, sizeof w.salt, 0) != (ssize_t)sizeof w.salt) {
        fprintf(stderr, "ingot: this computer gives no random numbers\n");
        return EXIT_FAILED;
    }
    lock_value_hash(&w, pin, n);
    lock_value_text(text, &w);
    printf("lock=%s\n", text);
    return EXIT_FINE;
}

static int run(int argc, char **argv)
{
    struct arguments a = { NULL };
    char typed[LOCK_PIN_MOST + 2];
    int status;

    if (!command_line_read(&cmd_lock, &a, argc, argv, &status)) {
        return status;
    }
    if (a.pin == NULL && !read_pin(typed, sizeof typed)) {
        return command_refuse(&cmd_lock, "PIN", "give it as an argument, or as a line of input");
    }
    return make(a.pin != NULL ? a.pin : typed);
}

const struct command cmd_lock = {
    .name = "lock",
    .operands = "[PIN]",
    .summary = "make the boot option lock= from a PIN",
    .about =
        "Prints the boot option lock= for a PIN of 4 to 64 characters, which is the argument or a\n"
        "line of standard input. A board with it only chats until somebody types /unlock PIN. A\n"
        "short PIN stops people at the line, but not a person who can read the card\n"
        "(docs/SIGNING.md).",
    .example = "ingot lock 2718\n"
               "ingot card rpi4 -o card.img model.gguf --cmdline \"$(ingot lock 2718)\"",
    .operand_field = offsetof(struct arguments, pin),
    .run = run,
};
