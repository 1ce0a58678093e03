#include "host/app/host_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash_image/adapter/adapter.h"
#include "host/app/host_files.h"

int host_folder_bytes(const char *beside)
{
    const char *slash = strrchr(beside, '/');

    if (slash == NULL) {
        return 0;
    }
    return (int)(slash + 1 - beside);
}

bool host_folder_path(const char *beside, char *path, const char *name, const char *end)
{
    return snprintf(path, HOST_PATH_BYTES, "%.*s%s%s", host_folder_bytes(beside), beside, name,
                    end) < HOST_PATH_BYTES;
}

/* ---- models --------------------------------------------------------------------------------- */

static bool is_file(const char *path, struct stat *st)
{
    return stat(path, st) == 0 && S_ISREG(st->st_mode);
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

static bool join(const char *beside, char *path, const char *name, const char *end)
{
    if (strchr(name, '/') == NULL) {
        return host_folder_path(beside, path, name, end);
    }
    return snprintf(path, HOST_PATH_BYTES, "%s%s", name, end) < HOST_PATH_BYTES;
}

bool host_folder_find_model(const char *beside, const char *name, char *path)
{
    static const char *const ends[] = { "", ".ingot", ".gguf" };
    struct stat st;

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (join(beside, path, name, ends[i]) && is_file(path, &st)) {
            return true;
        }
    }
    return false;
}

/* Compares names as on a card, independent of the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return fat32_compare_names((*a)->d_name, (*b)->d_name);
}

static int scan(const char *beside, char *path, struct dirent ***names)
{
    const char *here = ".";

    if (host_folder_bytes(beside) != 0) {
        here = "";
    }
    if (!host_folder_path(beside, path, here, "")) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return scandir(path, names, is_model, by_name);
}

/* Lists files with a model's ending: only adapters if `adapters`, else all but adapters. */
static enum err list_files(const char *beside, bool adapters, storage_visit_fn *visit,
                           void *context, char *error_message, size_t bytes)
{
    struct dirent **names;
    char folder[HOST_PATH_BYTES], path[HOST_PATH_BYTES];
    struct stat st;
    unsigned found = 0;
    int n = scan(beside, folder, &names);

    if (n < 0) {
        snprintf(error_message, bytes, "%.400s: %s", folder, strerror(errno));
        return ERR_IO;
    }
    for (int i = 0; i < n; i++) {
        if (host_folder_path(beside, path, names[i]->d_name, "") && is_file(path, &st) &&
            (adapters || !adapter_is(path))) {
            visit(context, names[i]->d_name, (uint64_t)st.st_size);
            found++;
        }
        free(names[i]);
    }
    free(names);
    if (found == 0) {
        snprintf(error_message, bytes, "%.400s has no model: no .ingot and no .gguf file", folder);
        return ERR_NOT_FOUND;
    }
    return ERR_OK;
}

enum err host_folder_list_models(const char *beside, storage_visit_fn *visit, void *context,
                                 char *error_message, size_t bytes)
{
    return list_files(beside, false, visit, context, error_message, bytes);
}

/* Finds the file FOLDER/NAME + end next to the model, or the file whose path is `name`. */
static bool find_named(const char *beside, const char *folder, const char *name, const char *end,
                       char *path)
{
    struct stat st;

    if (storage_is_plain_name(name) &&
        snprintf(path, HOST_PATH_BYTES, "%.*s%s/%s%s", host_folder_bytes(beside), beside, folder,
                 name, end) < HOST_PATH_BYTES &&
        is_file(path, &st)) {
        return true;
    }
    return snprintf(path, HOST_PATH_BYTES, "%s", name) < HOST_PATH_BYTES && is_file(path, &st);
}

bool host_folder_find_adapter(const char *beside, const char *name, char *path)
{
    return find_named(beside, "adapters", name, ".ingot", path);
}

bool host_folder_find_grammar(const char *beside, const char *name, char *path)
{
    return find_named(beside, "grammars", name, ".grammar", path);
}

bool host_folder_find_text(const char *beside, const char *folder, const char *name, char *path)
{
    return find_named(beside, folder, name, ".txt", path);
}

void host_folder_list_adapters(const char *beside, storage_visit_fn *visit, void *context)
{
    char folder[HOST_PATH_BYTES], error_message[HOST_ERROR_MESSAGE_BYTES];

    if (snprintf(folder, sizeof folder, "%.*sadapters/", host_folder_bytes(beside), beside) <
        HOST_PATH_BYTES) {
        (void)list_files(folder, true, visit, context, error_message, sizeof error_message);
    }
}

bool host_folder_is_of_models(const char *path)
{
    char config[HOST_PATH_BYTES];
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        return false;
    }
    return snprintf(config, sizeof config, "%s/config.json", path) < HOST_PATH_BYTES &&
           !is_file(config, &st);
}

struct first {
    char *path; /* HOST_PATH_BYTES */
    const char *folder;
    unsigned count;
    bool fits;
};

static void keep_first(void *context, const char *name, uint64_t bytes)
{
    struct first *f = context;

    (void)bytes;
    if (f->count++ == 0) {
        f->fits = host_folder_path(f->folder, f->path, name, "");
    }
}

bool host_folder_first_model(const char *folder, char *path, unsigned *count, char *error_message,
                             size_t bytes)
{
    char inside[HOST_PATH_BYTES];
    size_t n = strlen(folder);
    const char *slash = n > 0 && folder[n - 1] == '/' ? "" : "/";
    struct first first = { .path = path, .folder = inside };

    if (snprintf(inside, sizeof inside, "%s%s", folder, slash) >= HOST_PATH_BYTES) {
        snprintf(error_message, bytes, "%.400s: the path is too long", folder);
        return false;
    }
    if (host_folder_list_models(inside, keep_first, &first, error_message, bytes) != ERR_OK) {
        return false;
    }
    *count = first.count;
    return first.fits;
}

/* ---- saved conversations -------------------------------------------------------------------- */

bool host_folder_make_file(const char *path, uint64_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool made;

    if (fd < 0) {
        return false;
    }
    made = ftruncate(fd, (off_t)bytes) == 0;
    if (close(fd) != 0 || !made) {
        int error = errno;

        unlink(path);
        errno = error;
        return false;
    }
    return true;
}
