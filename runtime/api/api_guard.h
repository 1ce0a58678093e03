/* Checks of a caller's host name, origin and token. The checks do not depend on the server.
 * Sources: RFC 6454, RFC 9110, section 11. */
#ifndef INGOT_RUNTIME_API_GUARD_H
#define INGOT_RUNTIME_API_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Return true if an Authorization field (bytes) is "Bearer" followed by the token. The time that
 * this takes does not depend on where the tokens differ. */
bool api_has_token(const char *authorization, size_t bytes, const char *token);

/* Return true if a host, with or without a port (bytes), is a name that only the machine's owner
 * can give to it: an IPv4 or IPv6 address, localhost, `name` or `name`.local. A page of another
 * site has none of these hosts (DNS rebinding). */
bool api_is_own_host(const char *host, size_t bytes, const char *name);

/* Return true if an Origin (bytes) names the request's own host, by http, or by https through a
 * proxy. */
bool api_is_own_origin(const char *origin, size_t bytes, const char *host, size_t host_bytes);

#endif
