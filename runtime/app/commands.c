#include "runtime/app/commands_private.h"

#include <string.h>

#include "runtime/console/console.h"
#include "runtime/text/format_text.h"
#include "runtime/text/nearest.h"

/* The groups of /help. */
enum group {
    GROUP_CONVERSATION,
    GROUP_BRANCHES,
    GROUP_MODELS,
    GROUP_LESSONS,
    GROUP_MEMORIES,
    GROUP_LINE,
    GROUP_MACHINE,
    N_GROUPS
};
static const char *const group_names[N_GROUPS] = {
    [GROUP_CONVERSATION] = "the conversation",
    [GROUP_BRANCHES] = "branches and saves",
    [GROUP_MODELS] = "models",
    [GROUP_LESSONS] = "lessons (learn=on)",
    [GROUP_MEMORIES] = "memories (learn=on)",
    [GROUP_LINE] = "the line",
    [GROUP_MACHINE] = "the machine",
};

struct command {
    const char *name;
    enum group group;
    const char *arguments, *help; /* NULL: not in the list */
    bool needs_model;             /* refused while none is loaded */
    enum command_result (*run)(struct app *a, char *argument);
};

static enum command_result command_help(struct app *a, char *argument);

static const struct command commands[] = {
    { "help", GROUP_LINE, "[WORD]", "commands by groups; WORD: those it is in; all: every one",
      false, command_help },
    { "models", GROUP_MODELS, "", "the models on the card, or in the folder", false,
      command_models },
    { "model", GROUP_MODELS, "NAME", "talk to another one", false, command_model },
    { "receive", GROUP_MODELS, "[FOLDER]", "a file from the terminal program, by YMODEM", false,
      command_receive },
    { "adapters", GROUP_MODELS, "", "the adapters there are, and which are at work", true,
      command_adapters },
    { "adapter", GROUP_MODELS, "NAME [SCALE]",
      "answer with it; ONE:0.5,OTHER: with both; off: without", true, command_adapter },
    { "grammar", GROUP_MODELS, "NAME", "hold replies to it, or to choices such as yes|no; off",
      true, command_grammar },
    { "actions", GROUP_MODELS, "[dry|live]", "what the model may do; dry: it is said alone", true,
      command_actions },
    { "preset", GROUP_CONVERSATION, "NAME", "a new conversation with the words of presets/NAME.txt",
      true, command_preset },
    { "reflect", GROUP_CONVERSATION, "[QUESTION]",
      "let the model look back; it is no part of the conversation", true, command_reflect },
    { "system", GROUP_CONVERSATION, "TEXT", "a new conversation under this system prompt", true,
      command_system },
    { "set", GROUP_CONVERSATION, "NAME VALUE", COMMANDS_SETTINGS, true, command_set },
    { "reset", GROUP_CONVERSATION, "", "a new conversation", true, command_reset },
    { "undo", GROUP_CONVERSATION, "[learn]", "take the last turn back; learn: the last lesson",
      true, command_undo },
    { "retry", GROUP_CONVERSATION, "", "answer it again; the other answer stays as a branch", true,
      command_retry },
    { "branch", GROUP_BRANCHES, "NAME", "go on under a name, and keep what there is", true,
      command_branch },
    { "switch", GROUP_BRANCHES, "NAME", "go on with another branch", true, command_switch },
    { "branches", GROUP_BRANCHES, "", "what was kept so", true, command_branches },
    { "drop", GROUP_BRANCHES, "NAME", "forget a branch", true, command_drop },
    { "save", GROUP_BRANCHES, "[NAME]",
      "keep the chat in NAME.sav; prefix: its beginning; learn: lessons; use: of experts", true,
      command_save },
    { "load", GROUP_BRANCHES, "[NAME]", "go on with a conversation that was saved; learn: lessons",
      true, command_load },
    { "good", GROUP_LESSONS, "", "learn from the last reply (learn=on)", true, command_good },
    { "bad", GROUP_LESSONS, "", "the same, away from it", true, command_bad },
    { "teach", GROUP_LESSONS, "QUESTION = ANSWER", "learn an answer", true, command_teach },
    { "learned", GROUP_LESSONS, "", "what was learnt", true, command_learned },
    { "remember", GROUP_MEMORIES, "NAMESPACE TEXT", "QUESTION = ANSWER, or a sentence, as a memory",
      true, command_remember },
    { "forget", GROUP_MEMORIES, "NUMBER|NAMESPACE|all", "what /what lists", true, command_forget },
    { "promote", GROUP_MEMORIES, "FROM TO", "memories of one namespace become another's", true,
      command_promote },
    { "what", GROUP_MEMORIES, "", "what is remembered", true, command_what },
    { "fabric", GROUP_MEMORIES, "", "the memories' namespaces, and their gates", true,
      command_fabric },
    { "time", GROUP_MEMORIES, "[YYYY-MM-DD hh:mm]", "the clock by which memories fade", true,
      command_time },
    { "mode", GROUP_LINE, "chat|json", "talk to a person, or to a program; /mode chat goes back",
      false, command_mode },
    { "lock", GROUP_LINE, "", "from now on the line only chats (lock=)", false, command_lock },
    { "unlock", GROUP_LINE, "PIN", "all commands again", false, command_unlock },
    { "stats", GROUP_MACHINE, "", "what was done, and how much memory it took", true,
      command_stats },
    { "plan", GROUP_MACHINE, "", "what lies where, and the speed to expect", true, command_plan },
    { "bench", GROUP_MACHINE, "", "measure the model's speed", true, command_bench },
    { "selftest", GROUP_MACHINE, "", "check every kernel against its reference", false,
      command_selftest },
    { "log", GROUP_LINE, "", "the latest log lines again", false, command_log },
    { "reboot", GROUP_MACHINE, "", "start the board again", false, command_reboot },
    { "off", GROUP_MACHINE, "", "switch off, or leave", false, command_off },
    { "exit", GROUP_LINE, NULL, NULL, false, command_exit },
    { "quit", GROUP_LINE, NULL, NULL, false, command_exit },
};
static const size_t n_commands = sizeof commands / sizeof commands[0];

