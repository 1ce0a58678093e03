/* Files of a store as devices: names that are looked up, connections that are refused, silent, cut and reused, answers whose memory was taken back, and
 * lwIP's memory after thousands of requests. The store is at 10.0.2.2, which is the server of names as well. */
#include "board/block_device.h"
#include "tests/unit/net/net_rig.h"
#include "tests/unit/tap.h"

enum { FILE_BYTES = 100000, SERVERS = 8, PIECE = 1200, MS = 1000 };

static uint8_t file[FILE_BYTES], to[FILE_BYTES + SECTOR_BYTES];

static struct store {
    enum { ANSWERS, REFUSES, SILENT, TALKS_FIRST, HOLDS, IS_SSH } how;
    bool names;          /* the server of names knows "nas" */
    unsigned asked_port; /* at which the last question came */
    unsigned asked_names, connects, questions,
        cut_after; /* segments of an answer, after which the connection is reset; 0: none */
    struct server {
        unsigned port; /* the board's; 0: free */
        unsigned ours_port;
        uint32_t ours, theirs;
        uint32_t first, n, sent;
        unsigned pieces;
    } servers[SERVERS];
} store;

/* ---- the server of names ---- */

static void answer_name(const uint8_t *ip, const uint8_t *payload, size_t bytes)
{
    uint8_t answer[512];

    if (rig_read(ip + IP4 + 2, 2) != 53 || bytes > 400) {
        return;
    }
    store.asked_names++;
    memcpy(answer, payload, bytes);
    rig_write(answer + 2, 2, store.names ? 0x8180 : 0x8183);
    rig_write(answer + 6, 2, store.names);
    if (store.names) {
        static const uint8_t record[] = { 0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 0, 2, 2 };

        memcpy(answer + bytes, record, sizeof record);
        bytes += sizeof record;
    }
    rig_udp(rig_peer_ip, 53, rig_read(ip + IP4, 2), answer, bytes);
}

/* ---- the store ---- */

static void segment(struct server *s, unsigned flags, const void *data, size_t n)
{
    uint8_t tcp[RIG_FRAME] = { [12] = 0x50, [14] = 64 };

    rig_write(tcp, 2, s->ours_port);
    rig_write(tcp + 2, 2, s->port);
    rig_write(tcp + 4, 4, s->ours);
    rig_write(tcp + 8, 4, s->theirs);
    tcp[13] = (uint8_t)flags;
    if (n != 0) {
        memcpy(tcp + TCP, data, n);
    }
    rig_ip4(6, rig_peer_ip, tcp, TCP + n);
    s->ours += (uint32_t)n + ((flags & (TCP_SYN | TCP_FIN)) != 0);
}

static struct server *server_of(unsigned port)
{
    struct server *unused = NULL;

    for (unsigned i = 0; i < SERVERS; i++) {
        if (store.servers[i].port == port) {
            return &store.servers[i];
        }
        unused = store.servers[i].port == 0 ? &store.servers[i] : unused;
    }
    return unused;
}

static void read_question(struct server *s, const char *text)
{
    const char *range = strstr(text, "\r\nRange: bytes=");
    char head[200];
    unsigned first, last;

    if (range == NULL || sscanf(range, "\r\nRange: bytes=%u-%u", &first, &last) != 2) {
        abort();
    }
    store.questions++;
    store.asked_port = s->ours_port;
    s->first = first;
    s->n = last + 1 - first;
    s->sent = 0;
    s->pieces = 0;
    if (store.how == ANSWERS) {
        snprintf(
            head, sizeof head,
            "HTTP/1.1 206 x\r\nETag: \"a\"\r\nContent-Range: bytes %u-%u/%u\r\nContent-Length: %u\r\n\r\n",
            first, last, (unsigned)FILE_BYTES, (unsigned)s->n);
        segment(s, TCP_ACK | TCP_PSH, head, strlen(head));
    } else if (store.how == IS_SSH) {
        segment(s, TCP_ACK | TCP_PSH, "SSH-2.0-x\r\n", 11);
    }
}

/* The next piece of an answer goes out when the last one was acknowledged. */
static void go_on(struct server *s)
{
    uint32_t n = s->n - s->sent < PIECE ? s->n - s->sent : PIECE;

    if (store.cut_after != 0 && ++s->pieces > store.cut_after) {
        segment(s, TCP_RST | TCP_ACK, NULL, 0);
        s->port = 0;
    } else if (n != 0 && store.how == ANSWERS) {
        segment(s, TCP_ACK | TCP_PSH, file + s->first + s->sent, n);
        s->sent += n;
    }
}

