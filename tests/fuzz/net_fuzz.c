/* Frames of any bytes into lwIP's port, with a server of HTTP behind it: DHCP's and mDNS's answers, ARP, IPv6's neighbours, TCP in any
 * order. lwIP is built with its own asserts, without its checks of checksums, and with malloc in the place of its pools, so that
 * AddressSanitizer sees what is used after it was given back. Whatever came: afterwards no connection is left, and every frame that
 * was sent is one.
 *
 * An input is a row of steps: a byte of kind, two of length, and a frame; or a wait. A frame may use what an attacker on the
 * network sees: FIX_TCP puts in the sequence numbers that the board waits for, FIX_XID the number of its last question to a DHCP server, FIX_NTP port
 * and number of its next question for the time, which is waited for. */
#include <stdlib.h>
#include <string.h>

#include "runtime/net/net.h"
#include "runtime/net/sntp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    WAIT = 1,
    FIX_MAC = 2,
    FIX_TCP = 4,
    FIX_XID = 8,
    CABLE = 16,
    FIX_NTP = 32,
    STEPS_MOST = 64,
    HZ = 1000000,
    STEP_MS = 250,
    REST_MS =
        90000, /* time after which every connection has ended: NET_IDLE_SECONDS and lwIP's own waits */
    FRAME_MOST = 1514,
    ETHERNET = 14,
    IP4 = 20,
    UDP = 8,
    TCP_SEQUENCE = 4, /* offsets in a segment */
    TCP_ACKNOWLEDGES = 8,
    TCP_FLAGS = 13,
    DHCP_XID = 4,
    QUESTION_MS =
        3700 * 1000, /* time in which a question for the time comes, if the board has an address */
    NTP_ORIGINATE = 24,
    NTP_TRANSMIT = 40,
};

static const uint8_t our_mac[6] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };

static struct rig {
    struct net *net;
    uint64_t ticks;
    bool cable;
    const uint8_t *frame; /* that waits; NULL: none */
    size_t bytes;
    uint8_t sequence[4], acknowledges[4],
        xid[4]; /* what the board sent last, and what it waits for */
    bool asked;
    uint8_t port[2], nonce[8]; /* port and number of its question for the time */
} rig;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* ---- the platform ---- */

static uint64_t ticks(void *context)
{
    (void)context;
    return rig.ticks;
}

static const char *open_device(void *context, uint8_t address[6])
{
    (void)context;
    memcpy(address, our_mac, sizeof our_mac);
    return NULL;
}

static bool is_up(void *context)
{
    (void)context;
    return rig.cable;
}

