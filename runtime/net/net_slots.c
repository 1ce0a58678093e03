/* The server's connections over lwIP's TCP. A callback of lwIP only notes what happened, so that
 * no request is handled within lwIP; net_slots_poll does the rest. */
#include "runtime/net/net_private.h"

#include <string.h>

#include <lwip/priv/tcp_priv.h>

enum { FILLS_A_POLL = 8, MS = 1000 };

/* ---- from lwIP ---- */

err_t net_input_put(struct net_input *in, struct pbuf *p)
{
    if (p->tot_len > sizeof in->bytes - in->n) {
        return ERR_MEM;
    }
    for (const struct pbuf *q = p; q != NULL; q = q->next) {
        size_t to = (in->at + in->n) % sizeof in->bytes, first = sizeof in->bytes - to;

        first = q->len < first ? q->len : first;
        memcpy(in->bytes + to, q->payload, first);
        memcpy(in->bytes, (const char *)q->payload + first, q->len - first);
        in->n += q->len;
    }
    (void)pbuf_free(p);
    return ERR_OK;
}

static err_t on_receive(void *context, struct tcp_pcb *pcb, struct pbuf *p, err_t error)
{
    struct net_slot *s = context;

    (void)pcb;
    (void)error;
    s->moved_ms = net_now_ms(s->net);
    if (p == NULL) {
        s->over = true;
        return ERR_OK;
    }
    return net_input_put(&s->in, p);
}

static err_t on_sent(void *context, struct tcp_pcb *pcb, u16_t bytes)
{
    struct net_slot *s = context;

    (void)pcb;
    s->taken += bytes;
    s->moved_ms = net_now_ms(s->net);
    return ERR_OK;
}

/* lwIP has freed the pcb already. */
static void on_error(void *context, err_t error)
{
    struct net_slot *s = context;

    (void)error;
    s->reset = true;
}

/* ---- begin, end ---- */

static unsigned number(const struct net_slot *s)
{
    return (unsigned)(s - s->net->slots);
}

/* Forget the input. If `tell` is true, tell lwIP that the bytes were read, because lwIP resets a
 * connection that ends with unread bytes. */
static void forget_input(struct net_slot *s, bool tell)
{
    if (tell) {
        tcp_recved(s->pcb, (u16_t)s->in.n);
    }
    s->in.n = 0;
}

void net_forget_callbacks(struct tcp_pcb *pcb)
{
    tcp_arg(pcb, NULL);
    tcp_recv(pcb, NULL);
    tcp_sent(pcb, NULL);
    tcp_err(pcb, NULL);
}

/* The client has had its time: from now on lwIP answers its bytes with a reset. */
static err_t on_late(void *context, struct tcp_pcb *pcb)
{
    (void)context;
    tcp_poll(pcb, NULL, 0);
    return tcp_close(pcb);
}

/* Close only our side at first, so that lwIP drops what the client still sends. A reset would make
 * lwIP forget the end of the answer, and some clients would discard what they have not read yet
 * (RFC 9112, section 9.6). After this, lwIP may reuse the pcb's memory for a new connection if no
 * other is free. */
void net_close(struct tcp_pcb *pcb)
{
    tcp_setprio(pcb, TCP_PRIO_MIN);
    tcp_poll(pcb, on_late, NET_LINGER_SECONDS * MS / TCP_SLOW_INTERVAL);
    if (tcp_shutdown(pcb, 0, 1) != ERR_OK) {
        tcp_abort(pcb);
    }
}

/* End a slot. If `abort` is true, send a reset, and retransmit nothing. */
static void end_slot(struct net_slot *s, bool abort)
{
    const struct net_server *server = &s->net->setup.server;
    struct tcp_pcb *pcb = s->pcb;

    server->end(server->context, number(s));
    http_connection_close(&s->http);
    forget_input(s, !s->reset);
    s->pcb = NULL;
    if (s->reset) {
        return;
    }
    net_forget_callbacks(pcb);
    if (abort) {
        tcp_abort(pcb);
    } else {
        net_close(pcb);
    }
}

/* Return true if no request has begun and no answer is in progress. */
static bool is_idle(const struct net_slot *s)
{
    return s->in.n == 0 && s->out_bytes == 0 && s->http.stage == HTTP_READS &&
           !http_connection_begun(&s->http);
}

/* Find a free slot, or else end the connection that has been idle for longest and take its slot. A
 * connection that has just become idle stays, because its request may still be on its way. Returns
 * NULL if no slot can be taken. */
static struct net_slot *find_slot(struct net *n)
{
    uint64_t now = net_now_ms(n);
    struct net_slot *oldest = NULL;

    for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
        struct net_slot *s = &n->slots[i];

        if (s->pcb == NULL) {
            return s;
        }
        if (is_idle(s) && !s->reset && now - s->moved_ms > NET_REST_SECONDS * MS &&
            (oldest == NULL || s->moved_ms < oldest->moved_ms)) {
            oldest = s;
        }
    }
    if (oldest != NULL) {
        end_slot(oldest, false);
    }
    return oldest;
}

struct net_slot *net_slots_begin(struct net *n, struct tcp_pcb *pcb)
{
    const struct net_server *server = &n->setup.server;
    struct net_slot *s = find_slot(n);

    if (s == NULL) {
        return NULL;
    }
    s->net = n;
    s->pcb = pcb;
    s->in.at = s->in.n = s->out_bytes = s->out_at = 0;
    s->over = s->reset = false;
    s->begun_ms = s->full_ms = 0;
    s->moved_ms = net_now_ms(n);
    http_connection_open(&s->http, server->site,
                         server->begin(server->context, number(s), &s->http));
    tcp_arg(pcb, s);
    tcp_recv(pcb, on_receive);
    tcp_sent(pcb, on_sent);
    tcp_err(pcb, on_error);
    tcp_nagle_disable(pcb);
    return s;
}

