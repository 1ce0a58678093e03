#include "host/host_talk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/host/host_board.h"
#include "board/host/host_terminal.h"
#include "flash_image/chat/chat_template.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/storage/storage.h"
#include "runtime/text/format_text.h"

enum { PATH_BYTES = 4096, PROBLEM_BYTES = 512 };

static struct {
    struct host_args *args;
    struct host_model model;
    struct chat chat;
    char path[PATH_BYTES]; /* of the model, once it was changed */
    uint8_t *vocabulary;   /* a copy, where --template changes it */
    struct file_device save_device;
    struct block_device save_block;
    struct file save;
    bool save_open;
    char problem[PROBLEM_BYTES];
} talk;

/* ---- a model -------------------------------------------------------------------------------- */

/* --template over that of the file. The vocabulary is copied, for the template makes control
 * tokens of its markers, and the file's stays as it is. */
static bool choose_template(const struct host_args *args, const struct ingot_chat **template)
{
    static alignas(struct ingot_chat) uint8_t section[CHAT_MOST_BYTES];
    struct model *m = &talk.model.model;
    struct chat_request request = { .name = args->template,
                                    .stops = m->image.chat->stops,
                                    .n_stops = m->image.chat->n_stops,
                                    .tokenizer = m->image.tokenizer };
    size_t vocabulary_bytes = (size_t)m->image.header->tokenizer.bytes;
    char sentence[CHAT_SENTENCE_BYTES];
    size_t bytes;

    *template = NULL;
    if (args->template == NULL) {
        return true;
    }
    if (chat_template_build(&request, section, &bytes, sentence) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", sentence);
        return false;
    }
    free(talk.vocabulary); /* of the model before */
    talk.vocabulary = malloc(vocabulary_bytes);
    if (talk.vocabulary == NULL) {
        fprintf(stderr, "ingot: out of memory\n");
        return false;
    }
    memcpy(talk.vocabulary, m->image.tokenizer, vocabulary_bytes);
    chat_template_claim(section, talk.vocabulary);
    tokenizer_open(&m->tokenizer, talk.vocabulary);
    *template = (const void *)section;
    return true;
}

/* The model is open: load it, and begin a conversation. */
static bool begin(void)
{
    const struct ingot_chat *template;

    if (!choose_template(talk.args, &template) || !host_model_load(&talk.model, talk.args)) {
        return false;
    }
    host_console_to(2);
    chat_open(&talk.chat, &talk.model.session, talk.model.draft, &talk.args->options, template);
    host_console_to(1);
    return true;
}

struct chat *host_talk_open(struct host_args *args)
{
    talk.args = args;
    return host_model_open(&talk.model, args) && begin() ? &talk.chat : NULL;
}

/* ---- what the conversation may ask for ------------------------------------------------------ */

/* The model's folder, with the slash; "" where it is the one that the program runs in. */
static int folder_bytes(void)
{
    const char *slash = strrchr(talk.args->model, '/');

    return slash != NULL ? (int)(slash + 1 - talk.args->model) : 0;
}

static bool in_folder(char path[PATH_BYTES], const char *name, const char *end)
{
    return snprintf(path, PATH_BYTES, "%.*s%s%s", folder_bytes(), talk.args->model, name, end) <
           PATH_BYTES;
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), n_end = strlen(end);

    return n > n_end && strcmp(name + n - n_end, end) == 0;
}

static int is_model(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".ingot") || ends_with(entry->d_name, ".gguf");
}

static void list_models(void)
{
    struct dirent **names;
    char path[PATH_BYTES], size[FORMAT_NUMBER_BYTES];
    struct stat st;
    int n = in_folder(path, folder_bytes() != 0 ? "" : ".", "")
                ? scandir(path, &names, is_model, alphasort)
                : -1;

    if (n < 0) {
        console_printf("error: %s: %s\n", path, strerror(errno));
        return;
    }
    for (int i = 0; i < n; i++) {
        if (in_folder(path, names[i]->d_name, "") && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            console_printf("  %-40s %s\n", names[i]->d_name,
                           format_bytes(size, (uint64_t)st.st_size));
        }
        free(names[i]);
    }
    free(names);
    if (n == 0) {
        console_printf("error: %s has no .ingot and no .gguf file\n", path);
    }
}

