/* Connections that the board has closed. Clients vanish before they have taken the end of their
 * answers: lwIP sends such an end again and again, but its memory is for other clients, too. Other
 * clients connect again from the same port, or send on after they were refused. */
#include "tests/unit/net/net_rig.h"
#include "tests/unit/tap.h"

/* Two names exist both in lwIP and in board/err.h, as in net_private.h. */
#define ERR_OK LWIP_ERR_OK
#define ERR_TIMEOUT LWIP_ERR_TIMEOUT

#include <lwip/priv/tcp_priv.h>

enum {
    ANSWER = 5000,     /* bytes, which fit into lwIP's memory for one connection */
    HEAP = 48 * 1024,  /* bytes that lwIP may keep for long: three quarters of its heap */
    GONE = 20,         /* clients that vanish */
    SILENT_MS = 20000, /* time in which one of them alone may come back */
};

/* The client asks for an answer, after which the board closes the connection. */
static void ask(unsigned client, bool gone)
{
    rig_connect(client);
    rig.clients[client].gone = gone;
    rig_tcp(client, TCP_ACK | TCP_PSH,
            "GET / HTTP/1.1\r\nhost: 10.0.2.15\r\nconnection: close\r\n\r\n");
    rig_wait(20);
}

static bool is_answered(unsigned client)
{
    const struct rig_client *c = &rig.clients[client];

    return strncmp(c->text, "HTTP/1.1 200 ", 13) == 0 && c->ended && !c->reset;
}

static unsigned count_connections(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
        n += rig.http[i] != NULL;
    }
    return n;
}

/* Return true if lwIP has a connection to the client. */
static bool lwip_holds(unsigned client)
{
    const struct tcp_pcb *pcb = tcp_active_pcbs;

    while (pcb != NULL && pcb->remote_port != 1000 + client) {
        pcb = pcb->next;
    }
    return pcb != NULL;
}

/* A client whose connection the board has closed connects again from the same port, as devices
 * with few ports do. It sends its SYN again after a second. */
static void check_port(unsigned client)
{
    struct rig_client *c = &rig.clients[client];
    uint32_t next;

    ask(client, false);
    rig_wait(1000);
    rig_tcp(client, TCP_ACK | TCP_FIN, "");
    rig_wait(1000);
    next = c->sequence + 100;
    *c = (struct rig_client){ .sequence = next - 200 };
    rig_tcp(client, TCP_SYN, "");
    rig_wait(1000);
    OK(!c->accepted, "a SYN that may be an old one begins no connection");
    for (unsigned i = 0; i < 2; i++) {
        c->sequence = next;
        rig_tcp(client, TCP_SYN, "");
        rig_wait(1000);
    }
    rig_tcp(client, TCP_ACK | TCP_PSH,
            "GET / HTTP/1.1\r\nconnection: close\r\nhost: ingot\r\n\r\n");
    rig_wait(1000);
    OK(is_answered(client), "a client is answered that uses the same port again");
}

/* Sends so many pieces of a body, one each 20 ms. Returns true if none was answered with a reset. */
static bool sends_on(unsigned client, unsigned n_pieces)
{
    for (unsigned i = 0; i < n_pieces; i++) {
        rig_tcp(client, TCP_ACK | TCP_PSH, "a piece of a file that is longer than the board takes");
        rig_wait(20);
    }
    return !rig.clients[client].reset;
}

/* A client that is refused sends its long body nevertheless. It loses the answer, and gets it
 * again. */
static void check_refused(unsigned client)
{
    struct rig_client *c = &rig.clients[client];

    rig.refuses = true;
    rig_connect(client);
    c->gone = true;
    rig_tcp(client, TCP_ACK | TCP_PSH,
            "PUT /models/a HTTP/1.1\r\nhost: 10.0.2.15\r\ncontent-length: 900000000\r\n\r\n");
    rig_wait(20);
    OK(sends_on(client, 10), "a client that is refused may send on");
    c->gone = false;
    OK(sends_on(client, 100) && strncmp(c->text, "HTTP/1.1 401 ", 13) == 0 && c->ended,
       "it gets its answer although the first copy was lost");
    rig_wait(500);
    OK(c->acknowledged == c->sequence, "its bytes are dropped");
    OK(lwip_holds(client), "its connection stays for a while");
    OK(!sends_on(client, NET_LINGER_SECONDS * 50) && !lwip_holds(client),
       "a client that sends on for longer than %d s is reset", NET_LINGER_SECONDS);
    rig.refuses = false;
}

int main(void)
{
    struct net_figures figures;

    OK(rig_open("10.0.2.15/24,10.0.2.2", NULL) == NULL, "a board is on the network");
    rig.answer_bytes = ANSWER;
    rig_wait(2000);
    ask(0, true);
    OK(count_connections() == 0, "the connection of a client that vanishes has no slot");
    rig_wait(SILENT_MS);
    rig.clients[0].gone = false;
    rig_wait(2 * SILENT_MS);
    OK(is_answered(0), "the client gets its answer if it comes back after %d s", SILENT_MS / 1000);

    for (unsigned i = 1; i <= GONE; i++) {
        ask(i, true);
    }
    rig_wait(4000);
    net_figures(rig.net, &figures);
    OK(figures.heap_most > HEAP && figures.heap_bytes <= HEAP,
       "after %d such clients lwIP's heap has room for others: %u bytes were in use, and %u are",
       GONE, (unsigned)figures.heap_most, (unsigned)figures.heap_bytes);
    ask(GONE + 1, false);
    rig_wait(1000);
    OK(is_answered(GONE + 1), "another client is answered");
    check_port(GONE + 2);
    check_refused(GONE + 3);
    return tap_done();
}
