/* Reports the state of a controller, even one that could not be started, for the option `diag`.
 * Sections are those of the eXtensible Host Controller Interface specification 1.2. */
#include "board/drivers/usb/xhci_private.h"
#include "board/drivers/usb/xhci_registers.h"
#include "board/facts.h"

enum { MOST_PORTS = 32 };

static void tell_ports(const struct xhci *x, const struct facts *f)
{
    uint32_t status[MOST_PORTS];
    unsigned n = x->structure_1 >> 24; /* 5.3.3; x->n_ports is set only by a start */

    if (n > MOST_PORTS)
        n = MOST_PORTS;
    for (unsigned port = 1; port <= n; port++)
        status[port - 1] = xhci_read(x, xhci_port_register(x, port));
    for (unsigned at = 0; at < n; at += 8) /* a line of the log has room for 8 words */
        fact_words(f, at == 0 ? "usb ports" : "usb ports after", status + at,
                   n - at < 8 ? n - at : 8);
}

static void tell_device(const struct xhci_device *d, const char *name, const struct facts *f)
{
    const uint32_t words[4] = { d->port, d->route, d->speed, d->slot };

    fact_words(f, name, words, 4);
}

static bool is_hub(const struct xhci *x, const struct xhci_device *d)
{
    return d >= &x->hubs[0].device && d <= &x->hubs[XHCI_HUBS - 1].device;
}

void xhci_facts(const void *of, const struct facts *f)
{
    const struct xhci *x = of;

    fact_number(f, "usb controller", FACT_HEX, x->setup.mmio);
    fact_number(f, "usb hcsparams1", FACT_HEX, x->structure_1);
    fact_number(f, "usb hcsparams2", FACT_HEX, x->structure_2);
    fact_number(f, "usb hccparams1", FACT_HEX, x->parameters);
    fact_number(f, "usb scratchpad pages", FACT_COUNT,
                (x->structure_2 >> 21 & 31) << 5 | (x->structure_2 >> 27 & 31)); /* 5.3.4 */
    if (x->why != NULL)
        fact_text(f, "usb problem", x->why);
    if (x->structure_1 == 0)
        return; /* it did not answer */
    fact_number(f, "usb starts", FACT_COUNT, x->starts);
    fact_number(f, "usb command", FACT_HEX, xhci_read(x, x->operational + OP_COMMAND));
    fact_number(f, "usb status", FACT_HEX, xhci_read(x, x->operational + OP_STATUS));
    tell_ports(x, f);
    for (unsigned slot = 1; slot <= XHCI_SLOTS; slot++)
        if (x->devices[slot] != NULL && x->devices[slot]->slot == slot)
            tell_device(x->devices[slot], is_hub(x, x->devices[slot]) ? "usb hub" : "usb device",
                        f);
}
