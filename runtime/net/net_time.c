#include "runtime/net/net_time.h"

#include <string.h>

#include "runtime/net/net_private.h"
#include "runtime/net/sntp.h"

#include <lwip/udp.h>

enum { MS = 1000, ADDRESS_TEXT = 16 };

/* ---- the option ---- */

/* Read a port in decimal digits; returns 0 for other texts. */
static uint16_t read_port(const char *text)
{
    uint32_t port = 0;

    for (; *text >= '0' && *text <= '9' && port <= UINT16_MAX; text++) {
        port = 10 * port + (uint32_t)(*text - '0');
    }
    return *text == '\0' && port <= UINT16_MAX ? (uint16_t)port : 0;
}

/* Read "ntp", "ntp,ADDRESS" or "ntp,ADDRESS:PORT". */
bool net_time_read(struct net_time *t, const char *how)
{
    char text[ADDRESS_TEXT];
    size_t n;

    memset(t, 0, sizeof *t);
    t->port = SNTP_PORT;
    t->wait_s = NET_TIME_FIRST_SECONDS;
    t->asks = how != NULL;
    if (how == NULL || strcmp(how, "ntp") == 0) {
        return true;
    }
    if (strncmp(how, "ntp,", 4) != 0) {
        return false;
    }
    how += 4;
    n = strcspn(how, ":");
    if (n >= sizeof text) {
        return false;
    }
    memcpy(text, how, n);
    text[n] = '\0';
    t->port = how[n] == ':' ? read_port(how + n + 1) : t->port;
    return net_read_address(text, &t->fixed) && net_is_unicast(&t->fixed) && t->port != 0;
}

void net_time_servers(struct net_time *t, unsigned n, const ip4_addr_t *servers)
{
    ip4_addr_t good[NET_TIME_SERVERS] = { 0 };
    unsigned n_good = 0;

    for (unsigned i = 0; i < n && n_good < NET_TIME_SERVERS; i++) {
        if (net_is_unicast(&servers[i])) {
            good[n_good++] = servers[i];
        }
    }
    /* The lease was renewed and names the same servers: change nothing. */
    if (n_good == t->n_servers && memcmp(good, t->servers, sizeof good) == 0) {
        return;
    }
    memcpy(t->servers, good, sizeof good);
    t->n_servers = n_good;
    t->refused = 0;
    t->turn = 0;
}

/* ---- an answer ---- */

static void take_answer(struct net *n, enum sntp_result result, uint64_t date_ms)
{
    struct net_time *t = &n->time;
    uint64_t now = net_now_ms(n);

    t->nonce = 0;
    if (result == SNTP_GOOD) {
        t->known = true;
        t->date_ms = date_ms - now;
        t->from = *ip_2_ip4(&t->pcb->remote_ip);
        t->silent = 0;
        t->wait_s = NET_TIME_FIRST_SECONDS;
        t->ask_ms = now + NET_TIME_AGAIN_SECONDS * MS;
    } else if (result == SNTP_LATER) {
        t->wait_s = NET_TIME_MOST_SECONDS;
        t->ask_ms = now + NET_TIME_MOST_SECONDS * MS;
    } else if (result == SNTP_REFUSED) {
        t->refused |= 1u << t->asked;
    }
}

static void on_answer(void *context, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from,
                      u16_t port)
{
    struct net *n = context;
    struct net_time *t = &n->time;
    uint8_t bytes[SNTP_BYTES];
    uint64_t round = net_now_ms(n) - t->asked_ms, date_ms = 0;
    size_t got = pbuf_copy_partial(p, bytes, sizeof bytes, 0);
    enum sntp_result result;

    (void)pcb;
    (void)from; /* lwIP has checked address and port, because the pcb is connected */
    (void)port;
    pbuf_free(p);
    if (t->nonce == 0 || round > NET_TIME_ANSWER_SECONDS * MS) {
        return;
    }
    result = sntp_read(bytes, got, t->nonce, round, &date_ms);
    if (result != SNTP_FOREIGN) {
        take_answer(n, result, date_ms);
    }
}

/* ---- a question ---- */

/* Choose the server that time= names, else those of DHCP in turn, else the router, since many
 * routers know the time. Returns false if there is no server. */
static bool choose_server(struct net *n, ip_addr_t *server)
{
    struct net_time *t = &n->time;
    bool in_turn = ip4_addr_isany_val(t->fixed) && t->n_servers != 0;
    unsigned choices = in_turn ? t->n_servers : 1;

    for (unsigned i = 0; i < choices; i++) {
        t->asked = t->turn++ % choices;
        if (!(t->refused >> t->asked & 1)) {
            ip4_addr_t address = !in_turn ? *netif_ip4_gw(&n->netif) : t->servers[t->asked];

            address = ip4_addr_isany_val(t->fixed) ? address : t->fixed;
            ip_addr_copy_from_ip4(*server, address);
            return net_is_unicast(&address);
        }
    }
    return false;
}

static void send_question(struct net_time *t)
{
    uint8_t bytes[SNTP_BYTES];
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, SNTP_BYTES, PBUF_RAM);

    if (p == NULL) {
        return;
    }
    sntp_write(bytes, t->nonce);
    (void)pbuf_take(p, bytes, sizeof bytes);
    (void)udp_send(t->pcb, p);
    pbuf_free(p);
}

bool net_time_is_due(const struct net *n)
{
    return n->time.asks && n->link && !ip4_addr_isany(netif_ip4_addr(&n->netif)) &&
           net_now_ms(n) >= n->time.ask_ms;
}

void net_time_ask(struct net *n, uint64_t nonce)
{
    struct net_time *t = &n->time;
    ip_addr_t server;

    t->asked_ms = net_now_ms(n);
    t->ask_ms = t->asked_ms + t->wait_s * (uint64_t)MS;
    t->wait_s = t->wait_s < NET_TIME_MOST_SECONDS / 2 ? 2 * t->wait_s : NET_TIME_MOST_SECONDS;
    t->silent += t->silent < NET_TIME_SILENT;
    t->nonce = 0;
    if (t->pcb == NULL) {
        t->pcb = udp_new();
    }
    if (t->pcb == NULL || !choose_server(n, &server) ||
        udp_connect(t->pcb, &server, t->port) != ERR_OK) {
        return;
    }
    udp_recv(t->pcb, on_answer, n);
    t->nonce = nonce | 1;
    send_question(t);
}

uint64_t net_date(const struct net *n)
{
    return n->time.known ? (n->time.date_ms + MS / 2) / MS : 0;
}

const char *net_date_from(const struct net *n, char text[NET_ADDRESS_BYTES])
{
    return ip4addr_ntoa_r(&n->time.from, text, NET_ADDRESS_BYTES);
}

bool net_date_fails(const struct net *n)
{
    return n->time.silent == NET_TIME_SILENT;
}
