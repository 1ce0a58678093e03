/* The command line of the Linux program: one table defines which words a command reads, which it
 * refuses, and how it describes them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/commands.h"
#include "host/args/host_args.h"
#include "host/cli/manual.h"
#include "tests/unit/tap.h"

enum { MOST = 65536, WORDS = 8 };

static char said[MOST];

/* Returns the text on standard error since the last time. */
static void read_said(FILE *file)
{
    size_t n;

    fflush(stderr);
    rewind(file);
    n = fread(said, 1, sizeof said - 1, file);
    said[n] = '\0';
}

struct row {
    const struct command *command;
    const char *words[WORDS];
    const char *says; /* NULL: nothing is said, and the words are taken */
};

static const struct row rows[] = {
    { &cmd_run, { "m", "-p", "x", "-n", "4", "--temp=0" }, NULL },
    { &cmd_run, { "--model=m", "--prompt=a=b", "--ids" }, NULL },
    { &cmd_run, { "m", "--n-predict", "3", "--repeat-penalty", "1.1" }, NULL },
    { &cmd_run, { "--ids", "--", "-m" }, NULL },
    { &cmd_run, { "m", "-p", "--temp" }, NULL }, /* a prompt may begin with a dash */
    { &cmd_run,
      { "m", "--tmep", "0" },
      "ingot run: --tmep is not an option of run; did you mean --temp?\n" },
    { &cmd_run,
      { "m", "--colour", "red" },
      "--colour is not an option of run; see `ingot run --help`\n" },
    { &cmd_tokenize,
      { "m", "--temp", "0" },
      "ingot tokenize: --temp is not an option of tokenize; see `ingot tokenize --help`\n" },
    { &cmd_perplexity, /* which has --model, one letter away */
      { "m", "--mode", "json" },
      "ingot perplexity: --mode is not an option of perplexity; see `ingot perplexity --help`\n" },
    { &cmd_perplexity,
      { "m", "--modl", "json" },
      "--modl is not an option of perplexity; did you mean --model?\n" },
    { &cmd_tokenize, { "m", "--temp=0" }, "--temp is not an option of tokenize; see" },
    { &cmd_chat, { "m", "-o", "x" }, "-o is not an option of chat" },
    { &cmd_run, { "m", "-t", "0" }, "ingot run: -t 0: takes a count of threads from 1 to 8; see" },
    { &cmd_run, { "m", "-t", "" }, "ingot run: -t \"\": takes a count" },
    { &cmd_run, { "m", "--threads=nine" }, "--threads nine: takes a count of threads" },
    { &cmd_run, { "m", "--card", "fast" }, "--card fast: takes bytes a second" },
    { &cmd_run, { "m", "--chunk", "0" }, "--chunk 0: takes a count of tokens from 1 to 4096" },
    { &cmd_run, { "m", "--ram", "0" }, "--ram 0: takes a size" },
    { &cmd_run, { "m", "--mode", "loud" }, "--mode loud: takes chat or json" },
    { &cmd_run, { "m", "-n" }, "ingot run: -n: its value is missing: give -n N; see" },
    { &cmd_run, { "m", "--ids=3" }, "--ids=3: it takes no value" },
    { &cmd_run, { "m", "n" }, "ingot run: n: one argument too many: the command takes MODEL; see" },
    { &cmd_run,
      { "m", "-m", "n" },
      "-m n: takes the model, but another argument has named it already" },
    { &cmd_run, { "-n", "4" }, "ingot run: which model? usage: ingot run MODEL [options]\n" },
    { &cmd_run,
      { "m", "--adapter", "a", "--adapter=b" },
      "ingot run: --adapter is given twice: name several with commas" },
    { &cmd_run, { "m", "--lora", "a", "--adapter", "b" }, "--adapter is given twice" },
    { &cmd_run,
      { "m", "-n", "1", "--predict", "2" },
      "--predict is given twice: give it once; see" },
    { &cmd_run, { "m", "-p", "a", "-p", "b" }, "-p is given twice" },
    { &cmd_run, { "m", "-q", "-q" }, "-q is given twice" },
    { &cmd_run, { "m", "--stop", "a", "--stop", "b" }, NULL },
    { &cmd_pack, { "m", "-o", "a", "-o", "b" }, "-o is given twice" },
    { &cmd_serial, { "d", "--temp", "1", "--temp", "2" }, "--temp is given twice" },
    { &cmd_serial, { "d", "--baud", "0" }, "ingot serial: --baud 0: takes a whole number" },
    { &cmd_serial, { "d", "--temp", "x" }, "ingot serial: --temp x: takes a number" },
    { &cmd_serial, { "d", "--ctx", "3" }, "--ctx is not an option of serial; see" },
};

/* Arguments with room for those of any command here. */
static void check_row(const struct row *row, FILE *file)
{
    static union {
        struct host_args host;
        char room[sizeof(struct host_args) + 4096];
    } arguments;
    char *argv[WORDS + 2] = { strdup(row->command->name) };
    int argc = 1, status = -1;
    bool taken;

    memset(&arguments, 0, sizeof arguments);
    if (freopen(NULL, "w+", file) == NULL) {
        return;
    }
    for (int i = 0; i < WORDS && row->words[i] != NULL; i++) {
        argv[argc++] = strdup(row->words[i]);
    }
    taken = command_line_read(row->command, &arguments, argc, argv, &status);
    read_said(file);
    if (row->says == NULL) {
        OK(taken && said[0] == '\0', "a line that ends with %s is accepted: %s", argv[argc - 1],
           said);
    } else {
        OK(!taken && status == EXIT_USAGE && strstr(said, row->says) != NULL &&
               strchr(said, '\n') != NULL && strchr(said, '\n')[1] == '\0',
           "an error that says '%s' is one sentence: %s", row->says, said);
    }
    for (int i = 0; i < argc; i++) {
        free(argv[i]);
    }
}

