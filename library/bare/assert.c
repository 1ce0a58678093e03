/* Without an operating system: the function that newlib's assert() calls, so that the library
 * does not ask its caller for one. An assertion that fails is a bug of the library. */
#include <assert.h>

/* Declared by newlib's assert.h only where assertions are on. */
void __assert_func(const char *file, int line, const char *function, const char *expression)
    __attribute__((noreturn));

void __assert_func(const char *file, int line, const char *function, const char *expression)
{
    (void)file;
    (void)line;
    (void)function;
    (void)expression;
    __builtin_trap();
}
