/* The board's address while DHCP is silent, answers, goes away and comes back, and while other
 * computers claim its address. */
#include <stdio.h>

#include "tests/unit/net/net_rig.h"
#include "tests/unit/tap.h"

enum { SECOND = 1000, LEASE = 600, DECLINE = 4, HEAP_SLACK = 2048 };

static struct dhcp {
    bool silent;
    uint32_t lease;
    unsigned declined; /* messages of the board that refuse an address */
} dhcp;

static bool taken; /* another computer has 10.0.2.15 */

static bool owns(const uint8_t ip[4])
{
    return memcmp(ip, rig_peer_ip, 4) == 0 || (taken && memcmp(ip, rig_board_ip, 4) == 0);
}

static void take_datagram(const uint8_t *ip, const uint8_t *payload, size_t bytes)
{
    (void)bytes;
    if (rig_read(ip + IP4 + 2, 2) != DHCP_SERVER) {
        return;
    }
    dhcp.declined += payload[242] == DECLINE;
    if (!dhcp.silent && payload[242] != DECLINE) {
        rig_dhcp(payload, dhcp.lease);
    }
}

static const char *address(void)
{
    (void)net_address_changed(rig.net);
    return net_address(rig.net);
}

static bool is_own_choice(void)
{
    return strncmp(address(), "169.254.", 8) == 0;
}

/* Waits up to so many seconds. */
static bool becomes(bool (*what)(void), unsigned seconds)
{
    for (unsigned i = 0; i < seconds && !what(); i++) {
        rig_wait(SECOND);
    }
    return what();
}

static bool is_leased(void)
{
    return strcmp(address(), "10.0.2.15") == 0;
}

static bool is_none(void)
{
    return address()[0] == '\0' || is_own_choice();
}

static bool answers(unsigned client)
{
    rig_connect(client);
    rig_tcp(client, TCP_PSH | TCP_ACK, "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    rig_wait(SECOND);
    rig_tcp(client, TCP_FIN | TCP_ACK, "");
    return strncmp(rig.clients[client].text, "HTTP/1.1 200 ", 13) == 0;
}

/* Another computer says twice that the board's own choice is its address. */
static void check_claim(void)
{
    char before[NET_ADDRESS_BYTES];
    uint8_t ip[4];
    unsigned n[4];

    snprintf(before, sizeof before, "%s", address());
    if (sscanf(before, "%u.%u.%u.%u", &n[0], &n[1], &n[2], &n[3]) != 4) {
        OK(false, "the board has an address: %s", before);
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        ip[i] = (uint8_t)n[i];
    }
    rig_claim(ip);
    rig_wait(SECOND);
    OK(strcmp(before, address()) == 0, "the board defends %s once", before);
    rig_claim(ip);
    rig_wait(20 * SECOND);
    OK(is_own_choice() && strcmp(before, address()) != 0,
       "the board chooses %s after the second claim", address());
}

/* A computer asks for the board's address by ARP, as from this sender. */
static bool is_trouble(const uint8_t mac[6], const uint8_t ip[4])
{
    uint8_t arp[28] = { 0, 1, 8, 0, 6, 4, 0, 1 };

    memcpy(arp + 8, mac, 6);
    memcpy(arp + 14, ip, 4);
    memcpy(arp + 24, rig_board_ip, 4);
    rig_frame(0x806, arp, sizeof arp);
    rig_wait(10);
    return net_trouble(rig.net) != NULL;
}

/* A lease of less than 90 seconds is renewed, too. */
static void check_short_lease(uint32_t lease)
{
    bool kept = true;

    dhcp.lease = lease;
    rig_wait(LEASE * SECOND); /* the next renewal gives the new lease */
    for (unsigned i = 0; i < LEASE; i++) {
        rig_wait(SECOND);
        kept = kept && is_leased();
    }
    OK(kept, "the board keeps its address for %d s with leases of %u s", LEASE, (unsigned)lease);
}

/* lwIP would read these as addresses: "192.168.1" as 192.168.0.1, and "020" as 16. */
static void check_fixed(void)
{
    static const char *const wrong[] = { "192.168.1/24", "192.168.001.020/24", "192.168.1.020/24",
                                         "192.168.1.20/24,192.168.1",
                                         "192.168.1.20/24,192.168.1.010" };
    static const char *const no_machines[] = { "192.168.1.0/24", "192.168.1.255/24", "0.0.0.0/24",
                                               "224.0.0.1/24", "192.168.1.20/24,255.255.255.255" };

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *why = net_check(wrong[i], "ingot");

        OK(why != NULL && strstr(why, "ADDRESS/BITS") != NULL, "net=%s is refused", wrong[i]);
    }
    for (unsigned i = 0; i < sizeof no_machines / sizeof no_machines[0]; i++) {
        const char *why = net_check(no_machines[i], "ingot");

        OK(why != NULL && strstr(why, "addresses of machines") != NULL, "net=%s is refused: %s",
           no_machines[i], why);
    }
    OK(net_check("192.168.1.20/24", "ingot") == NULL &&
           net_check("10.0.0.255/8,10.0.0.1", "ingot") == NULL &&
           net_check("192.168.0.10/30,192.168.0.9", "ingot") == NULL &&
           net_check("192.168.1.20/24,0.0.0.0", "ingot") == NULL,
       "addresses of machines are accepted");
}

