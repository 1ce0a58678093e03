/* One connection to an HTTP/1.1 server: requests in order, each with its answer, and WebSockets.
 * The owner of the sockets passes received bytes to http_connection_take and fetches bytes to
 * send from http_connection_fill whenever it likes. All calls for a connection come from one
 * thread, and none from within a site's functions except those that say so. */
#ifndef INGOT_RUNTIME_HTTP_CONNECTION_H
#define INGOT_RUNTIME_HTTP_CONNECTION_H

#include "runtime/http/http_frames.h"
#include "runtime/http/http_request.h"

enum {
    HTTP_ANSWER_BYTES = 4096,     /* of an answer's head */
    HTTP_DROPPED_BYTES = 2 << 20, /* bytes dropped from a body that comes after its answer */
    HTTP_FILL_BYTES = 512,        /* minimum room for http_connection_fill; 65535 at most */
};

struct http_connection;

/* The head of an answer. */
struct http_answer {
    int status;
    const char *type;   /* type of the body; NULL: there is none */
    const char *fields; /* further fields, each with its CRLF; NULL: none */
    uint64_t bytes;     /* length of the body, if it is known: */
    bool streams;       /* its length is not known */
    bool closes;        /* the connection ends after it */
};

/* The functions of the site. `user` belongs to the connection. */
struct http_site {
    /* A head is complete (r: c->request; its fields stay valid until the function returns). The
     * site may call http_connection_answer or http_connection_upgrade. */
    void (*head)(void *user, const struct http_request *r);
    /* A piece of the body of a request without an answer yet. False: out of memory. */
    bool (*body)(void *user, const char *bytes, size_t n);
    /* The request has ended and has no answer yet: http_connection_answer is called now or
     * later. */
    void (*whole)(void *user);
    /* The request is invalid: answer it now (status, why); the connection ends afterwards. */
    void (*wrong)(void *user, int status, const char *error_message);
    /* Write the next bytes (at most room) of the answer's body to `to`. Returns how many; 0:
     * later, or none. *last, for a streamed body: these are the last. *failed: the rest is not
     * available, and the connection breaks off. */
    size_t (*more)(void *user, char *to, size_t room, bool *last, bool *failed);
    /* The answer is sent. Another request may come. */
    void (*over)(void *user);
    /* The WebSocket is open. */
    void (*opened)(void *user);
    /* A piece of a message; last: its end. text: it is marked as UTF-8. Returns 0, or a code to
     * close with; HTTP_CLOSE_AT_ONCE: without a closing frame. */
    uint16_t (*message)(void *user, const char *bytes, size_t n, bool last, bool text);
    /* The next message to send, unchanged until `said`; NULL: none. */
    const char *(*say)(void *user, size_t *n);
    void (*said)(void *user);
};

enum http_stage {
    HTTP_READS,   /* reading a request, or waiting for one */
    HTTP_WORKS,   /* the site has the request, and has not answered */
    HTTP_ANSWERS, /* sending the answer */
    HTTP_DROPS,   /* the answer is sent; the rest of its request's body is read and dropped */
    HTTP_SOCKET,  /* a WebSocket */
    HTTP_CLOSES,  /* written bytes are sent, then the connection ends */
    HTTP_BROKEN,  /* ends now */
};

struct http_connection {
    const struct http_site *site;
    void *user;
    enum http_stage stage;
    bool held; /* the site accepts no more of a body or a WebSocket for now */
    bool answered;
    bool drains;   /* the request was answered before its end: the rest is read and dropped */
    bool upgrades; /* becomes a WebSocket once the request has ended */
    bool has_body, streams, chunked, ends_after; /* of the answer */
    bool last_out;                               /* of one that streams */
    size_t dropped;                              /* bytes of a body that came after the answer */
    uint64_t left;                               /* bytes left of its body, if the length is
                                                  * known */
    char head[HTTP_ANSWER_BYTES]; /* (head_bytes) sent first; head_at of them are sent */
    size_t head_bytes, head_at;
    struct http_request request;
    struct http_frames frames;
};

void http_connection_open(struct http_connection *c, const struct http_site *site, void *user);
void http_connection_close(struct http_connection *c);

/* Take received bytes (n, may be 0). Returns how many were taken: fewer if the connection has to
 * answer first; pass the rest again once http_connection_wants is true. */
size_t http_connection_take(struct http_connection *c, const char *bytes, size_t n);

/* Whether received bytes are taken. */
bool http_connection_wants(const struct http_connection *c);

/* Whether a request has begun to come. */
bool http_connection_begun(const struct http_connection *c);

/* Bytes to send, to `to` (room: HTTP_FILL_BYTES or more). 0: there are none for now. */
size_t http_connection_fill(struct http_connection *c, char *to, size_t room);

/* For the site, from any of its functions or between them: answer the current request. The
 * answer is sent at once, even if the request's body has not come; up to HTTP_DROPPED_BYTES of
 * it are then dropped, or the connection ends after the answer. */
void http_connection_answer(struct http_connection *c, const struct http_answer *a);

/* For the site, from its `head`: the request becomes a WebSocket. Returns 0, or the status of
 * the error that the site has to answer, and *error_message. */
int http_connection_upgrade(struct http_connection *c, const char **error_message);

/* For a request whose answer takes long: send an interim answer, which shows whether the other
 * side is still there. */
void http_connection_probe(struct http_connection *c);

/* The fields of the current request, for the site's `head`: value and *bytes; NULL: absent. */
const char *http_connection_field(const struct http_connection *c, const char *name, size_t *bytes);

/* ---- http_answer.c ---- */

/* Write the head of an answer to c->head. */
void http_answer_write(struct http_connection *c, const struct http_answer *a);

#endif
