/* The program for EFI; toolchain/make_efi.py makes a PE file from it. The firmware may load the program at
 * any address, because it applies base relocations; make_efi.py makes them from the relocations of the
 * linker. So the link address need not be free memory. Each section has its own pages, so that firmware may
 * map each with its own rights.
 *
 *   image_start  header    the PE header, which is not used.
 *                text      read, execute.
 *                rodata    read.
 *                data      read, write; then bss and the stacks, which the firmware clears.
 *   image_end
 *
 * The functions of the firmware also run on the stack of core 0. FIRMWARE_STACK is the
 * space that they need on it (UEFI 2.10, 2.3.2 to 2.3.7: 128 KiB). */
#include "boot/stacks.h"

#define PAGE 4096
#define FIRMWARE_STACK (128 * 1024)
#define IMAGE_LOAD_MOST (1024 * 1024 * 3 / 2) /* text, rodata and data */

ENTRY(efi_entry)

PHDRS
{
    text PT_LOAD FLAGS(5);
    rodata PT_LOAD FLAGS(4);
    data PT_LOAD FLAGS(6);
}

SECTIONS
{
    . = 0x10000000;
    image_start = .;
    . += PAGE;

    .text : {
        text_start = .;
        *(.text .text.*)
        . = ALIGN(PAGE);
    } :text
    text_end = .;
    rodata_start = .;

    .rodata : ALIGN(PAGE) {
        *(.rodata .rodata.* .srodata .srodata.*)
        . = ALIGN(PAGE);
        rodata_end = .;
    } :rodata

    .data : ALIGN(PAGE) {
        data_start = .;
        *(.data .data.*)
        *(.got .got.plt .igot .igot.plt)
        . = ALIGN(16);
        *(.sdata .sdata.*)
        . = ALIGN(64);
        image_file_end = .;
    } :data

    .bss (NOLOAD) : ALIGN(64) {
        bss_start = .;
        *(.sbss .sbss.*)
        *(.bss .bss.* COMMON)
        *(.kept)
        . = ALIGN(PAGE);
        bss_end = .;
        data_end = .;
    } :data

    .stacks (NOLOAD) : ALIGN(PAGE) {
        . += FIRMWARE_STACK;
        stacks_start = .;
        . += STACKS_BYTES;
        stacks_end = .;
    } :data
    image_end = .;

    image_file_limit = IMAGE_LOAD_MOST; /* for `make size` */
    image_device_tree_address = 0;

    /* Constructors and exit handlers would never run: an image that needs one must not link. */
    .init_array : { *(.preinit_array .init_array .init_array.* .ctors .fini_array .dtors) }

    /DISCARD/ : {
        *(.comment .note .note.* .eh_frame .eh_frame_hdr .interp)
    }
}

ASSERT(SIZEOF(.init_array) == 0, "the image has constructors, which nobody calls")
ASSERT(image_file_end - image_start <= IMAGE_LOAD_MOST,
       "text, rodata and data are larger than 1.5 MiB (make size shows what grew)")
