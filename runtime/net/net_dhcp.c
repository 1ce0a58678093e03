/* DHCP servers that give addresses that no machine can have, or take their offers back. */
#include "runtime/net/net_private.h"

#include <lwip/autoip.h>
#include <lwip/dhcp.h>
#include <lwip/etharp.h>
#include <lwip/prot/dhcp.h>
#include <lwip/udp.h>

enum {
    REST_MS = 10 * 1000, /* time after an offer that was taken back until the next discover */
    REQUESTS = 3,        /* most requests for an offered address */
    CLIENT_PORT = 68,
    MESSAGE_TYPE = 53, /* option that servers put first: 53, 1, type */
};

/* Return the frame's DHCP message, or NULL if it has none with an option. */
static const struct dhcp_msg *find_message(const uint8_t *frame, size_t bytes)
{
    const uint8_t *ip = frame + SIZEOF_ETH_HDR;
    size_t head = (size_t)(ip[0] & 15) * 4;
    const uint8_t *udp = ip + head;

    if (bytes < SIZEOF_ETH_HDR + head + UDP_HLEN + DHCP_OPTIONS_OFS + 3 || frame[12] != 8 ||
        frame[13] != 0 || ip[9] != IP_PROTO_UDP || udp[2] != 0 || udp[3] != CLIENT_PORT) {
        return NULL;
    }
    return (const struct dhcp_msg *)(udp + UDP_HLEN);
}

static bool is_refusal(const struct dhcp_msg *m)
{
    return m->options[0] == MESSAGE_TYPE && m->options[1] == 1 && m->options[2] == DHCP_NAK;
}

/* Wait before the next discover, and choose an own address meanwhile. lwIP would ask again at once,
 * hundreds of times a second if the server always refuses what it offers, and choose no address. */
static void rest(struct net *n, struct dhcp *dhcp)
{
    dhcp->state = DHCP_STATE_BACKING_OFF;
    dhcp->request_timeout = REST_MS / DHCP_FINE_TIMER_MSECS;
    if (dhcp->autoip_coop_state == DHCP_AUTOIP_COOP_STATE_OFF) {
        dhcp->autoip_coop_state = DHCP_AUTOIP_COOP_STATE_ON;
        (void)autoip_start(&n->netif);
    }
}

bool net_dhcp_takes(struct net *n, size_t bytes)
{
    struct dhcp *dhcp = netif_dhcp_data(&n->netif);
    const struct dhcp_msg *m = find_message(n->frame, bytes);
    ip4_addr_t offered;

    if (dhcp == NULL || m == NULL || m->xid != lwip_htonl(dhcp->xid)) {
        return true;
    }
    if (is_refusal(m)) {
        if (dhcp->state != DHCP_STATE_REQUESTING) {
            return true;
        }
        rest(n, dhcp);
        return false;
    }
    ip4_addr_copy(offered, m->yiaddr);
    return net_is_unicast(&offered) && !ip4_addr_isloopback(&offered);
}

void net_dhcp_poll(struct net *n)
{
    struct dhcp *dhcp = netif_dhcp_data(&n->netif);

    /* The server has offered an address, and is silent since then. */
    if (dhcp != NULL && dhcp->state == DHCP_STATE_REQUESTING && dhcp->tries >= REQUESTS &&
        dhcp->request_timeout == 1) {
        rest(n, dhcp);
    }
}
