/* The image of any board, preprocessed with the board's memory.h, which defines these constants.
 *
 *   BOARD_LOAD_ADDRESS         where firmware puts the image: a multiple of 4 KiB; on riscv64 a
 *                              multiple of 2 MiB, which its Image header demands.
 *   BOARD_RAM_BASE             the address from which text_offset counts, a multiple of 2 MiB.
 *   BOARD_DEVICE_TREE_ADDRESS  the device tree's address if no register has it; 0 if there is none.
 *   BOARD_IMAGE_FILE_BYTES     bound of the file, at most 512 KiB, which is the default.
 *   BOARD_A53_VENEERS          if defined, the end of the code has room for four veneers.
 *   BOARD_IMAGE_RAM_BYTES      bound of all sections, at most 16 MiB, which is the default.
 *
 * Memory map, low to high. Each section has its own 4 KiB pages,
 * but the first constants share the last page of text.
 *
 *   image_start  text      read, execute     header, entry and the unpacker come first.
 *                rodata    read              constants, strings, tables.
 *                data      read, write       initialized; the loaded or unpacked bytes end here.
 *                bss       read, write       cleared by start.S; has the page tables.
 *                kept      never cleared; survives a reset if the board maps it (last_run.h).
 *                stacks    read, write       each above a guard, laid out by boot/stacks.h.
 *   image_end    free RAM: the arena
 */
#include "boot/stacks.h"
#include "boot/unpack.h"
#include "memory.h"

#define IMAGE_FILE_MOST (512 * 1024) /* of the file */
#define IMAGE_LOAD_MOST (1024 * 1024) /* text, rodata and data */
#define IMAGE_LOAD_NETWORK (1024 * 1280) /* text, rodata and data of an image with a network */
#define IMAGE_RAM_MOST (16 * 1024 * 1024)
#ifndef BOARD_IMAGE_FILE_BYTES
#define BOARD_IMAGE_FILE_BYTES IMAGE_FILE_MOST
#endif
#ifndef BOARD_IMAGE_RAM_BYTES
#define BOARD_IMAGE_RAM_BYTES IMAGE_RAM_MOST
#endif
#define PAGE 4096

ENTRY(_start)

PHDRS
{
    text PT_LOAD FLAGS(5);
    rodata PT_LOAD FLAGS(4);
    data PT_LOAD FLAGS(6);
}

SECTIONS
{
    . = BOARD_LOAD_ADDRESS;
    image_start = .;

    .text : {
        text_start = .;
        KEEP(*(.head))
        /* The vectors of arm64 lie at a multiple of 2 KiB. The parts before the vectors fill the
         * first 2 KiB, with code from sections named .text.early. */
        *start.S.o(.text .text.*)
        *unpack.S.o(.text .text.*)
        *unpack_lzma.c.o(.text .text.*)
        *unpack_code.c.o(.text .text.*)
        . = ALIGN(64);
        image_head_end = .; /* everything after this may be packed */
        *(.text.early.*)
        *vectors.S.o(.text .text.*)
        *(.text .text.*)
#ifdef BOARD_A53_VENEERS
        /* Room for toolchain/a53_pages.py. */
        . = ALIGN(8);
        a53_veneer_0 = .; . += 8;
        a53_veneer_1 = .; . += 8;
        a53_veneer_2 = .; . += 8;
        a53_veneer_3 = .; . += 8;
#endif
        . = ALIGN(64);
    } :text
    text_end = ALIGN(PAGE); /* for the page tables */
    rodata_start = text_end;

    .rodata : {
        *(.rodata .rodata.* .srodata .srodata.*)
        . = ALIGN(PAGE);
        rodata_end = .;
    } :rodata

    .data : ALIGN(PAGE) {
        data_start = .;
        *(.data .data.*)
        *(.got .got.plt .igot .igot.plt) /* empty, but they would make rodata writable */
        . = ALIGN(16);
        *(.sdata .sdata.*)
        . = ALIGN(64);
        image_file_end = .;
    } :data

    .bss (NOLOAD) : ALIGN(64) {
        bss_start = .;
        *(.sbss .sbss.*)
        *(.bss .bss.* COMMON)
        . = ALIGN(PAGE);
        bss_end = .;
        data_end = .;
    } :data

    .kept (NOLOAD) : ALIGN(PAGE) {
        *(.kept)
        . = ALIGN(PAGE);
    } :data

    .stacks (NOLOAD) : ALIGN(PAGE) {
        stacks_start = .;
        . += STACKS_BYTES;
        stacks_end = .;
    } :data
    image_end = .;

    /* For the arm64 Image header (Linux Documentation/arm64/booting): the offset
     * from the RAM base, and the size that the firmware must leave free. */
#ifdef BOARD_RAM_BASE
    image_text_offset = BOARD_LOAD_ADDRESS - BOARD_RAM_BASE;
#endif
    image_header_bytes = image_end - image_start;
    image_head_bytes = image_head_end - image_start;
    image_code_bytes = text_end - image_start;
    image_pack_room = UNPACK_ROOM;
    image_file_limit = BOARD_IMAGE_FILE_BYTES; /* for `make size` and the packing */

    image_device_tree_address = BOARD_DEVICE_TREE_ADDRESS;

    /* Constructors and exit handlers would never run: an image that needs one must not link. */
    .init_array : { *(.preinit_array .init_array .init_array.* .ctors .fini_array .dtors) }

    /DISCARD/ : {
        *(.comment .note .note.* .eh_frame .eh_frame_hdr)
        *(.interp .dynamic .dynsym .dynstr .hash .gnu.hash .rela.* .rel.*)
    }
}

