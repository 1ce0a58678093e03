/* The callers that a server accepts: names, origins and tokens, without the server. Sources: RFC 6454, RFC 9110, section 11. */
#ifndef INGOT_RUNTIME_API_GUARD_H
#define INGOT_RUNTIME_API_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a field Authorization (bytes) is Bearer and the token. It takes as long wherever they differ. */
bool api_has_token(const char *authorization, size_t bytes, const char *token);

/* Whether a host, with or without a port (bytes), is one that only its owner can give to a machine: a number of IPv4 or IPv6,
 * localhost, `name` or `name`.local. A page of another site cannot have one of these (DNS rebinding). */
bool api_is_own_host(const char *host, size_t bytes, const char *name);

/* Whether an Origin (bytes) is the page of that host itself, over http. */
bool api_is_own_origin(const char *origin, size_t bytes, const char *host, size_t host_bytes);

#endif
