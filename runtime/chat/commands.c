#include "runtime/chat/commands.h"

#include <string.h>

#include "board/board.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/chat/commands_system.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"
#include "runtime/text/text_distance.h"

#define SETTINGS "temp, top_p, top_k, min_p, repeat, seed, n, think, quiet or stop"

struct command {
    const char *name, *arguments, *help;
    enum command_result (*run)(struct chat *c, char *argument);
};

/* ---- the conversation ---- */

static enum command_result run_reset(struct chat *c, char *argument)
{
    (void)argument;
    chat_clear(c);
    console_printf("(a new conversation)\n");
    return COMMAND_DONE;
}

static enum command_result run_undo(struct chat *c, char *argument)
{
    (void)argument;
    if (chat_undo(c)) {
        console_printf("(the last turn is taken back, %u left)\n", c->turns.n);
    } else {
        console_printf("error: there is no turn to take back\n");
    }
    return COMMAND_DONE;
}

static enum command_result run_retry(struct chat *c, char *argument)
{
    (void)argument;
    if (chat_retry(c) == ERR_NOT_FOUND) {
        console_printf("error: there is no turn to answer again\n");
    }
    return COMMAND_DONE;
}

static void say_sentence(void *context, bool fatal, const char *sentence)
{
    (void)context;
    console_printf("%s: %s\n", fatal ? "error" : "warning", sentence);
}

static const struct options_report to_console = { say_sentence, NULL };

static enum command_result run_system(struct chat *c, char *argument)
{
    if (!chat_has_template(c->template)) {
        console_printf("error: the model has no chat template, so a system prompt has no place\n");
        return COMMAND_DONE;
    }
    if (options_set(c->options, "system", argument, &to_console) == ERR_OK) {
        chat_clear(c);
        console_printf("(a new conversation, %s)\n",
                       argument[0] != '\0' ? "with that system prompt" : "without a system prompt");
    }
    return COMMAND_DONE;
}

/* The word and what follows it; *rest is "" where nothing does. */
static char *cut_word(char *text, char **rest)
{
    char *end = text;

    while (*end != ' ' && *end != '\0') {
        end++;
    }
    while (*end == ' ') {
        *end++ = '\0';
    }
    *rest = end;
    return text;
}

/* In quotes, as it would be given. */
static void show_stop(const char *stop)
{
    console_printf(", stop \"");
    for (; *stop != '\0'; stop++) {
        const char *escape = *stop == '\n'   ? "\\n"
                             : *stop == '\t' ? "\\t"
                             : *stop == '"'  ? "\\\""
                                             : "";

        console_write(*escape != '\0' ? escape : stop, *escape != '\0' ? 2 : 1);
    }
    console_printf("\"");
}

static void show_settings(const struct chat *c)
{
    const struct sampler_params *p = &c->options->sampler;
    char temp[FORMAT_NUMBER_BYTES], top_p[FORMAT_NUMBER_BYTES], min_p[FORMAT_NUMBER_BYTES],
        repeat[FORMAT_NUMBER_BYTES];

    console_printf("temp %s, top_p %s, top_k %u, min_p %s, repeat %s, seed %llu, n %u, think %s, "
                   "quiet %s",
                   format_milli(temp, (uint64_t)(p->temp * 1000.0f + 0.5f), 3),
                   format_milli(top_p, (uint64_t)(p->top_p * 1000.0f + 0.5f), 3),
                   (unsigned)p->top_k,
                   format_milli(min_p, (uint64_t)(p->min_p * 1000.0f + 0.5f), 3),
                   format_milli(repeat, (uint64_t)(p->repeat * 1000.0f + 0.5f), 3),
                   (unsigned long long)p->seed, (unsigned)c->options->n,
                   options_think_name(c->options->think), c->options->quiet ? "on" : "off");
    for (uint32_t i = 0; i < c->options->n_stops; i++) {
        show_stop(c->options->stop[i]);
    }
    console_printf("\n");
}

/* Text in quotes may have escapes, as in the boot arguments. */
static enum err set_stop(struct options *o, const char *value)
{
    char word[OPTIONS_STOP_BYTES * 2 + 8];

    if (strcmp(value, "off") == 0) {
        o->n_stops = 0;
        return ERR_OK;
    }
    if (value[0] != '"' || strlen(value) + 6 > sizeof word) {
        return options_set(o, "stop", value, &to_console);
    }
    format_text(word, sizeof word, "stop=%s", value);
    return options_parse(o, word, &to_console);
}

