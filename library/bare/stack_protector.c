/* The functions that the compiler calls for arrays on the stack. The canary is not random:
 * the program's runtime may choose its own. The canary has bytes that end strings (0, LF, 0xff), so
 * that no string can write it. */
#include <stdint.h>

extern const uintptr_t __stack_chk_guard;
void __stack_chk_fail(void) __attribute__((noreturn));

const uintptr_t __stack_chk_guard = (uintptr_t)0x000aff0d000aff00u;

/* Nothing can be reported from an overwritten stack, so trap to the program's handler. */
void __stack_chk_fail(void)
{
    __builtin_trap();
}
