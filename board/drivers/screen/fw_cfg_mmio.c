/* Accesses to the register; the rest of the driver uses only these two functions. */
#include "board/drivers/dma/dma.h"
#include "board/drivers/screen/fw_cfg.h"

enum { DMA_HIGH = 0x10, DMA_LOW = 0x14 }; /* big-endian; writing the low half starts DMA */

static volatile uint32_t *reg(const struct fw_cfg *f, unsigned offset)
{
    return (volatile uint32_t *)(f->mmio + offset);
}

uint64_t fw_cfg_mmio_magic(const struct fw_cfg *f)
{
    return (uint64_t)__builtin_bswap32(*reg(f, DMA_HIGH)) << 32 |
           __builtin_bswap32(*reg(f, DMA_LOW));
}

void fw_cfg_mmio_start(const struct fw_cfg *f)
{
    uint64_t at = (uintptr_t)&f->access;

    dma_barrier();
    *reg(f, DMA_HIGH) = __builtin_bswap32((uint32_t)(at >> 32));
    *reg(f, DMA_LOW) = __builtin_bswap32((uint32_t)at);
    dma_barrier();
}
