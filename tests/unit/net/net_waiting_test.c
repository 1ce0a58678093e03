/* A board whose connections are all in use. Clients that come later wait, they get the next
 * connection in order, and after NET_WAIT_SECONDS they get status 503. No frame is dropped while
 * every client sends as much as TCP's window allows. */
#include "tests/unit/net/net_rig.h"
#include "tests/unit/tap.h"

enum {
    WAITS = NET_CONNECTIONS,
    LATER = WAITS + 1,
    SAYS = WAITS + 2,
    LAST = WAITS + 3,
    SENDS = LAST + 1, /* the first of NET_CONNECTIONS clients that send much */
    SEGMENT = 1460,   /* bytes of the longest segment */
    WINDOW = 4,       /* such segments that the board's window has room for */
    ROUNDS = 20,
};

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

/* All clients fill the board's window at once, several times. Returns true if the board
 * acknowledges every segment without its being sent again. */
static bool takes_full_windows(void)
{
    static const char head[] =
        "POST / HTTP/1.1\r\nhost: 10.0.2.15\r\ncontent-length: 9999999\r\n\r\n";
    char segment[SEGMENT + 1];
    bool all = true;

    memset(segment, 'x', SEGMENT);
    segment[SEGMENT] = '\0';
    for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
        rig_connect(SENDS + i);
        rig_tcp(SENDS + i, TCP_ACK | TCP_PSH, head);
        rig_wait(20);
    }
    for (unsigned n = 0; n < ROUNDS; n++) {
        for (unsigned i = 0; i < WINDOW * NET_CONNECTIONS; i++) {
            rig_tcp(SENDS + i % NET_CONNECTIONS, TCP_ACK, segment);
        }
        rig_wait(300); /* longer than the delay of an acknowledgement */
        for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
            all &= rig.clients[SENDS + i].acknowledged == rig.clients[SENDS + i].sequence;
        }
    }
    return all;
}

int main(void)
{
    struct net_figures figures;

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

    OK(takes_full_windows(), "%d clients fill their windows at once, and no segment is dropped",
       NET_CONNECTIONS);
    net_figures(rig.net, &figures);
    OK(figures.frames_refused == 0 && figures.frames_most >= WINDOW * NET_CONNECTIONS,
       "lwIP has a frame for each of these segments: %u in use at most", figures.frames_most);
    return tap_done();
}
