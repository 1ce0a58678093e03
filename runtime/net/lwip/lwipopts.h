/* lwIP's configuration in an image: one core that polls, one device, all memory in pools and in
 * one heap of fixed sizes. The sizes suffice for NET_CONNECTIONS clients; packets that do not
 * fit are dropped, and TCP sends them again. */
#ifndef INGOT_RUNTIME_NET_LWIP_LWIPOPTS_H
#define INGOT_RUNTIME_NET_LWIP_LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0
#define LWIP_RAW 0
#ifndef NET_ASSERTS /* tests/fuzz/net_fuzz.c keeps lwIP's asserts */
#define LWIP_NOASSERT
#endif

/* ---- memory ---- */

#define MEM_ALIGNMENT 8
/* Copies of the data that TCP sends, and UDP's answers. Some room is left even if no client takes
 * what was sent to it. */
#define MEM_SIZE (64 * 1024)
#define MEMP_NUM_PBUF 16
#define MEMP_NUM_UDP_PCB 5
#define MEMP_NUM_TCP_PCB \
    28 /* connections: those in use, those that wait for a slot, and those in their final wait */
#define MEMP_NUM_TCP_PCB_LISTEN 1
#define MEMP_NUM_TCP_SEG 160
#define MEMP_NUM_IGMP_GROUP 4
#define MEMP_NUM_MLD6_GROUP 6
#define MEMP_NUM_SYS_TIMEOUT (LWIP_NUM_SYS_TIMEOUT_INTERNAL + 12) /* mDNS needs several */
/* Received frames. net_poll takes one after the other, and connections copy their bytes (net_input),
 * so that only segments that came too early keep a frame. */
#define PBUF_POOL_SIZE 48
#define PBUF_POOL_BUFSIZE 1536

/* ---- TCP ---- */

#define TCP_MSS 1460
#define TCP_WND (4 * TCP_MSS)
#define TCP_SND_BUF (4 * TCP_MSS)
#define TCP_SND_QUEUELEN 16
/* Frames of segments that came too early, per connection. */
#define TCP_OOSEQ_MAX_PBUFS 8
#define TCP_LISTEN_BACKLOG 1
#define TCP_DEFAULT_LISTEN_BACKLOG 8
#define LWIP_TCP_SACK_OUT 0
/* lwIP drops a segment for which this is not ERR_OK. */
#define LWIP_HOOK_TCP_INPACKET_PCB(pcb, segment, optlen, opt1len, opt2, p) \
    (net_ends_wait(pcb, segment) ? ERR_VAL : ERR_OK)
#define TCP_OVERSIZE TCP_MSS

/* ---- IP ---- */

/* Fragments are not supported: everything here fits a frame, and attackers flood hosts with
 * fragments. */
#define IP_REASSEMBLY 0
#define IP_FRAG 0
#define IP_FORWARD 0
#define LWIP_IPV6 1
#define LWIP_IPV6_REASS 0
#define LWIP_IPV6_FRAG 0
#define LWIP_IPV6_MLD 1
#define LWIP_IPV6_DHCP6 0
#define LWIP_IGMP 1
#define LWIP_DHCP 1
#define LWIP_DHCP_GET_NTP_SRV 1
#define LWIP_DHCP_MAX_NTP_SERVERS 4 /* net_time.c keeps NET_TIME_SERVERS of these */
#define LWIP_AUTOIP 1
#define LWIP_DHCP_AUTOIP_COOP 1
#define LWIP_DHCP_AUTOIP_COOP_TRIES 4
#define LWIP_SINGLE_NETIF 1
#define LWIP_NETIF_HOSTNAME 1
#define LWIP_NETIF_STATUS_CALLBACK 0
#define LWIP_NETIF_LOOPBACK 0
#define LWIP_HAVE_LOOPIF 0
#define LWIP_MULTICAST_TX_OPTIONS 1

/* ---- mDNS ---- */

#define LWIP_MDNS_RESPONDER 1
#define MDNS_MAX_SERVICES 1
#define LWIP_NUM_NETIF_CLIENT_DATA 1
#define LWIP_NETIF_EXT_STATUS_CALLBACK 1 /* needed to announce a new address */

/* ---- names of stores (net_fetch.c) ---- */

#define LWIP_DNS 1
#define LWIP_DNS_SUPPORT_MDNS_QUERIES 1 /* NAME.local */
#define DNS_TABLE_SIZE 2
#define DNS_MAX_NAME_LENGTH 64
#define DNS_MAX_SERVERS 2
#define DNS_LOCAL_HOSTLIST 0

/* ---- high-water marks ---- */

#define LWIP_STATS 1
#define LINK_STATS 0
#define ETHARP_STATS 0
#define IP_STATS 0
#define IPFRAG_STATS 0
#define ICMP_STATS 0
#define IGMP_STATS 0
#define UDP_STATS 0
#define TCP_STATS 0
#define SYS_STATS 0
#define IP6_STATS 0
#define ICMP6_STATS 0
#define IP6_FRAG_STATS 0
#define MLD6_STATS 0
#define ND6_STATS 0
#define MIB2_STATS 0
#define MEM_STATS 1
#define MEMP_STATS 1

#endif
