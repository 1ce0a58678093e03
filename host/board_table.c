#include "host/board_table.h"

#include <stdio.h>
#include <string.h>

/* Memory is what its bus can carry at most: transfers a second times 4 bytes, all these buses being 32
 * bits wide. What programs get of it is less: STREAM's best rate on a Pi 4 is 5.6 GB/s of 12.8
 * (www.sci-pi.org.uk/bench/stream.html). Sources:
 *   rpi3, rpi4  900 and 3200 MT/s, www.sci-pi.org.uk/arch/soc.html; LPDDR2 at 900 MHz and LPDDR4 at 3200:
 *               The Official Raspberry Pi Beginner's Guide, 2018 and 2019, appendix F
 *   rpi5        LPDDR4X-4267: docs.zephyrproject.org/4.0.0/boards/raspberrypi/rpi_5 after the product
 *               brief
 *   visionfive2 32 bits, up to 2800 Mbps: kernel.org, devicetree/bindings/memory-controllers/
 *               starfive,jh7110-dmc.yaml; 2, 4 and 8 GB: wiki.gentoo.org/wiki/StarFive_VisionFive_2
 *   icicle      2 GB LPDDR4 x 32: Microchip, PolarFire SoC Icicle Kit, 1.1; 1600 Mbps: PolarFire Family
 *               Memory Controller User Guide, 2.9.1.1
 * Caches, KiB of a core's second level: rpi3 512, rpi4 1024, shared by four (raspberrypi.com, processors: BCM2837,
 * BCM2711), rpi5 512, a core's own (BCM2712); visionfive2 and icicle 2048, shared (JH7110 and PolarFire SoC data sheets).
 * Cards are SD buses of 4 bits (SD Physical Layer Simplified Specification, 4.3.10 and 3.6 of its bus
 * speed modes): high speed, 50 MHz, 25 MB/s; DDR50 50 MB/s, which needs signals of 1.8 V, and of these
 * boards the Pi 4 alone switches them here (board/rpi4/board.c). */
static const struct board_facts boards[] = {
    { "rpi3",
      "Raspberry Pi 3 (512 MiB: Zero 2 W, 3A+)",
      { 512, 1024 },
      1024,
      512,
      3600,
      "LPDDR2-900, 32 bits",
      25000,
      "SD high speed" },
    { "rpi4",
      "Raspberry Pi 4",
      { 1024, 2048, 4096, 8192 },
      4096,
      1024,
      12800,
      "LPDDR4-3200, 32 bits",
      50000,
      "SD DDR50" },
    { "rpi5",
      "Raspberry Pi 5",
      { 2048, 4096, 8192, 16384 },
      4096,
      512,
      17068,
      "LPDDR4X-4267, 32 bits",
      25000,
      "SD high speed, at 3.3 V" },
    { "visionfive2",
      "StarFive VisionFive 2",
      { 2048, 4096, 8192 },
      4096,
      2048,
      11200,
      "LPDDR4-2800, 32 bits",
      25000,
      "SD high speed" },
    { "icicle",
      "PolarFire SoC Icicle Kit",
      { 2048 },
      2048,
      2048,
      6400,
      "LPDDR4-1600, 32 bits",
      25000,
      "SD high speed" },
    { "sifive_u", "QEMU's sifive_u", { 512 }, 512, 0, 0, NULL, 0, NULL },
    { "versal", "QEMU's xlnx-versal-virt", { 2048 }, 2048, 0, 0, NULL, 0, NULL },
    { "virt-arm64", "QEMU's virt, ARM64", { 512 }, 512, 0, 0, NULL, 0, NULL },
    { "virt-riscv64", "QEMU's virt, RISC-V", { 512 }, 512, 0, 0, NULL, 0, NULL },
};

enum { N_BOARDS = sizeof boards / sizeof boards[0] };

const struct board_facts *board_facts_all(size_t *n)
{
    *n = N_BOARDS;
    return boards;
}

const struct board_facts *board_facts_find(const char *name)
{
    for (size_t i = 0; i < N_BOARDS; i++) {
        if (strcmp(boards[i].name, name) == 0) {
            return &boards[i];
        }
    }
    return NULL;
}

void board_facts_sizes(const struct board_facts *b, char *text, size_t bytes)
{
    const char *comma = "";
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < BOARD_MOST_SIZES && b->ram_mib[i] != 0 && used < bytes; i++) {
        if (b->ram_mib[i] < 1024) {
            used += (size_t)snprintf(text + used, bytes - used, "%s%u MiB", comma, b->ram_mib[i]);
        } else {
            used += (size_t)snprintf(text + used, bytes - used, "%s%u GiB", comma,
                                     b->ram_mib[i] / 1024);
        }
        comma = ", ";
    }
}

bool board_facts_has(const struct board_facts *b, uint64_t bytes)
{
    if (b->memory_mb == 0) {
        return true;
    }
    for (size_t i = 0; i < BOARD_MOST_SIZES && b->ram_mib[i] != 0; i++) {
        if ((uint64_t)b->ram_mib[i] << 20 == bytes) {
            return true;
        }
    }
    return false;
}
