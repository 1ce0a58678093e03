#include "board/host/file_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "board/min_max.h"

static const uint64_t NS_PER_S = 1000000000u;

__attribute__((format(printf, 2, 3))) static void file_device_explain(struct file_device *d,
                                                                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(d->why, sizeof d->why, format, args);
    va_end(args);
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Sleep until a card of the imitated rate would have delivered `bytes` more bytes. */
static void file_device_pace(struct file_device *d, uint64_t bytes)
{
    struct timespec t;

    if (d->rate_bytes_per_s == 0)
        return;
    d->due_ns += bytes * NS_PER_S / d->rate_bytes_per_s; /* bytes <= 1 MiB: no overflow */
    t.tv_sec = (time_t)(d->due_ns / NS_PER_S);
    t.tv_nsec = (long)(d->due_ns % NS_PER_S);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* Report a failed request. error: errno, or 0 if a read met the end of the file too early. */
static enum err file_device_fail(struct file_device *d, int error)
{
    d->device->reason = error != 0 ? strerrordesc_np(error) : "the file has become shorter";
    return ERR_IO;
}

/* Read the whole request; bytes after the end that the file had when it was opened are zeros. Fails
 * if the file has become shorter since then. */
static enum err file_device_read(struct file_device *d, const struct block_request *req)
{
    uint64_t offset = req->sector * SECTOR_BYTES;
    size_t bytes = (size_t)req->n_sectors * SECTOR_BYTES, at = 0;
    size_t wanted = (size_t)min_u64(d->bytes - offset, bytes);

    while (at < wanted) {
        ssize_t n = pread(d->fd, (char *)req->buffer + at, wanted - at, (off_t)(offset + at));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            return file_device_fail(d, n < 0 ? errno : 0);
        }
        at += (size_t)n;
    }
    memset((char *)req->buffer + wanted, 0, bytes - wanted);
    return ERR_OK;
}

/* Write through to the disk, as block_device.h promises. Bytes after the file's end are dropped,
 * because a file does not grow. */
static enum err file_device_write(struct file_device *d, const struct block_request *req)
{
    uint64_t offset = req->sector * SECTOR_BYTES;
    size_t bytes = (size_t)req->n_sectors * SECTOR_BYTES, at = 0;
    size_t wanted = (size_t)min_u64(d->bytes - offset, bytes);

    while (at < wanted) {
        ssize_t n = pwrite(d->fd, (const char *)req->buffer + at, wanted - at,
                           (off_t)(offset + at));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            return file_device_fail(d, n < 0 ? errno : ENOSPC);
        }
        at += (size_t)n;
    }
    if (fdatasync(d->fd) != 0)
        return file_device_fail(d, errno);
    if (d->forgets)
        (void)posix_fadvise(d->fd, (off_t)offset, (off_t)wanted, POSIX_FADV_DONTNEED);
    return ERR_OK;
}

