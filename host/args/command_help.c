/* Prints the text of --help, from the table. */
#include <string.h>

#include "host/args/command_line.h"

enum { LEFT = 23, LEFT_BYTES = 80 };

const struct command_option command_help_option = { .name = "--help",
                                                    .letter = "-h",
                                                    .help = "this text" };

size_t command_option_text(const struct command_option *o, char *text, size_t bytes)
{
    int n = snprintf(text, bytes, "%s%s%s%s%s", o->letter != NULL ? o->letter : "",
                     o->letter != NULL ? ", " : "", o->name, o->value != NULL ? " " : "",
                     o->value != NULL ? o->value : "");

    return n < 0 ? 0 : (size_t)n;
}

/* Indent each line of a text, except the first line, by this many columns. */
static void print_indented(const char *text, int columns, FILE *to)
{
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        fprintf(to, "%.*s\n%*s", (int)(end - text), text, columns, "");
    }
    fprintf(to, "%s\n", text);
}

static void print_option(const struct command_option *o, FILE *to)
{
    char left[LEFT_BYTES];

    if (o->name == NULL) {
        fprintf(to, "\n%s:\n", o->help);
        return;
    }
    if (command_option_text(o, left, sizeof left) >= LEFT) {
        fprintf(to, "  %s\n%*s", left, LEFT + 2, "");
    } else {
        fprintf(to, "  %-*s", LEFT, left);
    }
    print_indented(o->help, LEFT + 2, to);
}

void command_help(const struct command *c, FILE *to)
{
    struct command_walk walk = { .command = c };
    const struct command_option *o;

    fprintf(to, "usage: ingot %s%s%s [options]\n\n%s\n", c->name, c->operands[0] != '\0' ? " " : "",
            c->operands, c->about);
    if (c->options == NULL || c->options[0]->name != NULL || c->options[0]->table != NULL) {
        fputs("\noptions:\n", to);
    }
    while ((o = command_next_option(&walk)) != NULL) {
        print_option(o, to);
    }
    print_option(&command_help_option, to);
    fputs("\nexample:\n  ", to);
    print_indented(c->example, 2, to);
}

void command_list(FILE *to)
{
    fputs("Ingot " INGOT_VERSION_TEXT ": a language model that boots; this is its Linux program.\n"
          "usage: ingot COMMAND ...\n\n",
          to);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(to, "  %-12s%s\n", commands[i]->name, commands[i]->summary);
    }
    fputs("\n`ingot help COMMAND` or `ingot COMMAND --help` tells more; `ingot --version`\n"
          "prints the version.\n",
          to);
}
