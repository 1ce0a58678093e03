/* A board's line as a socket, as QEMU gives it (-serial unix:PATH,server=on): for tests, and for boards behind a program such
 * as ser2net. */
#ifndef INGOT_HOST_SERIAL_SOCKET_H
#define INGOT_HOST_SERIAL_SOCKET_H

#include <stdbool.h>

/* Whether a name is one: unix:PATH or tcp:HOST:PORT. */
bool serial_socket_is(const char *name);

/* Connect. Returns a file descriptor; -1: errno, or EINVAL where the name is not so. */
int serial_socket_open(const char *name);

#endif