static void *file_device_run(void *arg)
{
    struct file_device *d = arg;

    pthread_mutex_lock(&d->lock);
    for (;;) {
        struct block_request *req;

        if (d->finished == d->submitted && !d->stop) {
            do
                pthread_cond_wait(&d->work, &d->lock);
            while (d->finished == d->submitted && !d->stop);
            d->due_ns = now_ns(); /* time in which the card was idle does not count; only a late
                                     thread may catch up */
        }
        if (d->finished == d->submitted)
            break; /* `stop` is set, and no request is left */
        req = d->queue[d->finished % FILE_DEVICE_DEPTH];
        pthread_mutex_unlock(&d->lock);
        enum err e = req->write ? file_device_write(d, req) : file_device_read(d, req);
        file_device_pace(d, (uint64_t)req->n_sectors * SECTOR_BYTES);
        pthread_mutex_lock(&d->lock);
        req->status = e; /* only poll sets `done`, because the caller may look without the lock */
        d->finished++;
        pthread_cond_signal(&d->done);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static enum err file_device_submit(struct block_device *dev, struct block_request *req)
{
    struct file_device *d = dev->driver;
    enum err e = ERR_OK;

    if (block_request_check(dev, req) != ERR_OK)
        return block_request_check(dev, req);
    pthread_mutex_lock(&d->lock);
    if (d->submitted - d->collected == FILE_DEVICE_DEPTH) {
        e = ERR_BUSY;
    } else {
        req->done = false;
        d->queue[d->submitted++ % FILE_DEVICE_DEPTH] = req;
        pthread_cond_signal(&d->work);
    }
    pthread_mutex_unlock(&d->lock);
    return e;
}

static enum err file_device_poll(struct block_device *dev)
{
    struct file_device *d = dev->driver;

    if (atomic_load(&d->finished) == d->collected)
        return ERR_OK; /* the lock is not taken here, because a caller that polls in a loop would
                          keep it from the thread */
    pthread_mutex_lock(&d->lock);
    while (d->collected != d->finished)
        d->queue[d->collected++ % FILE_DEVICE_DEPTH]->done = true;
    pthread_mutex_unlock(&d->lock);
    return ERR_OK;
}

static void file_device_wait(struct block_device *dev, uint32_t micros)
{
    struct file_device *d = dev->driver;
    uint64_t until = now_ns() + micros * (uint64_t)1000;
    struct timespec t = { (time_t)(until / NS_PER_S), (long)(until % NS_PER_S) };
    int timed_out = 0;

    pthread_mutex_lock(&d->lock);
    while (d->finished == d->collected && d->submitted != d->collected && timed_out == 0)
        timed_out = pthread_cond_timedwait(&d->done, &d->lock, &t);
    pthread_mutex_unlock(&d->lock);
}

/* Open and size the file. */
static enum err file_device_open_fd(struct file_device *d)
{
    struct stat st;

    d->fd = open(d->name, (d->writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (d->fd < 0) {
        enum err e = errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_IO;
        file_device_explain(d, "%.400s: cannot open: %s", d->name, strerror(errno));
        return e;
    }
    if (fstat(d->fd, &st) != 0 || S_ISDIR(st.st_mode) || S_ISFIFO(st.st_mode) ||
        S_ISCHR(st.st_mode) || S_ISSOCK(st.st_mode)) {
        file_device_explain(d, "%.400s: this is not a file or a card", d->name);
        return ERR_UNSUPPORTED;
    }
    off_t end = lseek(d->fd, 0, SEEK_END); /* a block device has no st_size */
    if (end < 0) {
        file_device_explain(d, "%.400s: has no size: %s", d->name, strerror(errno));
        return ERR_IO;
    }
    d->bytes = (uint64_t)end;
    return ERR_OK;
}

static enum err file_device_start(struct file_device *d)
{
    pthread_condattr_t clock;
    int failed;

    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->work, NULL);
    pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&d->done, &clock);
    pthread_condattr_destroy(&clock);
    failed = pthread_create(&d->thread, NULL, file_device_run, d);
    if (failed == 0)
        return ERR_OK;
    file_device_explain(d, "%.400s: cannot start its thread: %s", d->name, strerror(failed));
    pthread_cond_destroy(&d->done);
    pthread_cond_destroy(&d->work);
    pthread_mutex_destroy(&d->lock);
    return ERR_IO;
}

static enum err file_device_open_as(struct file_device *state, const char *path, bool writable,
                                    uint64_t rate_bytes_per_s, struct block_device *out)
{
    enum err e = ERR_OK;

    memset(state, 0, sizeof *state);
    memset(out, 0, sizeof *out);
    state->device = out;
    state->fd = -1;
    state->writable = writable;
    state->rate_bytes_per_s = rate_bytes_per_s;
    state->due_ns = now_ns(); /* set before the first request can arrive */
    if (snprintf(state->name, sizeof state->name, "%s", path) >= (int)sizeof state->name) {
        file_device_explain(state, "%.400s...: the path is too long", path);
        return ERR_NOT_FOUND;
    }
    e = file_device_open_fd(state);
    if (e == ERR_OK)
        e = file_device_start(state);
    if (e != ERR_OK) {
        if (state->fd >= 0)
            close(state->fd);
        state->fd = -1;
        return e;
    }
    out->name = state->name;
    out->n_sectors = (state->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    out->max_sectors = FILE_DEVICE_MAX_SECTORS;
    out->queue_depth = FILE_DEVICE_DEPTH;
    out->wanted_requests = block_device_wanted(FILE_DEVICE_DEPTH);
    out->writable = writable;
    out->submit = file_device_submit;
    out->poll = file_device_poll;
    out->wait = file_device_wait;
    out->driver = state;
    return ERR_OK;
}

enum err file_device_open(struct file_device *state, const char *path, uint64_t rate_bytes_per_s,
                          struct block_device *out)
{
    return file_device_open_as(state, path, false, rate_bytes_per_s, out);
}

enum err file_device_open_writable(struct file_device *state, const char *path,
                                   uint64_t rate_bytes_per_s, struct block_device *out)
{
    return file_device_open_as(state, path, true, rate_bytes_per_s, out);
}

void file_device_close(struct file_device *state)
{
    if (state->fd < 0)
        return;
    pthread_mutex_lock(&state->lock);
    state->stop = true;
    pthread_cond_signal(&state->work);
    pthread_mutex_unlock(&state->lock);
    pthread_join(state->thread, NULL);
    pthread_cond_destroy(&state->done);
    pthread_cond_destroy(&state->work);
    pthread_mutex_destroy(&state->lock);
    close(state->fd);
    state->fd = -1;
}
