#include "runtime/app/app_storage.h"

#include <string.h>

#include "flash_image/format/grammar.h"
#include "runtime/app/app_private.h"
#include "runtime/console/console.h"
#include "runtime/text/utf8.h"

static const char *error_message(void *context)
{
    const struct app_storage *s = context;

    return s->storage.error_message;
}

/* A name always means the same file, whatever was found in between; the previous model keeps its
 * name. */
static enum err find_model(void *context, enum app_file which, const char *name,
                           const struct file **file)
{
    struct app_storage *s = context;
    int i = APP_STORAGE_MODEL;
    enum err e;

    if (which == APP_DRAFT) {
        i = APP_STORAGE_DRAFT;
    }
    *file = &s->file[i];
    e = storage_find_model(&s->storage, name, &s->tables[i], &s->file[i]);
    if (e != ERR_OK) {
        s->file[i].device = NULL; /* a model that was not found has no name */
    }
    return e;
}

static const char *model_name(void *context, const char *asked)
{
    const struct app_storage *s = context;
    const struct file *f = &s->file[APP_STORAGE_MODEL];

    if (f->device == NULL || strchr(asked, '/') != NULL) { /* outside models/ */
        return asked[0] != '\0' ? asked : "NAME";
    }
    if (storage_is_initrd(&s->storage, f)) {
        return "initrd";
    }
    if (f->device->memory != NULL || f->device->flash) {
        return "flash";
    }
    return f->name;
}

static enum err check_model(void *context, const char *name)
{
    struct app_storage *s = context;

    return storage_check_model(&s->storage, name);
}

static enum err list_models(void *context, storage_visit_fn *visit, void *visit_context)
{
    struct app_storage *s = context;

    return storage_list_models(&s->storage, visit, visit_context);
}

/* Find the file of a save. Files on a card keep their lengths. */
static enum err find_save(void *context, const char *name, uint64_t bytes, const struct file **file)
{
    struct app_storage *s = context;

    *file = &s->file[APP_STORAGE_SAVE];
    return storage_find_save(&s->storage, name, bytes, &s->tables[APP_STORAGE_SAVE],
                             &s->file[APP_STORAGE_SAVE]);
}

static enum err find_kv(void *context, const struct file **file)
{
    struct app_storage *s = context;

    *file = &s->file[APP_STORAGE_KV];
    return storage_find_kv(&s->storage, &s->tables[APP_STORAGE_KV], &s->file[APP_STORAGE_KV]);
}

static enum err find_prefix(void *context, uint64_t bytes, const struct file **file)
{
    struct app_storage *s = context;

    *file = &s->file[APP_STORAGE_SAVE];
    return storage_find_prefix(&s->storage, bytes, &s->tables[APP_STORAGE_SAVE],
                               &s->file[APP_STORAGE_SAVE]);
}

static enum err find_use(void *context, uint64_t bytes, const struct file **file)
{
    struct app_storage *s = context;

    *file = &s->use;
    return storage_find_use(&s->storage, s->file[APP_STORAGE_MODEL].name, bytes, &s->use);
}

static enum err find_log(void *context, const struct file **file)
{
    struct app_storage *s = context;

    *file = &s->log;
    return storage_find_log(&s->storage, &s->log);
}

static enum err find_kept(void *context, const struct file **file)
{
    struct app_storage *s = context;

    *file = &s->kept;
    return storage_find_kept(&s->storage, &s->kept);
}

static enum err check_place(void *context, const struct file *file)
{
    struct app_storage *s = context;

    return storage_check_place(&s->storage, file);
}

static enum err find_adapter(void *context, const char *name, const struct file **file)
{
    struct app_storage *s = context;

    *file = &s->file[APP_STORAGE_SAVE];
    return storage_find_adapter(&s->storage, name, &s->tables[APP_STORAGE_SAVE],
                                &s->file[APP_STORAGE_SAVE]);
}

static enum err list_adapters(void *context, storage_visit_fn *visit, void *visit_context)
{
    struct app_storage *s = context;

    return storage_list_adapters(&s->storage, visit, visit_context);
}

