/* Files that the application writes on this computer: saved conversations, prefixes, how experts
 * are used, the log, keys and values. */
#include "host/app/host_saves.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/app/host_folder.h"
#include "host/app/host_own.h"

enum { LOG_BYTES = 1 << 20, OLD_NAMES = 1000 };

/* Checks that the file at path may be overwritten; otherwise h->error_message gives the reason. */
static enum err check_own(struct host_files *h, const char *path, enum host_own kind,
                          bool *is_blank)
{
    return host_own_check(path, kind, is_blank, h->error_message, sizeof h->error_message);
}

/* Finds the file of --kv-file, which must exist and keeps its size. */
enum err host_saves_find_kv(void *context, const struct file **file)
{
    struct host_files *h = context;
    struct host_file *f = &h->kv;
    struct file_timeout timeout = host_files_timeout(h);
    const char *path = h->args->kv_file;
    bool is_blank;
    enum err e;

    *file = NULL;
    if (path == NULL) {
        return ERR_OK;
    }
    *file = &f->file;
    if (f->open) {
        return ERR_OK;
    }
    e = check_own(h, path, HOST_OWN_KV, &is_blank);
    if (e != ERR_OK) {
        return e;
    }
    e = file_device_open_writable(&f->device_state, path, h->args->card_rate, &f->device);
    if (e != ERR_OK) {
        return host_files_fail(h, e, "%s; `truncate -s 64M FILE` makes one", f->device_state.why);
    }
    f->open = true;
    e = file_open_device(&f->file, &f->device, f->device_state.bytes, &timeout);
    if (e != ERR_OK) {
        return host_files_fail(h, e, "%s: has no bytes: `truncate -s 64M FILE` makes it large",
                               path);
    }
    file_set_name(&f->file, path);
    return ERR_OK;
}

/* ---- files that are made by saving ------------------------------------------------- */

static bool is_model(const struct host_files *h, const struct stat *st)
{
    struct stat model;

    return stat(h->path, &model) == 0 && model.st_dev == st->st_dev && model.st_ino == st->st_ino;
}

static enum err refuse_model(struct host_files *h, const char *path)
{
    return host_files_fail(h, ERR_BAD_ARGUMENT,
                           "%.400s: cannot be written: it is the model; name another file", path);
}

/* If an older save is large enough, write it in place; this is safe, because its newer half is
 * overwritten last. Otherwise write a temporary file, which host_saves_end renames. Refuse a file
 * that Ingot did not write. *at: the path to open (HOST_PATH_BYTES). */
static enum err make_room(struct host_files *h, const char *path, uint64_t bytes,
                          enum host_own kind, char *at)
{
    const struct output_wish wish = { .path = path,
                                      .input = h->path,
                                      .instead = "name a file that can be made" };
    struct stat st;
    bool is_there = stat(path, &st) == 0;
    enum err e;

    host_saves_drop(h);
    if (is_there && is_model(h, &st)) {
        return refuse_model(h, path);
    }
    e = check_own(h, path, kind, &h->made_blank);
    if (e != ERR_OK) {
        return e;
    }
    snprintf(at, HOST_PATH_BYTES, "%s", path);
    if (is_there && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= bytes) {
        return ERR_OK;
    }
    e = output_open(&h->made, &wish, h->error_message, sizeof h->error_message);
    if (e != ERR_OK) {
        return e;
    }
    h->makes = true;
    snprintf(at, HOST_PATH_BYTES, "%s", h->made.path);
    if (ftruncate(h->made.fd, (off_t)bytes) != 0) {
        h->made.error = errno;
        h->makes = false;
        return output_fail(&h->made, h->error_message, sizeof h->error_message);
    }
    return ERR_OK;
}

void host_saves_drop(struct host_files *h)
{
    if (h->makes) {
        output_drop(&h->made);
    }
    h->makes = false;
}

enum { OLD_BYTES = PATH_MAX + 8 };

/* Renames a file, but never over another file. If the file system lacks RENAME_NOREPLACE, check
 * first that the name is unused. */
static bool rename_to_new(const char *from, const char *to)
{
    struct stat st;

    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return true;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return false;
    }
    if (lstat(to, &st) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(from, to) == 0;
}

/* If a save is too small, keep its contents under another name: PATH~, or PATH~2 and so on if a
 * file has that name. The name goes to `old`; "": there was nothing to keep. False: errno. */
static bool keep_old(const struct host_files *h, const char *path, char old[OLD_BYTES])
{
    struct stat st;

    old[0] = '\0';
    if (h->made_blank || stat(path, &st) != 0 || st.st_size == 0) {
        return true;
    }
    snprintf(old, OLD_BYTES, "%s~", path);
    for (unsigned i = 2; !rename_to_new(path, old); i++) {
        if (errno != EEXIST || i == OLD_NAMES) {
            return false;
        }
        snprintf(old, OLD_BYTES, "%s~%u", path, i);
    }
    return true;
}

enum err host_saves_end(void *context, bool good)
{
    struct host_files *h = context;
    char old[OLD_BYTES];
    enum err e;

