/* /set: the options that may change during a conversation. */
#include "runtime/app/commands_private.h"

#include <string.h>

#include "runtime/console/console.h"
#include "runtime/text/nearest.h"

/* ---- showing -------------------------------------------------------------------------------- */

static void show_char(struct console *out, char c)
{
    switch (c) {
    case '\n': console_write(out, "\\n", 2); break;
    case '\t': console_write(out, "\\t", 2); break;
    case '"': console_write(out, "\\\"", 2); break;
    default: console_write(out, &c, 1); break;
    }
}

/* Print a text in quotes, as a user would type it. */
static void show_quoted(struct console *out, const char *text)
{
    console_printf(out, "\"");
    for (; *text != '\0'; text++) {
        show_char(out, *text);
    }
    console_printf(out, "\"");
}

static void show_stops(struct console *out, const struct options *o)
{
    if (o->reply.n_stops == 0) {
        console_printf(out, "stop \"\"");
    }
    for (uint32_t i = 0; i < o->reply.n_stops; i++) {
        console_printf(out, i == 0 ? "stop " : ", stop ");
        show_quoted(out, o->reply.stop[i]);
    }
}

static void show_setting(struct console *out, const struct options *o, enum option which,
                         const char *name)
{
    char text[OPTIONS_VALUE_BYTES];

    if (which == OPTION_STOP) {
        show_stops(out, o);
        return;
    }
    console_printf(out, "%s %s", name, options_value_text(o, which, text));
}

/* The names of options.def that /set knows, with "," or (the last) " or " before each. */
#define SETTING_START(...)
#define SETTING_PRESET(...)
#define SETTING_PRESET_JSON(...)
#define SETTING_SET_PRESET(...) __VA_ARGS__
#define SETTING_SET_PRESET_JSON(...) __VA_ARGS__
#define BEFORE_STOP() " or "
#define BEFORE_CHOICE(words) ", "
#define BEFORE_COUNT(least, most) ", "
#define BEFORE_LIMIT(most) ", "
#define BEFORE_NUMBER(least, most) ", "
#define BEFORE_SEED() ", "
#define BEFORE_FLAG() ", "

const char commands_settings[] =
#define OPTION(id, name, group, member, type, initial, where, ...) \
    SETTING_##where(BEFORE_##type name)
#include "runtime/options/options.def"
    ;

static bool is_setting(enum option which)
{
    return which != OPTION_COUNT && (options_where(which) & OPTION_BY_SET) != 0;
}

static void show_all(struct app *a)
{
    const struct options *o = a->setup.options;
    const char *before = "";

    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        if (!is_setting((enum option)i) || (i == OPTION_STOP && o->reply.n_stops == 0)) {
            continue;
        }
        console_printf(a->setup.console, "%s", before);
        show_setting(a->setup.console, o, (enum option)i, options_name((enum option)i));
        before = ", ";
    }
    console_printf(a->setup.console, "\n");
}

/* ---- setting -------------------------------------------------------------------------------- */

/* Set a stop string. Text in quotes may have escapes, as in boot arguments. The text is added to
 * the list; an empty text or off removes all. */
static enum err set_stop(struct app *a, const char *value)
{
    struct options_report report = commands_report(a);
    struct options *o = a->setup.options;

    if (strcmp(value, "off") == 0 || strcmp(value, "\"\"") == 0) {
        o->reply.n_stops = 0;
        return ERR_OK;
    }
    return options_set_quoted(o, "stop", value, &report);
}

static void refuse_name(struct app *a, const char *name)
{
    struct nearest near;

    nearest_begin(&near, name, strlen(name));
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        if (is_setting((enum option)i)) {
            nearest_offer(&near, options_name((enum option)i));
        }
    }
    if (options_of_name(name) != OPTION_COUNT) {
        console_printf(a->setup.console, "error: %s can only be set at start; /set knows %s\n",
                       name, COMMANDS_SETTINGS);
    } else if (near.name != NULL) {
        console_printf(a->setup.console, "error: there is no setting %s; did you mean %s?\n", name,
                       near.name);
    } else {
        console_printf(a->setup.console, "error: there is no setting %.40s; /set knows %s\n", name,
                       COMMANDS_SETTINGS);
    }
}

