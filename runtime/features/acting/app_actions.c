/* Sets up a model's actions from the boot options, and the grammar for
 * calls. */
#include <assert.h>
#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/features/acting/chat_act.h"
#include "runtime/features/grammar/app_grammar.h"
#include "runtime/text/format_text.h"

enum { FILE_BYTES = 4096 /* bytes for actions/NAME.txt; a file is read in whole sectors */ };

static void say_pin(void *context, const char *error_message)
{
    console_log(context, "warning: %s", error_message);
}

/* Add the lines of an option, or those of the file that it names. */
static void add_lines(struct app *a, const char *text)
{
    const struct app_files *files = a->setup.files;
    _Alignas(16) char file[FILE_BYTES];
    char error_message[ACTION_TEXT_BYTES];
    const char *why = NULL;

    if (strchr(text, ' ') == NULL) {
        if (files->read_actions == NULL) {
            why = "there is no card that could hold actions";
        } else if (files->read_actions(files->context, text, file, sizeof file) != ERR_OK) {
            why = files->error_message(files->context);
        }
        text = file;
    }
    if (why == NULL) {
        why = actions_read(&acting_of(&a->chat)->actions, text, error_message);
    }
    if (why != NULL) {
        console_log(a->setup.console, "warning: actions= is not used: %s", why);
    }
}

void app_open_actions(void *state, struct app *a)
{
    struct actions *actions = &((struct acting_state *)state)->actions;
    const struct options_acting *o = &a->setup.options->acting;
    struct pin_list pins = { .n = 0 };
    struct sensor_list sensors = { .n = 0 };

    if (o->pins[0] == '\0' && o->sensors[0] == '\0' && o->actions[0] == '\0') {
        return;
    }
    if (o->sensors[0] != '\0') {
        (void)sensor_list_read(&sensors, o->sensors);
    }
    if (o->pins[0] != '\0') {
        (void)pin_list_read(&pins, o->pins); /* the option's reader has checked the list */
    }
    actions_open(actions, a->setup.platform, &pins, &sensors, o->dry, o->a_minute, say_pin,
                 a->setup.console);
    actions->need = (enum action_need)o->said;
    if (o->actions[0] != '\0') {
        add_lines(a, o->actions);
    }
    if (actions->n != 0) {
        grammar_of(&a->chat)->otherwise = app_hold_to_actions;
        grammar_of(&a->chat)->holds = chat_holds_calls;
    }
}

void app_tell_actions(void *state, struct app *a)
{
    struct acting_state *s = state;

    if (s->actions.n == 0) {
        return;
    }
    if (!chat_has_template(a->chat.template)) {
        console_log(
            a->setup.console,
            "warning: pins=, sensors= and actions= have no effect, because the model has no chat template");
        return;
    }
    s->at_work = &s->actions;
    features_switch(&a->features, FEATURE_acting, true);
}

static_assert((int)ACTIONS_WORK_BYTES <= (int)CONSTRAINT_WORK_BYTES, "there is room to make it");

void app_hold_to_actions(struct app *a)
{
    struct grammar_constraint *c = &grammar_of(&a->chat)->constraint;
    const char *error_message = "the table is too long for a grammar";
    size_t bytes = 0;
    enum err e;

    grammar_constraint_off(c);
    if (acting_of(&a->chat)->at_work == NULL || a->setup.options->load.beams > 1) {
        return; /* calls are checked even without the grammar */
    }
    e = actions_grammar(&acting_of(&a->chat)->actions, grammar_constraint_memory(c),
                        INGOT_GRAMMAR_BYTES, grammar_constraint_work(c), &bytes);
    if (e == ERR_OK) {
        e = grammar_constraint_use(c, bytes, &error_message);
    }
    if (e != ERR_OK) {
        console_log(a->setup.console, "warning: no grammar limits replies to the actions: %s",
                    error_message);
    }
}