/* Accept a connection; those that came earlier go first. */
static err_t on_accept(void *context, struct tcp_pcb *pcb, err_t error)
{
    struct net *n = context;

    if (error != ERR_OK || pcb == NULL) {
        return ERR_VAL;
    }
    if (!net_waiting_any(n) && net_slots_begin(n, pcb) != NULL) {
        return ERR_OK;
    }
    return net_waiting_add(n, pcb) ? ERR_OK : ERR_MEM; /* after ERR_MEM lwIP resets the connection;
                                                        * the list is as long as lwIP's backlog */
}

const char *net_slots_open(struct net *n)
{
    struct tcp_pcb *pcb = tcp_new_ip_type(IPADDR_TYPE_ANY);

    if (pcb == NULL || tcp_bind(pcb, IP_ANY_TYPE, NET_PORT) != ERR_OK) {
        return "lwIP does not give the server its port";
    }
    n->listener = tcp_listen_with_backlog(pcb, NET_WAITING);
    if (n->listener == NULL) {
        return "lwIP has no memory for the server";
    }
    tcp_arg(n->listener, n);
    tcp_accept(n->listener, on_accept);
    return NULL;
}

/* ---- work ---- */

/* Take the input. The window opens only by the bytes that are taken, so a client that sends too
 * much waits. */
static void take_input(struct net_slot *s)
{
    while (s->in.n != 0 && http_connection_wants(&s->http)) {
        size_t room = sizeof s->in.bytes - s->in.at, piece = s->in.n < room ? s->in.n : room,
               n = http_connection_take(&s->http, s->in.bytes + s->in.at, piece);

        tcp_recved(s->pcb, (u16_t)n);
        s->in.at = (s->in.at + n) % sizeof s->in.bytes;
        s->in.n -= n;
        if (n < piece) {
            return;
        }
    }
}

/* Pass up to n bytes to lwIP, and return how many. lwIP takes all bytes of a call or none, and none
 * if they would be too many segments, which are short if the client's window is small. */
static size_t write_some(struct tcp_pcb *pcb, const char *bytes, size_t n)
{
    while (n != 0 && tcp_write(pcb, bytes, (u16_t)n, TCP_WRITE_FLAG_COPY) != ERR_OK) {
        n /= 2;
    }
    return n;
}

/* Pass the bytes that wait in `out` to lwIP, as far as lwIP has room. Return false if some do not
 * fit. */
static bool flush(struct net_slot *s)
{
    while (s->out_at < s->out_bytes) {
        size_t n = s->out_bytes - s->out_at, room = tcp_sndbuf(s->pcb);

        n = write_some(s->pcb, s->out + s->out_at, n < room ? n : room);
        if (n == 0) {
            return false;
        }
        s->out_at += n;
    }
    s->out_at = s->out_bytes = 0;
    return true;
}

static void give_output(struct net_slot *s)
{
    for (unsigned i = 0; i < FILLS_A_POLL && flush(s); i++) {
        s->out_bytes = http_connection_fill(&s->http, s->out, sizeof s->out);
        if (s->out_bytes == 0) {
            break;
        }
        s->moved_ms = net_now_ms(s->net);
    }
    (void)tcp_output(s->pcb);
}

/* Return true if the client has taken its answer too slowly for `seconds`. A client that takes a
 * few bytes now and then must not keep a connection from others. */
static bool takes_slowly(struct net_slot *s, uint64_t now, unsigned seconds)
{
    if (s->out_bytes == 0) {
        s->full_ms = 0;
        return false;
    }
    if (s->full_ms == 0) {
        s->full_ms = now;
        s->taken = 0;
    }
    return now - s->full_ms > seconds * MS && s->taken < (now - s->full_ms) / MS * NET_PACE_BYTES;
}

/* Return true if a client sends its request too slowly, does not take its answer, or is gone. A
 * client has less time while others wait for a slot. */
static bool is_late(struct net_slot *s, bool crowded)
{
    const struct net_server *server = &s->net->setup.server;
    uint64_t now = net_now_ms(s->net);
    bool reads = s->http.stage == HTTP_READS && http_connection_begun(&s->http);
    bool works = server->works(server->context, number(s));
    unsigned seconds = crowded ? NET_CROWDED_SECONDS : NET_READ_SECONDS;

    if (!reads) {
        s->begun_ms = 0;
    } else if (s->begun_ms == 0) {
        s->begun_ms = now;
    }
    if (takes_slowly(s, now, seconds) || (reads && !works && now - s->begun_ms > seconds * MS)) {
        return true;
    }
    return now - s->moved_ms > (crowded ? NET_CROWDED_SECONDS : NET_IDLE_SECONDS) * MS &&
           (s->out_bytes != 0 || !works);
}

static void work(struct net_slot *s, bool crowded)
{
    if (s->reset) {
        end_slot(s, true);
        return;
    }
    take_input(s);
    give_output(s);
    if (s->reset || s->http.stage == HTTP_BROKEN || is_late(s, crowded)) {
        end_slot(s, true);
    } else if (s->out_bytes == 0 && s->http.head_bytes == 0 &&
               (s->http.stage == HTTP_CLOSES ||
                (s->over && s->http.stage == HTTP_READS && s->in.n == 0))) {
        end_slot(s, false);
    }
}

void net_slots_poll(struct net *n)
{
    bool crowded = net_waiting_any(n);

    for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
        if (n->slots[i].pcb != NULL) {
            work(&n->slots[i], crowded);
        }
    }
    net_waiting_poll(n);
}
