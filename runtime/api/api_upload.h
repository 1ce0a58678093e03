/* Files that arrive by PUT /models/NAME and similar paths, whole or in ranges (RFC 9110, section
 * 14.5), and go to the card. An interrupted upload continues after the bytes on the card. PUT with
 * `Content-Range: bytes <any>/TOTAL`, with a star for <any>, asks how many bytes the card has. The
 * body waits in memory, and in TCP's window, until the line is free. */
#ifndef INGOT_RUNTIME_API_UPLOAD_H
#define INGOT_RUNTIME_API_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/transfer/transfer_sink.h"

enum {
    API_PATH_BYTES = 96,
    API_UPLOAD_SILENCE_MS = 10000, /* milliseconds after which a body without new bytes fails */
    API_UPLOAD_ROOM = 1536,        /* a client's window closes if less room is left */
};

/* The machine's functions for files. If they are NULL, the machine does not accept files. */
struct api_store {
    void *context;
    /* Reserves room for a file, until another file is opened or this one is published. The same
     * path and size give the same place unless something else was written in between. */
    enum err (*open)(void *context, const char *path, uint64_t bytes, const struct file **file);
    /* Makes the complete file visible on the card. */
    enum err (*publish)(void *context);
    const char *(*error_message)(
        void *context);           /* returns a sentence about the latest error of open or
                                   * publish */
    bool (*stops)(void *context); /* returns true if somebody on the line has pressed Ctrl-C */
    /* Reports a file that has arrived. */
    void (*came)(void *context, const char *path, uint64_t bytes, uint64_t ms);
};

/* The file that is arriving, in one or more requests. All zeros: no file. */
struct api_upload {
    char path[API_PATH_BYTES]; /* "": none */
    uint64_t total, at;        /* the file's size, and how many bytes the card has */
    uint32_t crc;              /* CRC-32C of the bytes on the card */
    uint32_t place;            /* identifies the place of the file's extents */
    uint64_t ms;               /* milliseconds that the upload has taken */
    struct transfer_sink sink;
};

struct api;
struct api_client;
struct http_request;

/* Handle the head of a PUT request for a folder that accepts files. Returns true if the request has
 * been answered or its body is expected. */
bool api_upload_head(struct api_client *k, const struct http_request *r);

/* Take a piece of the body. */
bool api_upload_body(struct api_client *k, const char *bytes, size_t n);

/* Write the body of the current client to the card while it arrives, then answer the client. */
void api_upload_serve(struct api *a);

/* ---- for tests: api_range.c ---- */

/* Parse a Content-Range field (bytes): "bytes FIRST-LAST/TOTAL", or with a star in place of
 * FIRST-LAST, which sets *asks. Returns false for all other texts. */
struct api_range {
    uint64_t first, last, total;
    bool asks;
};
bool api_range_read(const char *field, size_t bytes, struct api_range *range);

#endif
