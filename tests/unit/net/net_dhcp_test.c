/* DHCP servers that give what no machine can have, or take back what they have offered. */
#include "tests/unit/net/net_rig.h"
#include "tests/unit/tap.h"

enum { SECOND = 1000, DISCOVER = 1, OFFER = 2, ACKNOWLEDGEMENT = 5, REFUSAL = 6, LEASE = 600 };

static const uint8_t nobody[4];

static struct server {
    uint8_t offers[4], gives[4]; /* addresses */
    bool refuses, silent;        /* requests are refused, or not answered */
    unsigned discovers;          /* messages of the board that look for a server */
} server;

static bool owns(const uint8_t ip[4])
{
    return memcmp(ip, rig_peer_ip, 4) == 0;
}

static void take_datagram(const uint8_t *ip, const uint8_t *payload, size_t bytes)
{
    (void)bytes;
    if (rig_read(ip + IP4 + 2, 2) != DHCP_SERVER) {
        return;
    }
    if (payload[242] == DISCOVER) {
        server.discovers++;
        rig_dhcp_says(payload, OFFER, server.offers, LEASE);
    } else if (server.refuses) {
        rig_dhcp_says(payload, REFUSAL, nobody, LEASE);
    } else if (!server.silent) {
        rig_dhcp_says(payload, ACKNOWLEDGEMENT, server.gives, LEASE);
    }
}

static const char *address(void)
{
    (void)net_address_changed(rig.net);
    return net_address(rig.net);
}

static bool has(const char *begin)
{
    return strncmp(address(), begin, strlen(begin)) == 0;
}

/* Waits up to so many seconds. */
static bool becomes(const char *begin, unsigned seconds)
{
    for (unsigned i = 0; i < seconds && !has(begin); i++) {
        rig_wait(SECOND);
    }
    return has(begin);
}

/* A server gives addresses that no machine can have. */
static void check_addresses(void)
{
    static const uint8_t wrong[][4] = {
        { 0, 0, 0, 0 }, { 127, 0, 0, 1 }, { 224, 0, 0, 251 }, { 255, 255, 255, 255 }
    };

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        memcpy(server.offers, wrong[i], 4);
        memcpy(server.gives, wrong[i], 4);
        OK(becomes("169.254.", 70), "the board chooses %s if a server offers %u.%u.%u.%u",
           address(), wrong[i][0], wrong[i][1], wrong[i][2], wrong[i][3]);
    }
}

/* A server takes back each address that it has offered. */
static void check_taken_back(bool *how, const char *what)
{
    memcpy(server.offers, rig_board_ip, 4);
    memcpy(server.gives, rig_board_ip, 4);
    *how = true;
    rig_wait(60 * SECOND);
    server.discovers = 0;
    rig_wait(300 * SECOND);
    OK(server.discovers >= 5 && server.discovers <= 35 && has("169.254."),
       "the board looks for a server %u times in 300 s, and keeps %s, if the server %s its requests",
       server.discovers, address(), what);
    *how = false;
    OK(becomes("10.0.2.15", 60), "the board takes the address when it is given");
}

/* Renewals give no address, or are refused. */
static void check_renewal(void)
{
    memcpy(server.gives, nobody, 4);
    rig_wait((LEASE / 2 + 30) * SECOND);
    OK(has("10.0.2.15"), "the board keeps its address if a renewal gives 0.0.0.0");
    memcpy(server.gives, rig_board_ip, 4);
    rig_wait(2 * LEASE * SECOND);
    OK(has("10.0.2.15"), "later renewals are as before");
}

int main(void)
{
    rig.owns = owns;
    rig.datagram = take_datagram;
    OK(rig_open("dhcp", NULL) == NULL, "a board asks for an address");
    check_addresses();
    check_taken_back(&server.refuses, "refuses");
    server.refuses = true;
    rig_wait((LEASE / 2 + 60) * SECOND);
    OK(has("169.254."), "an address whose renewal is refused is given up");
    server.refuses = false;
    check_taken_back(&server.silent, "does not answer");
    check_renewal();
    return tap_done();
}
