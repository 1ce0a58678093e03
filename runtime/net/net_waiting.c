/* Connections that wait for a slot of the server. A client that comes when every slot is in use
 * is not reset: its connection is accepted, its first bytes are kept, and it takes the next slot,
 * in the order of arrival. lwIP counts waiting connections as its backlog, so there are
 * never more than NET_WAITING; a later SYN gets no answer, and the client sends it again. */
#include "runtime/net/net_private.h"

#include <lwip/memp.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/stats.h>

enum { MS = 1000, HALF_OPEN_MS = 1000, SILENT_MS = 2000 };

static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\n"
                           "content-type: application/json\r\n"
                           "retry-after: 5\r\n"
                           "connection: close\r\n"
                           "content-length: 114\r\n\r\n"
                           "{\"error\":{\"message\":\"all connections of this board are in use\","
                           "\"type\":\"server_error\",\"param\":null,\"code\":\"busy\"}}\n";

/* ---- from lwIP ---- */

/* Keep a window of bytes. If lwIP had to keep them, it would drop every segment but the first, and
 * after its turn the client would wait for a timer that doubles: the turn could be over by then. */
static err_t on_receive(void *context, struct tcp_pcb *pcb, struct pbuf *p, err_t error)
{
    struct net_waiting *w = context;

    (void)pcb;
    (void)error;
    if (p == NULL) {
        w->over = true;
        return ERR_OK;
    }
    return net_input_put(&w->in, p);
}

static void on_error(void *context, err_t error)
{
    struct net_waiting *w = context;

    (void)error;
    w->pcb = NULL; /* lwIP has freed the pcb */
}

/* ---- begin, end ---- */

bool net_waiting_add(struct net *n, struct tcp_pcb *pcb)
{
    for (unsigned i = 0; i < NET_WAITING; i++) {
        struct net_waiting *w = &n->waiting[i];

        if (w->pcb == NULL) {
            w->pcb = pcb;
            w->since_ms = net_now_ms(n);
            w->in.at = w->in.n = 0;
            w->over = false;
            tcp_backlog_delayed(pcb);
            tcp_arg(pcb, w);
            tcp_recv(pcb, on_receive);
            tcp_sent(pcb, NULL);
            tcp_err(pcb, on_error);
            return true;
        }
    }
    return false;
}

static struct tcp_pcb *take_out(struct net_waiting *w)
{
    struct tcp_pcb *pcb = w->pcb;

    w->pcb = NULL;
    tcp_backlog_accepted(pcb);
    return pcb;
}

/* Return true if the client left before it sent anything. */
static bool has_left(const struct net_waiting *w)
{
    return w->over && w->in.n == 0;
}

/* Read the received bytes first: lwIP resets a connection that ends with unread bytes, and the
 * client would not see the answer. */
static void drop(struct net_waiting *w)
{
    struct tcp_pcb *pcb = take_out(w);

    net_forget_callbacks(pcb);
    if (!has_left(w)) {
        tcp_recved(pcb, (u16_t)w->in.n);
        (void)tcp_write(pcb, busy, sizeof busy - 1, 0);
        (void)tcp_output(pcb);
    }
    net_close(pcb);
}

/* Give the connection a slot, with the bytes that have come. Returns false if there is no slot. */
static bool begin(struct net *n, struct net_waiting *w)
{
    struct net_slot *s = net_slots_begin(n, w->pcb);

    if (s == NULL) {
        return false;
    }
    s->in = w->in;
    s->over = w->over;
    (void)take_out(w);
    return true;
}

static struct net_waiting *longest(struct net *n)
{
    struct net_waiting *first = NULL;

    for (unsigned i = 0; i < NET_WAITING; i++) {
        struct net_waiting *w = &n->waiting[i];

        if (w->pcb != NULL && (first == NULL || w->since_ms < first->since_ms)) {
            first = w;
        }
    }
    return first;
}

bool net_waiting_any(const struct net *n)
{
    for (unsigned i = 0; i < NET_WAITING; i++) {
        if (n->waiting[i].pcb != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- half-open connections ---- */

/* Drop the oldest half-open connection once a client has had enough time to complete it. A flood of
 * SYNs that are never completed must not hold more than half of the backlog: the rest is for
 * clients that connect at the same time. */
static void drop_half_open(struct net *n)
{
    struct tcp_pcb *oldest = NULL;

    if (((struct tcp_pcb_listen *)n->listener)->accepts_pending <= NET_WAITING / 2) {
        return;
    }
    for (struct tcp_pcb *pcb = tcp_active_pcbs; pcb != NULL; pcb = pcb->next) {
        if (pcb->state == SYN_RCVD &&
            (oldest == NULL || tcp_ticks - pcb->tmr > tcp_ticks - oldest->tmr)) {
            oldest = pcb;
        }
    }
    if (oldest != NULL && (tcp_ticks - oldest->tmr) * TCP_SLOW_INTERVAL > HALF_OPEN_MS) {
        tcp_abort(oldest);
    }
}

/* ---- connections that are closed here ---- */

/* Return true if other connections may soon lack memory for what they send. */
static bool is_short(void)
{
    return lwip_stats.mem.used > MEM_SIZE / 4 * 3 ||
           lwip_stats.memp[MEMP_TCP_SEG]->used > MEMP_NUM_TCP_SEG / 4 * 3;
}

/* If memory is short, drop the closed connection whose client has been silent for longest. lwIP
 * keeps the end of an answer for a quarter of an hour if the client is gone, and twelve such
 * answers are as long as the heap. */
static void drop_closed(void)
{
    struct tcp_pcb *oldest = NULL;

    if (!is_short()) {
        return;
    }
    for (struct tcp_pcb *pcb = tcp_active_pcbs; pcb != NULL; pcb = pcb->next) {
        if ((pcb->state == FIN_WAIT_1 || pcb->state == CLOSING || pcb->state == LAST_ACK) &&
            (oldest == NULL || tcp_ticks - pcb->tmr > tcp_ticks - oldest->tmr)) {
            oldest = pcb;
        }
    }
    if (oldest != NULL && (tcp_ticks - oldest->tmr) * TCP_SLOW_INTERVAL > SILENT_MS) {
        tcp_abort(oldest);
    }
}

/* If a client uses the port of a connection in TIME-WAIT again, end that connection, and return
 * true: the SYN is dropped, and the one that the client sends a second later begins a connection.
 * lwIP would refuse such SYNs for two minutes. RFC 1122, 4.2.2.13, permits this if the SYN comes
 * after all bytes of the old connection. */
bool net_ends_wait(struct tcp_pcb *pcb, const struct tcp_hdr *segment)
{
    if (pcb->state != TIME_WAIT || (TCPH_FLAGS(segment) & (TCP_SYN | TCP_ACK)) != TCP_SYN ||
        !TCP_SEQ_GT(segment->seqno, pcb->rcv_nxt)) {
        return false;
    }
    tcp_abort(pcb);
    return true;
}

void net_waiting_poll(struct net *n)
{
    uint64_t now = net_now_ms(n);
    struct net_waiting *w;

    drop_half_open(n);
    drop_closed();
    for (unsigned i = 0; i < NET_WAITING; i++) {
        w = &n->waiting[i];
        if (w->pcb != NULL && (has_left(w) || now - w->since_ms > NET_WAIT_SECONDS * MS)) {
            drop(w);
        }
    }
    while ((w = longest(n)) != NULL && begin(n, w)) {
    }
}
