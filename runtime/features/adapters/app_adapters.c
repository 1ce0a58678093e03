/* The memory of adapters (LoRA), and which adapters are in use. */
#include "runtime/features/adapters/app_adapters.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/app/app_private.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

enum { MOST_SHARE = 8 /* adapters get at most 1/8 of all memory, unless an option needs more */ };

static void add_room(void *context, const char *name, uint64_t bytes)
{
    (void)name;
    *(uint64_t *)context += adapters_room(bytes);
}

/* Return the room for the adapters that the boot option names. On a computer the names may be
 * paths, which list_adapters does not visit. */
static uint64_t named_room(struct app *a)
{
    const struct app_files *files = a->setup.files;
    struct adapter_list list;
    uint64_t room = 0;

    (void)adapter_list_read(&list, a->setup.options->load.adapter);
    for (uint32_t i = 0; i < list.n; i++) {
        const struct file *file;

        if (files->find_adapter(files->context, list.items[i].name, &file) == ERR_OK) {
            room += adapters_room(file->bytes);
        }
    }
    return room;
}

static uint64_t wanted_room(struct app *a)
{
    const struct app_files *files = a->setup.files;
    uint64_t room = 0;

    if (files->find_adapter == NULL) {
        return 0;
    }
    if (a->setup.options->load.adapters != 0) {
        return a->setup.options->load.adapters;
    }
    (void)files->list_adapters(files->context, add_room, &room); /* a card without adapters needs no
                                                                  * room */
    return max_u64(min_u64(room, a->ram.bytes / MOST_SHARE), named_room(a));
}

/* Reserve the memory of adapters at the front of the model's memory. */
static void plan(void *state, struct app *a, struct model_setup *setup)
{
    struct adapters_state *s = state;
    struct memory_range *ram = &setup->ram;
    size_t room = (size_t)min_u64(wanted_room(a), ram->bytes / 2);

    s->ram = (struct memory_range){ ram->base, room };
    ram->base = (uint8_t *)ram->base + room;
    ram->bytes -= room;
}

static bool show_progress(void *context, const char *label, uint64_t done, uint64_t total)
{
    const struct app *a = context;

    if (a->setup.front == APP_SILENT) {
        return true;
    }
    return console_progress_step(a->setup.console, label, done, total) ||
           a->setup.options->line.mode == MODE_JSON;
}

static enum err load(struct app *a, const char *name)
{
    const struct app_files *files = a->setup.files;
    const struct file *file;
    enum err e;

    if (files->find_adapter == NULL) {
        return app_fail(a, ERR_UNSUPPORTED, "there is no card that could hold adapters");
    }
    e = files->find_adapter(files->context, name, &file);
    if (e != ERR_OK) {
        return app_fail(a, e, files->error_message(files->context));
    }
    e = adapters_load(&adapters_of(&a->chat)->adapters, name, file, show_progress, a);
    console_progress_end(a->setup.console);
    return e == ERR_OK ? ERR_OK : app_fail(a, e, adapters_of(&a->chat)->adapters.error_message);
}

static enum err read_list(struct app *a, struct adapter_list *list, const char *text)
{
    if (strlen(text) >= ADAPTER_LIST_BYTES || !adapter_list_read(list, text)) {
        return app_fail(a, ERR_BAD_ARGUMENT,
                        "an adapter is a name with or without a scale, such as poet or "
                        "poet:0.5,tutor: up to four");
    }
    return ERR_OK;
}

static enum err load_missing(struct app *a, const struct adapter_list *list)
{
    enum err e = ERR_OK;

    for (uint32_t i = 0; e == ERR_OK && i < list->n; i++) {
        if (adapters_find(&adapters_of(&a->chat)->adapters, list->items[i].name) == NULL) {
            e = load(a, list->items[i].name);
        }
    }
    return e;
}

