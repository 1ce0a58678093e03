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
} the;

const struct device_tree *psci_machine_init(const void *dtb, uintptr_t uart_address)
{
    struct device_tree_node node;
    uintptr_t base;

    if (dtb != NULL && device_tree_open(&the.tree, dtb, device_tree_bytes(dtb)) == ERR_OK &&
        gic_find(&the.gic, &the.tree) == ERR_OK)
        (void)gic_init(&the.gic);
    gic_listen();
    psci_init(&the.tree);
    base = tree_console_map(&the.tree, "arm,pl011", uart_address, UART_BYTES, &node);
    pl011_init(&the.uart, base, 0, 0);
    serial_open(&pl011_serial, &the.uart);
    (void)gic_take_input(gic_device_line(&the.tree, &node));
    return &the.tree;
}
