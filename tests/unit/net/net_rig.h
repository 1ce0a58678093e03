/* A board's network (runtime/net) whose cable ends here: its clock moves only in rig_wait, its frames are looked at one by one,
 * and a peer at 10.0.2.2, which is also the router, sends what the test wants. The board has the fixed address 10.0.2.15 unless
 * DHCP is asked for. */
#ifndef INGOT_TESTS_UNIT_NET_RIG_H
#define INGOT_TESTS_UNIT_NET_RIG_H

#include <stdlib.h>
#include <string.h>

#include "runtime/net/net.h"

enum {
    RIG_HZ = 1000,
    RIG_FRAMES = 64, /* frames that wait for the board */
    RIG_FRAME = 1514,
    RIG_CLIENTS = 32,
    RIG_TEXT = 2048, /* bytes of an answer that are kept */
    ETHERNET = 14,
    IP4 = 20,
    TCP = 20,
    UDP = 8,
    DHCP_SERVER = 67,
    DHCP_CLIENT = 68,
    TCP_FIN = 1,
    TCP_SYN = 2,
    TCP_RST = 4,
    TCP_PSH = 8,
    TCP_ACK = 16,
};

static const uint8_t rig_board_mac[6] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };
static const uint8_t rig_peer_mac[6] = { 0x52, 0x55, 10, 0, 2, 2 };
static const uint8_t rig_board_ip[4] = { 10, 0, 2, 15 }, rig_peer_ip[4] = { 10, 0, 2, 2 };

/* A client of TCP, at port 1000 plus its number. */
struct rig_client {
    uint32_t sequence, theirs;
    uint32_t acknowledged; /* the sequence number that the board expects next */
    bool accepted, ended, reset;
    bool gone;     /* takes no segment any more */
    uint32_t sent; /* the sequence number after the last byte that the board has sent */
    size_t bytes;
    char text[RIG_TEXT + 1];
};

static struct rig {
    struct net *net;
    uint64_t ms;
    size_t at, n; /* frames in the ring of those that wait for the board */
    struct {
        size_t bytes;
        uint8_t data[RIG_FRAME];
    } frames[RIG_FRAMES];
    struct rig_client clients[RIG_CLIENTS];
    uint32_t window; /* of the clients, in bytes; 0: 8 KiB */
    /* Gives the test's function a datagram of UDP from the board, to another port than DHCP's and
     * mDNS's, or to any port. */
    void (*datagram)(const uint8_t *ip, const uint8_t *payload, size_t bytes);
    /* Whether a computer has this address and answers questions about it. NULL: one has every
     * address but the board's. */
    bool (*owns)(const uint8_t ip[4]);
    /* A segment of TCP from the board to a port below 1000, where the test's own server is. */
    void (*segment)(const uint8_t *ip, const uint8_t *tcp, size_t bytes);
    struct http_connection *http[NET_CONNECTIONS]; /* the server's connection; NULL: none */
    bool all_work;                                 /* every connection counts as one at work */
    size_t answer_bytes;                           /* length of an answer; 0: it is "ok" */
    bool holds;                                    /* the server takes one piece of a body */
    bool refuses;                                  /* the server answers 401 to a head */
} rig;

static uint32_t rig_read(const uint8_t *p, unsigned n)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < n; i++) {
        value = value << 8 | p[i];
    }
    return value;
}

static void rig_write(uint8_t *p, unsigned n, uint32_t value)
{
    for (unsigned i = 0; i < n; i++) {
        p[i] = (uint8_t)(value >> (8 * (n - 1 - i)));
    }
}

/* ---- frames to the board ---- */

static void rig_frame(unsigned type, const uint8_t *payload, size_t bytes)
{
    size_t to = (rig.at + rig.n++) % RIG_FRAMES;
    uint8_t *f = rig.frames[to].data;

    if (rig.n > RIG_FRAMES) {
        abort();
    }
    memcpy(f, rig_board_mac, 6);
    memcpy(f + 6, rig_peer_mac, 6);
    rig_write(f + 12, 2, type);
    memcpy(f + ETHERNET, payload, bytes);
    rig.frames[to].bytes = ETHERNET + bytes;
}

