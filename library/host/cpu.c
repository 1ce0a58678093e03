/* CPU features under an operating system, which reports them. */
#include "library/library.h"

#include "board/host/host_cpu.h"

uint32_t library_cpu_features(bool privileged)
{
    (void)privileged;
    return host_cpu_features();
}

const struct kernel_tuning *library_cpu_tuning(void)
{
    return host_cpu_tuning();
}