static enum command_result run_set(struct chat *c, char *argument)
{
    static const char *const names[] = { "temp", "top_p", "top_k", "min_p", "repeat",
                                         "seed", "n",     "think", "quiet", "stop" };
    char *value, *name = cut_word(argument, &value);
    bool known = name[0] == '\0';

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        known = known || strcmp(names[i], name) == 0;
    }
    if (!known) {
        console_printf("error: /set knows " SETTINGS "\n");
    } else if (strcmp(name, "stop") == 0 && set_stop(c->options, value) != ERR_OK) {
        return COMMAND_DONE;
    } else if (name[0] != '\0' && strcmp(name, "stop") != 0 &&
               options_set(c->options, name, value, &to_console) != ERR_OK) {
        return COMMAND_DONE;
    }
    c->sampler.params = c->options->sampler;
    if (strcmp(name, "seed") == 0) {
        sampler_init(&c->sampler, &c->options->sampler);
    }
    show_settings(c);
    return COMMAND_DONE;
}

/* ---- the list ---- */

static enum command_result run_help(struct chat *c, char *argument);

static const struct command commands[] = {
    { "help", "", "this list", run_help },
    { "models", "", "the models on the card, or in the folder", command_models },
    { "model", "NAME", "talk to another one", command_model },
    { "system", "TEXT", "a new conversation under this system prompt", run_system },
    { "set", "NAME VALUE", SETTINGS, run_set },
    { "reset", "", "a new conversation", run_reset },
    { "undo", "", "take the last turn back", run_undo },
    { "retry", "", "answer it again", run_retry },
    { "save", "[NAME]", "keep the conversation in NAME.sav (chat.sav)", command_save },
    { "load", "[NAME]", "go on with a conversation that was saved", command_load },
    { "stats", "", "what was done, and how much memory it took", command_stats },
    { "plan", "", "what lies where, and the speed to expect", command_plan },
    { "bench", "", "measure the model's speed", command_bench },
    { "selftest", "", "check every kernel against its reference", command_selftest },
    { "log", "", "the latest log lines again", command_log },
    { "reboot", "", "start the board again", command_reboot },
    { "off", "", "switch off, or leave", command_off },
};
static const size_t n_commands = sizeof commands / sizeof commands[0];

static enum command_result run_help(struct chat *c, char *argument)
{
    (void)c;
    (void)argument;
    for (size_t i = 0; i < n_commands; i++) {
        char left[40];

        format_text(left, sizeof left, "/%s %s", commands[i].name, commands[i].arguments);
        console_printf("  %-24s %s\n", left, commands[i].help);
    }
    console_printf("A line that begins with // goes to the model with one slash less.\n");
    return COMMAND_DONE;
}

static void suggest(const char *name)
{
    const struct command *nearest = commands;
    unsigned least = TEXT_DISTANCE_FAR;

    for (size_t i = 0; i < n_commands; i++) {
        unsigned d = text_distance(name, strlen(name), commands[i].name, strlen(commands[i].name));

        if (d < least) {
            least = d;
            nearest = &commands[i];
        }
    }
    if (least <= 2) {
        console_printf("error: there is no /%s; did you mean /%s?\n", name, nearest->name);
    } else {
        console_printf("error: there is no /%.40s; /help lists what there is\n", name);
    }
}

/* Those that do are refused while none is loaded. */
static bool needs_model(const struct command *command)
{
    static const char *const others[] = { "help", "models", "model", "selftest",
                                          "log",  "reboot", "off" };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(others[i], command->name) == 0) {
            return false;
        }
    }
    return true;
}

bool commands_is_one(const char *line, size_t bytes)
{
    return bytes > 1 && line[0] == '/' && line[1] >= 'a' && line[1] <= 'z';
}

enum command_result commands_run(struct chat *c, char *line)
{
    char *argument, *name = cut_word(line + 1, &argument);

    for (size_t i = 0; i < n_commands; i++) {
        if (strcmp(commands[i].name, name) != 0) {
            continue;
        }
        if (c->session == NULL && needs_model(&commands[i])) {
            chat_say_no_model();
            return COMMAND_DONE;
        }
        return commands[i].run(c, argument);
    }
    suggest(name);
    return COMMAND_DONE;
}
