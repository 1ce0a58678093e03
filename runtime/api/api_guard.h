/* The callers that a server accepts, by names, origins and tokens; independent of the server.
 * Sources: RFC 6454, RFC 9110, section 11. */
#ifndef INGOT_RUNTIME_API_GUARD_H
#define INGOT_RUNTIME_API_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Whether an Authorization field (bytes) is Bearer and the token. Takes the same time wherever
 * they differ. */
bool api_has_token(const char *authorization, size_t bytes, const char *token);

/* Whether a host, with or without a port (bytes), is one that only a machine's owner can give to
 * it: an IPv4 or IPv6 address, localhost, `name` or `name`.local. A page of another site cannot
 * have one of these (DNS rebinding). */
bool api_is_own_host(const char *host, size_t bytes, const char *name);

/* Whether an Origin (bytes) is a page of that same host, over http. */
bool api_is_own_origin(const char *origin, size_t bytes, const char *host, size_t host_bytes);

#endif
