/* Definitions that lwIP expects from a compiler and a machine. */
#ifndef INGOT_RUNTIME_NET_LWIP_ARCH_CC_H
#define INGOT_RUNTIME_NET_LWIP_ARCH_CC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LWIP_NO_UNISTD_H 1
#define LWIP_NO_CTYPE_H 1
#define SSIZE_MAX INT_MAX

uint32_t net_random(void);
#define LWIP_RAND() net_random()

struct tcp_hdr;
struct tcp_pcb;
bool net_ends_wait(struct tcp_pcb *pcb, const struct tcp_hdr *segment);

/* lwIP prints nothing, and its asserts are left out: its checks handle what comes from a
 * network. */
#define LWIP_PLATFORM_DIAG(x) \
    do { \
    } while (0)
#ifdef NET_ASSERTS
void abort(void);
#define LWIP_PLATFORM_ASSERT(x) abort()
#else
#define LWIP_PLATFORM_ASSERT(x) \
    do { \
    } while (0)
#endif

#endif
