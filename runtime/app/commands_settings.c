/* /set: the options that a conversation may change. */
#include "runtime/app/commands_private.h"

#include <string.h>

#include "runtime/console/console.h"
#include "runtime/text/format_text.h"
#include "runtime/text/nearest.h"

/* ---- shown ---------------------------------------------------------------------------------- */

static void show_char(struct console *out, char c)
{
    switch (c) {
    case '\n': console_write(out, "\\n", 2); break;
    case '\t': console_write(out, "\\t", 2); break;
    case '"': console_write(out, "\\\"", 2); break;
    default: console_write(out, &c, 1); break;
    }
}

/* In quotes, as it would be given. */
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

static void show_number(struct console *out, const char *name, float number)
{
    char text[FORMAT_NUMBER_BYTES];
    const char *sign = number < 0 ? "-" : "";

    number = number < 0 ? -number : number;
    console_printf(out, "%s %s%s", name, sign,
                   format_milli(text, (uint64_t)(number * 1000.0f + 0.5f), 3));
}

static void show_setting(struct console *out, const struct options *o, const char *name)
{
    const struct sampler_params *p = &o->sampler;

    switch (options_of_name(name)) {
    case OPTION_TEMP: show_number(out, name, p->temp); break;
    case OPTION_TOP_P: show_number(out, name, p->top_p); break;
    case OPTION_MIN_P: show_number(out, name, p->min_p); break;
    case OPTION_REPEAT: show_number(out, name, p->repeat); break;
    case OPTION_PRESENCE: show_number(out, name, p->presence); break;
    case OPTION_FREQUENCY: show_number(out, name, p->frequency); break;
    case OPTION_REPEAT_LAST:
        console_printf(out, "repeat_last_n %u", (unsigned)p->repeat_last);
        break;
    case OPTION_TOP_K: console_printf(out, "top_k %u", (unsigned)p->top_k); break;
    case OPTION_SEED: console_printf(out, "seed %llu", (unsigned long long)p->seed); break;
    case OPTION_N: console_printf(out, "n %u", (unsigned)o->reply.n); break;
    case OPTION_THINK: console_printf(out, "think %s", options_think_name(o->reply.think)); break;
    case OPTION_OVERFLOW:
        console_printf(out, "overflow %s", options_overflow_name(o->reply.overflow));
        break;
    case OPTION_TURNS: console_printf(out, "turns %u", (unsigned)o->reply.turns); break;
    case OPTION_QUIET: console_printf(out, "quiet %s", o->show.quiet ? "on" : "off"); break;
    default: show_stops(out, o); break;
    }
}

static const char *const settings[] = { "temp",
                                        "top_p",
                                        "top_k",
                                        "min_p",
                                        "repeat",
                                        "repeat_last_n",
                                        "presence_penalty",
                                        "frequency_penalty",
                                        "seed",
                                        "n",
                                        "think",
                                        "overflow",
                                        "turns",
                                        "quiet",
                                        "stop" };
enum { N_SETTINGS = sizeof settings / sizeof settings[0] };

static void show_all(struct app *a)
{
    for (size_t i = 0; i < N_SETTINGS; i++) {
        if (strcmp(settings[i], "stop") == 0 && a->setup.options->reply.n_stops == 0) {
            continue;
        }
        console_printf(a->setup.console, i == 0 ? "" : ", ");
        show_setting(a->setup.console, a->setup.options, settings[i]);
    }
    console_printf(a->setup.console, "\n");
}

/* ---- set ------------------------------------------------------------------------------------ */

/* Text in quotes may have escapes, as in the boot arguments. More than one: each is added; an empty
 * one, or off, leaves none. */
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

static bool is_setting(const char *name)
{
    if (options_of_name(name) == OPTION_REPEAT) {
        return true; /* by its other name, too */
    }
    for (size_t i = 0; i < N_SETTINGS; i++) {
        if (strcmp(settings[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void refuse_name(struct app *a, const char *name)
{
    struct nearest near;

    nearest_begin(&near, name, strlen(name));
    for (size_t i = 0; i < N_SETTINGS; i++) {
        nearest_offer(&near, settings[i]);
    }
    if (options_of_name(name) != OPTION_COUNT) {
        console_printf(a->setup.console,
                       "error: %s is set at start alone; /set knows " COMMANDS_SETTINGS "\n", name);
    } else if (near.name != NULL) {
        console_printf(a->setup.console, "error: there is no setting %s; did you mean %s?\n", name,
                       near.name);
    } else {
        console_printf(a->setup.console,
                       "error: there is no setting %.40s; /set knows " COMMANDS_SETTINGS "\n",
                       name);
    }
}

/* One with a value, which is not empty. */
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
        sampler_init(&a->chat.sampler, &o->sampler);
    }
    show_all(a);
}

/* The name ends at a blank or at an equals sign. */
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

enum command_result command_set(struct app *a, char *argument)
{
    char *value, *name = cut_name(argument, &value);

    if (name[0] == '\0') {
        show_all(a);
    } else if (!is_setting(name)) {
        refuse_name(a, name);
    } else if (value[0] == '\0') {
        show_setting(a->setup.console, a->setup.options, name);
        console_printf(a->setup.console, "\n");
    } else {
        set_one(a, name, value);
    }
    return COMMAND_DONE;
}

enum { SILENCE_LEAST = 5, SILENCE_MOST = 3600 }; /* seconds of /mode json SECONDS */

/* "", or the seconds. False: neither. */
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
        o->line.mode = MODE_JSON; /* from the next line on */
        o->line.silence_s = silence_s;
    } else if (strcmp(argument, "chat") == 0 && seconds[0] == '\0') {
        o->line.mode = MODE_CHAT;
        o->line.silence_s = 0;
    } else if (strcmp(argument, "json") == 0) {
        console_printf(
            a->setup.console,
            "error: /mode json takes %u to %u seconds of silence after which it ends, or "
            "nothing\n",
            (unsigned)SILENCE_LEAST, (unsigned)SILENCE_MOST);
    } else {
        console_printf(a->setup.console, "error: /mode takes chat or json; it is %s\n",
                       o->line.mode == MODE_JSON ? "json" : "chat");
    }
    return COMMAND_DONE;
}
