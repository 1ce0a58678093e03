/* newlib's assert() calls this function. Without an operating system the library has its own, so
 * that its caller need not provide one. A failed assertion is a bug of the library. */
#include <assert.h>

/* newlib's assert.h declares this only if assertions are on. */
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
