#include "host/serve/serve_kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/host/file_device.h"
#include "board/min_max.h"
#include "host/app/host_own.h"

enum { MIB = 1 << 20, ALIGN = 64, SHARE = 16, ERROR_MESSAGE_BYTES = 1024, WAIT_SECONDS = 30 };

/* A process has only one file, because it has one model. */
static struct kept_file {
    int lock; /* locks the file while it is in use; -1: there is no file */
    struct file_device state;
    struct block_device device;
    struct file file;
    void *memory;
} kept_file = { .lock = -1 };

static bool fail(const char *path, const char *why)
{
    fprintf(stderr, "ingot: --kept %s: %s\n", path, why);
    return false;
}

/* Makes or opens the file. True if the file is new or Ingot's, and no other process uses it. */
static bool make_file(const char *path, uint64_t bytes)
{
    char error_message[ERROR_MESSAGE_BYTES];
    bool is_blank;
    struct stat st;

    if (host_own_check(path, HOST_OWN_KEPT, &is_blank, error_message, sizeof error_message) !=
        ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    kept_file.lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (kept_file.lock < 0 || fstat(kept_file.lock, &st) != 0) {
        return fail(path, strerror(errno));
    }
    if (flock(kept_file.lock, LOCK_EX | LOCK_NB) != 0) {
        return fail(path, errno == EWOULDBLOCK
                              ? "another server uses it: give each one a file of its own"
                              : strerror(errno));
    }
    if (is_blank && S_ISREG(st.st_mode) && (uint64_t)st.st_size < bytes &&
        ftruncate(kept_file.lock, (off_t)bytes) != 0) {
        return fail(path, strerror(errno));
    }
    return true;
}

static bool open_file(const char *path, uint64_t bytes, const struct platform *platform)
{
    struct kept_file *f = &kept_file;
    struct file_timeout timeout = { platform, WAIT_SECONDS * platform->clock.hz };

    if (!make_file(path, bytes)) {
        return false;
    }
    if (file_device_open_writable(&f->state, path, 0, &f->device) != ERR_OK) {
        return fail(path, f->state.why);
    }
    if (file_open_device(&f->file, &f->device, f->state.bytes, &timeout) != ERR_OK) {
        return fail(path, "it has no bytes");
    }
    file_set_name(&f->file, path);
    return true;
}

bool serve_kept_open(struct kept *k, const struct serve_kept_setup *setup, struct app *app)
{
    size_t share = app->setup.platform->memory.arena.bytes / SHARE / MIB;
    size_t mib = setup->is_given ? setup->mib : min_size(SERVE_KEPT_MIB, share);
    struct kept_setup kept = { .file = NULL };

    memset(k, 0, sizeof *k);
    if (mib == 0) {
        return true;
    }
    kept_file.memory = aligned_alloc(ALIGN, mib * MIB);
    if (kept_file.memory == NULL) {
        fprintf(stderr, "ingot: --kept-mib: this computer has less free memory: give a smaller "
                        "number\n");
        return false;
    }
    kept.memory = (struct memory_range){ kept_file.memory, mib * MIB };
    if (setup->path != NULL) {
        if (!open_file(setup->path, (uint64_t)SERVE_KEPT_FILE_TIMES * mib * MIB,
                       app->setup.platform)) {
            return false;
        }
        kept.file = &kept_file.file;
    }
    (void)kept_open(k, &kept, app_sequence(app, 0));
    if (k->error_message[0] != '\0' && (setup->is_given || setup->path != NULL)) {
        fprintf(stderr, "ingot: warning: %s\n", k->error_message);
    }
    return true;
}

void serve_kept_close(struct kept *k)
{
    while (kept_write(k)) {
    }
    k->n_memory = k->n_card = 0;
    if (kept_file.lock >= 0) {
        file_device_close(&kept_file.state);
        close(kept_file.lock);
        kept_file.lock = -1;
    }
    free(kept_file.memory);
    kept_file.memory = NULL;
}
