/* Frames on a serial line, for files between `ingot send` and a board: between two bytes 0x7e
 * come a kind, a number, data and a CRC-32C of all of them. The bytes with a meaning on a line
 * (Ctrl-C, XON, XOFF, 0x7d, 0x7e) are sent as 0x7d and the byte with bit 5 inverted, as in RFC
 * 1662 (4.2), so flow control and Ctrl-C continue to work. */
#ifndef INGOT_RUNTIME_TRANSFER_FRAMES_H
#define INGOT_RUNTIME_TRANSFER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TRANSFER_DATA_BYTES = 2048, /* the most data of a frame */
    TRANSFER_HEAD_BYTES = 9,    /* kind, number */
    TRANSFER_FRAME_BYTES = TRANSFER_HEAD_BYTES + TRANSFER_DATA_BYTES + 4,
    TRANSFER_WIRE_BYTES = 2 * TRANSFER_FRAME_BYTES + 2, /* all bytes escaped, two flags */
    TRANSFER_WINDOW_BYTES = 32768,                      /* the most bytes of frames that are not
                                                         * acknowledged */
    TRANSFER_STEP_BYTES = 65536,                        /* a broken transfer may continue at
                                                         * multiples of this */
};

/* Frames to the board, and its answers. The number is an offset in the file, unless a row says
 * otherwise. */
enum transfer_kind {
    TRANSFER_PING =
        'p', /* asks if the board listens; the answer is a ping; also sent before repeated bytes */
    TRANSFER_QUERY = 'q', /* asks for the CRC of bytes that the board has. data: length, u64 ->
                           * TRANSFER_THERE */
    TRANSFER_START = 's', /* continue from here, a multiple of TRANSFER_STEP_BYTES ->
                           * TRANSFER_NEXT */
    TRANSFER_DATA = 'd',  /* -> TRANSFER_NEXT */
    TRANSFER_END = 'e',   /* data: the whole file's CRC-32C, u32 -> TRANSFER_RESULT */
    TRANSFER_BYE = 'x',   /* the result has arrived */

    TRANSFER_THERE = 'c',  /* data: the CRC-32C of the queried bytes, u32 */
    TRANSFER_NEXT = 'a',   /* all bytes before the number have arrived */
    TRANSFER_AGAIN = 'n',  /* as TRANSFER_NEXT, but the bytes from there on were damaged: send these
                           * again */
    TRANSFER_WORK = 'w',   /* progress of long work */
    TRANSFER_RESULT = 'r', /* number 0: the card has the file; otherwise data: an error message */
};

struct transfer_frame {
    uint8_t kind;
    uint64_t number;
    const uint8_t *data;
    size_t bytes;
};

enum transfer_taken {
    TRANSFER_MORE,    /* no frame yet */
    TRANSFER_WHOLE,   /* *out has a frame, valid until the next byte */
    TRANSFER_DAMAGED, /* a damaged frame came */
    TRANSFER_CTRL_C,
};

/* Zeroed at the start. */
struct transfer_decoder {
    uint8_t bytes[TRANSFER_FRAME_BYTES];
    size_t n;
    bool escaped, too_long;
};

enum transfer_taken transfer_take(struct transfer_decoder *d, uint8_t byte,
                                  struct transfer_frame *out);

/* Write a frame to out (TRANSFER_WIRE_BYTES); f->bytes is TRANSFER_DATA_BYTES at the most.
 * Returns its length. */
size_t transfer_put(uint8_t *out, const struct transfer_frame *f);

/* Write, and read, a little-endian number of a frame. */
void transfer_put_number(uint8_t *out, uint64_t number, unsigned bytes);
uint64_t transfer_number(const uint8_t *in, size_t bytes);

#endif
