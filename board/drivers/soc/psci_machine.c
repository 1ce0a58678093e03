#include "board/drivers/soc/psci_machine.h"

#include "board/drivers/irq/gic.h"
#include "board/drivers/serial/pl011.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/serial/tree_console.h"
#include "board/drivers/soc/psci.h"

enum { UART_BYTES = 0x1000 };

static struct psci_machine {
    struct device_tree tree;
    struct gic gic;
    struct pl011 uart;
} psci_machine;

const struct device_tree *psci_machine_init(const void *dtb, uintptr_t uart_address)
{
    struct device_tree_node node;
    uintptr_t base;

    if (dtb != NULL &&
        device_tree_open(&psci_machine.tree, dtb, device_tree_bytes(dtb)) == ERR_OK &&
        gic_find(&psci_machine.gic, &psci_machine.tree) == ERR_OK)
        (void)gic_init(&psci_machine.gic);
    gic_listen();
    psci_init(&psci_machine.tree);
    base = tree_console_map(&psci_machine.tree, "arm,pl011", uart_address, UART_BYTES, &node);
    pl011_init(&psci_machine.uart, base, 0, 0);
    serial_open(&pl011_serial, &psci_machine.uart);
    (void)serial_listen(gic_device_line(&psci_machine.tree, &node)); /* otherwise polled */
    return &psci_machine.tree;
}
