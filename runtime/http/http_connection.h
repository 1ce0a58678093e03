/* One connection to an HTTP/1.1 server: requests in order, each with its answer, and WebSockets.
 * The owner of the sockets passes received bytes to http_connection_take and fetches bytes to send
 * from http_connection_fill whenever it likes. All calls for a connection come from one thread. The
 * functions of a site may call only those functions whose comments allow it. */
#ifndef INGOT_RUNTIME_HTTP_CONNECTION_H
#define INGOT_RUNTIME_HTTP_CONNECTION_H

#include "runtime/http/http_frames.h"
#include "runtime/http/http_request.h"

enum {
    HTTP_ANSWER_BYTES = 4096,     /* bytes of an answer's head */
    HTTP_DROPPED_BYTES = 2 << 20, /* the most bytes that are dropped of a body that comes after the
                                   * request's answer */
    HTTP_FILL_BYTES = 512,        /* least room for http_connection_fill; the most is 65535 */
};

struct http_connection;

/* The head of an answer. */
struct http_answer {
    int status;
    const char *type;   /* type of the body; NULL without a body */
    const char *fields; /* further fields, each with its CRLF; NULL: none */
    uint64_t bytes;     /* length of the body, if it is known */
    bool streams;       /* the body's length is not known */
    bool closes;        /* the connection ends after the answer */
};

/* The functions of a site. `user` belongs to the connection. */
struct http_site {
    /* Handles a complete head (r: c->request; its fields stay valid until the function returns).
     * This function may call http_connection_answer or http_connection_upgrade. */
    void (*head)(void *user, const struct http_request *r);
    /* Takes a piece of the body of a request that has no answer yet. False: out of memory. */
    bool (*body)(void *user, const char *bytes, size_t n);
    /* Handles the end of a request that has no answer yet. This function calls
     * http_connection_answer at once, or the site does so later. */
    void (*whole)(void *user);
    /* Answers an invalid request at once (status, why); the connection ends afterwards. */
    void (*wrong)(void *user, int status, const char *error_message);
    /* Writes the next bytes (at most room) of the answer's body to `to`. Returns the number of
     * bytes, which may be 0. Sets *last with the last bytes of a streamed body; sets *failed if the
     * rest is not available. The connection is then broken off. */
    size_t (*more)(void *user, char *to, size_t room, bool *last, bool *failed);
    /* Called when the answer has been sent. Another request may come. */
    void (*over)(void *user);
    /* Called when the WebSocket is open. */
    void (*opened)(void *user);
    /* Takes a piece of a message. last: the message ends with this piece; text: the message is
     * marked as UTF-8. Returns 0, or the code to close with; HTTP_CLOSE_AT_ONCE closes without a
     * frame. */
    uint16_t (*message)(void *user, const char *bytes, size_t n, bool last, bool text);
    /* Returns the next message to send, or NULL. The message must stay unchanged until `said` is
     * called. */
    const char *(*say)(void *user, size_t *n);
    void (*said)(void *user);
};

enum http_stage {
    HTTP_READS,   /* reading a request, or waiting for one */
    HTTP_WORKS,   /* the site has the request, and has not answered */
    HTTP_ANSWERS, /* sending the answer */
    HTTP_DROPS,   /* the answer is sent; the rest of the request's body is dropped */
    HTTP_SOCKET,  /* a WebSocket */
    HTTP_CLOSES,  /* written bytes are sent, then the connection ends */
    HTTP_BROKEN,  /* the connection ends now */
};

struct http_connection {
    const struct http_site *site;
    void *user;
    enum http_stage stage;
    bool held; /* for now the site accepts no more bytes of a body or a WebSocket */
    bool answered;
    bool drains;   /* the request has its answer: the rest of its body is dropped */
    bool upgrades; /* becomes a WebSocket once the request has ended */
    bool has_body, streams, chunked, ends_after; /* properties of the answer */
    bool last_out;                               /* the last bytes of a streamed answer have been
                                                  * taken */
    size_t dropped;                              /* bytes of a body that came after the answer */
    uint64_t left;                               /* bytes left of the answer's body, if the
                                                  * length is known */
    char head[HTTP_ANSWER_BYTES]; /* (head_bytes) the answer's head; head_at bytes have been sent */
    size_t head_bytes, head_at;
    struct http_request request;
    struct http_frames frames;
};

void http_connection_open(struct http_connection *c, const struct http_site *site, void *user);
void http_connection_close(struct http_connection *c);

/* Take received bytes (n, may be 0). Returns how many were taken: fewer than n if the connection
 * has to answer first. Pass the rest again once http_connection_wants is true. */
size_t http_connection_take(struct http_connection *c, const char *bytes, size_t n);

/* Return true if received bytes are taken now. */
bool http_connection_wants(const struct http_connection *c);

/* Return true if a request has begun to arrive. */
bool http_connection_begun(const struct http_connection *c);

/* Fill `to` (room: HTTP_FILL_BYTES or more) with bytes to send. Return their number, or 0 if there
 * are none now. */
size_t http_connection_fill(struct http_connection *c, char *to, size_t room);

/* Answer the current request; the site may call this from any of its functions, or later. The
 * answer is sent at once, even if the request's body has not come: up to HTTP_DROPPED_BYTES of the
 * body are then dropped, or the connection ends after the answer. */
void http_connection_answer(struct http_connection *c, const struct http_answer *a);

/* Make the request a WebSocket; the site calls this from its `head`. Returns 0, or the status
 * of the error that the site has to answer, and sets *error_message. */
int http_connection_upgrade(struct http_connection *c, const char **error_message);

/* Send an interim answer to a request whose answer takes long. The interim answer shows whether the
 * other side is still there. */
void http_connection_probe(struct http_connection *c);

/* For the site's `head`: return the value (*bytes) of a field of the current request, or NULL. */
const char *http_connection_field(const struct http_connection *c, const char *name, size_t *bytes);

/* ---- http_answer.c ---- */

/* Write the head of an answer to c->head. */
void http_answer_write(struct http_connection *c, const struct http_answer *a);

#endif
