#include "runtime/app/commands_private.h"

#include <string.h>

#include "runtime/console/console.h"
#include "runtime/text/format_text.h"
#include "runtime/text/nearest.h"

struct command {
    const char *name, *arguments, *help; /* NULL: not in the list */
    bool needs_model;                    /* refused while none is loaded */
    enum command_result (*run)(struct app *a, char *argument);
};

static enum command_result command_help(struct app *a, char *argument);

static const struct command commands[] = {
    { "help", "", "this list", false, command_help },
    { "models", "", "the models on the card, or in the folder", false, command_models },
    { "model", "NAME", "talk to another one", false, command_model },
    { "receive", "[FOLDER]", "a file from the terminal program, by YMODEM", false,
      command_receive },
    { "adapters", "", "the adapters there are, and which are at work", true, command_adapters },
    { "adapter", "NAME [SCALE]", "answer with it; ONE:0.5,OTHER: with both; off: without", true,
      command_adapter },
    { "grammar", "NAME", "hold replies to it, or to choices such as yes|no; off", true,
      command_grammar },
    { "actions", "[dry|live]", "what the model may do; dry: it is said alone", true,
      command_actions },
    { "preset", "NAME", "a new conversation with the words of presets/NAME.txt", true,
      command_preset },
    { "reflect", "[QUESTION]", "let the model look back; it is no part of the conversation", true,
      command_reflect },
    { "system", "TEXT", "a new conversation under this system prompt", true, command_system },
    { "set", "NAME VALUE", COMMANDS_SETTINGS, true, command_set },
    { "reset", "", "a new conversation", true, command_reset },
    { "undo", "[learn]", "take the last turn back; learn: the last lesson", true, command_undo },
    { "retry", "", "answer it again; the other answer stays as a branch", true, command_retry },
    { "branch", "NAME", "go on under a name, and keep what there is", true, command_branch },
    { "switch", "NAME", "go on with another branch", true, command_switch },
    { "branches", "", "what was kept so", true, command_branches },
    { "drop", "NAME", "forget a branch", true, command_drop },
    { "save", "[NAME]",
      "keep the chat in NAME.sav; prefix: its beginning; learn: lessons; use: of experts", true,
      command_save },
    { "load", "[NAME]", "go on with a conversation that was saved; learn: lessons", true,
      command_load },
    { "good", "", "learn from the last reply (learn=on)", true, command_good },
    { "bad", "", "the same, away from it", true, command_bad },
    { "teach", "QUESTION = ANSWER", "learn an answer", true, command_teach },
    { "learned", "", "what was learnt", true, command_learned },
    { "remember", "NAMESPACE TEXT", "QUESTION = ANSWER, or a sentence, as a memory", true,
      command_remember },
    { "forget", "NUMBER|NAMESPACE|all", "what /what lists", true, command_forget },
    { "promote", "FROM TO", "memories of one namespace become another's", true, command_promote },
    { "what", "", "what is remembered", true, command_what },
    { "fabric", "", "the memories' namespaces, and their gates", true, command_fabric },
    { "time", "[YYYY-MM-DD hh:mm]", "the clock by which memories fade", true, command_time },
    { "mode", "chat|json", "talk to a person, or to a program (docs/SERIAL.md)", false,
      command_mode },
    { "lock", "", "from now on the line only chats (lock=)", false, command_lock },
    { "unlock", "PIN", "all commands again", false, command_unlock },
    { "stats", "", "what was done, and how much memory it took", true, command_stats },
    { "plan", "", "what lies where, and the speed to expect", true, command_plan },
    { "bench", "", "measure the model's speed", true, command_bench },
    { "selftest", "", "check every kernel against its reference", false, command_selftest },
    { "log", "", "the latest log lines again", false, command_log },
    { "reboot", "", "start the board again", false, command_reboot },
    { "off", "", "switch off, or leave", false, command_off },
    { "exit", NULL, NULL, false, command_exit },
    { "quit", NULL, NULL, false, command_exit },
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

static enum command_result command_help(struct app *a, char *argument)
{
    (void)argument;
    for (size_t i = 0; i < n_commands; i++) {
        char left[40];

        if (commands[i].help == NULL ||
            (a->setup.options->line.locked && !is_of_locked(commands[i].name))) {
            continue;
        }
        format_text(left, sizeof left, "/%s %s", commands[i].name, commands[i].arguments);
        console_printf(a->setup.console, "  %-24s %s\n", left, commands[i].help);
    }
    console_printf(a->setup.console,
                   "A line that begins with // goes to the model with one slash less.\n");
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
