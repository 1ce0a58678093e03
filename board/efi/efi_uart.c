/* The console's UART with our own drivers, at the firmware's rate: raw bytes in both directions. */
#include "board/drivers/serial/ns16550.h"
#include "board/drivers/serial/pl011.h"
#include "board/drivers/serial/serial.h"
#include "board/efi/efi_parts.h"

static struct efi_uart {
    struct pl011 pl011;
    struct ns16550 ns16550;
} efi_uart;

static bool is_16550(const struct device_tree *tree, const struct device_tree_node *node)
{
    static const char *const kinds[] = { "ns16550a", "ns16550", "snps,dw-apb-uart" };

    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (device_tree_lists(tree, node, "compatible", kinds[i]))
            return true;
    return false;
}

static void open_16550(const struct device_tree *tree, const struct device_tree_node *node,
                       uintptr_t base)
{
    uint64_t shift = 0, width = 1, offset = 0; /* devicetree, serial/8250.yaml */

    (void)device_tree_number(tree, node, "reg-shift", &shift);
    (void)device_tree_number(tree, node, "reg-io-width", &width);
    (void)device_tree_number(tree, node, "reg-offset", &offset);
    ns16550_init(&efi_uart.ns16550, base + (uintptr_t)offset, (unsigned)shift, (unsigned)width);
    serial_open(&ns16550_serial, &efi_uart.ns16550);
}

bool efi_uart_open(const struct device_tree *tree)
{
    struct device_tree_node node;
    uint32_t baud;
    uint64_t base;

    if (tree->blob == NULL || !device_tree_console(tree, &node, &baud) ||
        !device_tree_reg(tree, &node, 0, &base, NULL))
        return false;
    if (is_16550(tree, &node)) {
        open_16550(tree, &node, (uintptr_t)base);
        return true;
    }
    if (!device_tree_lists(tree, &node, "compatible", "arm,pl011"))
        return false;
    pl011_init(&efi_uart.pl011, (uintptr_t)base, 0, 0);
    serial_open(&pl011_serial, &efi_uart.pl011);
    return true;
}
