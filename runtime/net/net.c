/* lwIP's port: time, random numbers, frames and the address. */
#include "runtime/net/net_private.h"

#include <string.h>

#include <lwip/apps/mdns.h>
#include <lwip/autoip.h>
#include <lwip/dhcp.h>
#include <lwip/dns.h>
#include <lwip/etharp.h>
#include <lwip/ethip6.h>
#include <lwip/init.h>
#include <lwip/memp.h>
#include <lwip/mld6.h>
#include <lwip/priv/nd6_priv.h>
#include <lwip/prot/dhcp.h>
#include <lwip/stats.h>
#include <lwip/sys.h>
#include <lwip/timeouts.h>

#include "runtime/text/format_text.h"

enum {
    LINK_MS = 500,
    FRAMES_A_POLL = 32,
    NAME_TTL = 120,
    ARP_SENDER = 8, /* offset of the sender's addresses in an ARP packet: 6 bytes and 4 bytes */
    CONFLICT_MS = 600 * 1000, /* time after which a conflict that is not seen again is over */
};

/* lwIP passes no context when it asks for the time and for random numbers. */
static struct net *at_work;

u32_t sys_now(void)
{
    return (u32_t)net_now_ms(at_work);
}

/* Return a number from xorshift64*, seeded by the clock and the device's address. The number is
 * good for ports, sequence numbers and delays, not for secrets. */
uint32_t net_random(void)
{
    struct net *n = at_work;

    n->random ^= platform_ticks(&n->setup.platform->clock);
    n->random |= n->random == 0;
    n->random ^= n->random >> 12;
    n->random ^= n->random << 25;
    n->random ^= n->random >> 27;
    return (uint32_t)(n->random * 0x2545f4914f6cdd1dull >> 32);
}

/* ---- frames ---- */

static err_t send_frame(struct netif *netif, struct pbuf *p)
{
    struct net *n = netif->state;
    const struct platform_network *device = &n->setup.platform->network;

    if (p->tot_len > sizeof n->frame) {
        return ERR_BUF;
    }
    (void)pbuf_copy_partial(p, n->frame, p->tot_len, 0);
    n->frame_ms = net_now_ms(n);
    return device->send(device->context, n->frame, p->tot_len) ? ERR_OK : ERR_MEM;
}

static err_t start_netif(struct netif *netif)
{
    netif->name[0] = 'e';
    netif->name[1] = 'n';
    netif->output = etharp_output;
    netif->output_ip6 = ethip6_output;
    netif->linkoutput = send_frame;
    netif->mtu = 1500;
    netif->hwaddr_len = 6;
    netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET |
                   NETIF_FLAG_IGMP | NETIF_FLAG_MLD6;
    return ERR_OK;
}

/* Return the address that this board has, or that DHCP gives it if nobody else has it. */
static ip4_addr_t own_address(const struct net *n)
{
    const struct dhcp *dhcp = netif_dhcp_data(&n->netif);

    return dhcp != NULL && dhcp->state == DHCP_STATE_CHECKING ? dhcp->offered_ip_addr
                                                              : *netif_ip4_addr(&n->netif);
}

/* Note it if the frame says that another machine has our address. lwIP declines such an address of
 * DHCP without a word, and keeps a fixed one. If the board has chosen the address, lwIP chooses
 * another. */
static void look_for_conflict(struct net *n, size_t bytes)
{
    const uint8_t *type = n->frame + 12, *mac = n->frame + SIZEOF_ETH_HDR + ARP_SENDER;
    ip4_addr_t own = own_address(n);

    if (bytes < SIZEOF_ETH_HDR + SIZEOF_ETHARP_HDR || type[0] != 8 || type[1] != 6 ||
        memcmp(mac + 6, &own, sizeof own) != 0 || memcmp(mac, n->netif.hwaddr, 6) == 0 ||
        ip4_addr_isany_val(own) || ip4_addr_islinklocal(&own)) {
        return;
    }
    n->conflict_ms = net_now_ms(n);
    (void)format_text(n->conflict, sizeof n->conflict,
                      "another machine, %02x:%02x:%02x:%02x:%02x:%02x, also has the address "
                      "%u.%u.%u.%u: give one of the two another address",
                      mac[0], mac[1], mac[2], mac[3], mac[4], mac[5], mac[6], mac[7], mac[8],
                      mac[9]);
}

