/* Commands about the branches of a conversation. */
#include "runtime/app/commands_private.h"

#include <string.h>

#include "runtime/features/branches/chat_branches.h"
#include "runtime/console/console.h"
#include "runtime/text/plural.h"

_Static_assert(CHAT_BRANCHES_MOST == 8, "as the message says");

static void say_full(struct app *a)
{
    const struct chat_branches *b = branches_of(&a->chat);

    if (b->n == 0) {
        console_printf(a->setup.console,
                       "error: this start has no room for branches: branches=4 makes some\n");
        return;
    }
    console_printf(a->setup.console,
                   "error: %u %s kept, and there is no room for more: /drop NAME frees one "
                   "(/branches lists them)%s\n",
                   (unsigned)b->n, plural(b->n, "branch is", "branches are"),
                   b->n < CHAT_BRANCHES_MOST ? ", branches=8 makes more" : "");
}

static enum command_result command_branch(struct app *a, char *argument)
{
    struct console *console = a->setup.console;
    char before[CHAT_BRANCH_NAME_BYTES];

    memcpy(before, branches_of(&a->chat)->current, sizeof before);
    switch (chat_branch(&a->chat, argument)) {
    case ERR_OK:
        console_printf(console, "(this is now branch %s; /switch %s goes back)\n", argument,
                       before);
        break;
    case ERR_BUSY:
        console_printf(console, "error: the branch %s exists already\n", argument);
        break;
    case ERR_NO_SPACE: say_full(a); break;
    default:
        console_printf(
            console, "error: /branch takes a name of up to %u letters, digits, '-', '_' and '.'\n",
            (unsigned)CHAT_BRANCH_NAME_BYTES - 1);
    }
    return COMMAND_DONE;
}

static void say_unknown(struct console *console, const char *name)
{
    if (name[0] == '\0') {
        console_printf(console, "error: which one? /branches lists them\n");
    } else {
        console_printf(console, "error: there is no branch %.40s; /branches lists what there is\n",
                       name);
    }
}

static enum command_result command_switch(struct app *a, char *argument)
{
    struct console *console = a->setup.console;
    uint32_t pending;

    if (chat_switch(&a->chat, argument, &pending) != ERR_OK) {
        say_unknown(console, argument);
        return COMMAND_DONE;
    }
    console_printf(console, "(%s: %u %s", argument, a->chat.turns.n,
                   plural(a->chat.turns.n, "turn", "turns"));
    if (pending > 1) {
        console_printf(console, ", %u tokens, of which %u are computed again with the next line",
                       (unsigned)a->chat.session->n_ids, (unsigned)pending);
    }
    console_printf(console, ")\n");
    return COMMAND_DONE;
}

static void list_one(struct console *console, const char *name, unsigned turns, uint32_t tokens,
                     const char *more)
{
    console_printf(console, "  %-24s %3u %s, %u tokens%s\n", name, turns,
                   plural(turns, "turn", "turns"), (unsigned)tokens, more);
}

static enum command_result command_branches(struct app *a, char *argument)
{
    const struct chat *c = &a->chat;

    (void)argument;
    if (branches_of(c)->n == 0) {
        say_full(a);
        return COMMAND_DONE;
    }
    list_one(a->setup.console, branches_of(c)->current, c->turns.n, c->session->n_ids,
             ", this one");
    for (uint32_t i = 0; i < branches_of(c)->n; i++) {
        const struct chat_branch *b = branches_of(c)->list[i];

        if (b->name[0] != '\0') {
            list_one(a->setup.console, b->name, b->turns.n, b->sequence.n_ids, "");
        }
    }
    return COMMAND_DONE;
}

static enum command_result command_drop(struct app *a, char *argument)
{
    struct console *console = a->setup.console;

    switch (chat_branch_drop(&a->chat, argument)) {
    case ERR_OK: console_printf(console, "(%s is forgotten)\n", argument); break;
    case ERR_BUSY:
        console_printf(console, "error: %s is in use: /switch to another one first\n", argument);
        break;
    default: say_unknown(console, argument);
    }
    return COMMAND_DONE;
}

const struct chat_command branch_commands[BRANCH_COMMANDS] = {
    { "branch", GROUP_BRANCHES, "NAME", "keep the conversation, and continue under a new name",
      true, command_branch },
    { "switch", GROUP_BRANCHES, "NAME", "continue with another branch", true, command_switch },
    { "branches", GROUP_BRANCHES, "", "list the branches", true, command_branches },
    { "drop", GROUP_BRANCHES, "NAME", "forget a branch", true, command_drop },
};
