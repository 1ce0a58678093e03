/* A preset is a file of options, written as in boot arguments. It is applied at the start or when a
 * conversation begins. */
#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/app/commands_private.h"
#include "runtime/console/console.h"
#include "runtime/features/adapters/app_adapters.h"
#include "runtime/features/grammar/app_grammar.h"

struct presets_state {
    struct options before; /* the options before the preset that is being applied */
};

enum { PRESET_BYTES = 8192 /* the most bytes of a preset's text, in whole sectors */ };

/* Replace lines that begin with # by blanks, unless they begin inside quotes. */
static void blank_comments(char *text)
{
    bool quoted = false, begins = true, comment = false;

    for (; *text != '\0'; text++) {
        comment = (comment && *text != '\n') || (begins && !quoted && *text == '#');
        begins = *text == '\n' || (begins && (*text == ' ' || *text == '\t' || *text == '\r'));
        if (comment) {
            *text = ' ';
        } else if (quoted && *text == '\\' && text[1] != '\0') {
            text++;
        } else if (*text == '"') {
            quoted = !quoted;
        }
    }
}

static enum err read(struct app *a, const char *name, char text[PRESET_BYTES])
{
    const struct app_files *files = a->setup.files;
    enum err e;

    if (files->read_preset == NULL) {
        return app_fail(a, ERR_UNSUPPORTED, "there is no card that could hold presets");
    }
    e = files->read_preset(files->context, name, text, PRESET_BYTES);
    if (e != ERR_OK) {
        return app_fail(a, e, files->error_message(files->context));
    }
    blank_comments(text);
    return ERR_OK;
}

static void say(void *context, bool refused, const char *error_message)
{
    (void)refused;
    console_log(context, "warning: preset: %s", error_message);
}

/* For preset=, set the options that were not given. */
static void open_preset(void *state, struct app *a)
{
    const struct options_report report = { say, a->setup.console };
    struct options *o = a->setup.options;
    _Alignas(16) char text[PRESET_BYTES];

    (void)state;
    if (o->load.preset[0] == '\0') {
        return;
    }
    if (read(a, o->load.preset, text) != ERR_OK) {
        console_log(a->setup.console, "warning: preset=%s is not used: %s", o->load.preset,
                    a->error_message);
        return;
    }
    a->prompt_of_file = !options_given(o, OPTION_PROMPT);
    (void)options_parse_preset(o, text, false, &report); /* boot options override preset options */
}

/* Use the preset's adapters and grammar if they differ from the present ones. */
static enum err use_lists(struct app *a, const struct options *before)
{
    struct options *o = a->setup.options;
    char adapter[ADAPTER_LIST_BYTES], grammar[OPTIONS_GRAMMAR_BYTES];
    enum err e = ERR_OK;

    memcpy(adapter, o->load.adapter, sizeof adapter);
    memcpy(grammar, o->load.grammar, sizeof grammar);
    memcpy(o->load.adapter, before->load.adapter, sizeof adapter);
    memcpy(o->load.grammar, before->load.grammar, sizeof grammar);
    if (strcmp(adapter, o->load.adapter) != 0) {
        e = app_change_adapters(a, adapter[0] != '\0' ? adapter : "off");
    }
    if (e == ERR_OK && strcmp(grammar, o->load.grammar) != 0) {
        e = app_use_grammar(a, grammar);
    }
    return e;
}

/* Begin a new conversation with the options of a preset. Options that apply only at a start are
 * reported. After an error everything is as before, except that the preset's adapters may be in
 * use. a->error_message says why, or is NULL if the report has the message. */
static enum err use_preset(struct app *a, const char *name, const struct options_report *report)
{
    struct options *o = a->setup.options,
                   *before = &((struct presets_state *)a->features.state[FEATURE_presets])->before;
    _Alignas(16) char text[PRESET_BYTES];
    struct option_set given;
    enum err e = read(a, name, text);
    bool seeded;

    if (e != ERR_OK) {
        return e;
    }
    *before = *o;
    given = o->given;
    o->given =
        (struct option_set){ 0 }; /* options for a start have no effect until the next start */
    o->reply.n_stops = 0;
    e = options_parse_preset(o, text, true, report);
    if (!options_given(o, OPTION_STOP)) {
        o->reply.n_stops = before->reply.n_stops;
    }
    seeded = options_given(o, OPTION_SEED);
    option_set_add(&o->given, &given);
    a->error_message = NULL; /* the error was printed already */
    if (e == ERR_OK) {
        e = use_lists(a, before);
    }
    if (e != ERR_OK) {
        *o = *before;
        return e;
    }
    a->chat.sampler.params = o->sampler;
    if (seeded) {
        chat_restart_sampler(&a->chat);
    }
    chat_clear(&a->chat);
    return ERR_OK;
}

static enum command_result command_preset(struct app *a, char *argument)
{
    struct options_report report = commands_report(a);

    if (argument[0] == '\0') {
        console_printf(a->setup.console, "error: /preset NAME uses the options of "
                                         "presets/NAME.txt\n");
    } else if (use_preset(a, argument, &report) == ERR_OK) {
        console_printf(a->setup.console, "(a new conversation, as %s has it)\n", argument);
    } else if (a->error_message != NULL) {
        console_printf(a->setup.console, "error: %s\n", a->error_message);
    }
    return COMMAND_DONE;
}

static const struct chat_command command = {
    "preset", GROUP_CONVERSATION, "NAME", "a new conversation with the options of presets/NAME.txt",
    true,     command_preset
};

const struct feature feature_presets = { .name = "presets",
                                         .state_bytes = sizeof(struct presets_state),
                                         .commands = &command,
                                         .n_commands = 1,
                                         .start = open_preset };
