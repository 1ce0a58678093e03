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
    OPTION_REFUSED,  /* the value is wrong; the caller prints which values are accepted */
    OPTION_ANSWERED, /* the option asked for a text, which was printed: the command succeeds */
};

/* A row: an option of a command, or a heading above the following options. */
struct command_option {
    const char *name;   /* "--predict"; NULL: the row is a heading, and `help` is its text */
    const char *letter; /* "-n"; NULL: none */
    const char *also;   /* another spelling, which the help omits; NULL: none */
    const char *value;  /* name of its value in the help, such as "N"; "FILE" is a path; NULL: a
                           flag */
    const char
        *choices; /* the accepted words, with spaces between them; NULL: other values are taken */
    const char *takes; /* end of the error message "-n x: takes ..."; NULL: any text is taken */
    const char *help;  /* one line, or more with \n between them */
    /* Read value (NULL: a flag) into the command's arguments. If set is NULL, a flag sets the bool,
     * and a value the const char *, at offset `field` of the arguments. */
    enum option_result (*set)(void *arguments, const struct command_option *o, const char *value);
    size_t field;
    const char *word; /* for `set`: the option's name as a boot argument */
    const char
        *twice;   /* advice if the option is given twice: "name both, as in poet,tutor"; NULL: give
                * the option once */
    bool is_list; /* the option may be repeated to add values */
    /* In a table that several commands share (host_flags.h): bits of the commands that have the
     * row, and the row's heading. In a command's list, a row with `table` (n_table) stands for
     * those rows of the table that the command has. */
    unsigned commands, heading;
    const struct command_option *table;
    size_t n_table;
};

struct command {
    const char *name;
    const char *operands; /* operands in the usage line: "MODEL", "BOARD MODEL..."; "": none */
    const char *missing;  /* question if the operand is missing: "which model?"; NULL if it is
                             optional */
    const char *summary;  /* a few words for the list of commands */
    const char *about;    /* for --help: lines with \n between them */
    const char *example;  /* one example, or several with \n between them */
    const struct command_option *const *
        options; /* rows, ended by NULL; NULL: only --help, which all commands have; command_next_option walks over
                    them */
    unsigned flags; /* its bit of command_option.commands */
    /* Replaces `set` of rows in shared tables; NULL: each row's own `set` is
     * used. */
    enum option_result (*set_flag)(void *arguments, const struct command_option *o,
                                   const char *value);
    /* A single operand goes to the const char * at offset operand_field. If there may be several,
     * `operand` is called for each, and returns false if there are too many. */
    size_t operand_field;
    bool (*operand)(void *arguments, const char *word);
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit status */
};

/* All commands, in the order in which `ingot help` lists them; ends with NULL (commands.c). */
extern const struct command *const commands[];

/* Read argv[1..] into `arguments`, which the caller has set to defaults. "--" ends the options.
 * Returns false after printing all messages; then *status is the exit status. */
bool command_line_read(const struct command *c, void *arguments, int argc, char **argv,
                       int *status);

/* A walk over the options of a command. Set `command`, and zero the other members. */
struct command_walk {
    const struct command *command;
    size_t at, row; /* index in the command's list, and in a table that the list names */
};

/* Returns the next option or heading; NULL if there are no more. */
const struct command_option *command_next_option(struct command_walk *w);

/* A function for `set`: writes the index of the word among the option's choices, from 0, to the
 * unsigned at `field`. */
enum option_result command_take_choice(void *arguments, const struct command_option *o,
                                       const char *value);

/* A function for `set`: writes a number from 0 to 10,000,000 to the uint32_t at `field`. */
enum option_result command_take_number(void *arguments, const struct command_option *o,
                                       const char *value);

/* "ingot NAME: WORD: WHY; see `ingot NAME --help`" on standard error. Returns EXIT_USAGE. */
int command_refuse(const struct command *c, const char *word, const char *why);

/* Returns the command of this name, or NULL after an error message with the most similar name. */
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
