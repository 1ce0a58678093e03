/* lwIP's header of DHCP, with a shorter unit of leases. lwIP counts a lease in this unit, and gives
 * a lease of one unit back instead of renewing it. With lwIP's minute a lease of 60 seconds would
 * cut every connection once a minute. The unit cannot be much shorter, because lwIP counts up to
 * 65535 units: a lease of up to 30 days is renewed at its half. */
#ifndef INGOT_RUNTIME_NET_LWIP_INSTEAD_LWIP_DHCP_H
#define INGOT_RUNTIME_NET_LWIP_INSTEAD_LWIP_DHCP_H

#include_next <lwip/dhcp.h>

#undef DHCP_COARSE_TIMER_SECS
#define DHCP_COARSE_TIMER_SECS 20

#endif
