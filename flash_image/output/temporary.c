#include "flash_image/output/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100 };

/* The list only grows, so that a signal handler can walk through it at any time, the newest entry
 * first. */
struct entry {
    struct entry *next;
    pid_t owner; /* a forked child does not remove its parent's files */
    bool is_folder;
    atomic_bool there;
    char path[PATH_MAX];
};

static _Atomic(struct entry *) entries;
static atomic_bool creating; /* a file is being created, and its entry does not count yet */
static atomic_int signalled; /* signal that came meanwhile */

/* ---- signals --------------------------------------------------------------------------------- */

void temporary_remove_all(void)
{
    /* A folder's entry is older than its files' entries, so the folder is empty when its turn
     * comes. */
    for (struct entry *e = atomic_load(&entries); e != NULL; e = e->next) {
        if (atomic_load(&e->there) && e->owner == getpid()) {
            (void)(e->is_folder ? rmdir(e->path) : unlink(e->path));
        }
    }
}

static void end(int number)
{
    temporary_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_signal(int number)
{
    atomic_store(&signalled, number);
    if (!atomic_load(&creating)) {
        end(number);
    }
}

void temporary_watch_signals(void)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(ends[i], &action, NULL);
        }
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static struct entry *find(const char *path)
{
    for (struct entry *e = atomic_load(&entries); e != NULL; e = e->next) {
        if (atomic_load(&e->there) && strcmp(e->path, path) == 0) {
            return e;
        }
    }
    return NULL;
}

/* Add an entry for a path; NULL: out of memory. */
static struct entry *add(const char *path, bool is_folder)
{
    struct entry *e = calloc(1, sizeof *e);

    if (e == NULL) {
        return NULL;
    }
    e->owner = getpid();
    e->is_folder = is_folder;
    snprintf(e->path, sizeof e->path, "%s", path);
    e->next = atomic_load(&entries);
    atomic_store(&entries, e);
    return e;
}

/* Write the folder of the path `beside`, or $TMPDIR if NULL, with a slash. False: too long. */
static bool folder_of(const char *beside, char *path, size_t bytes)
{
    const char *slash = beside != NULL ? strrchr(beside, '/') : NULL;
    const char *temporary = getenv("TMPDIR");

    if (beside == NULL) {
        return snprintf(path, bytes, "%s/",
                        temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp") <
               (int)bytes;
    }
    return snprintf(path, bytes, "%.*s", slash != NULL ? (int)(slash + 1 - beside) : 0, beside) <
           (int)bytes;
}

/* Append ".ingot-" and a random number; lists of models skip such names. */
static bool choose_name(char *path, size_t bytes)
{
    size_t n = strlen(path);
    uint64_t number;

    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
        return false;
    }
    if (snprintf(path + n, bytes - n, ".ingot-%016llx", (unsigned long long)number) >=
        (int)(bytes - n)) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

static int create(const char *path, bool is_folder)
{
    if (is_folder) {
        return mkdir(path, 0700);
    }
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Add the entry, then create the file; from then on the entry counts. */
static int create_listed(const char *path, bool is_folder)
{
    struct entry *e = add(path, is_folder);
    int made = -1, error = ENOMEM;

    if (e != NULL) {
        atomic_store(&creating, true);
        made = create(path, is_folder);
        error = errno;
        atomic_store(&e->there, made >= 0);
        atomic_store(&creating, false);
    }
    if (atomic_load(&signalled) != 0) {
        end(atomic_load(&signalled));
    }
    errno = error;
    return made;
}

static int make(const char *beside, bool is_folder, char *path, size_t bytes)
{
    int made = -1;

    errno = EEXIST;
    for (unsigned i = 0; made < 0 && errno == EEXIST && i < TRIES; i++) {
        if (!folder_of(beside, path, bytes)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        if (!choose_name(path, bytes)) {
            return -1;
        }
        made = create_listed(path, is_folder);
    }
    return made;
}

int temporary_file(const char *beside, char *path, size_t bytes)
{
    return make(beside, false, path, bytes);
}

bool temporary_folder(char *path, size_t bytes)
{
    return make(NULL, true, path, bytes) >= 0;
}

bool temporary_expect(const char *path)
{
    struct entry *e = add(path, false);

    if (e != NULL) {
        atomic_store(&e->there, true);
    }
    return e != NULL;
}

void temporary_remove(const char *path)
{
    struct entry *e = path != NULL ? find(path) : NULL;

    if (e != NULL) {
        (void)(e->is_folder ? rmdir(path) : unlink(path));
        atomic_store(&e->there, false);
    }
}

void temporary_forget(const char *path)
{
    struct entry *e = find(path);

    if (e != NULL) {
        atomic_store(&e->there, false);
    }
}
