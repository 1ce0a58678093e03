/* `ingot help`: prints the list of commands, the help of a command, or a text for man or the
 * shell. */
#include "host/args/host_flags.h"
#include "host/cli/commands.h"
#include "host/cli/manual.h"

struct arguments {
    const char *command;
    bool man, completion, boot_options;
};

static int run(int argc, char **argv)
{
    struct arguments a = { .command = NULL };
    const struct command *command;
    int status;

    if (!command_line_read(&cmd_help, &a, argc, argv, &status)) {
        return status;
    }
    if (a.man) {
        manual_print_page(stdout);
    } else if (a.completion) {
        manual_print_completion(stdout);
    } else if (a.boot_options) {
        host_flags_print_page(stdout);
    } else if (a.command == NULL) {
        command_list(stdout);
    } else {
        command = command_find(a.command);
        if (command == NULL) {
            return EXIT_USAGE;
        }
        command_help(command, stdout);
    }
    return EXIT_FINE;
}

static const struct command_option man = {
    .name = "--man",
    .help = "the manual page of all commands, for man(1)",
    .field = offsetof(struct arguments, man),
};
static const struct command_option completion = {
    .name = "--bash-completion",
    .help = "a script that completes commands and options in bash",
    .field = offsetof(struct arguments, completion),
};
static const struct command_option boot_options = {
    .name = "--boot-options",
    .help = "the options that a board reads when it starts, as the page docs/OPTIONS.md",
    .field = offsetof(struct arguments, boot_options),
};
static const struct command_option *const options[] = { &man, &completion, &boot_options, NULL };

const struct command cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "print what a command does and its options",
    .about = "Lists the commands, or prints what `ingot COMMAND --help` prints.",
    .example = "ingot help run\ningot help --man | man -l -",
    .options = options,
    .operand_field = offsetof(struct arguments, command),
    .run = run,
};