/* A name of /models, with or without its end, or a path. */
static bool find_model(const char *name, char path[PATH_BYTES])
{
    static const char *const ends[] = { "", ".ingot", ".gguf" };
    struct stat st;

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        bool fits = strchr(name, '/') != NULL
                        ? snprintf(path, PATH_BYTES, "%s%s", name, ends[i]) < PATH_BYTES
                        : in_folder(path, name, ends[i]);

        if (fits && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            return true;
        }
    }
    return false;
}

static bool change_to(const char path[PATH_BYTES])
{
    bool changed;

    memmove(talk.path, path, PATH_BYTES);
    talk.args->model = talk.path;
    host_terminal_take_ctrl_c(false); /* nobody looks at what is typed */
    changed = host_model_change(&talk.model, talk.args) && begin();
    host_terminal_take_ctrl_c(true);
    return changed;
}

/* One that cannot be had leaves the one before, loaded again. */
static bool change_model(const char *name)
{
    static char before[PATH_BYTES];
    char path[PATH_BYTES];

    if (!find_model(name, path) ||
        snprintf(before, sizeof before, "%s", talk.args->model) >= PATH_BYTES) {
        console_printf("error: there is no model %s: /models lists what is beside %s\n", name,
                       talk.args->model + folder_bytes());
        return true;
    }
    host_console_flush();
    if (change_to(path)) {
        return true;
    }
    console_log("back to the model before");
    host_console_flush();
    return change_to(before);
}

static bool say_problem(const char *path)
{
    snprintf(talk.problem, sizeof talk.problem, "%.400s: %s", path, strerror(errno));
    return false;
}

/* Make a file of so many bytes, of which the disk gives only what is written. One that is too small
 * keeps its conversation under another name. */
static bool make_save(const char *path, uint64_t bytes)
{
    char old[PATH_BYTES];
    struct stat st;
    int fd;
    bool made;

    if (stat(path, &st) == 0 && (uint64_t)st.st_size >= bytes) {
        return true;
    }
    if (snprintf(old, sizeof old, "%s~", path) >= PATH_BYTES ||
        (rename(path, old) != 0 && errno != ENOENT)) {
        return say_problem(path);
    }
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    made = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0;
    return ((fd < 0 || close(fd) == 0) && made) || say_problem(path);
}

/* NAME.sav beside the model. */
static const struct file *find_save(const char *name, uint64_t bytes, const char **problem)
{
    const struct platform *platform = &talk.model.platform;
    struct file_timeout timeout = { platform, 30 * platform->clock.hz };
    struct file_device *d = &talk.save_device;
    char path[PATH_BYTES];

    *problem = talk.problem;
    if (!storage_is_plain_name(name) || !in_folder(path, name, ".sav")) {
        *problem = storage_name_rule;
        return NULL;
    }
    if (talk.save_open) {
        file_device_close(d);
        talk.save_open = false;
    }
    if (bytes != 0 && !make_save(path, bytes)) {
        return NULL;
    }
    if ((bytes != 0 ? file_device_open_writable(d, path, 0, &talk.save_block)
                    : file_device_open(d, path, 0, &talk.save_block)) != ERR_OK) {
        *problem = d->why;
        return NULL;
    }
    talk.save_open = true;
    if (file_open_device(&talk.save, &talk.save_block, 0, &timeout) != ERR_OK) {
        snprintf(talk.problem, sizeof talk.problem, "%.400s holds nothing", path);
        return NULL;
    }
    file_set_name(&talk.save, path);
    return &talk.save;
}

/* In the memory that the arena has left. */
static void check_kernels(void)
{
    struct arena *a = &talk.model.model.arena;

    struct memory_range free = { a->base + a->reserved, arena_left(a) };

    (void)report_selftest(&talk.model.kernels, talk.model.machine.cpu_features,
                          platform_ticks(&talk.model.platform.clock), free);
}

const struct chat_services *host_talk_services(void)
{
    static const struct chat_services services = { list_models, change_model, find_save,
                                                   check_kernels, NULL };

    return &services;
}
