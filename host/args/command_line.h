/* The command line of every command, from one table: parsing and errors (command_line.c), --help
 * (command_help.c), the man page and the shell's completion (manual.c). */
#ifndef INGOT_HOST_COMMAND_LINE_H
#define INGOT_HOST_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum option_result {
    OPTION_TAKEN,
    OPTION_REFUSED,  /* a wrong value; the caller prints what is accepted */
    OPTION_ANSWERED, /* it was a question and is answered, so the command succeeds */
};

/* A row: one option of a command, or a heading above those that follow. */
struct command_option {
    const char *name;   /* "--predict"; NULL: a heading, whose text `help` is */
    const char *letter; /* "-n"; NULL: none */
    const char *also;   /* one more spelling, which the help leaves out; NULL: none */
    const char *value;  /* how the help names its value: "N"; "FILE" is a path; NULL: a flag */
    const char *
        choices; /* the words that it takes, with spaces between them; NULL: it takes other values */
    const char *takes; /* ends the error message "-n x: takes ..."; NULL: any text */
    const char *help;  /* one line, or more with \n between them */
    /* Read value (NULL: a flag) into the command's arguments. NULL: a flag is the bool, a value the
     * const char * at `field`, counted from the arguments' beginning. */
    enum option_result (*set)(void *arguments, const struct command_option *o, const char *value);
    size_t field;
    const char *word; /* for set: what the option is called elsewhere */
    const char
        *twice;   /* the advice if it is given twice: "name both, as in poet,tutor"; NULL: to give
                * it once */
    bool is_list; /* it may be given again: each time adds one */
    /* For rows of a table that several commands share (host_flags.h): bits of the commands that
     * have it, and its heading. In a command's list, a row with `table` (n_table) stands for those
     * of it that are the command's. */
    unsigned commands, heading;
    const struct command_option *table;
    size_t n_table;
};

struct command {
    const char *name;
    const char *operands; /* as the usage line names them: "MODEL", "BOARD MODEL..."; "": none */
    const char *missing;  /* the question if it is missing: "which model?"; NULL: it is optional */
    const char *summary;  /* a few words for the list of commands */
    const char *about;    /* for --help: lines with \n between them */
    const char *example;  /* one, or more with \n between them */
    const struct command_option *const *
        options; /* ends with NULL; --help belongs to every command; NULL: no others; read by command_next_option */
    unsigned flags; /* its bit of command_option.commands */
    /* A reader for a row of a shared table, in place of the row's own `set`; NULL: the row's
     * own. */
    enum option_result (*set_flag)(void *arguments, const struct command_option *o,
                                   const char *value);
    /* Operands: the const char * at operand_field, for one; or a function `operand` for each,
     * which returns false if there are too many. */
    size_t operand_field;
    bool (*operand)(void *arguments, const char *word);
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit status */
};

/* Every command, in the order of the list; NULL ends (commands.c). */
extern const struct command *const commands[];

/* Read argv[1..] into arguments, which the caller has set to the defaults. "--" ends the
 * options. False: everything was printed, *status is the exit status. */
bool command_line_read(const struct command *c, void *arguments, int argc, char **argv,
                       int *status);

/* Walks over the options of a command. Set `command` before, and zero the rest. */
struct command_walk {
    const struct command *command;
    size_t at, row; /* index in its list, and in a table there */
};

/* Returns the next option or heading; NULL: no more. */
const struct command_option *command_next_option(struct command_walk *w);

/* For an option's `set`: writes the number of the word among its choices, counted from 0, to the
 * unsigned at `field`. */
enum option_result command_take_choice(void *arguments, const struct command_option *o,
                                       const char *value);

/* A `set` for rows whose value is a number from 0 to 10,000,000, to the uint32_t at `field`. */
enum option_result command_take_number(void *arguments, const struct command_option *o,
                                       const char *value);

/* "ingot NAME: WORD: WHY; see `ingot NAME --help`" on standard error. Returns EXIT_USAGE. */
int command_refuse(const struct command *c, const char *word, const char *why);

/* Returns the command of this name. NULL: an error with the most similar name was printed. */
const struct command *command_find(const char *name);

/* ---- command_help.c ---- */

/* The text of `ingot COMMAND --help`, and `ingot help`. */
void command_help(const struct command *c, FILE *to);
void command_list(FILE *to);

/* Writes "-n, --predict N" to text (bytes). Returns its length. */
size_t command_option_text(const struct command_option *o, char *text, size_t bytes);

/* The row of --help, which every command has. */
extern const struct command_option command_help_option;

#endif