/* All that a locked line may have: nothing that stays, reads or writes a file, or shows what somebody else
 * has said. */
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

static bool is_listed(const struct app *a, const struct command *c)
{
    return c->help != NULL && (!a->setup.options->line.locked || is_of_locked(c->name));
}

static void explain(struct app *a, const struct command *c)
{
    char left[40];

    format_text(left, sizeof left, "/%s %s", c->name, c->arguments);
    console_printf(a->setup.console, "  %-24s %s\n", left, c->help);
}

/* A row of names. */
static void list_group(struct app *a, enum group group)
{
    bool any = false;

    for (size_t i = 0; i < n_commands; i++) {
        if (commands[i].group != group || !is_listed(a, &commands[i])) {
            continue;
        }
        if (!any) {
            console_printf(a->setup.console, "  %-20s", group_names[group]);
        }
        console_printf(a->setup.console, " /%s", commands[i].name);
        any = true;
    }
    if (any) {
        console_printf(a->setup.console, "\n");
    }
}

/* Not strstr(): the C library's calls itself, which a bounded stack does not allow. */
static bool contains(const char *text, const char *word)
{
    size_t n = strlen(word);

    while (*text != '\0' && strncmp(text, word, n) != 0) {
        text++;
    }
    return strncmp(text, word, n) == 0;
}

/* Whether a word is all of a command's name, or is found in what is said of it. */
static bool concerns(const struct command *c, const char *word, bool by_name)
{
    if (by_name) {
        return strcmp(c->name, word) == 0;
    }
    return contains(c->name, word) || contains(c->arguments, word) || contains(c->help, word) ||
           contains(group_names[c->group], word);
}

/* How many commands were explained. */
static unsigned explain_word(struct app *a, const char *word, bool by_name)
{
    unsigned n = 0;

    for (size_t i = 0; i < n_commands; i++) {
        if (is_listed(a, &commands[i]) && concerns(&commands[i], word, by_name)) {
            explain(a, &commands[i]);
            n++;
        }
    }
    return n;
}

static enum command_result command_help(struct app *a, char *argument)
{
    const char *word = argument[0] == '/' ? argument + 1 : argument;

    if (word[0] == '\0') {
        for (unsigned group = 0; group < N_GROUPS; group++) {
            list_group(a, (enum group)group);
        }
        console_printf(
            a->setup.console,
            "/help save tells of one, /help learn of all with that word, /help all of every "
            "one.\nA line that begins with // goes to the model with one slash less.\n");
    } else if (strcmp(word, "all") == 0) {
        (void)explain_word(a, "", false);
    } else if (explain_word(a, word, true) == 0 && explain_word(a, word, false) == 0) {
        console_printf(a->setup.console,
                       "error: no command has to do with %.40s; /help lists them\n", word);
    }
    return COMMAND_DONE;
}

static void suggest(struct app *a, const char *name)
{
    struct nearest near;

    nearest_begin(&near, name, strlen(name));
    for (size_t i = 0; i < n_commands; i++) {
        nearest_offer(&near, commands[i].name);
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

    for (size_t i = 0; i < n_commands; i++) {
        if (strcmp(commands[i].name, name) != 0) {
            continue;
        }
        if (a->setup.options->line.locked && !is_of_locked(name)) {
            commands_refuse_locked(a, name);
            return COMMAND_DONE;
        }
        if (a->chat.session == NULL && commands[i].needs_model) {
            chat_say_no_model(a->setup.console);
            return COMMAND_DONE;
        }
        return commands[i].run(a, argument);
    }
    suggest(a, name);
    return COMMAND_DONE;
}
