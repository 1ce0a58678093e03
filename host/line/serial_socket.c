#include "host/line/serial_socket.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/line/http_line.h"

enum { NAME_BYTES = 256 };

bool serial_socket_is(const char *name)
{
    return strncmp(name, "unix:", 5) == 0 || strncmp(name, "tcp:", 4) == 0 || http_line_is(name);
}

/* Connect fd; returns fd, or -1 and errno. */
static int connected(int fd, const struct sockaddr *to, socklen_t bytes)
{
    int error;

    if (fd < 0 || connect(fd, to, bytes) == 0) {
        return fd;
    }
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int open_unix(const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };

    if (path[0] == '\0' || strlen(path) >= sizeof to.sun_path) {
        errno = EINVAL;
        return -1;
    }
    memcpy(to.sun_path, path, strlen(path) + 1);
    return connected(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), (struct sockaddr *)&to,
                     sizeof to);
}

static int open_tcp(const char *place)
{
    const char *colon = strrchr(place, ':');
    bool brackets = place[0] == '[' && colon != NULL && colon - place > 2 && colon[-1] == ']';
    struct addrinfo want = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    char host[NAME_BYTES];
    int fd = -1;

    if (colon == NULL || colon == place || (size_t)(colon - place) >= sizeof host) {
        errno = EINVAL;
        return -1;
    }
    snprintf(host, sizeof host, "%.*s", (int)(colon - place) - 2 * brackets, place + brackets);
    if (getaddrinfo(host, colon + 1, &want, &found) != 0) {
        errno = ENXIO;
        return -1;
    }
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next) {
        fd = connected(socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol),
                       a->ai_addr, a->ai_addrlen);
    }
    freeaddrinfo(found);
    return fd;
}

int serial_socket_open(const char *name)
{
    if (http_line_is(name)) {
        return http_line_open(name);
    }
    return name[0] == 'u' ? open_unix(name + 5) : open_tcp(name + 4);
}
