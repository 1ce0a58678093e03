/* The socket at which `ingot serve` listens. */
#ifndef INGOT_HOST_SERVE_LISTEN_H
#define INGOT_HOST_SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Starts to listen at an address (an IPv4 or IPv6 number, or the name of a network card) and a port
 * (0: any free port). -1: the error is printed to standard error. */
int serve_listen(const char *address, int port);

/* Writes the URL to text (bytes): "http://127.0.0.1:8080" or "http://[::1]:8080". */
void serve_listen_url(int fd, char *text, size_t bytes);

/* True if only this computer can reach an address: 127.0.0.0/8, ::1, localhost. */
bool serve_listen_is_loopback(const char *address);

/* Copies the bytes of an address that identify a caller, and returns their number: an IPv4 address,
 * or the first 64 bits of an IPv6 address. */
enum { SERVE_CALLER_BYTES = 16 };
void serve_listen_caller(const struct sockaddr_storage *a,
                         unsigned char caller[SERVE_CALLER_BYTES]);

#endif
