/* Reads HTTP/1.1 (and 1.0) requests from bytes that arrive in pieces of any size. A head is
 * collected line by line; each complete line is checked and then passed to llhttp. Bodies pass
 * through without a copy. Sources: RFC 9110, RFC 9112. */
#ifndef INGOT_RUNTIME_HTTP_REQUEST_H
#define INGOT_RUNTIME_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llhttp.h>

enum {
    HTTP_HEAD_BYTES = 16384,    /* bytes of a request line and its fields */
    HTTP_LINE_BYTES = 1024,     /* the longest line with a chunk's size and extensions */
    HTTP_REST_BYTES = 65536,    /* bytes of all such lines between two pieces of a body, trailers
                              * included */
    HTTP_CHUNK_BYTES = 1 << 30, /* bytes of a chunk; a longer one is refused */
    HTTP_BLANKS = 8,            /* empty lines before a request */
    HTTP_PATH_BYTES = 512,      /* longest decoded path, with its NUL */
};

enum http_method {
    HTTP_IS_GET,
    HTTP_IS_HEAD,
    HTTP_IS_POST,
    HTTP_IS_OPTIONS,
    HTTP_IS_PUT,
    HTTP_IS_OTHER
};

enum http_event {
    HTTP_GOT_PART,  /* all bytes are taken, and more are needed */
    HTTP_GOT_HEAD,  /* the head is complete: fields can be read until the next call */
    HTTP_GOT_BODY,  /* a piece of the body */
    HTTP_GOT_ALL,   /* the request has ended; call http_request_reset before the next one */
    HTTP_GOT_ERROR, /* not a request: status and error_message say why; nothing more can be read */
};

struct http_request {
    llhttp_t parser;
    enum { HTTP_AT_HEAD, HTTP_AT_LINE, HTTP_AT_BODY, HTTP_AT_END, HTTP_AT_ERROR } at;
    char text[HTTP_HEAD_BYTES]; /* (n) bytes of the head, or of a line between chunks */
    size_t n, line;             /* n: the bytes in text; line: where the current line begins */
    unsigned blanks;
    size_t rest_bytes;                 /* bytes of lines since the last piece of the body */
    uint64_t left;                     /* bytes of the body or of its chunk that are to come */
    bool headed, complete, last_chunk; /* what llhttp has reported */
    bool after_chunk;                  /* the line that ends a chunk comes next */
    /* Fields of the head, set once it is complete. */
    enum http_method method;
    bool keeps;  /* the connection stays open after the answer */
    bool is_1_0; /* answers have no chunks and no interim answers */
    bool chunked;
    bool expects_continue;      /* the body waits for 100 Continue */
    uint64_t body_bytes;        /* Content-Length; 0: none, or chunked */
    char path[HTTP_PATH_BYTES]; /* decoded, without the query */
    const char *authority;      /* (authority_bytes) in `text`: the host and port of the target, or
                                 * of Host */
    size_t authority_bytes;
    /* Set by an error. */
    int status;
    const char *error_message;
};

/* Get ready for the next request. */
void http_request_reset(struct http_request *r);

/* Return true if a part of a request has arrived. */
bool http_request_begun(const struct http_request *r);

/* Return true if a request names no host, which only HTTP/1.0 allows. A browser's request has
 * one. */
static inline bool http_request_is_nameless(const struct http_request *r)
{
    return r->is_1_0 && r->authority_bytes == 0;
}

/* Read from `bytes` (n), of which *used are consumed. HTTP_GOT_BODY: *piece (*piece_bytes >=
 * 1) lies in `bytes`. */
enum http_event http_request_take(struct http_request *r, const char *bytes, size_t n, size_t *used,
                                  const char **piece, size_t *piece_bytes);

#endif
