/* The functions that the compiler calls for arrays on the stack. A library draws no canary: the program's own runtime
 * may have one, and the value here is the terminator's, which no string can write: 0, LF, 0xff. */
#include <stdint.h>

extern const uintptr_t __stack_chk_guard;
void __stack_chk_fail(void) __attribute__((noreturn));

const uintptr_t __stack_chk_guard = (uintptr_t)0x000aff0d000aff00u;

/* Nothing can be reported from a stack that was written over: the program's trap handler is next. */
void __stack_chk_fail(void)
{
    __builtin_trap();
}
