/* The sender's side of a transfer to a board (runtime/transfer/transfer_frames.h). */
#ifndef INGOT_HOST_SEND_FRAMES_H
#define INGOT_HOST_SEND_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/line/serial_line.h"
#include "runtime/transfer/transfer_frames.h"

struct send_frames {
    struct serial_line *line;
    const uint8_t *bytes; /* (n) of the file */
    uint64_t n;
    uint32_t window, frame; /* as the board states them */
    uint32_t baud, slow;    /* the rate for the transfer (0: no change), and the line's own rate */
    bool quiet;
    const volatile int *stopped; /* not 0: the user has cancelled */

    struct transfer_decoder decoder;
    uint64_t acked, resumed_at, said_ms, began_ms;
    bool pong, there, again, has_result, good;
    uint64_t pings, ponged;        /* number of the latest ping, and of the latest answered ping */
    uint64_t moved_ms, slowest_ms; /* when the latest answer came; the longest wait for an answer */
    uint64_t there_at;
    uint32_t there_crc;
    char error_message[512]; /* why it failed */
};

/* Send the file to a board that is ready for frames; the line is raw meanwhile. False:
 * s->error_message says why. */
bool send_frames(struct send_frames *s);

#endif
