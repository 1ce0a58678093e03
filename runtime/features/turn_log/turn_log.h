/* With log=on, writes turns as lines of JSON to a file of the card. `ingot log` reads the file, so
 * that an adapter can be trained. docs/LEARNING.md describes the fields. */
#ifndef INGOT_RUNTIME_TURN_LOG_H
#define INGOT_RUNTIME_TURN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/record_ring.h"
#include "runtime/text/utf8.h"

enum { TURN_LOG_BYTES = 65536, TURN_LOG_ERROR_MESSAGE_BYTES = 256 };

struct turn_log {
    struct record_ring ring;
    struct utf8_writer utf8;
    uint32_t n;         /* bytes of the line so far */
    bool is_cut;        /* a text did not fit */
    bool begun;         /* a line has begun */
    uint64_t last_turn; /* number of the last written turn; 0: none since the start */
    char error_message
        [TURN_LOG_ERROR_MESSAGE_BYTES]; /* after an error, what is wrong and what helps */
    _Alignas(64) uint8_t buffer[TURN_LOG_BYTES];
};

/* Facts before a reply. Texts are UTF-8. A text that is NULL is left out. */
struct turn_log_turn {
    const char *model; /* its name */
    uint32_t model_crc;
    const char *adapter, *system;
    size_t system_bytes;
    const char *user; /* (user_bytes) */
    size_t user_bytes;
};

/* Facts after a reply. ids (n) are the turn's tokens: ids[0] is token `start` of the
 * conversation, and the reply begins at ids[reply]. `end` says why the reply ended. end_id is the
 * token that ends replies. */
struct turn_log_end {
    const char *end;
    const uint32_t *ids;
    uint32_t n, start, reply, end_id;
};

/* Open the log. l is zeroed. Errors: those of record_ring_open, and ERR_UNSUPPORTED if the device
 * cannot be written. l->error_message is set. */
enum err turn_log_open(struct turn_log *l, const struct file *file);

void turn_log_begin(struct turn_log *l, const struct turn_log_turn *turn);
void turn_log_reply(struct turn_log *l, const char *text, size_t bytes);
/* Write the turn, unless no turn has begun. A line that is too long loses its ids first, then the
 * ends of its texts, and is marked. Errors: those of record_ring_append, with l->error_message. */
enum err turn_log_end(struct turn_log *l, const struct turn_log_end *end);

/* Write the judgement of turn number `turn`: "good", "bad", "undone". ERR_NOT_FOUND: turn is 0.
 * Other errors: those of turn_log_end. */
enum err turn_log_rate(struct turn_log *l, uint64_t turn, const char *rating);

#endif
