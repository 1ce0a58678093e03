// panel_rows of panel_neon.h for a source of fp16; score_f32_f16_neon and
// accumulate_f32_f16_neon call it. This file is not a kernel and follows no calling
// convention: the caller sets the registers of panel_neon.h and leaves 4 KiB from sp on for
// the strip.
//
// x25 start_factor, the offset of the factor for start values in a row at mult_row; 0 if
// there is none.
// Clobbers what panel_neon.h says.
#include "kernels/arm64/attention/panel_neon.h"

.macro load_source
    load_halves
.endm

.macro start_row mult, a, b, c, e
    ld1     {\a\().4s, \b\().4s, \c\().4s, \e\().4s}, [start], start_stride
    cbz     start_factor, .Lstarted\@
    ldr     s7, [\mult, start_factor]
    fmul    \a\().4s, \a\().4s, v7.s[0]
    fmul    \b\().4s, \b\().4s, v7.s[0]
    fmul    \c\().4s, \c\().4s, v7.s[0]
    fmul    \e\().4s, \e\().4s, v7.s[0]
.Lstarted\@:
.endm

func panel_f16_neon
    panel_rows
    ret
endfunc panel_f16_neon