#ifdef __aarch64__
ASSERT(BOARD_RAM_BASE % 0x200000 == 0, "memory.h: BOARD_RAM_BASE is not a multiple of 2 MiB")
ASSERT(BOARD_LOAD_ADDRESS % PAGE == 0, "memory.h: BOARD_LOAD_ADDRESS is not a multiple of 4 KiB")
#else
ASSERT(BOARD_LOAD_ADDRESS % 0x200000 == 0, "memory.h: BOARD_LOAD_ADDRESS is not a multiple of 2 MiB")
#endif
ASSERT(_start == image_start, "the entry must be the first byte of the image: section .head")
ASSERT(text_end % PAGE == 0 && rodata_start % PAGE == 0 && rodata_end % PAGE == 0 &&
       data_start % PAGE == 0 && data_end % PAGE == 0 && stacks_start % PAGE == 0,
       "a section does not begin or end on a page")
ASSERT(SIZEOF(.init_array) == 0, "the image has constructors, which nobody calls")
ASSERT(BOARD_IMAGE_FILE_BYTES <= IMAGE_FILE_MOST,
       "memory.h: BOARD_IMAGE_FILE_BYTES is above 512 KiB, which no image may take (docs/DESIGN.md)")
ASSERT(image_file_end - image_start <= (DEFINED(lwip_init) ? IMAGE_LOAD_NETWORK : IMAGE_LOAD_MOST),
       "text, rodata and data are larger than 1 MiB, or 1.25 MiB with a network (make size shows what grew)")
/* unpack.S has one table of 1 GiB entries, one of 2 MiB entries, and
 * tables of pages. The packed bytes lie above the unpacked ones. */
ASSERT(BOARD_IMAGE_RAM_BYTES <= IMAGE_RAM_MOST && UNPACK_TABLES_BYTES >= (3 + IMAGE_RAM_MOST / 0x200000) * PAGE,
       "the unpacking has too little room for page tables")
/* The linker would put its veneers for the Cortex-A53 (Makefile) after the head. A head within one page needs
 * none. */
ASSERT(image_head_bytes <= PAGE - 8, "the head takes more than a page")
ASSERT((image_end - 1) / 0x40000000 == image_start / 0x40000000, "the image crosses a boundary of 1 GiB")
ASSERT(image_end - image_start <= BOARD_IMAGE_RAM_BYTES,
       "the image takes more RAM than BOARD_IMAGE_RAM_BYTES")
