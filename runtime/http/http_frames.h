/* WebSocket messages from bytes that arrive in pieces of any size. wslay reads the frames;
 * fragments, pings and end frames are handled here. Source: RFC 6455, sections 5 to 7. */
#ifndef INGOT_RUNTIME_HTTP_FRAMES_H
#define INGOT_RUNTIME_HTTP_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wslay_frame_context;

enum {
    HTTP_CONTROL_BYTES = 125,
    HTTP_FRAME_BYTES = 16 << 20, /* the longest frame; a longer one ends the connection */
    HTTP_CLOSE_AT_ONCE = 1,      /* no code: the connection closes without an end frame */
    HTTP_CLOSE_NORMAL = 1000,
    HTTP_CLOSE_PROTOCOL = 1002,
    HTTP_CLOSE_NOT_TEXT = 1007,
    HTTP_CLOSE_TOO_LONG = 1009,
    HTTP_CLOSE_FAILED = 1011,
    HTTP_CLOSE_FULL = 1013, /* try again later */
};

enum http_frames_event {
    HTTP_FRAMES_WANT, /* more bytes are needed */
    HTTP_FRAMES_DATA, /* a piece of a message */
    HTTP_FRAMES_END,  /* the other side closed, or broke a rule: an end frame is sent, and nothing
                      * more is read */
};

struct http_frames {
    struct wslay_frame_context *wslay; /* NULL: none */
    const char *in;                    /* (in_bytes) received bytes that wslay has not taken yet */
    size_t in_bytes;
    uint64_t left; /* bytes of the received frame that are still to come */
    uint8_t opcode;
    bool final, inside; /* final: a message ends with this frame; inside: a message has begun and
                         * has not ended */
    bool in_frame, is_text;
    uint8_t control[HTTP_CONTROL_BYTES]; /* (control_bytes) received part of a control frame */
    size_t control_bytes;
    bool ended; /* no further frame is read */
    /* Output: control frames between messages. */
    uint8_t pong[HTTP_CONTROL_BYTES];
    uint8_t pong_bytes;
    bool pongs, pings;
    uint16_t code; /* the code of the end frame; 0: none */
    bool end_sent;
    uint8_t head[10]; /* (head_bytes) the head of the message's frame that is being sent */
    uint8_t head_bytes, head_at;
    bool sends; /* a message is being sent; sent_bytes of it have been sent */
    size_t sent_bytes;
};

/* Set up f. Returns false if out of memory. Call http_frames_close even then. */
bool http_frames_open(struct http_frames *f);
void http_frames_close(struct http_frames *f);

/* Pass n received bytes. The bytes must stay valid until http_frames_next returns HTTP_FRAMES_WANT,
 * because only then are all of them taken. */
void http_frames_give(struct http_frames *f, const char *bytes, size_t n);

/* Return the next event of the passed bytes. HTTP_FRAMES_DATA: *piece (*n, may be 0) is valid until
 * the next call; *last is true if the message ends with this piece, and *text is true if the
 * message is marked as UTF-8. */
enum http_frames_event http_frames_next(struct http_frames *f, const char **piece, size_t *n,
                                        bool *last, bool *text);

/* Once no message is waiting, send an end frame with that code, and nothing after it. */
void http_frames_end(struct http_frames *f, uint16_t code);

/* Fill `to` (room >= 160) with bytes to send: control frames, then the message (n bytes, or NULL)
 * as a frame. Sets *sent if the whole message is written. Returns the number of bytes in `to`. Once
 * a message has begun, pass it unchanged in each call until it is sent. */
size_t http_frames_fill(struct http_frames *f, const char *message, size_t n, char *to, size_t room,
                        bool *sent);

#endif
