#include "runtime/app/commands_private.h"

#include <string.h>

#include "runtime/console/console.h"
#include "runtime/text/format_text.h"
#include "runtime/text/nearest.h"

static const char *const group_names[COMMAND_GROUPS] = {
    [GROUP_CONVERSATION] = "the conversation",
    [GROUP_BRANCHES] = "branches and saves",
    [GROUP_MODELS] = "models",
    [GROUP_LESSONS] = "lessons (learn=on)",
    [GROUP_MEMORIES] = "memories (learn=on)",
    [GROUP_LINE] = "the line",
    [GROUP_MACHINE] = "the machine",
};

static enum command_result command_help(struct app *a, char *argument);

/* A row without a name stands for the features' commands of its group. */
static const struct chat_command commands[] = {
    { "help", GROUP_LINE, "[WORD]", "list the commands, or explain those with WORD, or all", false,
      command_help },
    { "models", GROUP_MODELS, "", "the models on the card, or in the folder", false,
      command_models },
    { "model", GROUP_MODELS, "NAME", "load another model", false, command_model },
    { "receive", GROUP_MODELS, "[FOLDER]", "receive a file by YMODEM", false, command_receive },
    { .group = GROUP_MODELS },
    { .group = GROUP_CONVERSATION },
    { "system", GROUP_CONVERSATION, "TEXT", "a new conversation with this system prompt", true,
      command_system },
    { "set", GROUP_CONVERSATION, "NAME VALUE", COMMANDS_SETTINGS, true, command_set },
    { "reset", GROUP_CONVERSATION, "", "a new conversation", true, command_reset },
    { "undo", GROUP_CONVERSATION, "[learn]", "take the last turn back; learn: the last lesson",
      true, command_undo },
    { "retry", GROUP_CONVERSATION, "", "answer again; the previous answer becomes a branch", true,
      command_retry },
    { .group = GROUP_BRANCHES },
    { "save", GROUP_BRANCHES, "[NAME]",
      "save the chat; prefix: its system prompt; learn: lessons; use: use of experts", true,
      command_save },
    { "load", GROUP_BRANCHES, "[NAME]", "continue a saved conversation; learn: lessons", true,
      command_load },
    { .group = GROUP_LESSONS },
    { .group = GROUP_MEMORIES },
    { "mode", GROUP_LINE, "chat|json", "talk to a person, or to a program; /mode chat goes back",
      false, command_mode },
    { "lock", GROUP_LINE, "", "allow only chatting from now on (lock=)", false, command_lock },
    { "unlock", GROUP_LINE, "PIN", "allow all commands again", false, command_unlock },
    { "stats", GROUP_MACHINE, "", "figures since the start, and the memory in use", true,
      command_stats },
    { "plan", GROUP_MACHINE, "", "the memory plan and the predicted speed", true, command_plan },
    { "bench", GROUP_MACHINE, "", "measure the model's speed", true, command_bench },
    { "selftest", GROUP_MACHINE, "", "check every kernel against its reference", false,
      command_selftest },
    { "log", GROUP_LINE, "", "show the latest log lines again", false, command_log },
    { "reboot", GROUP_MACHINE, "", "restart the board", false, command_reboot },
    { "off", GROUP_MACHINE, "", "switch off, or leave", false, command_off },
    { .group = GROUP_LINE },
    { .group = GROUP_MACHINE },
    { "exit", GROUP_LINE, NULL, NULL, false, command_exit },
    { "quit", GROUP_LINE, NULL, NULL, false, command_exit },
};

/* A position in the list of all commands: a row of the table or, at a row without a name, one of
 * the features' commands. */
struct walk {
    size_t row;
    unsigned feature, command;
};

/* Return the next command of a feature in the group, or NULL if there is none. */
static const struct chat_command *next_of_features(const struct app *a, struct walk *w,
                                                   enum command_group group)
{
    for (; w->feature < a->features.n; w->feature++, w->command = 0) {
        const struct feature *f = a->features.rows[w->feature];

        while (w->command < f->n_commands) {
            const struct chat_command *c = &f->commands[w->command++];

            if (c->group == group) {
                return c;
            }
        }
    }
    return NULL;
}

/* Return the next command, or NULL at the end. */
static const struct chat_command *next(const struct app *a, struct walk *w)
{
    while (w->row < sizeof commands / sizeof commands[0]) {
        const struct chat_command *c = &commands[w->row];

        if (c->name == NULL) {
            c = next_of_features(a, w, c->group);
        } else {
            w->row++;
            return c;
        }
        if (c != NULL) {
            return c;
        }
        w->row++;
        w->feature = w->command = 0;
    }
    return NULL;
}

/* Return true if a locked line may use a command: it must not make a lasting change, read or write
 * a file, or show another person's words. */
