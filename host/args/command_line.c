#include "host/args/command_line.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board/min_max.h"
#include "runtime/text/nearest.h"

enum { NAME_BYTES = 64, MOST_OPTIONS = 128, SHOWN_BYTES = 60 };

struct reader {
    const struct command *command;
    void *arguments;
    char **word; /* the word to read next; NULL at the end */
    bool operands_only;
    bool has_operand;
    bool given[MOST_OPTIONS]; /* [i] is true if the walk's option number i was given */
};

enum option_result command_take_number(void *arguments, const struct command_option *o,
                                       const char *value)
{
    uint32_t *field = (uint32_t *)(void *)((char *)arguments + o->field);
    char *end;
    unsigned long n = strtoul(value, &end, 10);

    if (value[0] == '-' || end == value || *end != '\0' || n > 10000000) {
        return OPTION_REFUSED;
    }
    *field = (uint32_t)n;
    return OPTION_TAKEN;
}

int command_refuse(const struct command *c, const char *word, const char *why)
{
    fprintf(stderr, "ingot %s: %s: %s; see `ingot %s --help`\n", c->name, word, why, c->name);
    return EXIT_USAGE;
}

/* ---- all options of a command ---------------------------------------------------------------- */

/* Returns the next row of a table that belongs to the command; NULL if none is left. */
static const struct command_option *next_row(struct command_walk *w,
                                             const struct command_option *marker)
{
    while (w->row < marker->n_table) {
        const struct command_option *o = &marker->table[w->row++];

        if ((o->commands & w->command->flags) != 0 && o->heading == marker->heading) {
            return o;
        }
    }
    return NULL;
}

const struct command_option *command_next_option(struct command_walk *w)
{
    const struct command_option *const *list = w->command->options;

    while (list != NULL && list[w->at] != NULL) {
        const struct command_option *o = list[w->at];

        if (o->table == NULL) {
            w->at++;
            return o;
        }
        o = next_row(w, o);
        if (o != NULL) {
            return o;
        }
        w->row = 0;
        w->at++;
    }
    return NULL;
}

/* ---- the most similar name ------------------------------------------------------------------- */

/* Returns the option with the most similar name; NULL if no name is similar. Names are compared
 * without their dashes. */
static const char *nearest_option(const struct command *c, const char *word)
{
    const char *bare = word + strspn(word, "-");
    struct command_walk walk = { .command = c };
    const struct command_option *o;
    struct nearest n;

    nearest_begin(&n, bare, strlen(bare));
    while ((o = command_next_option(&walk)) != NULL) {
        if (o->name != NULL) {
            nearest_offer(&n, o->name + 2);
        }
        if (o->also != NULL) {
            nearest_offer(&n, o->also + 2);
        }
    }
    return n.name;
}

const struct command *command_find(const char *name)
{
    struct nearest n;

    nearest_begin(&n, name, strlen(name));
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (strcmp(name, commands[i]->name) == 0) {
            return commands[i];
        }
        nearest_offer(&n, commands[i]->name);
    }
    if (n.name != NULL) {
        fprintf(stderr, "ingot: '%s' is not a command; did you mean %s? `ingot help` lists them\n",
                name, n.name);
    } else if (access(name, F_OK) == 0) {
        fprintf(stderr,
                "ingot: '%s' is a file, not a command; `ingot chat %s` talks to a model, "
                "`ingot help` lists the commands\n",
                name, name);
    } else {
        fprintf(stderr, "ingot: '%s' is not a command; `ingot help` lists them\n", name);
    }
    return NULL;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool is(const char *word, const char *spelling)
{
    return spelling != NULL && strcmp(word, spelling) == 0;
}

static const struct command_option *find_option(const struct command *c, const char *word)
{
    struct command_walk walk = { .command = c };
    const struct command_option *o;

    if (is(word, command_help_option.name) || is(word, command_help_option.letter)) {
        return &command_help_option;
    }
    while ((o = command_next_option(&walk)) != NULL) {
        if (is(word, o->name) || is(word, o->letter) || is(word, o->also)) {
            return o;
        }
    }
    return NULL;
}

/* True if any command has this option: then it is not a typing error. */
static bool is_known(const char *word)
{
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (find_option(commands[i], word) != NULL) {
            return true;
        }
    }
    return false;
}

static enum option_result refuse_option(const struct command *c, const char *word)
{
    const char *nearest = nearest_option(c, word);

    if (nearest != NULL && !is_known(word)) {
        fprintf(stderr, "ingot %s: %s is not an option of %s; did you mean --%s?\n", c->name, word,
                c->name, nearest);
    } else {
        fprintf(stderr, "ingot %s: %s is not an option of %s; see `ingot %s --help`\n", c->name,
                word, c->name, c->name);
    }
    return OPTION_REFUSED;
}

static enum option_result store(const struct command *c, void *arguments,
                                const struct command_option *o, const char *value)
{
    void *field = (char *)arguments + o->field;

    if (o->commands != 0 && c->set_flag != NULL) {
        return c->set_flag(arguments, o, value);
    }
    if (o->set != NULL) {
        return o->set(arguments, o, value);
    }
    if (o->value == NULL) {
        *(bool *)field = true;
    } else {
        *(const char **)field = value;
    }
    return OPTION_TAKEN;
}

/* Refuses an option that is given twice, because the first value would be lost silently. Returns
 * false after printing the error. */
