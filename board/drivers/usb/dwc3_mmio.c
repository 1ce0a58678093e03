/* Accesses to the registers; the rest of the driver uses only these two functions. */
#include "board/drivers/usb/dwc3.h"

uint32_t dwc3_read(uintptr_t at)
{
    return *(const volatile uint32_t *)at;
}

void dwc3_write(uintptr_t at, uint32_t value)
{
    *(volatile uint32_t *)at = value;
}