static enum err read_grammar(void *context, const char *name, void *memory, size_t *bytes)
{
    struct app_storage *s = context;
    struct storage_memory to = { memory, INGOT_GRAMMAR_BYTES, 0 };
    enum err e = storage_read_grammar(&s->storage, name, &s->tables[APP_STORAGE_SAVE], &to);

    *bytes = to.bytes;
    return e;
}

/* Put a NUL after a text that was read, and drop a byte order mark. */
static void end_text(char *text, size_t bytes)
{
    size_t mark = utf8_mark_bytes(text, bytes);

    memmove(text, text + mark, bytes - mark);
    text[bytes - mark] = '\0';
}

/* The last sector of `text` stays free while the file is read, so that there is room for the
 * NUL. */
static enum err read_preset(void *context, const char *name, char *text, size_t room)
{
    struct app_storage *s = context;
    struct storage_memory to = { text, room - SECTOR_BYTES, 0 };
    enum err e = storage_read_preset(&s->storage, name, &s->tables[APP_STORAGE_SAVE], &to);

    end_text(text, to.bytes);
    return e;
}

static enum err read_actions(void *context, const char *name, char *text, size_t room)
{
    struct app_storage *s = context;
    struct storage_memory to = { text, room - SECTOR_BYTES, 0 };
    enum err e = storage_read_actions(&s->storage, name, &s->tables[APP_STORAGE_SAVE], &to);

    end_text(text, to.bytes);
    return e;
}

static enum err new_file(void *context, const char *path, uint64_t bytes, const struct file **file)
{
    struct app_storage *s = context;

    *file = &s->new.file;
    return storage_new_open(&s->storage, path, bytes, &s->tables[APP_STORAGE_SAVE], &s->new);
}

static enum err publish_file(void *context)
{
    struct app_storage *s = context;

    return storage_new_publish(&s->storage, &s->new);
}

bool app_storage_look(struct app_storage *s, struct app *a)
{
    bool news;

    if (s->files.context == NULL) {
        return false;
    }
    news = storage_look(&s->storage, s->open, APP_STORAGE_OPEN);
    if (news && a->chat.session == NULL) {
        console_log(a->setup.console, "no model is loaded: /model NAME loads one");
    }
    return news;
}

static void log_line(void *context, const char *line)
{
    console_log(context, "%s", line);
}

/* Saves and adapters come last, because they are read or written at once and are then no longer in
 * use. */
static void put_open(struct app_storage *s)
{
    const struct file *const files[APP_STORAGE_OPEN] = { &s->file[APP_STORAGE_MODEL],
                                                         &s->file[APP_STORAGE_DRAFT],
                                                         &s->file[APP_STORAGE_KV],
                                                         &s->log,
                                                         &s->use,
                                                         &s->kept,
                                                         &s->file[APP_STORAGE_SAVE] };

    memcpy(s->open, files, sizeof s->open);
    storage_know_open(&s->storage, s->open, APP_STORAGE_OPEN - 1);
}

enum err app_storage_open(struct app_storage *s, struct app *a)
{
    struct storage_setup setup = { .platform = a->setup.platform,
                                   .memory = &a->ram,
                                   .pio = a->setup.options->machine.pio,
                                   .trace = &a->trace,
                                   .log = log_line,
                                   .context = a->setup.console };

    s->files = (struct app_files){ .context = s,
                                   .error_message = error_message,
                                   .find_model = find_model,
                                   .model_name = model_name,
                                   .check_model = check_model,
                                   .list_models = list_models,
                                   .find_adapter = find_adapter,
                                   .read_grammar = read_grammar,
                                   .read_preset = read_preset,
                                   .read_actions = read_actions,
                                   .list_adapters = list_adapters,
                                   .find_save = find_save,
                                   .find_kv = find_kv,
                                   .find_prefix = find_prefix,
                                   .find_use = find_use,
                                   .find_log = find_log,
                                   .find_kept = find_kept,
                                   .check_place = check_place,
                                   .new_file = new_file,
                                   .publish_file = publish_file };
    for (int i = 0; i < APP_STORAGE_FILES; i++) {
        enum err e = file_table_take(&s->tables[i], &a->ram, FILE_MAX_EXTENTS);

        if (e != ERR_OK) {
            return app_fail(a, e, err_text(e));
        }
    }
    storage_open(&s->storage, &setup);
    put_open(s);
    return ERR_OK;
}