/* RFC 8201, section 4: no message makes packets smaller than IPv6's least MTU. lwIP would take any
 * size, and would send a client no byte if its packets had no room for one. */
static void keep_least_mtu(void)
{
    for (unsigned i = 0; i < LWIP_ND6_NUM_DESTINATIONS; i++) {
        uint16_t *mtu = &destination_cache[i].pmtu;

        *mtu = *mtu != 0 && *mtu < IP6_MIN_MTU_LENGTH ? IP6_MIN_MTU_LENGTH : *mtu;
    }
}

/* Pass a frame to lwIP, or drop the frame if lwIP has no memory. */
static void take_frame(struct net *n, size_t bytes)
{
    struct pbuf *p;

    n->frame_ms = net_now_ms(n);
    look_for_conflict(n, bytes);
    if (!net_dhcp_takes(n, bytes)) {
        return;
    }
    p = pbuf_alloc(PBUF_RAW, (u16_t)bytes, PBUF_POOL);
    if (p == NULL) {
        return;
    }
    if (pbuf_take(p, n->frame, (u16_t)bytes) != ERR_OK || n->netif.input(p, &n->netif) != ERR_OK) {
        pbuf_free(p);
    }
    keep_least_mtu();
}

static void take_frames(struct net *n)
{
    const struct platform_network *device = &n->setup.platform->network;

    for (unsigned i = 0; i < FRAMES_A_POLL; i++) {
        size_t bytes = device->receive(device->context, n->frame, sizeof n->frame);

        if (bytes == 0) {
            return;
        }
        take_frame(n, bytes);
    }
}

/* ---- the address ---- */

static bool is_host_name(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool inner = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!inner && (c != '-' || i == 0 || i + 1 == n)) {
            return false;
        }
    }
    return n != 0 && n < NET_NAME_BYTES;
}

/* Copy a text up to the first of `ends`. Returns false if the text does not fit. */
static bool cut(const char **from, const char *ends, char *to, size_t room)
{
    size_t n = strcspn(*from, ends);

    if (n >= room) {
        return false;
    }
    memcpy(to, *from, n);
    to[n] = '\0';
    *from += n;
    return true;
}

bool net_read_address(const char *text, ip4_addr_t *address)
{
    unsigned dots = 0;

    for (const char *c = text; *c != '\0'; c++) {
        bool begins = c == text || c[-1] == '.';

        if (begins && *c == '0' && c[1] != '.' && c[1] != '\0') {
            return false;
        }
        dots += *c == '.';
    }
    return dots == 3 && ip4addr_aton(text, address) != 0;
}

bool net_is_unicast(const ip4_addr_t *address)
{
    return !ip4_addr_isany_val(*address) && !ip4_addr_ismulticast(address) &&
           address->addr != IPADDR_BROADCAST;
}

/* Return true if the addresses are of one machine each; 0.0.0.0 means no router. */
static bool are_machines(const struct net_fixed *f)
{
    uint32_t machine = f->address.addr & ~f->mask.addr;

    return net_is_unicast(&f->address) && machine != 0 && machine != ~f->mask.addr &&
           (ip4_addr_isany_val(f->gateway) || net_is_unicast(&f->gateway));
}

bool net_read_fixed(const char *how, struct net_fixed *f)
{
    char text[20];
    uint32_t bits = 0;

    memset(f, 0, sizeof *f);
    if (!cut(&how, "/", text, sizeof text) || !net_read_address(text, &f->address) || *how != '/') {
        return false;
    }
    for (how++; *how >= '0' && *how <= '9' && bits < 100; how++) {
        bits = 10 * bits + (uint32_t)(*how - '0');
    }
    if (bits == 0 || bits > 30 || (*how != '\0' && *how != ',')) {
        return false;
    }
    f->mask.addr = lwip_htonl(0xffffffffu << (32 - bits));
    return *how == '\0' || net_read_address(how + 1, &f->gateway);
}

