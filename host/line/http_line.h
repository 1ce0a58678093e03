/* A board on the network instead of a serial line: each line of text written to the socket goes to
 * the board's /line by POST, and the board's events come back (docs/LAN.md). A Ctrl-C ends the
 * running request by closing its connection. */
#ifndef INGOT_HOST_HTTP_LINE_H
#define INGOT_HOST_HTTP_LINE_H

#include <stdbool.h>

bool http_line_is(const char *name);

/* Connect to http://HOST or http://HOST:PORT with the token in INGOT_TOKEN, and check that a board
 * answers. Returns a socket that is used like a serial line; a thread carries its bytes until the
 * caller closes the socket. -1: errno; EACCES: the board needs another token; EPROTO: the host is
 * not a board. */
int http_line_open(const char *name);

#endif
