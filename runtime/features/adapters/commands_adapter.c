/* Commands about adapters (LoRA). */
#include "runtime/app/commands_private.h"
#include "runtime/features/adapters/app_adapters.h"

#include <string.h>

#include "runtime/console/console.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

static const char end[] = ".ingot";

struct listing {
    struct app *app;
    unsigned n;
};

/* Return an adapter's entry in the set, or NULL if it is not in use. */
static const struct lora_use *use_of(const struct lora *l, const struct lora_adapter *adapter)
{
    for (uint32_t i = 0; adapter != NULL && i < l->n; i++) {
        if (l->uses[i].adapter == adapter) {
            return &l->uses[i];
        }
    }
    return NULL;
}

/* Format a scale in thousandths, with its sign. */
static const char *format_scale(char text[FORMAT_NUMBER_BYTES + 1], float scale)
{
    text[0] = '-';
    if (scale < 0.0f) {
        (void)format_milli(text + 1, (uint64_t)(-scale * 1000.0f + 0.5f), 3);
        return text;
    }
    return format_milli(text, (uint64_t)(scale * 1000.0f + 0.5f), 3);
}

static void print_state(const struct app *a, const char *name)
{
    const struct lora_adapter *adapter = adapters_find(&adapters_of(&a->chat)->adapters, name);
    const struct lora_use *use = use_of(&adapters_of(&a->chat)->adapters.sets[0], adapter);
    char scale[FORMAT_NUMBER_BYTES + 1];

    if (use != NULL) {
        console_printf(a->setup.console, ", in use, scale %s", format_scale(scale, use->scale));
    } else if (adapter != NULL) {
        console_printf(a->setup.console, ", in memory");
    }
    console_printf(a->setup.console, "\n");
}

static void print_adapter(void *context, const char *file, uint64_t bytes)
{
    struct listing *l = context;
    char name[ADAPTERS_NAME_BYTES], size[FORMAT_NUMBER_BYTES];
    size_t n = strlen(file);

    if (n < sizeof end || strcmp(file + n - (sizeof end - 1), end) != 0) {
        return;
    }
    format_text(name, sizeof name, "%.*s", (int)(n - (sizeof end - 1)), file);
    console_printf(l->app->setup.console, "  %-40s %s", name, format_bytes(size, bytes));
    print_state(l->app, name);
    l->n++;
}

/* Print the adapters that were named by a path. */
static void print_others(struct listing *l)
{
    for (uint32_t i = 0; i < ADAPTERS_MOST; i++) {
        const struct adapters_entry *e = &adapters_of(&l->app->chat)->adapters.entries[i];

        if (e->name[0] != '\0' && !storage_is_plain_name(e->name)) {
            console_printf(l->app->setup.console, "  %-40s", e->name);
            print_state(l->app, e->name);
            l->n++;
        }
    }
}

static enum command_result command_adapters(struct app *a, char *argument)
{
    const struct app_files *files = a->setup.files;
    struct listing l = { a, 0 };

    (void)argument;
    if (files->list_adapters != NULL &&
        files->list_adapters(files->context, print_adapter, &l) != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", files->error_message(files->context));
        return COMMAND_DONE;
    }
    print_others(&l);
    if (l.n == 0) {
        console_printf(a->setup.console,
                       "(there are no adapters: `ingot adapter` makes one, for the folder "
                       "adapters/)\n");
    }
    return COMMAND_DONE;
}

/* Join "NAME SCALE" to NAME:SCALE. */
static void join(char list[ADAPTER_LIST_BYTES], char *argument)
{
    char *rest, *name = commands_cut_word(argument, &rest);

    if (rest[0] != '\0') {
        format_text(list, ADAPTER_LIST_BYTES, "%s:%s", name, rest);
    } else {
        format_text(list, ADAPTER_LIST_BYTES, "%s", name);
    }
}

static void say_changed(struct app *a, uint64_t ticks)
{
    const struct session *s = a->chat.session;
    uint32_t n = adapters_of(&a->chat)->adapters.sets[0].n;

    console_printf(a->setup.console, "(%u %s at work", (unsigned)n,
                   plural(n, "adapter is", "adapters are"));
    if (s->n_ids != 0 && s->n_cached == 0) {
        console_printf(a->setup.console, "; the %u %s so far %s computed again with the next line",
                       (unsigned)s->n_ids, plural(s->n_ids, "token", "tokens"),
                       plural(s->n_ids, "is", "are"));
    }
    if (a->setup.options->show.ticks) {
        console_printf(a->setup.console, "; %llu ticks", (unsigned long long)ticks);
    }
    console_printf(a->setup.console, ")\n");
}

static enum command_result command_adapter(struct app *a, char *argument)
{
    const struct platform_clock *clock = &a->setup.platform->clock;
    char list[ADAPTER_LIST_BYTES];
    uint64_t start;

    join(list, argument);
    if (list[0] == '\0') {
        console_printf(a->setup.console, "error: which one? /adapters lists them\n");
        return COMMAND_DONE;
    }
    start = platform_ticks(clock);
    if (app_change_adapters(a, list) != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", a->error_message);
        return COMMAND_DONE;
    }
    say_changed(a, platform_ticks(clock) - start);
    return COMMAND_DONE;
}

const struct chat_command adapter_commands[ADAPTER_COMMANDS] = {
    { "adapters", GROUP_MODELS, "", "list the adapters and those in use", true, command_adapters },
    { "adapter", GROUP_MODELS, "NAME [SCALE]", "use an adapter; ONE:0.5,OTHER: two; off: none",
      true, command_adapter },
};
