/* A socket in place of a board's line, such as QEMU provides (-serial unix:PATH,server=on), for
 * tests and for boards behind a program such as ser2net. */
#ifndef INGOT_HOST_SERIAL_SOCKET_H
#define INGOT_HOST_SERIAL_SOCKET_H

#include <stdbool.h>

/* True if a name is that of a socket: unix:PATH, or tcp:HOST:PORT, with brackets around an address of
 * IPv6. */
bool serial_socket_is(const char *name);

/* Connect. Returns a file descriptor; -1: errno, or EINVAL if the name is malformed. */
int serial_socket_open(const char *name);

#endif