static uint32_t read32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void write32(uint8_t *p, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

/* Writes the numbers that the next answer must have. SYN and FIN count as a byte. */
static void note_tcp(const uint8_t *ip, size_t bytes)
{
    const uint8_t *tcp = ip + IP4;
    size_t head = (size_t)(tcp[12] >> 4) * 4, all = (size_t)(ip[2] << 8 | ip[3]);

    must(all <= bytes && head >= 20 && IP4 + head <= all);
    write32(rig.acknowledges, read32(tcp + TCP_SEQUENCE) + (uint32_t)(all - IP4 - head) +
                                  ((tcp[TCP_FLAGS] & 3) != 0));
    memcpy(rig.sequence, tcp + TCP_ACKNOWLEDGES, 4);
}

static bool send_frame(void *context, const uint8_t *frame, size_t bytes)
{
    const uint8_t *ip = frame + ETHERNET;

    (void)context;
    must(bytes >= ETHERNET && bytes <= FRAME_MOST && memcmp(frame + 6, our_mac, 6) == 0);
    if (bytes < ETHERNET + IP4 + 20 || frame[12] != 8 || frame[13] != 0 || ip[0] != 0x45) {
        return true;
    }
    if (ip[9] == 6) {
        note_tcp(ip, bytes - ETHERNET);
    } else if (ip[9] == 17 && ip[IP4 + 3] == 67) {
        memcpy(rig.xid, ip + IP4 + UDP + DHCP_XID, 4);
    } else if (ip[9] == 17 && ip[IP4 + 2] == 0 && ip[IP4 + 3] == SNTP_PORT) {
        must(bytes == ETHERNET + IP4 + UDP + SNTP_BYTES);
        rig.asked = true;
        memcpy(rig.port, ip + IP4, 2);
        memcpy(rig.nonce, ip + IP4 + UDP + NTP_TRANSMIT, 8);
    }
    return true;
}

static size_t receive_frame(void *context, uint8_t *to, size_t room)
{
    size_t n = rig.frame != NULL ? rig.bytes : 0;

    (void)context;
    must(n <= room);
    if (n != 0) {
        memcpy(to, rig.frame, n);
    }
    rig.frame = NULL;
    return n;
}

/* ---- the site: every request is answered with its path ---- */

static struct client {
    struct http_connection *http;
    size_t left;
} clients[NET_CONNECTIONS];

static void answer(struct client *c, int status)
{
    const struct http_answer head = { .status = status, .type = "text/plain", .bytes = 6000 };

    c->left = 6000;
    http_connection_answer(c->http, &head);
}

static void take_head(void *user, const struct http_request *r)
{
    (void)user;
    (void)r;
}

static bool take_body(void *user, const char *bytes, size_t n)
{
    (void)user;
    return n == 0 || bytes[n - 1] != 'X'; /* as if there were no memory */
}

static void take_whole(void *user)
{
    answer(user, 200);
}

static void take_wrong(void *user, int status, const char *error_message)
{
    must(error_message != NULL);
    answer(user, status);
}

static size_t give_more(void *user, char *to, size_t room, bool *last, bool *failed)
{
    struct client *c = user;
    size_t n = c->left < room ? c->left : room;

    *failed = false;
    *last = n == c->left;
    memset(to, 'a', n);
    c->left -= n;
    return n;
}

static void nothing(void *user)
{
    (void)user;
}

static uint16_t take_message(void *user, const char *bytes, size_t n, bool last, bool text)
{
    (void)user;
    (void)bytes;
    (void)n;
    (void)last;
    (void)text;
    return HTTP_CLOSE_AT_ONCE;
}

static const char *say(void *user, size_t *n)
{
    (void)user;
    *n = 0;
    return NULL;
}

static const struct http_site site = { take_head, take_body, take_whole,   take_wrong, give_more,
                                       nothing,   nothing,   take_message, say,        nothing };

static void *begin(void *context, unsigned n, struct http_connection *http)
{
    (void)context;
    must(n < NET_CONNECTIONS && clients[n].http == NULL);
    clients[n].http = http;
    clients[n].left = 0;
    return &clients[n];
}

static void end(void *context, unsigned n)
{
    (void)context;
    must(clients[n].http != NULL);
    clients[n].http = NULL;
}

static bool works(void *context, unsigned n)
{
    (void)context;
    return clients[n].http->stage == HTTP_WORKS;
}

/* ---- steps ---- */

static void open_rig(void)
{
    static struct platform platform = {
        .clock = { .ticks = ticks, .hz = HZ },
        .network = { .open = open_device,
                     .is_up = is_up,
                     .send = send_frame,
                     .receive = receive_frame },
    };
    const struct net_setup setup = { .platform = &platform,
                                     .server = { &site, NULL, begin, end, works },
                                     .how = "dhcp",
                                     .name = "ingot",
                                     .time = "ntp" };
    const char *why;

    rig.cable = true;
    rig.net = net_open(calloc(1, net_bytes()), &setup, &why);
    must(rig.net != NULL);
}

static void wait_ms(uint64_t ms)
{
    for (uint64_t at = 0; at < ms; at += STEP_MS) {
        rig.ticks += (uint64_t)STEP_MS * HZ / 1000;
        net_poll(rig.net);
    }
}

static void wait_for_question(void)
{
    rig.asked = false;
    for (uint64_t at = 0; at < QUESTION_MS && !rig.asked; at += STEP_MS) {
        wait_ms(STEP_MS);
    }
}

static void fix(uint8_t *frame, size_t n, uint8_t kind)
{
    uint8_t *ip = frame + ETHERNET;

    if (kind & FIX_MAC && n >= 6) {
        memcpy(frame, our_mac, 6);
    }
    if (kind & FIX_TCP && n >= ETHERNET + IP4 + 20) {
        memcpy(ip + IP4 + TCP_SEQUENCE, rig.sequence, 4);
        memcpy(ip + IP4 + TCP_ACKNOWLEDGES, rig.acknowledges, 4);
    }
    if (kind & FIX_XID && n >= ETHERNET + IP4 + UDP + DHCP_XID + 4) {
        memcpy(ip + IP4 + UDP + DHCP_XID, rig.xid, 4);
    }
    if (kind & FIX_NTP && n >= ETHERNET + IP4 + UDP + SNTP_BYTES) {
        memcpy(ip + IP4 + 2, rig.port, 2);
        memcpy(ip + IP4 + UDP + NTP_ORIGINATE, rig.nonce, 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t frame[FRAME_MOST];
    struct net_figures f;
    bool waited = false;

    if (rig.net == NULL) {
        open_rig();
    }
    wait_ms(2000); /* the first question for an address */
    for (unsigned step = 0; step < STEPS_MOST && size >= 3; step++) {
        uint8_t kind = data[0];
        size_t n = (size_t)(data[1] << 8 | data[2]);

        data += 3;
        size -= 3;
        if (kind & WAIT) {
            wait_ms(n % 8000);
            continue;
        }
        if (kind & FIX_NTP && !waited) {
            wait_for_question();
            waited = true;
        }
        rig.cable = (kind & CABLE) == 0;
        n = n < size ? n : size;
        n = n < sizeof frame ? n : sizeof frame;
        memcpy(frame, data, n);
        data += n;
        size -= n;
        fix(frame, n, kind);
        rig.frame = n != 0 ? frame : NULL;
        rig.bytes = n;
        rig.ticks += HZ / 100;
        net_poll(rig.net);
    }
    rig.cable = true;
    wait_ms(REST_MS);
    net_figures(rig.net, &f);
    must(f.connections == 0);
    return 0;
}
