/* Control registers of EL1 for the MMU, for start.S and unpack.S (Arm ARM, DDI 0487). */
#ifndef INGOT_BOOT_MMU_BITS_H
#define INGOT_BOOT_MMU_BITS_H

#define SCTLR_OFF 0x30d00800 /* for EL1: all RES1 bits of v8.0; MMU and caches off */
#define SCTLR_RWX (SCTLR_OFF | 1 << 0 | 1 << 2 | 1 << 3 | 1 << 12) /* M C SA I */
#define SCTLR_ON (SCTLR_RWX | 1 << 19)                             /* and WXN */

/* Attributes 0 to 2, numbered as in mmu.c: normal write-back, normal uncached, device nGnRE. */
#define MAIR 0x0444ff
/* T0SZ 25: 39 bits; 4 KiB granule; no TTBR1 (D17.2.131). */
#define TCR_UNCACHED_WALKS (25 | 1 << 23)
/* As TCR_UNCACHED_WALKS, but table walks are write-back and inner shareable. */
#define TCR (TCR_UNCACHED_WALKS | 1 << 8 | 1 << 10 | 3 << 12)

#endif
