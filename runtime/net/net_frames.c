/* runtime/http/http_frames.h without WebSockets: none can be opened, so there are no frames. */
#include "runtime/http/http_frames.h"

bool http_frames_open(struct http_frames *f)
{
    f->wslay = NULL;
    return false;
}

void http_frames_close(struct http_frames *f)
{
    f->wslay = NULL;
}

void http_frames_give(struct http_frames *f, const char *bytes, size_t n)
{
    (void)bytes;
    (void)n;
    f->in_bytes = 0;
}

enum http_frames_event http_frames_next(struct http_frames *f, const char **piece, size_t *n,
                                        bool *last, bool *text)
{
    (void)f;
    *piece = NULL;
    *n = 0;
    *last = *text = false;
    return HTTP_FRAMES_WANT;
}

void http_frames_end(struct http_frames *f, uint16_t code)
{
    (void)f;
    (void)code;
}

size_t http_frames_fill(struct http_frames *f, const char *message, size_t n, char *to, size_t room,
                        bool *sent)
{
    (void)f;
    (void)message;
    (void)n;
    (void)to;
    (void)room;
    *sent = false;
    return 0;
}
