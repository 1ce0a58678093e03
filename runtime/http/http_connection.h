/* One connection to a server of HTTP/1.1: requests in their order, each with its answer, and WebSockets. Bytes that come are given
 * to http_connection_take, bytes that go are fetched by http_connection_fill: whoever has the sockets decides when. All calls for a
 * connection come from one thread, and none from within a site's functions but those that say so. */
#ifndef INGOT_RUNTIME_HTTP_CONNECTION_H
#define INGOT_RUNTIME_HTTP_CONNECTION_H

#include "runtime/http/http_frames.h"
#include "runtime/http/http_request.h"

enum {
    HTTP_ANSWER_BYTES = 4096,     /* of an answer's head */
    HTTP_DROPPED_BYTES = 2 << 20, /* of a body that comes after its answer */
    HTTP_FILL_BYTES = 512,        /* room for http_connection_fill at least, and 65535 at most */
};

struct http_connection;

/* An answer's head. */
struct http_answer {
    int status;
    const char *type;   /* of the body; NULL: there is none */
    const char *fields; /* more of them, each with its CRLF; NULL: none */
    uint64_t bytes;     /* of the body, where that is known: */
    bool streams;       /* its length is not known */
    bool closes;        /* the connection ends after it */
};

/* The functions that answer. `user` is the connection's. */
struct http_site {
    /* A head is whole (r: c->request; its fields stay until the function returns). The site may call http_connection_answer or
     * http_connection_upgrade. */
    void (*head)(void *user, const struct http_request *r);
    /* A piece of the body of a request that has no answer yet. False: no memory. */
    bool (*body)(void *user, const char *bytes, size_t n);
    /* The request has ended, and has no answer yet: http_connection_answer is called now or later. */
    void (*whole)(void *user);
    /* The request is wrong: its answer has to be given now (status, why), and the connection ends after it. */
    void (*wrong)(void *user, int status, const char *error_message);
    /* The next bytes (room at most) of the answer's body to `to`. Returns how many; 0: later, or none. *last, of one that streams:
     * these are the last. *failed: the rest cannot be had, and the connection breaks. */
    size_t (*more)(void *user, char *to, size_t room, bool *last, bool *failed);
    /* The answer is out. Another request may come. */
    void (*over)(void *user);
    /* The WebSocket is open. */
    void (*opened)(void *user);
    /* A piece of a message; last: its end. text: it says that it is UTF-8. 0, or a code to close with, HTTP_CLOSE_AT_ONCE: without
     * another word. */
    uint16_t (*message)(void *user, const char *bytes, size_t n, bool last, bool text);
    /* The message that goes out next, unchanged until `said`; NULL: none. */
    const char *(*say)(void *user, size_t *n);
    void (*said)(void *user);
};

enum http_stage {
    HTTP_READS,   /* a request, or waits for one */
    HTTP_WORKS,   /* the site has the request, and has not answered */
    HTTP_ANSWERS, /* the answer goes out */
    HTTP_DROPS,   /* the answer is out; the rest of its request's body is read and dropped */
    HTTP_SOCKET,  /* a WebSocket */
    HTTP_CLOSES,  /* what was written goes out, then the connection ends */
    HTTP_BROKEN,  /* it ends now */
};

struct http_connection {
    const struct http_site *site;
    void *user;
    enum http_stage stage;
    bool held; /* the site takes nothing more of a body or a WebSocket for now */
    bool answered;
    bool drains;   /* the request is answered before its end: the rest of it is read and dropped */
    bool upgrades; /* a WebSocket once the request has ended */
    bool has_body, streams, chunked, ends_after; /* of the answer */
    bool last_out;                               /* of one that streams */
    size_t dropped;                              /* bytes of a body that came after the answer */
    uint64_t left;                               /* of its body, where the length is known */
    char head[HTTP_ANSWER_BYTES]; /* (head_bytes) that goes out first; head_at of them are out */
    size_t head_bytes, head_at;
    struct http_request request;
    struct http_frames frames;
};

void http_connection_open(struct http_connection *c, const struct http_site *site, void *user);
void http_connection_close(struct http_connection *c);

/* Give bytes (n, may be 0). Returns how many were taken: fewer where the connection has to answer first; then they are given again
 * once http_connection_wants says so. */
size_t http_connection_take(struct http_connection *c, const char *bytes, size_t n);

/* Whether bytes that come are taken. */
bool http_connection_wants(const struct http_connection *c);

/* Whether a request has begun to come. */
bool http_connection_begun(const struct http_connection *c);

/* Bytes to send, to `to` (room: HTTP_FILL_BYTES or more). 0: there are none for now. */
size_t http_connection_fill(struct http_connection *c, char *to, size_t room);

/* For the site, from any of its functions or between them: the answer to the request at hand. It goes out at once, also where the
 * request's body has not come; that is dropped then, up to HTTP_DROPPED_BYTES, or the connection ends after the answer. */
void http_connection_answer(struct http_connection *c, const struct http_answer *a);

/* For the site, from its `head`: the request becomes a WebSocket. Returns 0, or the status of the error that it has to answer, and
 * *problem. */
int http_connection_upgrade(struct http_connection *c, const char **error_message);

/* For a request whose answer takes long: send an interim answer, which shows whether the other side is still there. */
void http_connection_probe(struct http_connection *c);

/* The fields of the request at hand, for the site's `head`: value and *bytes; NULL: absent. */
const char *http_connection_field(const struct http_connection *c, const char *name, size_t *bytes);

/* ---- http_answer.c ---- */

/* The head of an answer into c->head. */
void http_answer_write(struct http_connection *c, const struct http_answer *a);

#endif
