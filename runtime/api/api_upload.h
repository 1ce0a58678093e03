/* Files that come by PUT /models/NAME and its like, whole or in ranges (RFC 9110, section 14.5), and go to the card. A range that was cut
 * goes on where the card has it: PUT with `Content-Range: bytes <any>/TOTAL`, written with a star, asks where that is.
 * The body waits in memory, and behind TCP's window, until the line is free. */
#ifndef INGOT_RUNTIME_API_UPLOAD_H
#define INGOT_RUNTIME_API_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/transfer/transfer_sink.h"

enum {
    API_PATH_BYTES = 96,
    API_UPLOAD_SILENCE_MS = 10000, /* without a byte of the body that is written now */
    API_UPLOAD_ROOM = 1536,        /* of a client's memory: less than that, and its window closes */
};

/* The machine's functions for files. NULL functions: it takes none. */
struct api_store {
    void *context;
    /* Room for a file; it stays where it is until another one is opened, or this is published. The same path and size give the same
     * place, if nothing else was written meanwhile. */
    enum err (*open)(void *context, const char *path, uint64_t bytes, const struct file **file);
    /* It is whole: from now on the card has it. */
    enum err (*publish)(void *context);
    const char *(*error_message)(
        void *context);           /* an error message about the latest error of both */
    bool (*stops)(void *context); /* somebody at the line has pressed Ctrl-C */
    void (*came)(void *context, const char *path, uint64_t bytes, uint64_t ms); /* say so */
};

/* The file that comes, over its requests. Zeroed: none. */
struct api_upload {
    char path[API_PATH_BYTES]; /* "": none */
    uint64_t total, at;        /* bytes of it, and those that the card has */
    uint32_t crc;              /* CRC-32C of these */
    uint32_t place;            /* of its extents: where they are */
    uint64_t ms;               /* that it took so far */
    struct transfer_sink sink;
};

struct api;
struct api_client;
struct http_request;

/* A request's head: PUT, for a path of a folder that takes files. True: it is answered, or its body is awaited. */
bool api_upload_head(struct api_client *k, const struct http_request *r);

/* A piece of the body. */
bool api_upload_body(struct api_client *k, const char *bytes, size_t n);

/* Write the body of the client at work, while it comes, and answer it. */
void api_upload_serve(struct api *a);

/* ---- for tests: api_range.c ---- */

/* A field Content-Range (bytes), "bytes FIRST-LAST/TOTAL", or with a star in the place of FIRST-LAST: *asks. False: it is neither. */
struct api_range {
    uint64_t first, last, total;
    bool asks;
};
bool api_range_read(const char *field, size_t bytes, struct api_range *range);

#endif
