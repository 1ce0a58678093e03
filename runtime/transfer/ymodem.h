/* Receives files by YMODEM, which terminal programs can send (lrzsz's sb, minicom, Tera Term):
 * blocks of 128 or 1,024 bytes with a CRC-16, one at a time. Source: Chuck Forsberg, XMODEM/YMODEM
 * Protocol Reference, 1988. */
#ifndef INGOT_RUNTIME_YMODEM_H
#define INGOT_RUNTIME_YMODEM_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/file.h"
#include "runtime/transfer/transfer_sink.h"
#include "runtime/transfer/transfer_wire.h"

enum { YMODEM_BLOCK_BYTES = 1024 };

struct ymodem {
    const struct transfer_wire *wire;
    void *context;
    /* A file begins: set *file to its destination. On an error the sender is told to stop. */
    enum err (*open)(void *context, const char *name, uint64_t bytes, const struct file **file);
    /* The file is complete. On an error the sender is told to stop. */
    enum err (*close)(void *context);
    unsigned n_files;              /* number of files received */
    bool begun;                    /* the receiver has asked for the blocks of the last file */
    bool stopped;                  /* stopped by a Ctrl-C, not by the sender */
    bool noise;                    /* noise came before the last block or byte */
    unsigned n_keys, keys_to_stop; /* Ctrl-Cs since the last block; how many of them end a
                                    * transfer */
    struct transfer_sink sink;
    uint8_t block[YMODEM_BLOCK_BYTES + 2];
};

/* Receive files until the sender has no more. ERR_TIMEOUT: the sender does not send, or stopped
 * sending. ERR_ABORTED: the sender gave up, or a person did (y->stopped): with one Ctrl-C before
 * the first file, or two later. ERR_BAD_CHECKSUM: a block never came completely, or is missing.
 * ERR_TRUNCATED: the file ended too early; ERR_RANGE: it continues beyond its length.
 * ERR_UNSUPPORTED: the sender gives no length. Errors of open, close and the file. */
enum err ymodem_receive(struct ymodem *y);

#endif
