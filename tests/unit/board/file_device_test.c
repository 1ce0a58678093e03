/* A file of this computer as a block device: after a write, a read comes from the disk if that is
 * asked for. */
#include "board/host/file_device.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/tap.h"

enum { FILE_BYTES = 1 << 20, PAGE = 4096 };

static _Alignas(64) uint8_t buffer[FILE_BYTES];
static char path[300];

static enum err transfer(struct block_device *dev, bool write)
{
    struct block_request r = { .n_sectors = FILE_BYTES / SECTOR_BYTES,
                               .buffer = buffer,
                               .write = write };
    enum err e = dev->submit(dev, &r);

    while (e == ERR_OK && !r.done)
        e = dev->poll(dev);
    return e == ERR_OK ? r.status : e;
}

/* Pages of the file that the system keeps in memory. */
static unsigned pages_kept(void)
{
    unsigned char kept[FILE_BYTES / PAGE];
    int fd = open(path, O_RDONLY);
    void *map = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    unsigned n = 0;

    if (map != MAP_FAILED && mincore(map, FILE_BYTES, kept) == 0) {
        for (size_t i = 0; i < sizeof kept; i++)
            n += kept[i] & 1;
    }
    (void)munmap(map, FILE_BYTES);
    close(fd);
    return n;
}

static unsigned pages_after_write(bool forgets, enum err *e)
{
    struct file_device state;
    struct block_device dev;
    unsigned n;

    *e = file_device_open_writable(&state, path, 0, &dev);
    if (*e != ERR_OK)
        return 0;
    state.forgets = forgets;
    for (size_t i = 0; i < sizeof buffer; i++)
        buffer[i] = (uint8_t)(i * 7 + i / SECTOR_BYTES);
    *e = transfer(&dev, true);
    n = pages_kept();
    memset(buffer, 0, sizeof buffer);
    if (*e == ERR_OK)
        *e = transfer(&dev, false);
    file_device_close(&state);
    return n;
}

static bool is_right(void)
{
    for (size_t i = 0; i < sizeof buffer; i++) {
        if (buffer[i] != (uint8_t)(i * 7 + i / SECTOR_BYTES))
            return false;
    }
    return true;
}

/* Whether the file system drops pages at all: one in memory has no other place for them. */
static bool can_forget(void)
{
    int fd = open(path, O_RDWR);

    (void)fdatasync(fd);
    (void)posix_fadvise(fd, 0, FILE_BYTES, POSIX_FADV_DONTNEED);
    close(fd);
    return pages_kept() < FILE_BYTES / PAGE / 2;
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    unsigned kept;
    enum err e;
    int fd;

    snprintf(path, sizeof path, "%s/ingot-file-device-%ld", base != NULL ? base : "/tmp",
             (long)getpid());
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, FILE_BYTES) != 0)
        return 1;
    close(fd);
    kept = pages_after_write(false, &e);
    OK(e == ERR_OK && is_right(), "pages are written and read (%u of them in memory)", kept);
    if (!can_forget()) {
        OK(true, "from the disk # SKIP this file system is in memory");
    } else {
        kept = pages_after_write(true, &e);
        OK(e == ERR_OK && is_right() && kept < FILE_BYTES / PAGE / 4,
           "pages are read from the disk: %u of %u are in memory after the write", kept,
           FILE_BYTES / PAGE);
    }
    unlink(path);
    return tap_done();
}
