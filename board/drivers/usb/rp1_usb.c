#include "board/drivers/usb/rp1_usb.h"

#include "board/drivers/bus/brcm_pcie.h"
#include "board/drivers/gpio/rp1_gpio.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/usb/dwc3.h"
#include "board/facts.h"
#include "board/isa.h"

/* The sockets' supply and its alarm are GPIO 42 and 43, the ninth and tenth line of bank 2, with
 * function 2, "vbus1" (bcm2712-rpi-5-b.dts of Linux and of raspberrypi/linux, rp1_usb0;
 * pinctrl-rp1.c). Circle does not set them, but relies on the firmware. */
static void power_sockets(uintptr_t peripherals)
{
    enum { BANK_2 = 0xd8000, LINE_42 = 42 - 34, LINES = 2, FUNCTION_VBUS_1 = 2 };

    if (mmu_map(peripherals + RP1_GPIO_PLACE, RP1_GPIO_BYTES, MAP_DEVICE) != ERR_OK)
        return;
    for (unsigned i = 0; i < LINES; i++)
        rp1_gpio_lend(peripherals + BANK_2, LINE_42 + i, FUNCTION_VBUS_1);
}

static unsigned open_controller(struct usb *u, const struct xhci_setup *setup,
                                struct block_device **out, unsigned most)
{
    if (mmu_map(setup->mmio, RP1_USB_BYTES, MAP_DEVICE) != ERR_OK ||
        dwc3_make_host(setup->mmio, setup->ticks, setup->ticks_hz) != ERR_OK)
        return 0;
    serial_join(usb_take, u);
    return usb_open(u, setup, out, most);
}

unsigned rp1_usb_open(struct rp1_usb *r, uintptr_t port, uint64_t (*ticks)(void), uint64_t ticks_hz,
                      struct block_device **out, unsigned most)
{
    static const uint32_t places[RP1_USB_CONTROLLERS] = { RP1_USB_0, RP1_USB_1 };
    unsigned n = 0;

    if (mmu_map(port, BRCM_PCIE_BYTES, MAP_DEVICE) != ERR_OK)
        return 0;
    facts_add(rp1_link_facts, &r->link);
    if (rp1_link_open(&r->link, port) != ERR_OK) {
        r->error_message = (struct block_device){ .name = "USB", .error_message = r->link.why };
        out[0] = &r->error_message;
        return 1;
    }
    power_sockets((uintptr_t)r->link.peripherals);
    for (unsigned i = 0; i < RP1_USB_CONTROLLERS; i++) {
        const struct xhci_setup setup = { .mmio = r->link.peripherals + places[i],
                                          .window = r->link.window,
                                          .ticks = ticks,
                                          .ticks_hz = ticks_hz };

        n += open_controller(&r->usb[i], &setup, out + n, most - n);
    }
    return n;
}
