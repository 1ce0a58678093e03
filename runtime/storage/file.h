/* A file as extents on a block device, and asynchronous reads of its byte ranges. */
#ifndef INGOT_RUNTIME_FILE_H
#define INGOT_RUNTIME_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/block_device.h"
#include "board/err.h"
#include "runtime/base/platform.h"

enum {
    FILE_MAX_EXTENTS = 2048, /* the most extents in a table for a card's file */
    FILE_FEW_EXTENTS = 4,    /* the most extents without a table */
    FILE_NAME_BYTES = 256,
    FILE_READ_DEPTH = 12,  /* the most requests of a read in flight, 3 MiB */
    FILE_READ_RETRIES = 3, /* retries of one request before the read fails */
};

/* How long a device may stay silent. */
struct file_timeout {
    /* The platform whose clock measures the silence, and whose watchdog is fed and LED is lit
     * during a read. NULL means no limit. */
    const struct platform *platform;
    uint64_t limit_ticks; /* ticks without an answer to a waiting read */
};

struct file_extent {
    uint64_t sector; /* first sector on the device */
    uint64_t n_sectors;
};

/* Memory of the caller for the extents of one file. */
struct file_table {
    struct file_extent *extents;
    uint32_t most;
};

/* A file. A copy of the struct shares the table. */
struct file {
    struct block_device *device;
    struct file_timeout timeout;
    char name[FILE_NAME_BYTES]; /* UTF-8, NUL-terminated; for messages */
    uint64_t bytes;
    uint32_t n_extents;
    struct file_extent *table; /* extents in file order, which cover `bytes`, or NULL if they are in
                                * `few` */
    struct file_extent few[FILE_FEW_EXTENTS]; /* extents without a table */
};

_Static_assert(sizeof(struct file) < 512, "files are copied, and lie on stacks");

enum file_slot_state { FILE_SLOT_FREE, FILE_SLOT_WAITING, FILE_SLOT_IN_FLIGHT, FILE_SLOT_DONE };

struct file_slot {
    struct block_request request;
    enum file_slot_state state;
    uint16_t tries;   /* failures so far */
    uint16_t backoff; /* polls to wait before the next try */
};

/* One read in progress. Fields are read-only, and the struct must not move until the read ends. */
struct file_read {
    const struct file *file;
    uint8_t *buffer;
    bool write; /* set for a write, begun by file_write_start */
    uint64_t offset;
    uint64_t bytes;
    uint64_t bytes_done; /* contiguous bytes at the front of buffer that have arrived */
    uint64_t bytes_issued;
    uint32_t extent;                         /* extent where the next request starts */
    uint64_t extent_sector;                  /* sector in `extent` where it starts */
    struct file_slot slots[FILE_READ_DEPTH]; /* a ring in file order */
    uint32_t first;                          /* oldest slot in use */
    uint32_t n_slots;                        /* slots in use */
    uint64_t polled_at;                      /* ticks at the last poll */
    uint64_t silent_ticks;                   /* ticks without an answer */
    uint32_t looks;                          /* device->looks() at the device's last answer */
    uint32_t n_timeouts;                     /* number of resets of the device so far */
    enum err status;                         /* ERR_BUSY, ERR_OK, or why the read failed */
    enum err failure;                        /* the first failure, until the requests in flight have
                                              * ended; otherwise ERR_OK */
    uint64_t failed_sector;                  /* first device sector of the failed request */
    uint32_t n_retries;                      /* number of retries so far, for statistics */
};

/* Start to read file bytes [offset, offset + bytes) to buffer (16-byte aligned; `bytes` long).
 * offset and bytes are multiples of 512. The end may lie up to 511 bytes after the file's end;
 * those bytes arrive as zeros. Several reads may be in flight on one device. ERR_RANGE: the range
 * is unaligned or beyond the file. file_read_poll returns other failures. */
enum err file_read_start(struct file_read *r, const struct file *f, uint64_t offset, void *buffer,
                         size_t bytes);

/* Poll the device and continue the read. ERR_BUSY: in progress. ERR_OK: all bytes are there.
 * ERR_IO, ERR_TIMEOUT: the read failed after the retries, at r->failed_sector, and the caller has
 * the buffer again (after ERR_TIMEOUT only if the device has a reset, see block_device.h). The
 * result of a read that has ended does not change. */
enum err file_read_poll(struct file_read *r);

/* Return the bytes of the request that ends next, or 0 if none is in flight. */
uint64_t file_read_awaited(const struct file_read *r);

/* Stop the read: no more requests are sent. After those in flight are done, polls return
 * ERR_ABORTED, unless the read has already ended. */
void file_read_stop(struct file_read *r);

/* Start r and poll until the read ends. The file's timeout limits the wait. */
enum err file_read_now(struct file_read *r, const struct file *f, uint64_t offset, void *buffer,
                       size_t bytes);

/* Do as file_read_start, but write over the file's old bytes. The file's size and place do not
 * change, and the rest of its last sector is overwritten. Also ERR_UNSUPPORTED: the device cannot
 * be written. */
enum err file_write_start(struct file_read *r, const struct file *f, uint64_t offset,
                          const void *buffer, size_t bytes);
enum err file_write_now(struct file_read *r, const struct file *f, uint64_t offset,
                        const void *buffer, size_t bytes);

/* Return the device's sector that holds the file's byte `offset`, for messages. */
uint64_t file_sector(const struct file *f, uint64_t offset);

/* Return the file's bytes in place, or NULL if the device is not addressable, or the range is
 * beyond the file or not contiguous. */
const uint8_t *file_memory(const struct file *f, uint64_t offset, uint64_t bytes);

/* Return the file's extents (n_extents). */
static inline const struct file_extent *file_extents(const struct file *f)
{
    if (f->table != NULL) {
        return f->table;
    }
    return f->few;
}

/* Cut a table of `most` extents from the front of *memory, 64-byte aligned. After ERR_NO_SPACE
 * *memory is unchanged. */
enum err file_table_take(struct file_table *table, struct memory_range *memory, uint32_t most);

/* Set the name for messages. A name that is too long is cut at a character boundary. */
void file_set_name(struct file *f, const char *name);

/* Open a whole device as one file, such as flash that begins with an .ingot, or a host's file. bytes is
 * the size of the contents, at most the size of the device; 0 means the whole device. timeout may
 * be NULL. ERR_NO_DEVICE: the device is empty. ERR_RANGE: bytes is more than the device has. */
enum err file_open_device(struct file *f, struct block_device *device, uint64_t bytes,
                          const struct file_timeout *timeout);

#endif
