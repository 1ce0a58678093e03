#include "board/drivers/soc/semihosting.h"

#include <stdint.h>

/* Arm Semihosting for AArch32 and AArch64, SYS_EXIT_EXTENDED: two words, reason and status. */
enum { SYS_EXIT_EXTENDED = 0x20, STOPPED_BY_EXIT = 0x20026 };

void semihosting_exit(int status)
{
    const uint64_t words[2] = { STOPPED_BY_EXIT, (uint64_t)status };
    register uint64_t a0 __asm__("a0") = SYS_EXIT_EXTENDED;
    register const uint64_t *a1 __asm__("a1") = words;

    /* The call is these three instructions, uncompressed and on one page. If nobody listens, ebreak
     * traps, and the core continues at label 1. */
    __asm__ volatile("la t0, 1f\n\t"
                     "csrw stvec, t0\n\t"
                     ".option push\n\t"
                     ".option norvc\n\t"
                     ".balign 16\n\t"
                     "slli x0, x0, 0x1f\n\t"
                     "ebreak\n\t"
                     "srai x0, x0, 7\n\t"
                     ".balign 4\n"
                     "1:\n\t"
                     ".option pop\n\t"
                     "csrw sie, zero\n"
                     "2:\n\t"
                     "wfi\n\t"
                     "j 2b"
                     :
                     : "r"(a0), "r"(a1), "m"(words)
                     : "t0", "memory");
    __builtin_unreachable();
}
