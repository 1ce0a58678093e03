/* The answer to the key of a WebSocket's handshake. Source: RFC 6455, section 4.2.2. */
#ifndef INGOT_RUNTIME_HTTP_ACCEPT_H
#define INGOT_RUNTIME_HTTP_ACCEPT_H

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_KEY_BYTES = 24, HTTP_ACCEPT_BYTES = 29 /* with the NUL */ };

/* Return true if a key (n bytes) is 16 bytes in base64. */
bool http_is_key(const char *key, size_t n);

/* Write Sec-WebSocket-Accept for a key of HTTP_KEY_BYTES: SHA-1 of the key and a constant, in
 * base64. SHA-1 protects nothing here; the standard requires it. */
void http_accept_key(const char *key, char accept[HTTP_ACCEPT_BYTES]);

#endif
