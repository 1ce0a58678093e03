#include "host/app/host_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/host/host_board.h"
#include "board/memory_device.h"
#include "flash_image/output/temporary.h"
#include "flash_image/pack/pack.h"
#include "host/app/host_folder.h"
#include "host/app/host_grammar.h"
#include "host/app/host_saves.h"
#include "host/app/host_template.h"
#include "runtime/text/utf8.h"

/* ---- one file ------------------------------------------------------------------------------- */

enum err host_files_fail(struct host_files *h, enum err e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(h->error_message, sizeof h->error_message, format, args);
    va_end(args);
    return e;
}

struct file_timeout host_files_timeout(const struct host_files *h)
{
    return (struct file_timeout){ h->platform, 30 * h->platform->clock.hz };
}

/* Maps the file (--mmap), so that it is addressable like flash. */
static enum err map_model(struct host_files *h, struct host_file *f, const char *path)
{
    char error_message[128];
    enum err e = mapping_open(&f->mapping, path, error_message, sizeof error_message);

    if (e != ERR_OK) {
        return host_files_fail(h, e, "%s: %s", path, error_message);
    }
    if (f->mapping.bytes < SECTOR_BYTES) {
        unmap_file(&f->mapping);
        return host_files_fail(h, ERR_TRUNCATED, "%s: too short to be an .ingot file", path);
    }
    memory_device_open(&f->device, "mapped file", f->mapping.data, f->mapping.bytes);
    return ERR_OK;
}

static enum err open_device(struct host_files *h, struct host_file *f, const char *path)
{
    enum err e;

    if (h->args->in_place) {
        return map_model(h, f, path);
    }
    e = file_device_open(&f->device_state, path, h->args->card_rate, &f->device);
    if (e != ERR_OK) {
        return host_files_fail(h, e, "%s", f->device_state.why);
    }
    return ERR_OK;
}

/* Opens the file at path; messages call it `name`. */
static enum err open_file(struct host_files *h, struct host_file *f, const char *path,
                          const char *name)
{
    struct file_timeout timeout = host_files_timeout(h);
    struct stat st;
    enum err e = open_device(h, f, path);

    if (e != ERR_OK) {
        return e;
    }
    f->open = true;
    if (stat(path, &st) != 0) {
        return host_files_fail(h, ERR_IO, "%s: cannot be read", path);
    }
    e = file_open_device(&f->file, &f->device, (uint64_t)st.st_size, &timeout);
    snprintf(f->file.name, sizeof f->file.name, "%.*s", (int)sizeof f->file.name - 1, name);
    if (e != ERR_OK) {
        return host_files_fail(h, e, "%s: %s", path, err_text(e));
    }
    return ERR_OK;
}

void host_files_close(struct host_file *f)
{
    if (f->open && f->mapping.data == NULL) {
        file_device_close(&f->device_state);
    }
    unmap_file(&f->mapping);
    *f = (struct host_file){ .open = false };
}

/* Other formats are packed into a temporary file, which is deleted once it is open. */
static enum err open_packed(struct host_files *h, struct host_file *f, const char *name)
{
    struct pack_options pack = { .input = name,
                                 .tokenizer = h->args->tokenizer,
                                 .template = h->args->template,
                                 .quiet = h->args->quiet };
    char path[512], error_message[512];
    enum err e = pack_temporary(&pack, path, sizeof path, error_message, sizeof error_message);

    if (e != ERR_OK) {
        return host_files_fail(h, e, "%s", error_message);
    }
    e = open_file(h, f, path, name);
    temporary_remove(path);
    return e;
}

/* refuses a folder of models: only `chat` chooses one of them */
static enum err refuse_folder(struct host_files *h, const char *name)
{
    char first[HOST_PATH_BYTES], why[HOST_ERROR_MESSAGE_BYTES];
    unsigned count;

    if (!host_folder_first_model(name, first, &count, why, sizeof why)) {
        return host_files_fail(h, ERR_BAD_ARGUMENT, "%.400s is a folder: %.400s", name, why);
    }
    return host_files_fail(h, ERR_BAD_ARGUMENT,
                           "%.400s is a folder: give one of the models in it (%u), such as %.400s",
                           name, count, first);
}