static bool is_of_locked(const char *name)
{
    static const char *const names[] = {
        "help", "reset", "retry", "plan", "stats", "lock", "unlock"
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_listed(const struct app *a, const struct chat_command *c)
{
    return c->help != NULL && (!a->setup.options->line.locked || is_of_locked(c->name));
}

static void explain(struct app *a, const struct chat_command *c)
{
    char left[40];

    format_text(left, sizeof left, "/%s %s", c->name, c->arguments);
    console_printf(a->setup.console, "  %-24s %s\n", left, c->help);
}

/* Print the names of a group's commands in one row. */
static void list_group(struct app *a, enum command_group group)
{
    const struct chat_command *c;
    struct walk w = { 0 };
    bool any = false;

    while ((c = next(a, &w)) != NULL) {
        if (c->group != group || !is_listed(a, c)) {
            continue;
        }
        if (!any) {
            console_printf(a->setup.console, "  %-20s", group_names[group]);
        }
        console_printf(a->setup.console, " /%s", c->name);
        any = true;
    }
    if (any) {
        console_printf(a->setup.console, "\n");
    }
}

/* This replaces strstr(), which the C library implements by recursion; a bounded stack does not
 * allow this. */
static bool contains(const char *text, const char *word)
{
    size_t n = strlen(word);

    while (*text != '\0' && strncmp(text, word, n) != 0) {
        text++;
    }
    return strncmp(text, word, n) == 0;
}

/* Return true if a word is a command's name (if by_name) or occurs in its name, arguments,
 * description or group. */
static bool concerns(const struct chat_command *c, const char *word, bool by_name)
{
    if (by_name) {
        return strcmp(c->name, word) == 0;
    }
    return contains(c->name, word) || contains(c->arguments, word) || contains(c->help, word) ||
           contains(group_names[c->group], word);
}

/* Explain all commands that match a word; returns how many. */
static unsigned explain_word(struct app *a, const char *word, bool by_name)
{
    const struct chat_command *c;
    struct walk w = { 0 };
    unsigned n = 0;

    while ((c = next(a, &w)) != NULL) {
        if (is_listed(a, c) && concerns(c, word, by_name)) {
            explain(a, c);
            n++;
        }
    }
    return n;
}

/* Refuse text after a command that takes none: it may mean something else, and a conversation or a
 * turn would be lost. */
static bool takes(struct app *a, const struct chat_command *c, const char *argument)
{
    if (c->arguments == NULL || c->arguments[0] != '\0' || argument[0] == '\0') {
        return true;
    }
    console_printf(a->setup.console, "error: /%s takes nothing after it\n", c->name);
    return false;
}

static enum command_result command_help(struct app *a, char *argument)
{
    const char *word = argument[0] == '/' ? argument + 1 : argument;

    if (word[0] == '\0') {
        for (unsigned group = 0; group < COMMAND_GROUPS; group++) {
            list_group(a, (enum command_group)group);
        }
        console_printf(a->setup.console,
                       "/help save explains one command, /help learn all with this word, /help all "
                       "everything.\n"
                       "A line that begins with // goes to the model with one slash less.\n");
    } else if (strcmp(word, "all") == 0) {
        (void)explain_word(a, "", false);
    } else if (explain_word(a, word, true) == 0 && explain_word(a, word, false) == 0) {
        console_printf(a->setup.console, "error: no command matches %.40s; /help lists them\n",
                       word);
    }
    return COMMAND_DONE;
}

static void suggest(struct app *a, const char *name)
{
    const struct chat_command *c;
    struct walk w = { 0 };
    struct nearest near;

    nearest_begin(&near, name, strlen(name));
    while ((c = next(a, &w)) != NULL) {
        nearest_offer(&near, c->name);
    }
    if (near.name != NULL) {
        console_printf(a->setup.console, "error: there is no /%s; did you mean /%s?\n", name,
                       near.name);
    } else {
        console_printf(a->setup.console, "error: there is no /%.40s; /help lists what there is\n",
                       name);
    }
}

enum command_result commands_run(struct app *a, char *line)
{
    char *argument, *name = commands_cut_word(line + 1, &argument);
    const struct chat_command *c;
    struct walk w = { 0 };

    while ((c = next(a, &w)) != NULL) {
        if (strcmp(c->name, name) != 0) {
            continue;
        }
        if (a->setup.options->line.locked && !is_of_locked(name)) {
            commands_refuse_locked(a, name);
            return COMMAND_DONE;
        }
        if (a->chat.session == NULL && c->needs_model) {
            chat_say_no_model(a->setup.console);
            return COMMAND_DONE;
        }
        return takes(a, c, argument) ? c->run(a, argument) : COMMAND_DONE;
    }
    suggest(a, name);
    return COMMAND_DONE;
}