const char *net_check(const char *how, const char *name)
{
    struct net_fixed fixed;

    if (!is_host_name(name)) {
        return "name= takes up to 31 letters, digits and '-', but no '-' at either end";
    }
    if (strcmp(how, "dhcp") == 0 || strcmp(how, "auto") == 0) {
        return NULL;
    }
    if (!net_read_fixed(how, &fixed)) {
        return "net= takes dhcp, auto, ADDRESS/BITS or ADDRESS/BITS,GATEWAY, such as "
               "net=192.168.1.20/24,192.168.1.1";
    }
    return are_machines(&fixed) ? NULL
                                : "net= takes addresses of machines, not a network's own or its "
                                  "broadcast address";
}

const char *net_check_time(const char *time)
{
    struct net_time t;

    return net_time_read(&t, time) ? NULL
                                   : "time= takes ntp, ntp,ADDRESS or ntp,ADDRESS:PORT, such as "
                                     "time=ntp,192.168.1.1";
}

/* Take the time servers of DHCP's option 42, which lwIP has read. */
void dhcp_set_ntp_servers(u8_t n, const ip4_addr_t *servers)
{
    net_time_servers(&at_work->time, n, servers);
}

static void start_address(struct net *n)
{
    struct net_fixed fixed;

    netif_create_ip6_linklocal_address(&n->netif, 1);
    netif_set_ip6_autoconfig_enabled(&n->netif, 1);
    if (strcmp(n->setup.how, "dhcp") == 0) {
        (void)dhcp_start(&n->netif);
    } else if (strcmp(n->setup.how, "auto") == 0) {
        (void)autoip_start(&n->netif);
    } else if (net_read_fixed(n->setup.how, &fixed)) {
        ip_addr_t router = IPADDR4_INIT(fixed.gateway.addr);

        netif_set_addr(&n->netif, &fixed.address, &fixed.mask, &fixed.gateway);
        /* Home routers also resolve names. With DHCP the server says which machines do so. */
        dns_setserver(0, &router);
    }
}

/* Return the address that a router gave, or else the link-local one. */
static const ip6_addr_t *best_address6(const struct netif *netif)
{
    for (int i = LWIP_IPV6_NUM_ADDRESSES - 1; i > 0; i--) {
        if (ip6_addr_isvalid(netif_ip6_addr_state(netif, i))) {
            return netif_ip6_addr(netif, i);
        }
    }
    return NULL;
}

bool net_address_changed(struct net *n)
{
    char address[NET_ADDRESS_BYTES] = "", address6[NET_ADDRESS_BYTES] = "";
    const ip6_addr_t *six = best_address6(&n->netif);

    if (!ip4_addr_isany(netif_ip4_addr(&n->netif))) {
        (void)ip4addr_ntoa_r(netif_ip4_addr(&n->netif), address, sizeof address);
    }
    if (six != NULL) {
        (void)ip6addr_ntoa_r(six, address6, sizeof address6);
    }
    if (strcmp(address, n->address) == 0 && strcmp(address6, n->address6) == 0) {
        return false;
    }
    memcpy(n->address, address, sizeof address);
    memcpy(n->address6, address6, sizeof address6);
    return true;
}

const char *net_address(const struct net *n)
{
    return n->address;
}

const char *net_address6(const struct net *n)
{
    return n->address6;
}

bool net_is_up(const struct net *n)
{
    return n->link;
}

bool net_is_busy(const struct net *n, uint32_t ms)
{
    return net_now_ms(n) - n->frame_ms < ms;
}

/* ---- open, poll ---- */

size_t net_bytes(void)
{
    return sizeof(struct net);
}

static void add_service_text(struct mdns_service *service, void *context)
{
    (void)context;
    (void)mdns_resp_add_service_txtitem(service, "path=/v1", 8);
}

/* lwIP asks whether the name is free whenever the cable or the address is new. If another machine
 * answers, lwIP never announces our name. */