int main(void)
{
    static const uint8_t nobody[4] = { 0 };
    struct net_figures first, last;

    check_fixed();
    rig.owns = owns;
    rig.datagram = take_datagram;
    dhcp.silent = true;
    dhcp.lease = LEASE;
    OK(rig_open("dhcp", NULL) == NULL, "a board asks for an address");
    rig_wait(SECOND);
    OK(address()[0] == '\0' && !is_trouble(rig_peer_mac, nobody),
       "a board without an address has no quarrel with a computer without one");
    OK(becomes(is_own_choice, 120), "the board chooses %s if nobody answers", address());
    check_claim();
    dhcp.silent = false;
    OK(becomes(is_leased, 120) && answers(0), "a server that comes later gives it an address");
    net_figures(rig.net, &first);
    dhcp.silent = true;
    rig_wait(LEASE / 2 * SECOND);
    OK(is_leased() && answers(1),
       "the address is kept while it is leased, even if the server goes");
    OK(becomes(is_none, LEASE + 120) && becomes(is_own_choice, 240),
       "the board chooses %s when the lease has ended", address());
    dhcp.silent = false;
    OK(becomes(is_leased, 240) && answers(2),
       "the board has an address again when the server is back");
    dhcp.silent = true;
    OK(becomes(is_none, 2 * LEASE), "the address goes once more");
    taken = true;
    dhcp.silent = false;
    rig_wait(60 * SECOND);
    OK(!is_leased() && dhcp.declined != 0, "an address that another computer has is declined");
    OK(net_trouble(rig.net) != NULL && strstr(net_trouble(rig.net), "10.0.2.15") != NULL &&
           strstr(net_trouble(rig.net), "52:55:0a:00:02:02") != NULL,
       "the board names the address and the computer that has it");
    taken = false;
    OK(becomes(is_leased, 240) && answers(3), "the board takes the address when it is free");
    rig_wait(LEASE * SECOND);
    OK(net_trouble(rig.net) == NULL, "nothing is wrong any more");
    OK(!is_trouble(rig_board_mac, rig_board_ip),
       "the return of the own frame is not taken for a computer");
    OK(is_trouble(rig_peer_mac, rig_board_ip), "another computer with its address is reported");
    check_short_lease(60);
    check_short_lease(30);
    net_figures(rig.net, &last);
    OK(last.heap_bytes <= first.heap_bytes + HEAP_SLACK && last.heap_refused == 0,
       "memory is as before: %u bytes and %u", (unsigned)first.heap_bytes,
       (unsigned)last.heap_bytes);
    return tap_done();
}
