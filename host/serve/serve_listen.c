#include "host/serve/serve_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How many callers may wait to be accepted while the computer is busy. */
enum { BACKLOG = 1024 };

static socklen_t size_of(const struct sockaddr_storage *a)
{
    return a->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static void set_port(struct sockaddr_storage *a, int port)
{
    if (a->ss_family == AF_INET6) {
        ((struct sockaddr_in6 *)a)->sin6_port = htons((uint16_t)port);
    } else {
        ((struct sockaddr_in *)a)->sin_port = htons((uint16_t)port);
    }
}

/* Finds the first address of the network card of that name. Returns false if there is none. */
static bool find_card(const char *name, struct sockaddr_storage *a)
{
    struct ifaddrs *all, *one;
    bool found = false;

    memset(a, 0, sizeof *a);
    if (getifaddrs(&all) != 0) {
        return false;
    }
    for (one = all; one != NULL && !found; one = one->ifa_next) {
        int family = one->ifa_addr != NULL ? one->ifa_addr->sa_family : AF_UNSPEC;

        if (strcmp(one->ifa_name, name) == 0 && (family == AF_INET || family == AF_INET6)) {
            a->ss_family = (sa_family_t)family;
            memcpy(a, one->ifa_addr, size_of(a));
            found = true;
        }
    }
    freeifaddrs(all);
    return found;
}

/* Reads an IPv4 or IPv6 number, without the brackets that a URL puts around it. Names are not
 * looked up, because a static program cannot do that. */
static bool read_number(const char *address, struct sockaddr_storage *a)
{
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)a;
    struct sockaddr_in *four = (struct sockaddr_in *)a;
    char plain[INET6_ADDRSTRLEN];
    size_t n = strlen(address);

    if (n > 2 && address[0] == '[' && address[n - 1] == ']') {
        address++;
        n -= 2;
    }
    if (n >= sizeof plain) {
        return false;
    }
    memcpy(plain, address, n);
    plain[n] = '\0';
    if (inet_pton(AF_INET, plain, &four->sin_addr) == 1) {
        a->ss_family = AF_INET;
        return true;
    }
    a->ss_family = AF_INET6;
    return inet_pton(AF_INET6, plain, &six->sin6_addr) == 1;
}

static bool find_address(const char *address, struct sockaddr_storage *a)
{
    memset(a, 0, sizeof *a);
    return read_number(strcmp(address, "localhost") == 0 ? "127.0.0.1" : address, a) ||
           find_card(address, a);
}

static int listen_at(struct sockaddr_storage *a, int port)
{
    int on = 1, fd = socket(a->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -1;
    }
    set_port(a, port);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)a, size_of(a)) != 0 || listen(fd, BACKLOG) != 0) {
        int error = errno;

        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

int serve_listen(const char *address, int port)
{
    struct sockaddr_storage a;
    int fd;

    if (!find_address(address, &a)) {
        fprintf(stderr,
                "ingot: --address %s: this computer has neither such an address nor such a network "
                "card\n",
                address);
        return -1;
    }
    fd = listen_at(&a, port);
    if (fd < 0) {
        fprintf(stderr, "ingot: cannot listen at %s, port %d: %s%s\n", address, port,
                strerror(errno),
                errno == EADDRINUSE ? ": another program uses it: --port chooses another" : "");
    }
    return fd;
}

void serve_listen_url(int fd, char *text, size_t bytes)
{
    struct sockaddr_storage a = { 0 };
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&a;
    const struct sockaddr_in *four = (const struct sockaddr_in *)&a;
    char host[INET6_ADDRSTRLEN] = "";
    socklen_t n = sizeof a;

    (void)getsockname(fd, (struct sockaddr *)&a, &n);
    if (a.ss_family == AF_INET6) {
        (void)inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
        snprintf(text, bytes, "http://[%s]:%u", host, (unsigned)ntohs(six->sin6_port));
    } else {
        (void)inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
        snprintf(text, bytes, "http://%s:%u", host, (unsigned)ntohs(four->sin_port));
    }
}

bool serve_listen_is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 ||
           strcmp(address, "[::1]") == 0 || strcmp(address, "localhost") == 0;
}

void serve_listen_caller(const struct sockaddr_storage *a, unsigned char caller[SERVE_CALLER_BYTES])
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a;

    memset(caller, 0, SERVE_CALLER_BYTES);
    if (a->ss_family == AF_INET) {
        memcpy(caller, &((const struct sockaddr_in *)a)->sin_addr, 4);
    } else if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
        memcpy(caller, six->sin6_addr.s6_addr + 12, 4);
    } else { /* IPv6 addresses with the same first 64 bits belong to one household */
        caller[15] = 1;
        memcpy(caller, six->sin6_addr.s6_addr, 8);
    }
}
