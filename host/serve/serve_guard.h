/* The check of who may ask `ingot serve`. */
#ifndef INGOT_HOST_SERVE_GUARD_H
#define INGOT_HOST_SERVE_GUARD_H

#include "host/api/serve_request.h"

enum { SERVE_ALLOWED_MOST = 16 };

/* The access that the owner allows. */
struct serve_guard {
    const char *
        token; /* that callers have to have, but for /health and the page; NULL: those of this computer need none */
    const char *origins[SERVE_ALLOWED_MOST]; /* pages of other sites; "*": all, with a token */
    const char *hosts[SERVE_ALLOWED_MOST];   /* names of this computer, beside its loopback's */
    uint32_t n_origins, n_hosts;
};

/* Headers of a request; "": absent, or too long. */
struct serve_caller {
    const char *path, *host, *authorization;
    const char *key;    /* of x-api-key, as Anthropic's clients send the token; NULL: absent */
    const char *origin; /* NULL: absent */
    bool preflight;     /* a browser asks whether it may ask: without the token */
};

/* A page of another site in somebody's browser may not ask, nor one whose name was turned to this computer: its Origin is neither
 * this server nor allowed, or its Host is not a name of this computer. False: *e says why. */
bool serve_may_ask(const struct serve_caller *c, const struct serve_guard *g,
                   struct serve_error *e);

/* Whether an origin is one of those that the owner allows. */
bool serve_is_allowed(const char *origin, const struct serve_guard *g);

/* Add to what is allowed. False: it is not an origin ("http://localhost:3000", "null", "*") or a name ("board.lan", "board.lan:8080"),
 * or one too many. */
bool serve_allow_origin(struct serve_guard *g, const char *origin);
bool serve_allow_host(struct serve_guard *g, const char *host);

#endif