static bool is_first(struct reader *r, const struct command_option *o, const char *word)
{
    struct command_walk walk = { .command = r->command };
    size_t i = 0;

    while (command_next_option(&walk) != o) {
        i++;
    }
    if (i < MOST_OPTIONS && !r->given[i]) {
        r->given[i] = !o->is_list;
        return true;
    }
    fprintf(stderr, "ingot %s: %s is given twice: %s; see `ingot %s --help`\n", r->command->name,
            word, o->twice != NULL ? o->twice : "give it once", r->command->name);
    return false;
}

/* Returns how many bytes of a value an error shows: a long text would hide the message. */
static int shown_bytes(const char *value)
{
    size_t n = strnlen(value, SHOWN_BYTES);

    while (n != 0 && ((uint8_t)value[n] & 0xc0) == 0x80) { /* not inside a UTF-8 character */
        n--;
    }
    return (int)n;
}

/* Sets an option. word: the option as typed, without its value. */
static enum option_result set_option(struct reader *r, const struct command_option *o,
                                     const char *word, const char *value)
{
    const char *name = r->command->name;
    enum option_result result;

    if (o == &command_help_option) {
        command_help(r->command, stdout);
        return OPTION_ANSWERED;
    }
    if (!is_first(r, o, word)) {
        return OPTION_REFUSED;
    }
    result = store(r->command, r->arguments, o, value);
    if (result == OPTION_REFUSED && value != NULL && strlen(value) > SHOWN_BYTES) {
        fprintf(stderr,
                "ingot %s: %s: its value has %zu bytes, but it takes %s; see `ingot %s --help`\n",
                name, word, strlen(value), o->takes != NULL ? o->takes : "something else", name);
    } else if (result == OPTION_REFUSED && value != NULL) {
        fprintf(stderr, "ingot %s: %s %s: takes %s; see `ingot %s --help`\n", name, word,
                value[0] != '\0' ? value : "\"\"", o->takes != NULL ? o->takes : "something else",
                name);
    }
    return result;
}

/* Reads a word that begins with a dash, and its value, which may be in the word
 * ("--name=value"). */
static enum option_result read_option(struct reader *r)
{
    const char *word = *r->word++, *value = NULL;
    size_t n = strcspn(word, word[1] == '-' ? "=" : "");
    const struct command_option *o;
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "%.*s", (int)min_size(n, sizeof name - 1), word);
    o = find_option(r->command, name);
    if (o == NULL) {
        return refuse_option(r->command, name);
    }
    if (word[n] == '=') {
        value = word + n + 1;
    } else if (o->value != NULL && *r->word != NULL) {
        value = *r->word++;
    }
    if (value == NULL && o->value != NULL) {
        fprintf(stderr, "ingot %s: %s: its value is missing: give %s %s; see `ingot %s --help`\n",
                r->command->name, name, name, o->value, r->command->name);
        return OPTION_REFUSED;
    }
    if (value != NULL && o->value == NULL) {
        command_refuse(r->command, word, "it takes no value");
        return OPTION_REFUSED;
    }
    return set_option(r, o, name, value);
}

/* ---- operands -------------------------------------------------------------------------------- */

static bool take_operand(const struct reader *r, const char *word)
{
    const struct command *c = r->command;
    const char **field = (const char **)(void *)((char *)r->arguments + c->operand_field);

    if (c->operand != NULL) {
        return c->operand(r->arguments, word);
    }
    if (c->operands[0] == '\0' || *field != NULL) {
        return false;
    }
    *field = word;
    return true;
}

static enum option_result read_operand(struct reader *r)
{
    const char *word = *r->word++;
    const struct command *c = r->command;

    if (take_operand(r, word)) {
        r->has_operand = true;
        return OPTION_TAKEN;
    }
    fprintf(stderr,
            "ingot %s: %.*s%s: one argument too many: the command takes %s; see `ingot %s "
            "--help`\n",
            c->name, shown_bytes(word), word, word[shown_bytes(word)] != '\0' ? "..." : "",
            c->operands[0] != '\0' ? c->operands : "only options", c->name);
    return OPTION_REFUSED;
}

static enum option_result read_word(struct reader *r)
{
    const char *word = *r->word;

    if (r->operands_only || word[0] != '-' || word[1] == '\0') {
        return read_operand(r);
    }
    if (strcmp(word, "--") == 0) {
        r->word++;
        r->operands_only = true;
        return OPTION_TAKEN;
    }
    return read_option(r);
}

bool command_line_read(const struct command *c, void *arguments, int argc, char **argv, int *status)
{
    struct reader r = { .command = c, .arguments = arguments, .word = argv + (argc > 0) };

    *status = EXIT_USAGE;
    while (*r.word != NULL) {
        enum option_result result = read_word(&r);

        if (result == OPTION_ANSWERED) {
            *status = EXIT_FINE;
        }
        if (result != OPTION_TAKEN) {
            return false;
        }
    }
    if (c->missing != NULL && !r.has_operand && c->operand == NULL) {
        r.has_operand = *(const char **)(void *)((char *)arguments + c->operand_field) != NULL;
    }
    if (c->missing != NULL && !r.has_operand) {
        fprintf(stderr, "ingot %s: %s usage: ingot %s %s [options]\n", c->name, c->missing, c->name,
                c->operands);
        return false;
    }
    return true;
}

enum option_result command_take_choice(void *arguments, const struct command_option *o,
                                       const char *value)
{
    unsigned *choice = (unsigned *)(void *)((char *)arguments + o->field);
    const char *word = o->choices;

    for (unsigned i = 0; *word != '\0'; i++) {
        size_t n = strcspn(word, " ");

        if (n == strlen(value) && memcmp(word, value, n) == 0) {
            *choice = i;
            return OPTION_TAKEN;
        }
        word += n + (word[n] == ' ');
    }
    return OPTION_REFUSED;
}
