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
    HALF = WAITS + 4,
    SENDS = WAITS + 5, /* the first of NET_CONNECTIONS clients that send much */
    EARLY = SENDS + NET_CONNECTIONS,
    SEGMENT = 1460, /* bytes of the longest segment */
    WINDOW = 4 * SEGMENT,
    TOGETHER = 32, /* segments that the board takes in one look */
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

/* A client fills the board's window with segments of this length. */
static void fill_window(unsigned client, size_t bytes)
{
    char segment[SEGMENT + 1];

    memset(segment, 'x', bytes);
    segment[bytes] = '\0';
    for (size_t i = 0; i < WINDOW / bytes; i++) {
        rig_tcp(client, TCP_ACK, segment);
        if (i % TOGETHER == TOGETHER - 1) {
            rig_wait(1);
        }
    }
}

/* Return true if the board has acknowledged every segment, although none was sent again. */
static bool has_all_segments(void)
{
    bool all = true;

    rig_wait(300); /* longer than the delay of an acknowledgement */
    for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
        all &= rig.clients[SENDS + i].acknowledged == rig.clients[SENDS + i].sequence;
    }
    return all;
}

/* All clients send a long body, first while the server reads, then while it does not. */
static void check_full_windows(void)
{
    static const char head[] =
        "POST / HTTP/1.1\r\nhost: 10.0.2.15\r\ncontent-length: 9999999\r\n\r\n";
    static const size_t lengths[] = { SEGMENT, 536, 100 };
    struct net_figures figures;

    for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
        rig_connect(SENDS + i);
        rig_tcp(SENDS + i, TCP_ACK | TCP_PSH, head);
        rig_wait(20);
    }
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        bool all = true;

        for (unsigned n = 0; n < ROUNDS; n++) {
            for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
                fill_window(SENDS + i, lengths[k]);
                rig_wait(lengths[k] < SEGMENT); /* the cable has room for 64 frames */
            }
            all &= has_all_segments();
        }
        OK(all, "%d clients fill their windows with segments of %u bytes, and none is dropped",
           NET_CONNECTIONS, (unsigned)lengths[k]);
    }
    rig.holds = true;
    for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
        rig_tcp(SENDS + i, TCP_ACK, "x");
        rig_wait(1);
        fill_window(SENDS + i, 100);
    }
    OK(has_all_segments(), "no segment is dropped while the server does not read");
    net_figures(rig.net, &figures);
    OK(figures.frames_most < TOGETHER, "such segments keep no frames: %u were in use at most",
       figures.frames_most);

    rig_connect(EARLY);
    rig.clients[EARLY].sequence++; /* one byte is missing */
    for (unsigned i = 0; i < TOGETHER + 8; i++) {
        rig_tcp(EARLY, TCP_ACK, "x");
    }
    rig_wait(10);
    net_figures(rig.net, &figures);
    OK(figures.frames_most < TOGETHER,
       "segments of one client that come too early keep few frames: %u were in use at most",
       figures.frames_most);
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

    /* Requests that come in two segments, while their clients wait. */
    rig_connect(LAST);
    rig_connect(HALF);
    for (unsigned i = LAST; i <= HALF; i++) {
        rig_tcp(i, TCP_ACK | TCP_PSH, "GET / HTTP/1.1\r\n");
        rig_tcp(i, TCP_ACK | TCP_PSH, "host: 10.0.2.15\r\n\r\n");
    }
    rig_tcp(HALF, TCP_ACK | TCP_FIN, "");
    rig.all_work = false;
    rig_tcp(0, TCP_ACK | TCP_RST, "");
    rig_wait(100);
    rig_tcp(LATER, TCP_ACK | TCP_PSH, get);
    rig_wait(100);
    OK(strncmp(rig.clients[LATER].text, "HTTP/1.1 200 ", 13) == 0,
       "the first client in the row gets a connection and an answer");
    rig_wait(6000);
    OK(strncmp(rig.clients[LAST].text, "HTTP/1.1 200 ", 13) == 0,
       "a client gets an answer, although it sent its request in two segments while it waited");
    OK(strncmp(rig.clients[HALF].text, "HTTP/1.1 200 ", 13) == 0 && rig.clients[HALF].ended,
       "so does a client that sends nothing more");
    rig_wait(2 * NET_IDLE_SECONDS * 1000);
    OK(count_connections() == 0, "clients that send nothing more are gone at the end");

    check_full_windows();
    return tap_done();
}