static void rig_ip4(unsigned protocol, const uint8_t from[4], const uint8_t *payload, size_t bytes)
{
    uint8_t ip[RIG_FRAME] = { 0x45, [8] = 64 };

    rig_write(ip + 2, 2, (uint32_t)(IP4 + bytes));
    ip[9] = (uint8_t)protocol;
    memcpy(ip + 12, from, 4);
    memcpy(ip + 16, rig_board_ip, 4);
    memcpy(ip + IP4, payload, bytes);
    rig_frame(0x800, ip, IP4 + bytes);
}

static inline void rig_udp(const uint8_t from[4], unsigned port, unsigned to,
                           const uint8_t *payload, size_t bytes)
{
    uint8_t udp[RIG_FRAME] = { 0 };

    rig_write(udp, 2, port);
    rig_write(udp + 2, 2, to);
    rig_write(udp + 4, 2, (uint32_t)(UDP + bytes));
    memcpy(udp + UDP, payload, bytes);
    rig_ip4(17, from, udp, UDP + bytes);
}

static void rig_tcp(unsigned client, unsigned flags, const char *text)
{
    struct rig_client *c = &rig.clients[client];
    uint8_t tcp[RIG_FRAME] = { [12] = 0x50 };
    size_t n = strlen(text);

    rig_write(tcp, 2, 1000 + client);
    rig_write(tcp + 2, 2, NET_PORT);
    rig_write(tcp + 4, 4, c->sequence);
    rig_write(tcp + 8, 4, flags & TCP_ACK ? c->theirs : 0);
    tcp[13] = (uint8_t)flags;
    rig_write(tcp + 14, 2, rig.window != 0 ? rig.window : 8192);
    memcpy(tcp + TCP, text, n);
    rig_ip4(6, rig_peer_ip, tcp, TCP + n);
    c->sequence += (uint32_t)n + ((flags & (TCP_SYN | TCP_FIN)) != 0);
}

/* The peer says that an address is its own. */
static inline void rig_claim(const uint8_t ip[4])
{
    uint8_t arp[28] = { 0, 1, 8, 0, 6, 4, 0, 2 };

    memcpy(arp + 8, rig_peer_mac, 6);
    memcpy(arp + 14, ip, 4);
    memcpy(arp + 18, rig_board_mac, 6);
    memcpy(arp + 24, ip, 4);
    rig_frame(0x806, arp, sizeof arp);
}

/* Sends a message of a DHCP server: 2 is an offer, 5 an acknowledgement, 6 a refusal; lease: seconds.
 * Option 42 names two servers of the time and a group. */
static inline void rig_dhcp_says(const uint8_t *question, uint8_t type, const uint8_t ip[4],
                                 uint32_t lease)
{
    static const uint8_t cookie[] = { 0x63, 0x82, 0x53, 0x63 };
    static const uint8_t options[] = { 54, 4,   10,  0,   2,   2, 51, 4,  0,  0, 0, 0,  1,
                                       4,  255, 255, 255, 0,   3, 4,  10, 0,  2, 2, 42, 12,
                                       10, 0,   2,   3,   224, 0, 0,  9,  10, 0, 2, 4,  255 };
    uint8_t answer[300] = { 2, 1, 6 };

    memcpy(answer + 4, question + 4, 4);
    memcpy(answer + 16, ip, 4);
    memcpy(answer + 28, rig_board_mac, 6);
    memcpy(answer + 236, cookie, 4);
    answer[240] = 53;
    answer[241] = 1;
    answer[242] = type;
    memcpy(answer + 243, options, sizeof options);
    rig_write(answer + 251, 4, lease);
    rig_udp(rig_peer_ip, DHCP_SERVER, DHCP_CLIENT, answer, sizeof answer);
}