static void take_name_result(struct netif *netif, u8_t result)
{
    struct net *n = netif->state;

    n->trouble[0] = '\0';
    if (result == MDNS_PROBING_CONFLICT) {
        (void)format_text(n->trouble, sizeof n->trouble,
                          "another machine is %s.local: name= gives this board another name",
                          n->setup.name);
    }
}

const char *net_trouble(const struct net *n)
{
    if (n->conflict_ms != 0 && net_now_ms(n) - n->conflict_ms < CONFLICT_MS) {
        return n->conflict;
    }
    return n->trouble[0] != '\0' ? n->trouble : NULL;
}

/* Announce the board's name, and the HTTP server under this name (RFC 6762). */
static void open_name(struct net *n)
{
    mdns_resp_init();
    mdns_resp_register_name_result_cb(take_name_result);
    (void)mdns_resp_add_netif(&n->netif, n->setup.name, NAME_TTL);
    (void)mdns_resp_add_service(&n->netif, n->setup.name, "_http", DNSSD_PROTO_TCP, NET_PORT,
                                NAME_TTL, add_service_text, NULL);
}

struct net *net_open(void *memory, const struct net_setup *setup, const char **why)
{
    struct net *n = memory;
    const struct platform_network *device = &setup->platform->network;
    uint8_t address[6];

    n->setup = *setup;
    *why = "the board has no network that this version knows";
    if (device->open != NULL) {
        *why = device->open(device->context, address);
    }
    if (*why != NULL) {
        return NULL;
    }
    if (!net_time_read(&n->time, setup->time)) {
        *why = net_check_time(setup->time);
        return NULL;
    }
    at_work = n;
    memcpy(&n->random, address, sizeof address);
    lwip_init();
    if (netif_add_noaddr(&n->netif, n, start_netif, netif_input) == NULL) {
        *why = "lwIP does not take the device";
        return NULL;
    }
    memcpy(n->netif.hwaddr, address, sizeof address);
    n->netif.hostname = n->setup.name;
    netif_set_default(&n->netif);
    netif_set_up(&n->netif);
    open_name(n);
    start_address(n);
    *why = net_slots_open(n);
    return *why == NULL ? n : NULL;
}

/* Look at the link: when a cable is plugged in, lwIP asks for an address again. */
static void look_at_link(struct net *n)
{
    const struct platform_network *device = &n->setup.platform->network;
    uint64_t now = net_now_ms(n);
    bool up;

    if (n->link_ms != 0 && now - n->link_ms < LINK_MS) {
        return;
    }
    n->link_ms = now;
    up = device->is_up(device->context);
    if (up && !n->link) {
        netif_set_link_up(&n->netif);
    } else if (!up && n->link) {
        netif_set_link_down(&n->netif);
    }
    n->link = up;
}

void net_poll(struct net *n)
{
    look_at_link(n);
    take_frames(n);
    sys_check_timeouts();
    net_dhcp_poll(n);
    if (net_time_is_due(n)) {
        net_time_ask(n, (uint64_t)net_random() << 32 | net_random());
    }
    net_slots_poll(n);
    net_store_poll(n);
}

void net_figures(const struct net *n, struct net_figures *f)
{
    memset(f, 0, sizeof *f);
    for (unsigned i = 0; i < NET_CONNECTIONS; i++) {
        f->connections += n->slots[i].pcb != NULL;
    }
    for (unsigned i = 0; i < NET_WAITING; i++) {
        f->connections += n->waiting[i].pcb != NULL;
    }
    f->heap_bytes = (uint32_t)lwip_stats.mem.used;
    f->heap_most = (uint32_t)lwip_stats.mem.max;
    f->heap_refused = lwip_stats.mem.err;
    f->frames_most = lwip_stats.memp[MEMP_PBUF_POOL]->max;
    f->frames_refused = lwip_stats.memp[MEMP_PBUF_POOL]->err;
    f->sockets_most = lwip_stats.memp[MEMP_TCP_PCB]->max;
    f->sockets_refused = lwip_stats.memp[MEMP_TCP_PCB]->err;
}
