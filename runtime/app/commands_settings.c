/* /set: the options that a conversation may change. */
#include "runtime/app/commands_private.h"

#include <string.h>

#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

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
static void show_stop(struct console *out, const char *stop)
{
    console_printf(out, ", stop \"");
    for (; *stop != '\0'; stop++) {
        show_char(out, *stop);
    }
    console_printf(out, "\"");
}

static const char *decimals(char text[FORMAT_NUMBER_BYTES], float number)
{
    return format_milli(text, (uint64_t)(number * 1000.0f + 0.5f), 3);
}

static void show_settings(struct app *a)
{
    const struct options *o = a->setup.options;
    const struct sampler_params *p = &o->sampler;
    char temp[FORMAT_NUMBER_BYTES], top_p[FORMAT_NUMBER_BYTES], min_p[FORMAT_NUMBER_BYTES],
        repeat[FORMAT_NUMBER_BYTES];

    console_printf(a->setup.console,
                   "temp %s, top_p %s, top_k %u, min_p %s, repeat %s, seed %llu, n %u, think %s, "
                   "quiet %s",
                   decimals(temp, p->temp), decimals(top_p, p->top_p), (unsigned)p->top_k,
                   decimals(min_p, p->min_p), decimals(repeat, p->repeat),
                   (unsigned long long)p->seed, (unsigned)o->reply.n,
                   options_think_name(o->reply.think), o->show.quiet ? "on" : "off");
    for (uint32_t i = 0; i < o->reply.n_stops; i++) {
        show_stop(a->setup.console, o->reply.stop[i]);
    }
    console_printf(a->setup.console, "\n");
}

/* Text in quotes may have escapes, as in the boot arguments. */
static enum err set_stop(struct app *a, const char *value)
{
    struct options_report report = commands_report(a);
    struct options *o = a->setup.options;
    char word[OPTIONS_STOP_BYTES * 2 + 8];

    if (strcmp(value, "off") == 0) {
        o->reply.n_stops = 0;
        return ERR_OK;
    }
    if (value[0] != '"' || strlen(value) + 6 > sizeof word) {
        return options_set(o, "stop", value, &report);
    }
    format_text(word, sizeof word, "stop=%s", value);
    return options_parse(o, word, &report);
}

static bool is_setting(const char *name)
{
    static const char *const names[] = { "temp", "top_p", "top_k", "min_p", "repeat",
                                         "seed", "n",     "think", "quiet", "stop" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static enum err set_one(struct app *a, const char *name, const char *value)
{
    struct options_report report = commands_report(a);

    if (!is_setting(name)) {
        console_printf(a->setup.console, "error: /set knows " COMMANDS_SETTINGS "\n");
        return ERR_OK; /* what is known, and how it stands, comes after it */
    }
    if (strcmp(name, "stop") == 0) {
        return set_stop(a, value);
    }
    return options_set(a->setup.options, name, value, &report);
}

enum command_result command_set(struct app *a, char *argument)
{
    struct options *o = a->setup.options;
    char *value, *name = commands_cut_word(argument, &value);

    if (name[0] != '\0' && set_one(a, name, value) != ERR_OK) {
        return COMMAND_DONE;
    }
    a->chat.sampler.params = o->sampler;
    if (strcmp(name, "seed") == 0) {
        sampler_init(&a->chat.sampler, &o->sampler);
    }
    show_settings(a);
    return COMMAND_DONE;
}
