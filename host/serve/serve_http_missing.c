/* Replaces serve_http.c in a program that is built without llhttp or wslay. */
#ifndef INGOT_HTTP

#include "host/serve/serve_http.h"

#include <stdio.h>

bool serve_http_is_built(void)
{
    fprintf(stderr,
            "ingot: this program was built without llhttp and wslay, which `ingot serve` "
            "needs: install node-llhttp and libwslay-dev (Debian, Ubuntu) and build it again\n");
    return false;
}

bool serve_http_open(struct serve_setup *setup)
{
    (void)setup;
    return serve_http_is_built();
}

void serve_http_wake(void *unused)
{
    (void)unused;
}

bool serve_http_run(void)
{
    return false;
}

void serve_http_close(void)
{
}
#endif