/* Answers a discover with an offer, and a request with an acknowledgement. */
static inline void rig_dhcp(const uint8_t *question, uint32_t lease)
{
    rig_dhcp_says(question, question[242] == 1 ? 2 : 5, rig_board_ip, lease);
}

/* ---- frames of the board ---- */

static void rig_take_arp(const uint8_t *arp)
{
    uint8_t answer[28];

    if (arp[7] != 1 ||
        (rig.owns != NULL ? !rig.owns(arp + 24) : memcmp(arp + 24, rig_board_ip, 4) == 0)) {
        return; /* it asks for nothing, or about its own address */
    }
    memcpy(answer, arp, 8);
    answer[7] = 2;
    memcpy(answer + 8, rig_peer_mac, 6);
    memcpy(answer + 14, arp + 24, 4);
    memcpy(answer + 18, arp + 8, 10);
    rig_frame(0x806, answer, sizeof answer);
}

static void rig_take_tcp(const uint8_t *tcp, size_t bytes)
{
    size_t head = (size_t)(tcp[12] >> 4) * 4, n = bytes - head,
           client = rig_read(tcp + 2, 2) - 1000u;
    struct rig_client *c = &rig.clients[client];
    unsigned flags = tcp[13];
    uint32_t end;

    if (client >= RIG_CLIENTS || head > bytes) {
        abort();
    }
    end = rig_read(tcp + 4, 4) + (uint32_t)n;
    c->sent = flags & TCP_SYN || (int32_t)(end - c->sent) > 0 ? end : c->sent;
    if (c->gone) {
        return;
    }
    c->reset |= (flags & TCP_RST) != 0;
    c->acknowledged = rig_read(tcp + 8, 4);
    if (flags & TCP_SYN) {
        c->accepted = true;
        c->theirs = rig_read(tcp + 4, 4) + 1;
        rig_tcp((unsigned)client, TCP_ACK, "");
    } else if ((n != 0 || flags & TCP_FIN) && rig_read(tcp + 4, 4) == c->theirs) {
        size_t room = RIG_TEXT - c->bytes;

        memcpy(c->text + c->bytes, tcp + head, n < room ? n : room);
        c->bytes += n < room ? n : room;
        c->theirs += (uint32_t)n + (flags & TCP_FIN);
        c->ended |= (flags & TCP_FIN) != 0;
        rig_tcp((unsigned)client, TCP_ACK, "");
    }
}

static bool rig_send(void *context, const uint8_t *frame, size_t bytes)
{
    const uint8_t *ip = frame + ETHERNET;
    unsigned type = rig_read(frame + 12, 2);

    (void)context;
    if (type == 0x806 && bytes >= ETHERNET + 28) {
        rig_take_arp(ip);
    } else if (type == 0x800 && ip[9] == 6 && rig_read(ip + IP4 + 2, 2) < 1000) {
        if (rig.segment != NULL) {
            rig.segment(ip, ip + IP4, rig_read(ip + 2, 2) - IP4);
        }
    } else if (type == 0x800 && ip[9] == 6) {
        rig_take_tcp(ip + IP4, rig_read(ip + 2, 2) - IP4);
    } else if (type == 0x800 && ip[9] == 17 && rig_read(ip + IP4 + 2, 2) != 5353 &&
               rig.datagram != NULL) {
        rig.datagram(ip, ip + IP4 + UDP, rig_read(ip + IP4 + 4, 2) - UDP);
    }
    return true;
}

static size_t rig_receive(void *context, uint8_t *to, size_t room)
{
    size_t bytes;

    (void)context;
    (void)room;
    if (rig.n == 0) {
        return 0;
    }
    bytes = rig.frames[rig.at].bytes;
    memcpy(to, rig.frames[rig.at].data, bytes);
    rig.at = (rig.at + 1) % RIG_FRAMES;
    rig.n--;
    return bytes;
}

