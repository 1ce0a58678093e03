// Kernels that break one rule of the ABI each and do nothing else; see broken.c.
#include "kernels/arm64/asm.h"

func broken_saved
    add     x27, x27, #1
    ret
endfunc broken_saved

func broken_saved_float
    fmov    d11, #1.0
    ret
endfunc broken_saved_float

func broken_stack
    sub     sp, sp, #16
    ret
endfunc broken_stack

func broken_control
    mov     x9, #1 << 22            // FPCR.RMode: towards plus infinity
    msr     fpcr, x9
    ret
endfunc broken_control

func broken_platform
    mov     x18, #0
    ret
endfunc broken_platform