static enum err open_any(struct host_files *h, struct host_file *f, const char *name)
{
    enum err e = ERR_OK;

    host_files_close(f);
    if (host_folder_is_of_models(name)) {
        return refuse_folder(h, name);
    }
    if (pack_is_ingot(name, &e)) {
        return open_file(h, f, name, name);
    }
    if (e == ERR_NOT_FOUND) {
        return host_files_fail(h, e, "%s: no such file", name);
    }
    if (e != ERR_OK) {
        return host_files_fail(h, e, "%s: %s", name, strerror(errno));
    }
    return open_packed(h, f, name);
}

/* ---- struct app_files ----------------------------------------------------------------------- */

static const char *error_message(void *context)
{
    const struct host_files *h = context;

    return h->error_message;
}

/* Swaps the paths of the model and the previous model. */
static void swap_paths(struct host_files *h)
{
    char path[HOST_PATH_BYTES];

    memcpy(path, h->path, sizeof path);
    memcpy(h->path, h->before, sizeof path);
    memcpy(h->before, path, sizeof path);
}

static enum err no_model(struct host_files *h, const char *name)
{
    return host_files_fail(h, ERR_NOT_FOUND,
                           "there is no model %s: /models lists those in the folder of %s", name,
                           h->path + host_folder_bytes(h->path));
}

static enum err check_model(void *context, const char *name)
{
    struct host_files *h = context;
    char path[HOST_PATH_BYTES];

    if (!host_folder_find_model(h->path, name, path)) {
        return no_model(h, name);
    }
    return ERR_OK;
}

/* Finds a model. check_model has accepted the name; "" is the command line's model. */
static enum err find_model(void *context, enum app_file which, const char *name,
                           const struct file **file)
{
    struct host_files *h = context;

    if (which == APP_DRAFT) {
        *file = &h->draft.file;
        return open_any(h, &h->draft, name);
    }
    *file = &h->model.file;
    if (which == APP_MODEL_BEFORE) {
        swap_paths(h);
    } else if (name[0] != '\0') {
        memcpy(h->before, h->path, sizeof h->before);
        if (!host_folder_find_model(h->before, name, h->path)) {
            return no_model(h, name);
        }
    }
    return open_any(h, &h->model, h->path);
}

static const char *model_name(void *context, const char *asked)
{
    const struct host_files *h = context;

    (void)asked;
    return h->path + host_folder_bytes(h->path);
}

static enum err list_models(void *context, storage_visit_fn *visit, void *visit_context)
{
    struct host_files *h = context;

    return host_folder_list_models(h->path, visit, visit_context, h->error_message,
                                   sizeof h->error_message);
}

/* Use a file next to the model, or report why it was not opened. */
enum err host_files_begin(struct host_files *h, struct host_file *f, const char *path,
                          enum err opened)
{
    struct file_timeout timeout = host_files_timeout(h);
    enum err e;

    if (opened != ERR_OK) {
        return host_files_fail(h, opened, "%s", f->device_state.why);
    }
    f->open = true;
    e = file_open_device(&f->file, &f->device, f->device_state.bytes, &timeout);
    if (e != ERR_OK) {
        return host_files_fail(h, e, "%.400s holds nothing", path);
    }
    file_set_name(&f->file, path);
    return ERR_OK;
}

static enum err find_adapter(void *context, const char *name, const struct file **file)
{
    struct host_files *h = context;
    struct host_file *f = &h->adapter;
    char path[HOST_PATH_BYTES];

    if (!host_folder_find_adapter(h->path, name, path)) {
        return host_files_fail(
            h, ERR_NOT_FOUND,
            "there is no adapter %s: /adapters lists those beside %s, `ingot adapter` makes one",
            name, h->path + host_folder_bytes(h->path));
    }
    host_files_close(f);
    *file = &f->file;
    return host_files_begin(h, f, path, file_device_open(&f->device_state, path, 0, &f->device));
}