/* Set an option to a value that is not empty. */
static void set_one(struct app *a, const char *name, const char *value)
{
    struct options_report report = commands_report(a);
    struct options *o = a->setup.options;
    enum err e;

    if (strcmp(name, "stop") == 0) {
        e = set_stop(a, value);
    } else {
        e = options_set(o, name, value, &report);
    }
    if (e != ERR_OK) {
        return;
    }
    a->chat.sampler.params = o->sampler;
    if (strcmp(name, "seed") == 0) {
        chat_restart_sampler(&a->chat);
    }
    show_all(a);
}

/* End the name at a space or an equals sign, and set *value to the text after it. */
static char *cut_name(char *text, char **value)
{
    char *end = text + strcspn(text, " =");

    *value = end + strspn(end, " ");
    if (**value == '=') {
        ++*value;
    }
    *value += strspn(*value, " ");
    *end = '\0';
    return text;
}

/* Set an option of a feature. Returns false if no feature has this option. */
static bool set_of_feature(struct app *a, const char *name, const char *value)
{
    const char *accepts;
    enum err e = features_set(&a->features, name, value, &accepts);

    if (e == ERR_BAD_ARGUMENT) {
        console_printf(a->setup.console, "error: %s takes %s\n", name, accepts);
    } else if (e == ERR_OK) {
        console_printf(a->setup.console, "(%s %s)\n", name, value);
    }
    return e != ERR_NOT_FOUND;
}

enum command_result command_set(struct app *a, char *argument)
{
    char *value, *name = cut_name(argument, &value);

    if (name[0] == '\0') {
        show_all(a);
    } else if (set_of_feature(a, name, value)) {
        return COMMAND_DONE;
    } else if (!is_setting(options_of_name(name))) {
        refuse_name(a, name);
    } else if (value[0] == '\0') {
        show_setting(a->setup.console, a->setup.options, options_of_name(name), name);
        console_printf(a->setup.console, "\n");
    } else {
        set_one(a, name, value);
    }
    return COMMAND_DONE;
}

enum { SILENCE_LEAST = 5, SILENCE_MOST = 3600 }; /* seconds in /mode json SECONDS */

/* Read "" or a number of seconds. Returns false for other texts. */
static bool read_silence(const char *text, uint32_t *seconds)
{
    bool none = *text == '\0';

    *seconds = 0;
    for (; *text >= '0' && *text <= '9' && *seconds <= SILENCE_MOST; text++) {
        *seconds = 10 * *seconds + (uint32_t)(*text - '0');
    }
    return none || (*text == '\0' && *seconds >= SILENCE_LEAST && *seconds <= SILENCE_MOST);
}

enum command_result command_mode(struct app *a, char *argument)
{
    struct options *o = a->setup.options;
    uint32_t silence_s;
    char *seconds;

    argument = commands_cut_word(argument, &seconds);
    if (strcmp(argument, "json") == 0 && read_silence(seconds, &silence_s)) {
        if (o->line.mode != MODE_JSON) {
            console_printf(
                a->setup.console,
                "(JSON from here on, for programs: docs/SERIAL.md; /mode chat goes back)\n");
        }
        o->line.mode = MODE_JSON; /* takes effect with the next line */
        o->line.silence_s = silence_s;
    } else if (strcmp(argument, "chat") == 0 && seconds[0] == '\0') {
        o->line.mode = MODE_CHAT;
        o->line.silence_s = 0;
    } else if (strcmp(argument, "json") == 0) {
        console_printf(
            a->setup.console,
            "error: /mode json takes a limit of silence from %u to %u seconds, or nothing\n",
            (unsigned)SILENCE_LEAST, (unsigned)SILENCE_MOST);
    } else {
        console_printf(a->setup.console, "error: /mode takes chat or json; the mode is %s\n",
                       o->line.mode == MODE_JSON ? "json" : "chat");
    }
    return COMMAND_DONE;
}
