/* Entries into C: from the firmware on the first core, and from MP services on the other cores. The firmware calls us
 * in long mode, on its own page tables (UEFI 2.10, 2.3.4). Volumes are those of Intel's Software Developer's Manual. */
    .intel_syntax noprefix
#include "boot/stacks.h"

#define CR0_NO_FPU      (1 << 2 | 1 << 3) /* EM, TS: volume 3, 2.5 */
#define CR0_MP          (1 << 1)
#define CR4_WANTED      (1 << 9 | 1 << 10 | 1 << 18) /* OSFXSR, OSXMMEXCPT, OSXSAVE */
#define XCR0_AVX        7               /* x87, SSE, AVX: volume 1, 13.3 */
#define XCR0_AVX512     0xe0            /* AVX-512's masks, upper halves, upper registers */
#define LEAF1_WANTED    (1 << 12 | 1 << 26 | 1 << 28 | 1 << 29) /* FMA, XSAVE, AVX, F16C: volume 2, CPUID */
#define LEAF7_WANTED    (1 << 3 | 1 << 5 | 1 << 8)              /* BMI1, AVX2, BMI2 */
#define LEAF81_WANTED   (1 << 5)                                /* LZCNT */
#define LEAF7_AVX512F   (1 << 16)
#define TABLE_OUT       64              /* struct efi_system_table, out */
#define OUT_STRING      8               /* struct efi_text_output, output_string */
#define TABLE_BOOT      96              /* struct efi_system_table, boot */
#define BOOT_STALL      248             /* struct efi_boot_services, stall */
#define READ_MICROS     15000000        /* how long the error message stays: it says so */

    .section .text.efi_entry, "ax"
    .globl  efi_entry
    .type   efi_entry, @function
/* rcx: our image's handle, rdx: the system table; we are on the firmware's stack. On a CPU
 * without the instructions that the kernels require, print an error message, wait, because the
 * firmware may clear the display, and return to the firmware. */
efi_entry:
    push    rbx
    push    r12
    push    r13
    mov     r12, rcx
    mov     r13, rdx
    mov     eax, 1
    cpuid
    and     ecx, LEAF1_WANTED
    cmp     ecx, LEAF1_WANTED
    jne     1f
    mov     eax, 7
    xor     ecx, ecx
    cpuid
    and     ebx, LEAF7_WANTED
    cmp     ebx, LEAF7_WANTED
    jne     1f
    mov     eax, 0x80000001
    cpuid
    test    ecx, LEAF81_WANTED
    jz      1f
    call    vectors_enable
    lea     rsp, [rip + stacks_start + STACK_CORE0_TOP]
    call    core_fp_init
    mov     rdi, r12
    mov     rsi, r13
    xor     ebp, ebp                    // a backtrace ends here
    push    rbp
    jmp     efi_start
1:  mov     rcx, [r13 + TABLE_OUT]      // print the error message, and return to the firmware
    sub     rsp, 32
    test    rcx, rcx
    jz      2f
    lea     rdx, [rip + too_old]
    call    [rcx + OUT_STRING]
    mov     rax, [r13 + TABLE_BOOT]
    mov     ecx, READ_MICROS
    call    [rax + BOOT_STALL]
2:  add     rsp, 32
    pop     r13
    pop     r12
    pop     rbx
    mov     eax, 3                      // EFI_UNSUPPORTED
    bts     rax, 63
    ret
    .size   efi_entry, . - efi_entry

    .section .text.vectors_enable, "ax"
    .type   vectors_enable, @function
/* Switch on the vector registers of this core: AVX, and AVX-512 if the CPU has it. Clobbers rax, rbx, rcx, rdx, r8. */
vectors_enable:
    mov     rax, cr0
    and     rax, ~CR0_NO_FPU
    or      rax, CR0_MP
    mov     cr0, rax
    mov     rax, cr4
    or      rax, CR4_WANTED
    mov     cr4, rax
    mov     eax, 7
    xor     ecx, ecx
    cpuid
    mov     r8d, XCR0_AVX
    test    ebx, LEAF7_AVX512F
    jz      1f
    mov     eax, 13
    xor     ecx, ecx
    cpuid                               // eax: bits that XCR0 supports
    and     eax, XCR0_AVX512
    cmp     eax, XCR0_AVX512
    jne     1f
    or      r8d, XCR0_AVX512
1:  mov     eax, r8d
    xor     edx, edx
    xor     ecx, ecx
    xsetbv
    ret
    .size   vectors_enable, . - vectors_enable

    .section .text.core_begin, "ax"
    .globl  core_begin
    .type   core_begin, @function
/* rcx: the core's number. MP services call this procedure on a stack of the firmware. It never returns. */
core_begin:
    cli
    mov     r12, rcx
    call    vectors_enable
    imul    rax, r12, STACK_GUARD + STACK_OTHER
    lea     rsp, [rip + stacks_start + STACK_OTHER_TOP(0)]
    add     rsp, rax
    mov     rdi, r12
    xor     ebp, ebp
    push    rbp
    jmp     core_start
    .size   core_begin, . - core_begin

    .section .rodata.too_old, "a"
    .balign 2
too_old:
    .string16 "Ingot needs a CPU with AVX2, FMA, F16C, BMI2 and LZCNT: Intel since 2013, AMD since 2015. The firmware continues in 15 seconds.\r\n"

    .section .note.GNU-stack, "", @progbits
