/* The client's side of HTTP/1.1 for one file that is read by ranges, without sockets: it reads an
 * address, writes a request as text and reads the answer from bytes. Nothing is allocated, and
 * everything is bounded. Sources: RFC 9110, sections 8.8, 13.1.5 and 14; RFC 9112. */
#ifndef INGOT_RUNTIME_HTTP_RANGE_H
#define INGOT_RUNTIME_HTTP_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llhttp.h>

enum {
    HTTP_ADDRESS_BYTES = 256, /* bytes of an address, with its NUL */
    HTTP_HOST_BYTES = 64,     /* bytes of a host, with its NUL */
    HTTP_TAG_BYTES = 96,
    HTTP_QUESTION_BYTES = 640,
    HTTP_ANSWER_HEAD_BYTES = 8192, /* a longer head is refused */
    HTTP_PORT = 80,
};

/* "http://HOST[:PORT]/PATH"; `path` points into the text that was read. */
struct http_address {
    char host[HTTP_HOST_BYTES]; /* without the brackets of an IPv6 address */
    bool is_ipv6;
    uint16_t port;
    const char *path; /* from its "/" on */
};

/* Return true if a name is an address, which means that it has a scheme. */
bool http_is_address(const char *text);

/* Read an address to *a. Returns NULL, or an error message. */
const char *http_address_read(struct http_address *a, const char *text);

/* A version of the file: its length, and fields that change with its contents ("": the server sends
 * none). */
struct http_version {
    uint64_t bytes;            /* 0: not known yet */
    char tag[HTTP_TAG_BYTES];  /* ETag, with its quotes */
    char date[HTTP_TAG_BYTES]; /* Last-Modified */
};

/* Write the request for bytes [first, first + n), n > 0, of `version`; returns the length of the
 * request. */
size_t http_range_ask(char text[HTTP_QUESTION_BYTES], const struct http_address *a,
                      const struct http_version *version, uint64_t first, uint64_t n);

enum http_range_state {
    HTTP_RANGE_READS,  /* the answer is not complete yet */
    HTTP_RANGE_DONE,   /* the answer is complete */
    HTTP_RANGE_BROKEN, /* the answer ended too early, or is not HTTP: ask again */
    HTTP_RANGE_WRONG,  /* asking again does not help: see error_message */
};

/* One answer. */
struct http_range {
    llhttp_t parser;
    enum http_range_state state;
    const char
        *error_message; /* message for HTTP_RANGE_BROKEN and HTTP_RANGE_WRONG: a sentence without a
                        * full stop */
    int status;         /* 0: no head yet */
    bool keeps;         /* another request may follow on this connection */

    uint64_t first, bytes; /* the range that was requested */
    uint8_t *to;           /* (bytes) */
    uint64_t got;
    const struct http_version *known; /* the version that the answer must have; if its `bytes` is 0,
                                       * any version is accepted */
    struct http_version seen;         /* the version that this answer names */

    size_t head_bytes;
    char name[24]; /* (name_bytes) name of the field that is being read */
    size_t name_bytes;
    char value[HTTP_TAG_BYTES];
    size_t value_bytes; /* length of the field's value, even if the value does not fit */
    bool has_range, has_coding;
    uint64_t from, to_last;
};

/* Begin to read the answer to a request for bytes [first + got, first + n) of *known. `to` has room
 * for the n bytes from `first` on; the first `got` of these came with an earlier answer that was
 * cut off. */
void http_range_begin(struct http_range *r, const struct http_version *known, uint64_t first,
                      uint64_t n, uint64_t got, uint8_t *to);

/* Take bytes received on the connection. */
void http_range_take(struct http_range *r, const char *bytes, size_t n);

/* Call when the connection has ended. */
void http_range_end(struct http_range *r);

#endif
