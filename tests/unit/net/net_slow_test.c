/* Clients that take a long answer slowly: one that takes less than NET_PACE_BYTES a second loses its
 * connection, although it is never silent. A client with a small window gets its whole answer. */
#include "tests/unit/net/net_rig.h"
#include "tests/unit/tap.h"

enum { ANSWER = 200000, SHORT_ANSWER = 1300, STEP_MS = 1000 };

/* Begin a request whose answer the client takes only in `take`. */
static void ask(unsigned client)
{
    rig_connect(client);
    rig.clients[client].gone = true;
    rig_tcp(client, TCP_ACK | TCP_PSH, "GET / HTTP/1.1\r\nhost: 10.0.2.15\r\n\r\n");
    rig_wait(20);
}

/* Take bytes every second. Returns the time after which the connection had ended. */
static unsigned take(unsigned client, unsigned bytes, unsigned seconds)
{
    struct rig_client *c = &rig.clients[client];
    unsigned ms = 0;

    while (ms < seconds * 1000 && rig.http[0] != NULL) {
        uint32_t waits = c->sent - c->theirs;

        c->theirs += bytes < waits ? bytes : waits;
        rig_tcp(client, TCP_ACK, "");
        rig_wait(STEP_MS);
        ms += STEP_MS;
    }
    return ms / 1000;
}

int main(void)
{
    unsigned seconds;

    OK(rig_open("10.0.2.15/24,10.0.2.2", NULL) == NULL, "a board is on the network");
    rig.answer_bytes = ANSWER;
    rig_wait(2000);
    ask(0);
    seconds = take(0, 100, 120);
    OK(rig.http[0] == NULL && seconds <= NET_READ_SECONDS + 2,
       "a client that takes 100 bytes a second is dropped after %u s", seconds);
    ask(1);
    (void)take(1, NET_PACE_BYTES * 2, 120);
    OK(rig.http[0] != NULL, "a client that takes %u bytes a second keeps its connection",
       NET_PACE_BYTES * 2);
    rig.answer_bytes = SHORT_ANSWER;
    rig.window = 64;
    rig_connect(2);
    rig_tcp(2, TCP_ACK | TCP_PSH, "GET / HTTP/1.1\r\nhost: 10.0.2.15\r\n\r\n");
    rig_wait(5 * STEP_MS);
    OK(rig.clients[2].bytes > SHORT_ANSWER && rig.clients[2].bytes == strlen(rig.clients[2].text),
       "a client with a window of %u bytes gets its answer: %u bytes", (unsigned)rig.window,
       (unsigned)rig.clients[2].bytes);
    return tap_done();
}
