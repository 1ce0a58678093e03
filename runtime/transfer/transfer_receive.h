/* The board's side of `ingot send`: write bytes from frames to a file, and continue an earlier
 * interrupted transfer. */
#ifndef INGOT_RUNTIME_TRANSFER_RECEIVE_H
#define INGOT_RUNTIME_TRANSFER_RECEIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/file.h"
#include "runtime/transfer/transfer_frames.h"
#include "runtime/transfer/transfer_sink.h"
#include "runtime/transfer/transfer_wire.h"

struct transfer {
    const struct transfer_wire *wire;
    struct transfer_decoder decoder;
    struct transfer_sink sink;
    uint64_t heard_ms;   /* when the latest whole frame came */
    uint64_t again_ms;   /* when bytes were last requested again */
    uint64_t again_at;   /* the byte from which they were requested */
    uint64_t told_ms;    /* when the sender was last told that work continues */
    uint64_t resumed_at; /* the byte from which the transfer continued */
    bool met;            /* the sender understands this rate */
    uint8_t out[TRANSFER_WIRE_BYTES];
};

/* Fill the file from the wire until the sender says that it is complete, then read the file back.
 * ERR_BAD_CHECKSUM: the file's bytes are wrong. ERR_TIMEOUT: nothing came for half a minute.
 * ERR_ABORTED: a Ctrl-C. Errors of the file. Always call transfer_conclude afterwards. */
enum err transfer_receive(struct transfer *t, const struct transfer_wire *wire,
                          const struct file *file);

/* Tell the sender, several times if needed, how the transfer ended: with success if error_message
 * is NULL. Return true once the sender has acknowledged it, false if it never does. */
bool transfer_conclude(struct transfer *t, const char *error_message);

#endif
