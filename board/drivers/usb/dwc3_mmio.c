/* The registers themselves; everything else of the driver goes through these two. */
#include "board/drivers/usb/dwc3.h"

uint32_t dwc3_read(uintptr_t at)
{
    return *(const volatile uint32_t *)at;
}

void dwc3_write(uintptr_t at, uint32_t value)
{
    *(volatile uint32_t *)at = value;
}
