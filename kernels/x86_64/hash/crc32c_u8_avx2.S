// void crc32c_u8_avx2(uint32_t *crc, const void *data, size_t n)
//
// rdi crc; rsi data; rdx n.
// Clobbers rax, rdx, rsi.
//
// Uses the crc32 instruction of SSE4.2, which every CPU with AVX2 has. Each instruction waits for
// the previous one, so 8 bytes take 3 cycles, the latency of crc32.
#include "kernels/x86_64/asm.h"

func crc32c_u8_avx2
    mov     eax, [rdi]
1:  sub     rdx, 8
    jb      2f
    crc32   rax, qword ptr [rsi]
    add     rsi, 8
    jmp     1b
2:  add     rdx, 8
    jz      4f
3:  crc32   eax, byte ptr [rsi]
    inc     rsi
    dec     rdx
    jnz     3b
4:  mov     [rdi], eax
endfunc crc32c_u8_avx2
