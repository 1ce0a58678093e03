/* Clients that find every connection of a board in use: they wait, they get the next one in order,
 * and after NET_WAIT_SECONDS they get status 503. */
#include "tests/unit/net/net_rig.h"
#include "tests/unit/tap.h"

enum { WAITS = NET_CONNECTIONS, LATER = WAITS + 1, SAYS = WAITS + 2, LAST = WAITS + 3 };

static const char get[] = "GET / HTTP/1.1\r\nhost: 10.0.2.15\r\n\r\n";

static bool is_silent(unsigned client)
{
    const struct rig_client *c = &rig.clients[client];

    return c->accepted && c->bytes == 0 && !c->ended && !c->reset;
}

static bool is_busy(unsigned client)
{
    const struct rig_client *c = &rig.clients[client];

    return strncmp(c->text, "HTTP/1.1 503 ", 13) == 0 &&
           strstr(c->text, "retry-after: 5\r\n") != NULL &&
           strstr(c->text, "\"code\":\"busy\"") != NULL && c->ended && !c->reset;
}

/* Whether its Content-Length is the length of what came after its head. */
static bool is_whole(unsigned client)
{
    const char *text = rig.clients[client].text, *length = strstr(text, "content-length: "),
               *body = strstr(text, "\r\n\r\n");

    return length != NULL && body != NULL && strtoul(length + 16, NULL, 10) == strlen(body + 4);
}

static unsigned count_connections(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
        n += rig.http[i] != NULL;
    }
    return n;
}

int main(void)
{
    OK(rig_open("10.0.2.15/24,10.0.2.2", NULL) == NULL, "a board is on the network");
    rig.all_work = true;
    rig_wait(2000);
    for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
        rig_connect(i);
        rig_tcp(i, TCP_ACK | TCP_PSH, get);
        rig_wait(20);
    }
    OK(count_connections() == NET_CONNECTIONS, "every connection has a request that is at work");

    rig_connect(WAITS);
    rig_connect(SAYS);
    rig_tcp(SAYS, TCP_ACK | TCP_PSH, get);
    rig_wait(10000);
    rig_connect(LATER);
    rig_wait((NET_WAIT_SECONDS - 11) * 1000);
    OK(is_silent(WAITS) && is_silent(SAYS) && is_silent(LATER),
       "clients beyond these connections wait for %d s", NET_WAIT_SECONDS - 1);
    rig_wait(2000);
    OK(is_busy(WAITS) && is_whole(WAITS),
       "a client that waited and sent nothing gets status 503, whole, and the connection ends");
    OK(is_busy(SAYS) && is_whole(SAYS),
       "a client that waited and sent a request gets status 503, too");
    OK(is_silent(LATER), "a client that came later still waits");
    OK(count_connections() == NET_CONNECTIONS, "the connections at work go on");

    rig_connect(LAST);
    rig.all_work = false;
    rig_tcp(0, TCP_ACK | TCP_RST, "");
    rig_wait(100);
    rig_tcp(LATER, TCP_ACK | TCP_PSH, get);
    rig_wait(100);
    OK(strncmp(rig.clients[LATER].text, "HTTP/1.1 200 ", 13) == 0,
       "the first client in the row gets a connection and an answer");
    rig_wait(6000);
    rig_tcp(LAST, TCP_ACK | TCP_PSH, get);
    rig_wait(100);
    OK(strncmp(rig.clients[LAST].text, "HTTP/1.1 200 ", 13) == 0,
       "the last client in the row gets an answer, too");
    rig_wait(2 * NET_IDLE_SECONDS * 1000);
    OK(count_connections() == 0, "clients that send nothing more are gone at the end");
    return tap_done();
}