static void take_segment(const uint8_t *ip, const uint8_t *tcp, size_t bytes)
{
    size_t head = (size_t)(tcp[12] >> 4) * 4, n = bytes - head;
    struct server *s = server_of(rig_read(tcp, 2));
    char text[RIG_FRAME + 1] = "";

    (void)ip;
    if (s == NULL || store.how == SILENT) {
        return;
    }
    if (tcp[13] & TCP_RST) {
        s->port = 0;
        return;
    }
    if (tcp[13] & TCP_SYN) {
        store.connects++;
        *s = (struct server){ .port = rig_read(tcp, 2),
                              .ours_port = rig_read(tcp + 2, 2),
                              .ours = 5000,
                              .theirs = rig_read(tcp + 4, 4) + 1 };
        if (store.how == REFUSES) {
            segment(s, TCP_RST | TCP_ACK, NULL, 0);
            s->port = 0;
            return;
        }
        segment(s, TCP_SYN | TCP_ACK, NULL, 0);
        if (store.how == TALKS_FIRST) {
            segment(s, TCP_ACK | TCP_PSH, "220 hello\r\n", 11);
        }
        return;
    }
    if (s->port == 0 || rig_read(tcp + 4, 4) != s->theirs) {
        return;
    }
    s->theirs += (uint32_t)n + (tcp[13] & TCP_FIN);
    if (n != 0) {
        memcpy(text, tcp + head, n);
        read_question(s, text);
    } else if (tcp[13] & TCP_FIN) {
        segment(s, TCP_FIN | TCP_ACK, NULL, 0);
        s->port = 0;
    } else if (s->n != 0 && rig_read(tcp + 8, 4) == s->ours) {
        go_on(s);
    }
}

/* ---- tests ---- */

static void begin(int how, bool names)
{
    unsigned connects = 0;

    memset(&store, 0, sizeof store);
    store.how = how;
    store.names = names;
    (void)connects;
}

/* Read by one request, as a file does. */
static enum err get(struct block_device *d, uint64_t sector, uint32_t n)
{
    struct block_request r = { .sector = sector, .n_sectors = n, .buffer = to };
    enum err e = d->submit(d, &r);

    for (unsigned i = 0; e == ERR_OK && !r.done; i++) {
        rig.ms++;
        if (i > 30 * MS) {
            (void)d->reset(d);
        }
        (void)d->poll(d);
    }
    return e == ERR_OK ? r.status : e;
}

static bool is_right(uint64_t sector, uint32_t n)
{
    size_t first = (size_t)sector * SECTOR_BYTES, bytes = (size_t)n * SECTOR_BYTES,
           real = bytes < FILE_BYTES - first ? bytes : FILE_BYTES - first;
    bool right = memcmp(to, file + first, real) == 0;

    for (size_t i = real; i < bytes; i++) {
        right = right && to[i] == 0;
    }
    return right;
}

static void check_open(void)
{
    const char *why;
    struct block_device *d;
    uint64_t before;

    begin(ANSWERS, false);
    OK(net_fetch(rig.net, "http://nas/m.ingot", &why) == NULL &&
           strstr(why, "no DNS server knows") != NULL && store.asked_names != 0,
       "a name that nobody knows is reported: %s", why);
    begin(REFUSES, true);
    before = rig.ms;
    OK(net_fetch(rig.net, "http://nas/m.ingot", &why) == NULL &&
           strstr(why, "refuses the connection") != NULL && store.connects > 20 &&
           store.connects < 60 && rig.ms - before < 30 * MS,
       "a store that refuses is asked %u times in %u s: %s", store.connects,
       (unsigned)(rig.ms - before) / MS, why);
    begin(SILENT, true);
    OK(net_fetch(rig.net, "http://10.0.2.2/m.ingot", &why) == NULL &&
           strstr(why, "does not answer") != NULL,
       "a silent server is reported: %s", why);
    begin(TALKS_FIRST, true);
    OK(net_fetch(rig.net, "http://10.0.2.2/m.ingot", &why) == NULL && store.questions == 0,
       "a server that sends first is not a web server: %s", why);
    begin(HOLDS, true);
    OK(net_fetch(rig.net, "http://10.0.2.2/m.ingot", &why) == NULL &&
           strstr(why, "stopped sending") != NULL,
       "a server that accepts the request and is silent is reported: %s", why);
    begin(IS_SSH, true);
    OK(net_fetch(rig.net, "http://10.0.2.2/m.ingot", &why) == NULL &&
           strstr(why, "answer is not HTTP") != NULL,
       "a server that answers with another protocol is reported: %s", why);
    begin(ANSWERS, true);
    d = net_fetch(rig.net, "http://nas/m.ingot", &why);
    OK(d != NULL && d->n_sectors == (FILE_BYTES + SECTOR_BYTES - 1) / SECTOR_BYTES && d->flash &&
           strcmp(d->name, "http://nas/m.ingot") == 0 && store.questions == 1,
       "a file at a name that is known is found");
    OK(net_fetch(rig.net, "http://10.0.2.2/", &why) == NULL &&
           net_fetch(rig.net, "https://10.0.2.2/m", &why) == NULL,
       "wrong addresses are refused: %s", why);
}

