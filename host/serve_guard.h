/* Who may ask `ingot serve`. */
#ifndef INGOT_HOST_SERVE_GUARD_H
#define INGOT_HOST_SERVE_GUARD_H

#include "host/serve_request.h"

/* Headers of a request; "": absent, or too long. */
struct serve_caller {
    const char *path, *host, *authorization;
    const char *origin; /* NULL: absent */
};

/* A page of another site in somebody's browser may not ask, nor one whose name was turned to this computer: its
 * Origin is not this server, or its Host no name of this computer. token: that callers have to have, but for
 * /health and the page; NULL: those of this computer need none. False: *e says why. */
bool serve_may_ask(const struct serve_caller *c, const char *token, struct serve_error *e);

#endif
