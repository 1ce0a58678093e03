/* The command that shows the model's actions and how often each was done. */
#include "runtime/app/commands_private.h"
#include "runtime/features/acting/chat_act.h"

#include <string.h>

#include "runtime/console/console.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

static void show_action(const struct app *a, const struct action *action)
{
    const struct pin_list *l = &acting_of(&a->chat)->actions.pins.list;
    char what[64] = "";

    if (action->kind == ACTION_OUTPUT || action->kind == ACTION_INPUT) {
        const struct pin *pin = &l->pin[action->pin];

        format_text(what, sizeof what, "line %u, %s%s", (unsigned)pin->line,
                    pin->input ? "in" : "out", pin->low ? ", on when low" : "");
    }
    if (action->kind == ACTION_SENSOR) {
        const struct sensor *s = &acting_of(&a->chat)->actions.sensors.list.sensor[action->pin];

        format_text(what, sizeof what, "%s at 0x%x on i2c%u", s->kind->name, s->address, s->bus);
    }
    if (action->kind == ACTION_PULSE) {
        format_text(what, sizeof what, "%u..%u ms", (unsigned)action->argument[1].least,
                    (unsigned)action->argument[1].most);
    }
    console_printf(a->setup.console, "  %-24s %-28s done %u %s\n", action->name, what,
                   (unsigned)action->done, plural(action->done, "time", "times"));
}

static void show(const struct app *a)
{
    const struct actions *t = &acting_of(&a->chat)->actions;
    static const char *const needs[] = {
        [ACTION_NEEDS_VALUE] = "; an output is driven when somebody names it and says on or off",
        [ACTION_NEEDS_NAME] = "; an output is driven when somebody has named it",
        [ACTION_NEEDS_NOTHING] = "",
    };
    char limit[64] = "no limit";

    for (unsigned i = 0; i < t->n; i++) {
        show_action(a, &t->list[i]);
    }
    if (t->a_minute != 0) {
        format_text(limit, sizeof limit, "at most %u actions a minute", (unsigned)t->a_minute);
    }
    console_printf(a->setup.console, "(%s%s%s)\n", limit, needs[t->need],
                   t->pins.dry ? "; a dry run: no line is touched; /actions live ends it" : "");
}

static enum command_result command_actions(struct app *a, char *argument)
{
    struct actions *t = &acting_of(&a->chat)->actions;

    if (t->n == 0) {
        console_printf(a->setup.console,
                       "error: no actions are set: start with pins=, such as pins=light:3 "
                       "(docs/ACTING.md)\n");
        return COMMAND_DONE;
    }
    if (strcmp(argument, "dry") == 0 || strcmp(argument, "live") == 0) {
        pins_set_dry(&t->pins, argument[0] == 'd');
    } else if (argument[0] != '\0') {
        console_printf(a->setup.console,
                       "error: /actions takes nothing, dry (to touch no line) or live\n");
        return COMMAND_DONE;
    }
    show(a);
    return COMMAND_DONE;
}

const struct chat_command actions_command = {
    "actions", GROUP_MODELS,   "[dry|live]", "list the actions; dry: print them, touch nothing",
    true,      command_actions
};
