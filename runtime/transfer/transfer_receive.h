/* The board's side of `ingot send`: bytes by frames to a file, from where an earlier try was
 * cut. */
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
    uint64_t again_ms;   /* when something was asked for once more ... */
    uint64_t again_at;   /* ... and what */
    uint64_t told_ms;    /* when the far end was told that work goes on */
    uint64_t resumed_at; /* the byte that it went on from */
    bool met;            /* the far end understands this rate */
    uint8_t out[TRANSFER_WIRE_BYTES];
};

/* Fill the file from the wire until the far end says that it is whole, and read it back: it is,
 * or ERR_BAD_CHECKSUM. ERR_TIMEOUT: nothing came for half a minute. ERR_ABORTED: a Ctrl-C. Those
 * of the file. In every case transfer_conclude follows. */
enum err transfer_receive(struct transfer *t, const struct transfer_wire *wire,
                          const struct file *file);

/* Tell the far end how it ended, until it has heard; error_message NULL: well. False: it has not
 * said so. */
bool transfer_conclude(struct transfer *t, const char *error_message);

#endif
