#include "board/drivers/soc/sbi_call.h"

/* a7 is the extension, a6 the function; a0 returns the error, a1 the value; other registers
 * stay. */
struct sbi_result sbi_call(uint64_t extension, uint64_t function, uint64_t arg0, uint64_t arg1,
                           uint64_t arg2, uint64_t arg3)
{
    register uint64_t a0 __asm__("a0") = arg0;
    register uint64_t a1 __asm__("a1") = arg1;
    register uint64_t a2 __asm__("a2") = arg2;
    register uint64_t a3 __asm__("a3") = arg3;
    register uint64_t a6 __asm__("a6") = function;
    register uint64_t a7 __asm__("a7") = extension;

    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a3), "r"(a6), "r"(a7) : "memory");
    return (struct sbi_result){ (int64_t)a0, a1 };
}