/* Check that all adapters are still loaded, because loading one may drop another. */
static enum err check_loaded(struct app *a, const struct adapter_list *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (adapters_find(&adapters_of(&a->chat)->adapters, list->items[i].name) == NULL) {
            return app_fail(a, ERR_NO_SPACE,
                            "these adapters do not fit together: adapters=SIZE makes more room");
        }
    }
    return ERR_OK;
}

enum err app_use_adapter_sets(struct app *a, const char *const texts[], uint32_t n)
{
    struct adapter_list *lists = adapters_of(&a->chat)->lists;
    struct adapters_use uses[ADAPTERS_SETS][LORA_MOST];
    struct adapters_set sets[ADAPTERS_SETS];
    enum err e = ERR_OK;

    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        e = read_list(a, &lists[i], texts[i]);
        if (e == ERR_OK) {
            e = load_missing(a, &lists[i]);
        }
    }
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        e = check_loaded(a, &lists[i]);
        sets[i] = (struct adapters_set){ uses[i], lists[i].n };
        for (uint32_t j = 0; j < lists[i].n; j++) {
            uses[i][j] = (struct adapters_use){ lists[i].items[j].name, lists[i].items[j].scale };
        }
    }
    if (e != ERR_OK) {
        return e;
    }
    e = adapters_use_sets(&adapters_of(&a->chat)->adapters, sets, n);
    return e == ERR_OK ? ERR_OK : app_fail(a, e, adapters_of(&a->chat)->adapters.error_message);
}

enum err app_use_adapters(struct app *a, const char *text)
{
    enum err e = app_use_adapter_sets(a, &text, 1);

    a->target.model.transformer.lora = adapters_at_work(&adapters_of(&a->chat)->adapters);
    if (e == ERR_OK) { /* "off" is an empty list */
        format_text(adapters_of(&a->chat)->adapted, sizeof adapters_of(&a->chat)->adapted, "%s",
                    adapters_at_work(&adapters_of(&a->chat)->adapters) != NULL ? text : "");
    }
    return e;
}

/* Use the adapters of the boot option, once the target is loaded. */
static enum err load_those_of_options(void *state, struct app *a)
{
    struct adapters_state *s = state;
    const struct model *m = &a->target.model;
    const char *list = a->setup.options->load.adapter;
    enum err e;

    s->adapted[0] = '\0';
    adapters_open(&s->adapters, s->ram, &m->image, m->kernels, m->plan.chunk);
    s->adapters.signing = a->setup.signing;
    if (list[0] == '\0') {
        return ERR_OK;
    }
    e = app_use_adapters(a, list);
    return e == ERR_OK ? ERR_OK : app_blame(a, e, OPTION_ADAPTER);
}

enum err app_change_adapters(struct app *a, const char *list)
{
    uint32_t before = lora_crc(a->target.model.transformer.lora);
    enum err e = app_use_adapters(a, list);

    if (e == ERR_OK && lora_crc(a->target.model.transformer.lora) != before) {
        chat_weights_changed(&a->chat);
    }
    return e;
}

static const char *set_field(void *state, struct chat *c, const char *list)
{
    struct app *a = c->features->app;
    struct adapters_state *s = state;

    memcpy(s->before, s->adapted, sizeof s->before);
    return app_change_adapters(a, list) == ERR_OK ? NULL : a->error_message;
}

static void put_field_back(void *state, struct chat *c)
{
    const struct adapters_state *s = state;

    (void)app_change_adapters(c->features->app, s->before[0] != '\0' ? s->before : "off");
}

static const struct feature_field field = { .name = "adapter",
                                            .set = set_field,
                                            .put_back = put_field_back };

const struct feature feature_adapters = {
    .name = "adapters",
    .state_bytes = sizeof(struct adapters_state),
    .commands = adapter_commands,
    .n_commands = ADAPTER_COMMANDS,
    .field = &field,
    .planned = plan,
    .ready = load_those_of_options,
};
