#include "flash_image/output/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash_image/output/temporary.h"
#include "flash_image/source/map_file.h"

enum { MOST_LINKS = 40 };

struct error_message {
    char *text;
    size_t bytes;
    const char *path;
};

__attribute__((format(printf, 3, 4))) static enum err refuse(const struct error_message *s,
                                                             enum err e, const char *format, ...)
{
    char why[256];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    snprintf(s->text, s->bytes, "%.400s: cannot be written: %s", s->path, why);
    return e;
}

static enum err refuse_errno(const struct error_message *s)
{
    return refuse(s, ERR_IO, "%s", strerror(errno));
}

/* ---- the target ------------------------------------------------------------------------------ */

/* Copy a link's target to `to` (PATH_MAX). The link's folder is put before a relative target.
 * False: errno. */
static bool follow_one(const char *link, char *to)
{
    char text[PATH_MAX];
    ssize_t n = readlink(link, text, sizeof text - 1);
    const char *slash = strrchr(link, '/');
    int folder = 0;

    if (n < 0) {
        return false;
    }
    text[n] = '\0';
    if (text[0] != '/' && slash != NULL) {
        folder = (int)(slash + 1 - link);
    }
    if (snprintf(to, PATH_MAX, "%.*s%s", folder, link, text) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

/* Follow the symbolic links of a path to their target, which need not exist. False: errno. */
static bool follow_links(const char *path, char *target)
{
    char next[PATH_MAX];
    struct stat st;

    if (snprintf(target, PATH_MAX, "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (unsigned i = 0; lstat(target, &st) == 0 && S_ISLNK(st.st_mode); i++) {
        if (i == MOST_LINKS) {
            errno = ELOOP;
            return false;
        }
        if (!follow_one(target, next)) {
            return false;
        }
        memcpy(target, next, sizeof next);
    }
    return true;
}

static bool begins(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* True if the folder of path, with links followed, is for devices; /dev/shm is not, because it
 * holds ordinary files. */
static bool is_among_devices(const char *path)
{
    char folder[PATH_MAX], *whole;
    const char *slash = strrchr(path, '/');
    bool is;

    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash + 1 - path) : 1,
             slash != NULL ? path : ".");
    whole = realpath(folder, NULL);
    is = whole != NULL && (begins(whole, "/dev") || begins(whole, "/proc")) &&
         !begins(whole, "/dev/shm");
    free(whole);
    return is;
}

static bool is_same(const struct stat *st, const char *path)
{
    struct stat other;

    return path != NULL && stat(path, &other) == 0 && other.st_dev == st->st_dev &&
           other.st_ino == st->st_ino;
}

/* Refuse an existing file that may not be replaced or written to. */
static enum err check_old(const struct output_wish *w, const struct stat *st,
                          const struct error_message *s)
{
    if (S_ISDIR(st->st_mode)) {
        return refuse(s, ERR_BAD_ARGUMENT,
                      "it is not an ordinary file but a folder; name a file in it");
    }
    if (w->instead != NULL && (!S_ISREG(st->st_mode) || is_among_devices(w->path))) {
        return refuse(s, ERR_BAD_ARGUMENT, "it is not an ordinary file; %s", w->instead);
    }
    if (is_same(st, w->input) || is_same(st, w->other) || mapping_has(st->st_dev, st->st_ino)) {
        return refuse(s, ERR_BAD_ARGUMENT, "it is the input; name another file");
    }
    if (access(w->path, W_OK) != 0) {
        return refuse_errno(s);
    }
    return ERR_OK;
}

static enum err open_in_place(struct output_file *o, const struct output_wish *w,
                              const struct error_message *s)
{
    snprintf(o->path, sizeof o->path, "%s", w->path);
    o->fd = open(w->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    return o->fd < 0 ? refuse_errno(s) : ERR_OK;
}

/* Give the new file the permissions and, if possible, the owner and the group of the old one. Call
 * this while the new file is empty, so that contents that only the owner may read are never
 * readable by others. Set-user-id bits are kept only with the owner. */
static bool keep_rights(int fd, const struct stat *old)
{
    mode_t rights = old->st_mode & 0777;
    bool same_owner = fchown(fd, old->st_uid, old->st_gid) == 0;

    if (!same_owner) {
        same_owner = fchown(fd, (uid_t)-1, old->st_gid) == 0;
    }
    if (!same_owner) { /* the permissions of the old group are not given to another group */
        rights &= ~(mode_t)070 | (rights << 3 & 070);
    }
    return fchmod(fd, rights) == 0 || errno == EPERM || errno == ENOTSUP;
}

/* Create the temporary file that will replace the target. old: the existing file, or NULL; other
 * hard links to it keep its contents. */
static enum err open_aside(struct output_file *o, const struct stat *old,
                           const struct error_message *s)
{
    if (is_among_devices(o->target)) {
        return refuse(s, ERR_BAD_ARGUMENT, "there is no such device");
    }
    o->fd = temporary_file(o->target, o->path, sizeof o->path);
    o->aside = o->fd >= 0;
    if (o->aside && old != NULL && !keep_rights(o->fd, old)) {
        enum err e = refuse_errno(s);

        output_drop(o);
        return e;
    }
    return o->aside ? ERR_OK : refuse_errno(s);
}

enum err output_open(struct output_file *o, const struct output_wish *w, char *error_message,
                     size_t bytes)
{
    struct error_message s = { error_message, bytes, w->path };
    struct stat st;
    bool is_there = stat(w->path, &st) == 0;
    size_t n = strlen(w->path);
    enum err e;

    *o = (struct output_file){ .fd = -1, .whole = -1, .name = w->path };
    if (n == 0 || w->path[n - 1] == '/') {
        return refuse(&s, ERR_BAD_ARGUMENT, "it has no name; name a file");
    }
    e = is_there ? check_old(w, &st, &s) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    /* A file behind /dev/stdout is not replaced, because the shell has it open. */
    if (is_there && (!S_ISREG(st.st_mode) || is_among_devices(w->path))) {
        return open_in_place(o, w, &s);
    }
    if (!follow_links(w->path, o->target)) {
        return refuse_errno(&s);
    }
    return open_aside(o, is_there ? &st : NULL, &s);
}

enum err output_check(const struct output_wish *w, char *error_message, size_t bytes)
{
    struct output_file o;
    struct stat st;
    enum err e;

    if (stat(w->path, &st) == 0 &&
        !S_ISREG(st.st_mode)) { /* opening a pipe would wait for its reader */
        return check_old(w, &st, &(struct error_message){ error_message, bytes, w->path });
    }
    e = output_open(&o, w, error_message, bytes);
    output_drop(&o);
    return e;
}

enum err output_open_rows(struct output_file *o, const char *path, bool *is_new,
                          char *error_message, size_t bytes)
{
    const struct output_wish wish = { .path = path };
    struct error_message s = { error_message, bytes, path };
    struct stat st;
    bool is_there = stat(path, &st) == 0;
    enum err e = is_there ? check_old(&wish, &st, &s) : ERR_OK;

    *o = (struct output_file){ .fd = -1, .whole = -1, .name = path };
    if (e != ERR_OK) {
        return e;
    }
    if (!is_there && is_among_devices(path)) {
        return refuse(&s, ERR_BAD_ARGUMENT, "there is no such device");
    }
    o->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (o->fd < 0 || fstat(o->fd, &st) != 0) {
        return refuse_errno(&s);
    }
    if (S_ISREG(st.st_mode)) {
        o->whole = st.st_size;
    }
    *is_new = o->whole <= 0; /* a pipe or a device has no earlier contents */
    return ERR_OK;
}

/* ---- what is written ------------------------------------------------------------------------- */

/* If write() reports EFAULT, the data are in a mapped input that has become shorter. Reading them
 * here raises SIGBUS, whose handler names the input (host/app/host_faults.h). */
static void read_again(const char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        (void)*(const volatile char *)(at + i);
    }
}

bool output_put(struct output_file *o, const void *data, size_t bytes)
{
    const char *at = data;
    size_t all = bytes;

    while (bytes != 0 && o->error == 0) {
        ssize_t n = write(o->fd, at, bytes);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EFAULT) {
            read_again(at, bytes);
        }
        if (n <= 0) {
            o->error = n < 0 ? errno : ENOSPC;
            break;
        }
        at += n;
        bytes -= (size_t)n;
    }
    if (o->whole >= 0 && bytes == 0) {
        o->whole += (off_t)all;
    } else if (o->whole >= 0 && bytes != all) {
        (void)!ftruncate(o->fd, o->whole);
    }
    return o->error == 0;
}

static ssize_t put_some(void *file, const char *data, size_t bytes)
{
    return output_put(file, data, bytes) ? (ssize_t)bytes : 0;
}

FILE *output_stream(struct output_file *o)
{
    o->stream = fopencookie(o, "w", (cookie_io_functions_t){ .write = put_some });
    return o->stream;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Close the file; o->error gets the reason of a failure. */
static void close_it(struct output_file *o, bool flushes)
{
    if (o->stream != NULL && fclose(o->stream) != 0 && o->error == 0) {
        o->error = errno;
    }
    o->stream = NULL;
    if (flushes && o->aside && o->error == 0 && fsync(o->fd) != 0) {
        o->error = errno;
    }
    if (close(o->fd) != 0 && o->error == 0) {
        o->error = errno;
    }
    o->fd = -1;
}

void output_drop(struct output_file *o)
{
    if (o->fd < 0) {
        return;
    }
    close_it(o, false);
    if (o->aside) {
        temporary_remove(o->path);
    }
}

enum err output_fail(struct output_file *o, char *error_message, size_t bytes)
{
    output_drop(o);
    /* EFAULT: a write of mapped bytes that no longer exist */
    if (o->error == EFAULT && mapping_check(error_message, bytes) != ERR_OK) {
        return ERR_TRUNCATED;
    }
    snprintf(error_message, bytes, "%.400s: %s", o->name, strerror(o->error));
    return ERR_IO;
}

/* Flush the folder of path, so that the new name survives a power cut. True also if the folder
 * cannot be opened for reading, or if the file system cannot flush it. False: errno. */
static bool flush_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    int fd, error;

    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash + 1 - path) : 1,
             slash != NULL ? path : ".");
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return true;
    }
    error = fsync(fd) != 0 ? errno : 0;
    close(fd);
    errno = error;
    return error != EIO && error != ENOSPC && error != EDQUOT;
}

enum err output_keep(struct output_file *o, char *error_message, size_t bytes)
{
    enum err e = mapping_check(error_message, bytes);

    if (e != ERR_OK) {
        output_drop(o);
        return e;
    }
    close_it(o, true);
    if (o->aside && o->error == 0 && rename(o->path, o->target) != 0) {
        o->error = errno;
    }
    if (o->aside && o->error == 0) {
        temporary_forget(o->path);
        o->error = flush_folder(o->target) ? 0 : errno;
    } else if (o->aside) {
        temporary_remove(o->path);
    }
    return o->error == 0 ? ERR_OK : output_fail(o, error_message, bytes);
}

enum err output_write(const struct output_wish *wish, const void *data, size_t data_bytes,
                      char *error_message, size_t bytes)
{
    struct output_file o;
    enum err e = output_open(&o, wish, error_message, bytes);

    if (e != ERR_OK) {
        return e;
    }
    return output_put(&o, data, data_bytes) ? output_keep(&o, error_message, bytes)
                                            : output_fail(&o, error_message, bytes);
}
