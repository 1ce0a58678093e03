/* The sender's side of a file transfer by PUT to a board on the network (docs/LAN.md, "Files onto
 * the card"). */
#ifndef INGOT_HOST_SEND_HTTP_H
#define INGOT_HOST_SEND_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct send_http {
    const char *to;       /* http://HOST or http://HOST:PORT */
    const char *token;    /* NULL: none */
    const char *path;     /* on the card: "models/x.ingot" */
    const uint8_t *bytes; /* (n) of the file */
    uint64_t n;
    bool quiet;
    const volatile int *stopped; /* not 0: the user cancels */
    char error_message[512];     /* why it failed */

    char host[256], port[8]; /* of `to` */
    uint64_t have;           /* number of bytes that the board has */
    uint64_t resumed_at, began_ms, said_ms;
    uint32_t crc; /* CRC-32C of the file */
};

/* True if `to` names a board on the network. */
bool send_http_is(const char *to);

/* Send the file, from the point where an earlier attempt stopped; try again after an interruption.
 * False: s->error_message says why. */
bool send_http(struct send_http *s);

/* Make the board load a model from its card, and wait until the model is loaded. False:
 * s->error_message says why. */
bool send_http_load(struct send_http *s, const char *name);

#endif