static enum err list_adapters(void *context, storage_visit_fn *visit, void *visit_context)
{
    struct host_files *h = context;

    host_folder_list_adapters(h->path, visit, visit_context);
    return ERR_OK;
}

static enum err read_grammar(void *context, const char *name, void *memory, size_t *bytes)
{
    struct host_files *h = context;
    char path[HOST_PATH_BYTES];
    void *grammar;
    enum err e;

    if (!host_folder_find_grammar(h->path, name, path)) {
        return host_files_fail(
            h, ERR_NOT_FOUND,
            "there is no grammar %s: name a file of GBNF or JSON Schema, or one of grammars/ "
            "beside the model",
            name);
    }
    e = host_grammar_read(path, &grammar, bytes, NULL, h->error_message, sizeof h->error_message);
    if (e == ERR_OK) {
        memcpy(memory, grammar, *bytes); /* a valid grammar has at most INGOT_GRAMMAR_BYTES */
        free(grammar);
    }
    return e;
}

/* Reads FOLDER/NAME.txt, or the file whose path is `name`, into text (room). */
static enum err read_text(struct host_files *h, const char *folder, const char *what,
                          const char *name, char *text, size_t room)
{
    char path[HOST_PATH_BYTES];
    size_t n = 0, mark;
    int error;
    FILE *in;

    if (!host_folder_find_text(h->path, folder, name, path)) {
        return host_files_fail(h, ERR_NOT_FOUND, "there is no %s %s, by a path or in %s/", what,
                               name, folder);
    }
    in = fopen(path, "rb");
    error = in == NULL ? errno : 0;
    if (in != NULL) {
        n = fread(text, 1, room, in);
        error = ferror(in) ? errno : 0;
        fclose(in);
    }
    if (error != 0) {
        return host_files_fail(h, ERR_IO, "%s: cannot be read: %s", path, strerror(error));
    }
    if (n == room) {
        return host_files_fail(h, ERR_RANGE, "%s is longer than %zu bytes", path, room - 1);
    }
    if (utf16_has_mark(text, n)) {
        return host_files_fail(h, ERR_BAD_ARGUMENT, "%s %s", path, utf16_cure);
    }
    mark = utf8_mark_bytes(text, n);
    memmove(text, text + mark, n - mark);
    text[n - mark] = '\0';
    return ERR_OK;
}

static enum err read_preset(void *context, const char *name, char *text, size_t room)
{
    return read_text(context, "presets", "preset", name, text, room);
}

static enum err read_actions(void *context, const char *name, char *text, size_t room)
{
    return read_text(context, "actions", "text of actions", name, text, room);
}

static enum err choose_chat(void *context, struct model *model, const struct ingot_chat **chat)
{
    struct host_files *h = context;

    if (h->args->template == NULL) {
        return ERR_OK;
    }
    return host_template_choose(h->args->template, model, &h->vocabulary, chat, h->error_message,
                                sizeof h->error_message);
}

void host_files_open(struct host_files *h, const struct host_args *args,
                     const struct platform *platform)
{
    memset(h, 0, sizeof *h);
    h->args = args;
    h->platform = platform;
    snprintf(h->path, sizeof h->path, "%s", args->model);
    h->files = (struct app_files){ .context = h,
                                   .error_message = error_message,
                                   .find_model = find_model,
                                   .model_name = model_name,
                                   .check_model = check_model,
                                   .list_models = list_models,
                                   .find_adapter = find_adapter,
                                   .list_adapters = list_adapters,
                                   .read_grammar = read_grammar,
                                   .read_preset = read_preset,
                                   .read_actions = read_actions,
                                   .find_save = host_saves_find,
                                   .find_kv = host_saves_find_kv,
                                   .find_prefix = host_saves_find_prefix,
                                   .find_use = host_saves_find_use,
                                   .find_log = host_saves_find_log,
                                   .end_save = host_saves_end,
                                   .choose_chat = choose_chat };
}