static void check_values(void)
{
    static struct host_args a;
    char *words[] = { strdup("run"),    strdup("--temp=0.5"), strdup("-n"),       strdup("7"),
                      strdup("model"),  strdup("-q"),         strdup("--card"),   strdup("20M"),
                      strdup("--stop"), strdup("a"),          strdup("--stop=b"), NULL };
    int status;

    OK(host_args_read(&cmd_run, &a, 11, words, &status), "the command line is read");
    OK(a.options.sampler.temp > 0.49f && a.options.sampler.temp < 0.51f, "--temp=0.5 is read");
    OK(a.options.reply.n == 7, "-n 7 is read");
    OK(strcmp(a.model, "model") == 0, "the model is read");
    OK(a.quiet && a.options.show.quiet, "-q hides log and figures");
    OK(a.card_rate == 20000000, "--card 20M is read");
    OK(a.options.reply.n_stops == 2, "--stop is read twice");
    for (int i = 0; i < 11; i++) {
        free(words[i]);
    }
}

/* Whether the row of an option, as the only option of a command, says that it may be given
 * again. */
static bool refuses_twice(const struct command_option *o, FILE *file)
{
    struct command_option flag = { .name = o->name, .is_list = o->is_list };
    const struct command_option *list[] = { &flag, NULL };
    const struct command c = { .name = "any", .operands = "", .options = list };
    char *argv[] = { strdup("any"), strdup(o->name), strdup(o->name), NULL };
    char room[16] = { 0 };
    int status = -1;
    bool taken = freopen(NULL, "w+", file) == NULL || command_line_read(&c, room, 3, argv, &status);

    for (int i = 0; i < 3; i++) {
        free(argv[i]);
    }
    return !taken;
}

static void check_twice(FILE *file)
{
    static const char lists[] = " --stop --allow-origin --allow-host ";

    for (size_t i = 0; commands[i] != NULL; i++) {
        bool good = true;

        struct command_walk walk = { .command = commands[i] };
        const struct command_option *o;

        while ((o = command_next_option(&walk)) != NULL) {
            char name[64];

            if (o->name != NULL) {
                snprintf(name, sizeof name, " %s ", o->name);
                good = good && refuses_twice(o, file) == (strstr(lists, name) == NULL);
            }
        }
        OK(good, "%s: an option given twice is a list or refused", commands[i]->name);
    }
}

/* ---- what is told ----------------------------------------------------------------------------- */

static void print(void (*what)(FILE *to), FILE *file)
{
    FILE *again = freopen(NULL, "w+", file);

    said[0] = '\0';
    if (again != NULL) {
        what(again);
        read_said(again);
    }
}

/* Finds a word of a text that is not followed by letters of a longer one. */
static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        if (strchr(" ,'\n|)=", at[n]) != NULL) {
            return true;
        }
    }
    return false;
}

static void spell(char *out, const char *name, bool troff)
{
    for (; *name != '\0'; name++) {
        if (*name == '-' && troff) {
            *out++ = '\\';
        }
        *out++ = *name;
    }
    *out = '\0';
}

/* Finds every option of every command in a text, with a dash as troff writes it or as it is. */
static void check_named(const char *what, bool troff)
{
    unsigned missing = 0, n = 0;

    for (size_t i = 0; commands[i] != NULL; i++) {
        struct command_walk walk = { .command = commands[i] };
        const struct command_option *o;

        while ((o = command_next_option(&walk)) != NULL) {
            const char *name = o->name;
            char spelt[64];

            spell(spelt, name != NULL ? name : "", troff);
            missing += name != NULL && !has_word(said, spelt);
            n += name != NULL;
        }
    }
    OK(n > 80 && missing == 0, "%s: %u of %u options are missing", what, missing, n);
}

static void check_command(const struct command *c, FILE *file)
{
    FILE *again = freopen(NULL, "w+", file);
    struct command_walk walk = { .command = c };
    const struct command_option *o;
    char example[128];

    if (again == NULL) {
        return;
    }
    command_help(c, again);
    read_said(again);
    snprintf(example, sizeof example, "\nexample:\n  ingot %s", c->name);
    OK(strncmp(said, "usage: ingot ", 13) == 0 && strstr(said, example) != NULL &&
           strstr(said, c->about) != NULL && has_word(said, "--help"),
       "%s: the help has the usage, what the command does, options and an example", c->name);
    while ((o = command_next_option(&walk)) != NULL) {
        if (o->name != NULL && (!has_word(said, o->name) || (o->set == NULL && o->takes != NULL) ||
                                (o->choices != NULL && o->value == NULL))) {
            OK(false, "%s: the help has the row of %s", c->name, o->name);
        }
    }
}

int main(void)
{
    char path[] = "/tmp/command-line-XXXXXX";
    int fd = mkstemp(path), kept = dup(2);

    OK(fd >= 0 && freopen(path, "w+", stderr) != NULL, "standard error is a file");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(&rows[i], stderr);
    }
    check_values();
    check_twice(stderr);
    for (size_t i = 0; commands[i] != NULL; i++) {
        check_command(commands[i], stderr);
    }
    print(manual_print_page, stderr);
    OK(strncmp(said, ".TH INGOT 1", 11) == 0, "a page for man is written");
    check_named("--man", true);
    print(manual_print_completion, stderr);
    check_named("--bash-completion", false);
    unlink(path);
    dup2(kept, 2);
    return tap_done();
}