static void check_read(struct block_device *d)
{
    begin(ANSWERS, true);
    OK(get(d, 0, 100) == ERR_OK && is_right(0, 100) &&
           get(d, 100, (uint32_t)(d->n_sectors - 100)) == ERR_OK &&
           is_right(100, (uint32_t)d->n_sectors - 100),
       "the whole file is read, and zeros after its end");
    OK(store.questions == 2 && store.connects <= 1, "two ranges come over one connection");
    OK(get(d, d->n_sectors, 1) == ERR_RANGE && get(d, 0, d->max_sectors + 1) == ERR_RANGE,
       "a read beyond the file is refused");
    store.cut_after = 9;
    OK(get(d, 1, 150) == ERR_OK && is_right(1, 150) && store.questions > 5,
       "an answer that breaks off again and again is read (%u questions)", store.questions);
}

/* Memory that was taken back stays as it is, whatever still comes. */
static void check_reset(struct block_device *d)
{
    struct block_request r[20] = { 0 };
    unsigned taken = 0, done = 0;
    bool clean = true;

    begin(HOLDS, true);
    for (unsigned i = 0; i < 20; i++) {
        r[i] =
            (struct block_request){ .sector = i, .n_sectors = 1, .buffer = to + i * SECTOR_BYTES };
        taken += d->submit(d, &r[i]) == ERR_OK;
    }
    OK(taken == 16 && d->queue_depth < taken, "a full queue takes no more (%u)", taken);
    rig_wait(50);
    (void)d->reset(d);
    for (unsigned i = 0; i < taken; i++) {
        done += r[i].done && r[i].status == ERR_TIMEOUT;
    }
    memset(to, 0x5a, sizeof to);
    for (unsigned i = 0; i < SERVERS; i++) {
        if (store.servers[i].port != 0) {
            segment(
                &store.servers[i], TCP_ACK | TCP_PSH,
                "HTTP/1.1 206 x\r\nContent-Range: bytes 0-511/100000\r\nContent-Length: 512\r\n\r\nxxxx",
                76);
        }
    }
    rig_wait(50);
    for (size_t i = 0; i < sizeof to; i++) {
        clean = clean && to[i] == 0x5a;
    }
    OK(d->reason != NULL && strstr(d->reason, "sends too slowly") != NULL,
       "an answer that took too long is reported: %s", d->reason != NULL ? d->reason : "");
    OK(done == taken && clean, "a reset gives all requests back, and their memory");
    store.how = ANSWERS;
    OK(get(d, 3, 2) == ERR_OK && is_right(3, 2), "the next range is read");
}

static void check_memory(struct block_device *d)
{
    struct net_figures before, after;
    unsigned good = 0;

    begin(ANSWERS, true);
    (void)get(d, 0, 1);
    net_figures(rig.net, &before);
    for (unsigned i = 0; i < 3000; i++) {
        store.cut_after = i % 5 == 0 ? 1 : 0;
        good += get(d, i % 150, 1 + i % 8) == ERR_OK && is_right(i % 150, 1 + i % 8);
    }
    net_figures(rig.net, &after);
    OK(good == 3000 && after.heap_bytes <= before.heap_bytes + 2048 && after.sockets_refused == 0,
       "3,000 requests, 600 broken off, take %u bytes of lwIP's heap before and %u after",
       (unsigned)before.heap_bytes, (unsigned)after.heap_bytes);
}

static void check_files(struct block_device *first)
{
    struct block_device *more[2], *none;
    const char *why;

    begin(ANSWERS, true);
    first->in_use = true;
    for (unsigned i = 0; i < 2; i++) {
        more[i] = net_fetch(rig.net, i == 0 ? "http://nas/b" : "http://10.0.2.2/c", &why);
        if (more[i] != NULL) {
            more[i]->in_use = true;
        }
    }
    none = net_fetch(rig.net, "http://nas/d", &why);
    OK(more[0] != NULL && more[1] != NULL && more[0] != first && more[1] != first &&
           more[0] != more[1] && none == NULL,
       "three files are open at once: %s", why);
    net_fetch_forget(rig.net);
    OK(net_fetch(rig.net, "http://nas/d", &why) != NULL,
       "other files are opened when the three are not in use");
}

/* A file takes the memory of a file of another server, to which a connection is still open. */
static void check_servers(void)
{
    const char *why;

    begin(ANSWERS, true);
    net_fetch_forget(rig.net);
    OK(net_fetch(rig.net, "http://10.0.2.2/a", &why) != NULL && store.asked_port == 80,
       "a file is opened at port %u", store.asked_port);
    net_fetch_forget(rig.net);
    OK(net_fetch(rig.net, "http://10.0.2.2:81/b", &why) != NULL && store.asked_port == 81,
       "the next file is at another server, which is asked at port %u", store.asked_port);
}

int main(void)
{
    const char *why = rig_open("10.0.2.15/24,10.0.2.2", NULL);
    struct block_device *d;

    for (size_t i = 0; i < FILE_BYTES; i++) {
        file[i] = (uint8_t)(i * 31 + i / 251);
    }
    rig.datagram = answer_name;
    rig.segment = take_segment;
    OK(why == NULL, "the network is open");
    check_open();
    begin(ANSWERS, true);
    d = net_fetch(rig.net, "http://nas/m.ingot", &why);
    check_read(d);
    check_reset(d);
    check_memory(d);
    check_files(d);
    check_servers();
    return tap_done();
}