    if (!good || !h->makes) {
        host_saves_drop(h);
        return ERR_OK;
    }
    h->makes = false;
    if (!keep_old(h, h->made.target, old)) {
        h->made.error = errno;
        return output_fail(&h->made, h->error_message, sizeof h->error_message);
    }
    e = output_keep(&h->made, h->error_message, sizeof h->error_message);
    if (e != ERR_OK && old[0] != '\0') {
        (void)!rename_to_new(old, h->made.target); /* restore the old name */
    }
    return e;
}

/* Opens a save. path: for messages; bytes: number of bytes to write; 0: only read. */
static enum err open_save(struct host_files *h, struct host_file *f, const char *path,
                          uint64_t bytes, enum host_own kind)
{
    char at[HOST_PATH_BYTES];
    enum err e = ERR_OK;

    host_files_close(f);
    if (bytes == 0) {
        return host_files_begin(h, f, path,
                                file_device_open(&f->device_state, path, 0, &f->device));
    }
    e = make_room(h, path, bytes, kind, at);
    if (e != ERR_OK) {
        return e;
    }
    e = host_files_begin(h, f, path,
                         file_device_open_writable(&f->device_state, at, 0, &f->device));
    f->device_state.forgets = true; /* so that /save reads back what is on the disk */
    f->device.name = f->file.name;
    if (e != ERR_OK) {
        host_saves_drop(h);
    }
    return e;
}

/* Finds or makes NAME.sav beside the model. */
enum err host_saves_find(void *context, const char *name, uint64_t bytes, const struct file **file)
{
    struct host_files *h = context;
    char path[HOST_PATH_BYTES];

    *file = &h->save.file;
    if (!storage_is_plain_name(name) || !host_folder_path(h->path, path, name, ".sav")) {
        return host_files_fail(h, ERR_BAD_ARGUMENT, "%s", storage_name_rule);
    }
    return open_save(h, &h->save, path, bytes, HOST_OWN_SAVE);
}

/* Finds the file of --prefix, which is made when the prefix is saved. */
enum err host_saves_find_prefix(void *context, uint64_t bytes, const struct file **file)
{
    struct host_files *h = context;
    const char *path = h->args->prefix;

    *file = NULL;
    if (path == NULL && bytes != 0) {
        return host_files_fail(h, ERR_BAD_ARGUMENT, "name a file for it with --prefix");
    }
    if (path == NULL || (bytes == 0 && access(path, F_OK) != 0)) {
        return ERR_OK;
    }
    *file = &h->save.file;
    return open_save(h, &h->save, path, bytes, HOST_OWN_PREFIX);
}

/* Finds ingot.log next to the model, or creates it. */
enum err host_saves_find_log(void *context, const struct file **file)
{
    struct host_files *h = context;
    struct host_file *f = &h->log;
    char path[HOST_PATH_BYTES];
    bool is_blank;
    enum err e;

    if (!host_folder_path(h->path, path, "ingot", ".log") ||
        (access(path, F_OK) != 0 && !host_folder_make_file(path, LOG_BYTES))) {
        return host_files_fail(h, ERR_IO, "%.400s: %s", path, strerror(errno));
    }
    e = check_own(h, path, HOST_OWN_LOG, &is_blank);
    if (e != ERR_OK) {
        return e;
    }
    host_files_close(f);
    *file = &f->file;
    return host_files_begin(h, f, path,
                            file_device_open_writable(&f->device_state, path, 0, &f->device));
}

/* Writes the path of NAME.use next to the model NAME.ingot. False: too long. */
static bool use_path(const char *model, char path[HOST_PATH_BYTES])
{
    const char *name = model + host_folder_bytes(model);
    const char *end = strrchr(name, '.');
    int n = end == NULL || end == name ? (int)strlen(model) : (int)(end - model);

    return snprintf(path, HOST_PATH_BYTES, "%.*s.use", n, model) < HOST_PATH_BYTES;
}

enum err host_saves_find_use(void *context, uint64_t bytes, const struct file **file)
{
    struct host_files *h = context;
    struct host_file *f = &h->use;
    char path[HOST_PATH_BYTES];

    if (!use_path(h->path, path) || (bytes == 0 && access(path, F_OK) != 0)) {
        return host_files_fail(h, ERR_NOT_FOUND,
                               "no file beside %.400s records how its experts are used", h->path);
    }
    *file = &f->file;
    return open_save(h, f, path, bytes, HOST_OWN_USE);
}

bool host_files_read_use(const char *model, const struct image *image, struct plan_use *use)
{
    static struct expert_use transfer;
    struct host_file f = { .open = false };
    struct file_timeout timeout = { NULL, 0 };
    char path[HOST_PATH_BYTES];
    bool good;

    if (!use_path(model, path) || access(path, F_OK) != 0 ||
        file_device_open(&f.device_state, path, 0, &f.device) != ERR_OK) {
        return false;
    }
    good = file_open_device(&f.file, &f.device, f.device_state.bytes, &timeout) == ERR_OK &&
           expert_use_read(&transfer, &f.file, image, use, NULL) == ERR_OK;
    file_device_close(&f.device_state);
    return good;
}