/* ---- the server: "ok" to everything ---- */

static bool rig_body(void *user, const char *bytes, size_t n)
{
    (void)bytes;
    (void)n;
    (*(struct http_connection **)user)->held = rig.holds;
    return true;
}

static void rig_answer(void *user, int status)
{
    const struct http_answer head = { .status = status,
                                      .type = "text/plain",
                                      .bytes = rig.answer_bytes != 0 ? rig.answer_bytes : 2 };

    http_connection_answer(*(struct http_connection **)user, &head);
}

static void rig_head(void *user, const struct http_request *r)
{
    (void)r;
    if (rig.refuses) {
        rig_answer(user, 401);
    }
}

static void rig_whole(void *user)
{
    if (!rig.all_work) {
        rig_answer(user, 200);
    }
}

static void rig_wrong(void *user, int status, const char *why)
{
    (void)why;
    rig_answer(user, status);
}

static size_t rig_more(void *user, char *to, size_t room, bool *last, bool *failed)
{
    size_t n = rig.answer_bytes != 0 ? room : 2;

    (void)user;
    *failed = false;
    *last = true;
    memset(to, 'x', n);
    memcpy(to, "ok", 2);
    return n;
}

static void rig_nothing(void *user)
{
    (void)user;
}

static uint16_t rig_message(void *user, const char *bytes, size_t n, bool last, bool text)
{
    (void)user;
    (void)bytes;
    (void)n;
    (void)last;
    (void)text;
    return HTTP_CLOSE_AT_ONCE;
}

static const char *rig_say(void *user, size_t *n)
{
    (void)user;
    *n = 0;
    return NULL;
}

static void *rig_begin(void *context, unsigned n, struct http_connection *http)
{
    (void)context;
    rig.http[n] = http;
    return &rig.http[n];
}

static void rig_end(void *context, unsigned n)
{
    (void)context;
    rig.http[n] = NULL;
}

static bool rig_works(void *context, unsigned n)
{
    (void)context;
    (void)n;
    return rig.all_work;
}

/* ---- for tests ---- */

static uint64_t rig_ticks(void *context)
{
    (void)context;
    return rig.ms;
}

/* The board waits: time goes by. */
static void rig_alive(void *context)
{
    (void)context;
    rig.ms++;
}

static const char *rig_device(void *context, uint8_t address[6])
{
    (void)context;
    memcpy(address, rig_board_mac, 6);
    return NULL;
}

static bool rig_is_up(void *context)
{
    (void)context;
    return true;
}

/* Lets time pass, a millisecond after the other. */
static void rig_wait(uint64_t ms)
{
    for (uint64_t i = 0; i < ms; i++) {
        rig.ms++;
        net_poll(rig.net);
    }
}

/* Call it once in a program, because lwIP has one state. NULL: it works. */
static const char *rig_open(const char *how, const char *time)
{
    static const struct http_site site = { rig_head, rig_body,    rig_whole,   rig_wrong,
                                           rig_more, rig_nothing, rig_nothing, rig_message,
                                           rig_say,  rig_nothing };
    static struct platform platform = {
        .clock = { .ticks = rig_ticks, .hz = RIG_HZ },
        .power = { .alive = rig_alive },
        .network = { .open = rig_device,
                     .is_up = rig_is_up,
                     .send = rig_send,
                     .receive = rig_receive },
    };
    const struct net_setup setup = {
        .platform = &platform,
        .server = { &site, NULL, rig_begin, rig_end, rig_works },
        .how = how,
        .name = "ingot",
        .time = time,
    };
    const char *why;

    rig.net = net_open(calloc(1, net_bytes()), &setup, &why);
    return why;
}

static inline void rig_connect(unsigned client)
{
    rig.clients[client] = (struct rig_client){ .sequence = 77 };
    rig_tcp(client, TCP_SYN, "");
    rig_wait(20);
}

#endif
