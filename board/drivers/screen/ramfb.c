#include "board/drivers/screen/ramfb.h"

#include <stddef.h>

#include "board/isa.h"

enum { WIDTH = 800, HEIGHT = 600, BITS = 32, PITCH = WIDTH * BITS / 8, PAGE = 4096 };
enum { LEAST_SHARE = 4 }; /* number of screens that must still fit into the free memory */

#define FORMAT_XRGB8888 0x34325258u /* "XR24" (drm_fourcc.h) */

/* Allocate the pixels from the end of the free memory. */
static uint8_t *take_pixels(struct memory_range *free)
{
    size_t bytes = (size_t)HEIGHT * PITCH, end;

    if (free->bytes / (LEAST_SHARE + 1) < bytes)
        return NULL;
    end = (uintptr_t)free->base + free->bytes;
    end = (end - bytes) & ~(size_t)(PAGE - 1);
    free->bytes = end - (uintptr_t)free->base;
    return free->base + free->bytes;
}

enum err ramfb_set_up(struct fw_cfg *f, struct board_screen *screen, struct memory_range *free)
{
    struct fw_cfg_file file;
    struct ramfb_setup setup;
    enum err e = fw_cfg_find(f, "etc/ramfb", &file);

    if (e != ERR_OK)
        return e;
    *screen = (struct board_screen){
        .pixels = take_pixels(free), .width = WIDTH, .height = HEIGHT, .pitch = PITCH, .bits = BITS
    };
    if (screen->pixels == NULL)
        return ERR_NO_SPACE;
    /* QEMU shows the memory at this address from now on. */
    setup = (struct ramfb_setup){
        .address = __builtin_bswap64((uintptr_t)screen->pixels),
        .format = __builtin_bswap32(FORMAT_XRGB8888),
        .width = __builtin_bswap32(WIDTH),
        .height = __builtin_bswap32(HEIGHT),
        .pitch = __builtin_bswap32(PITCH),
    };
    return fw_cfg_write(f, &file, &setup, sizeof setup);
}

bool ramfb_open(const struct device_tree *tree, struct board_screen *screen,
                struct memory_range *free)
{
    struct device_tree_node node;
    struct fw_cfg f;
    uint64_t base;

    if (tree == NULL || tree->blob == NULL)
        return false;
    device_tree_begin(&node);
    return device_tree_next_compatible(tree, &node, "qemu,fw-cfg-mmio") &&
           device_tree_reg(tree, &node, 0, &base, NULL) &&
           mmu_map((uintptr_t)base, FW_CFG_BYTES, MAP_DEVICE) == ERR_OK &&
           fw_cfg_open(&f, (uintptr_t)base) == ERR_OK && ramfb_set_up(&f, screen, free) == ERR_OK;
}
