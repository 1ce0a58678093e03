#include "host/cli/manual.h"

#include <string.h>

#include "host/args/command_line.h"

/* ---- the page -------------------------------------------------------------------------------- */

/* Write a line of text, escaped so that troff takes no part of it as a request or a hyphenation. */
static void put_text(const char *text, size_t bytes, FILE *to)
{
    if (bytes != 0 && (text[0] == '.' || text[0] == '\'')) {
        fputs("\\&", to);
    }
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\\') {
            fputs("\\e", to);
        } else if (text[i] == '-') {
            fputs("\\-", to);
        } else {
            fputc(text[i], to);
        }
    }
}

/* Write each line of a text on its own line. */
static void put_lines(const char *text, FILE *to)
{
    while (text != NULL) {
        const char *end = strchr(text, '\n');

        put_text(text, end != NULL ? (size_t)(end - text) : strlen(text), to);
        fputc('\n', to);
        text = end != NULL ? end + 1 : NULL;
    }
}

static void put_option(const struct command_option *o, FILE *to)
{
    char text[128];

    if (o->name == NULL) {
        fprintf(to, ".PP\n%s:\n", o->help);
        return;
    }
    fputs(".TP\n.B ", to);
    put_text(text, command_option_text(o, text, sizeof text), to);
    fputc('\n', to);
    put_lines(o->help, to);
}

static void put_command(const struct command *c, FILE *to)
{
    struct command_walk walk = { .command = c };
    const struct command_option *o;

    fputs(".SS ", to);
    put_text(c->name, strlen(c->name), to);
    fprintf(to, "\n.B ingot %s\n", c->name);
    if (c->operands[0] != '\0') {
        put_text(c->operands, strlen(c->operands), to);
        fputc('\n', to);
    }
    fputs("[options]\n.PP\n", to);
    put_lines(c->about, to);
    while ((o = command_next_option(&walk)) != NULL) {
        put_option(o, to);
    }
    fputs(".PP\nExample:\n.PP\n.nf\n.RS\n", to);
    put_lines(c->example, to);
    fputs(".RE\n.fi\n", to);
}

void manual_print_page(FILE *to)
{
    fputs(".TH INGOT 1 \"\" \"Ingot " INGOT_VERSION_TEXT "\"\n"
          ".SH NAME\ningot \\- a language model that boots: its Linux program\n"
          ".SH SYNOPSIS\n.B ingot\n.I COMMAND\n[operands] [options]\n.br\n"
          ".B ingot help\n[\n.I COMMAND\n]\n.br\n.B ingot \\-\\-version\n"
          ".SH DESCRIPTION\n"
          "Packs, runs and measures models with the runtime that boots on a board, and talks to a\n"
          "board over its serial line.\n"
          "Every option can be written as \\-\\-name value or \\-\\-name=value, and \\-\\- ends "
          "them.\n"
          ".SH COMMANDS\n",
          to);
    for (size_t i = 0; commands[i] != NULL; i++) {
        put_command(commands[i], to);
    }
    fputs(".SH EXIT STATUS\n"
          "0: fine; 1: the work failed; 2: the command line was wrong. The error message is on\n"
          "standard error.\n",
          to);
}

/* ---- completion ------------------------------------------------------------------------------ */

static void put_names(const struct command_option *o, FILE *to)
{
    if (o->name != NULL) {
        fprintf(to, " %s", o->name);
    }
    if (o->letter != NULL) {
        fprintf(to, " %s", o->letter);
    }
}

/* Write the completion's branch for an option: it offers the option's words, or files, or nothing
 * if the values are unknown. */
static void put_value(const struct command *c, const struct command_option *o, FILE *to)
{
    if (o->name == NULL || o->value == NULL) {
        return;
    }
    fprintf(to, "    '%s %s'", c->name, o->name);
    if (o->letter != NULL) {
        fprintf(to, "|'%s %s'", c->name, o->letter);
    }
    if (o->choices != NULL) {
        fprintf(to, ") COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", o->choices);
    } else if (strcmp(o->value, "FILE") == 0) {
        fputs(") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", to);
    } else {
        fputs(") return ;;\n", to);
    }
}

static void put_values(FILE *to)
{
    fputs("    case \"$command $before\" in\n", to);
    for (size_t i = 0; commands[i] != NULL; i++) {
        struct command_walk walk = { .command = commands[i] };
        const struct command_option *o;

        while ((o = command_next_option(&walk)) != NULL) {
            put_value(commands[i], o, to);
        }
    }
    fputs("    esac\n", to);
}

static void put_options(FILE *to)
{
    fputs("    case \"$command\" in\n", to);
    for (size_t i = 0; commands[i] != NULL; i++) {
        struct command_walk walk = { .command = commands[i] };
        const struct command_option *o;

        fprintf(to, "    %s) options='", commands[i]->name);
        put_names(&command_help_option, to);
        while ((o = command_next_option(&walk)) != NULL) {
            put_names(o, to);
        }
        fputs("' ;;\n", to);
    }
    fputs("    *) return ;;\n    esac\n", to);
}

static void put_commands(FILE *to)
{
    fputs("    local commands='", to);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(to, " %s", commands[i]->name);
    }
    fputs("'\n", to);
}

void manual_print_completion(FILE *to)
{
    fputs("# bash completion of ingot, as `ingot help --bash-completion` prints it.\n"
          "_ingot()\n{\n"
          "    local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
          "    local command=\"${COMP_WORDS[1]}\" options\n",
          to);
    put_commands(to);
    fputs("    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$word\"))\n"
          "        return\n    fi\n"
          "    if [ \"$command\" = help ] && [ \"${word#-}\" = \"$word\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
          "        return\n    fi\n",
          to);
    put_values(to);
    put_options(to);
    fputs("    if [ \"${word#-}\" != \"$word\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "    else\n"
          "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "    fi\n}\n"
          "complete -o filenames -o bashdefault -F _ingot ingot\n",
          to);
}
