/* A file of the host as a block device: one I/O thread fills the caller's buffers, so
 * that transfers overlap computing as they do with DMA. */
#ifndef INGOT_BOARD_HOST_FILE_DEVICE_H
#define INGOT_BOARD_HOST_FILE_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "board/block_device.h"
#include "board/err.h"

enum { FILE_DEVICE_DEPTH = 16, FILE_DEVICE_MAX_SECTORS = 2048, FILE_DEVICE_TEXT = 512 };

struct file_device {
    int fd;
    bool writable;
    bool
        forgets; /* written data are read from the disk, not from the system's memory; the owner sets
                     this after opening */
    uint64_t bytes;            /* size of the file; the rest of the last sector reads as zeros */
    uint64_t rate_bytes_per_s; /* rate of the slow card to imitate; 0: no limit */
    pthread_t thread;
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t work;  /* signals a new request, or the end */
    pthread_cond_t done;  /* a request is finished */
    bool stop;
    struct block_request *queue[FILE_DEVICE_DEPTH]; /* a ring: requests are served in order */
    uint32_t submitted;                             /* requests given to the thread so far */
    _Atomic uint32_t finished;
    uint32_t collected;
    struct block_device *device; /* gets the reason when a request fails */
    uint64_t due_ns;             /* time when the imitated card is free again */
    char name[FILE_DEVICE_TEXT]; /* the path */
    char why[FILE_DEVICE_TEXT];  /* error message with the path after an error, else empty */
};

/* Open path and fill *out; `state` must not move until file_device_close. ERR_NOT_FOUND, ERR_IO
 * (cannot open or read), ERR_UNSUPPORTED (a directory or a pipe); state->why names the file. A file
 * without bytes opens as a device without sectors. */
enum err file_device_open(struct file_device *state, const char *path, uint64_t rate_bytes_per_s,
                          struct block_device *out);

/* Open a file for reading and writing; the file keeps its size. */
enum err file_device_open_writable(struct file_device *state, const char *path,
                                   uint64_t rate_bytes_per_s, struct block_device *out);

/* Finish requests in flight, end the thread and close the file. */
void file_device_close(struct file_device *state);

#endif
