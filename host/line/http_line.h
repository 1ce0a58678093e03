/* A board on the network instead of a line: text written to the socket goes to its /line by POST,
 * line by line, and its events come back (docs/LAN.md). A Ctrl-C ends the running request by
 * closing its connection. */
#ifndef INGOT_HOST_HTTP_LINE_H
#define INGOT_HOST_HTTP_LINE_H

#include <stdbool.h>

bool http_line_is(const char *name);

/* Connect to http://HOST or http://HOST:PORT, with the token of INGOT_TOKEN, and ask whether it is a board. Returns the socket
 * that stands for it, which the caller closes; -1 and errno. EACCES: it needs another token; EPROTO: it is not a board. A thread
 * carries the bytes until then. */
int http_line_open(const char *name);

#endif
