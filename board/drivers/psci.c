#include "board/drivers/psci.h"

#include <string.h>

/* Function ids, DEN 0022, section 5.1. */
#define PSCI_SYSTEM_OFF   0x84000008u
#define PSCI_SYSTEM_RESET 0x84000009u
#define PSCI_CPU_ON_64    0xc4000003u

/* SMC Calling Convention (DEN 0028): x0 to x17 are lost. */
static int64_t psci_call(const struct psci *psci, uint64_t function, uint64_t a, uint64_t b,
                         uint64_t c)
{
    register uint64_t x0 __asm__("x0") = function;
    register uint64_t x1 __asm__("x1") = a;
    register uint64_t x2 __asm__("x2") = b;
    register uint64_t x3 __asm__("x3") = c;

#define PSCI_LOST "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", \
                  "x16", "x17", "memory"
    if (psci->conduit == PSCI_HVC)
        __asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::PSCI_LOST);
    else
        __asm__ volatile("smc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::PSCI_LOST);
#undef PSCI_LOST
    return (int64_t)x0;
}

enum err psci_init(struct psci *psci, const struct device_tree *tree)
{
    struct device_tree_node node;
    const char *method;

    psci->conduit = PSCI_NONE;
    device_tree_begin(&node);
    if (!device_tree_next_compatible(tree, &node, "arm,psci-0.2")) {
        device_tree_begin(&node);
        if (!device_tree_next_compatible(tree, &node, "arm,psci-1.0"))
            return ERR_NO_DEVICE;
    }
    method = device_tree_string(tree, &node, "method");
    if (method != NULL && strcmp(method, "hvc") == 0)
        psci->conduit = PSCI_HVC;
    else if (method != NULL && strcmp(method, "smc") == 0)
        psci->conduit = PSCI_SMC;
    return psci->conduit == PSCI_NONE ? ERR_UNSUPPORTED : ERR_OK;
}

enum err psci_core_on(const struct psci *psci, uint64_t mpidr, uintptr_t entry, uint64_t context)
{
    if (psci->conduit == PSCI_NONE || psci_call(psci, PSCI_CPU_ON_64, mpidr, entry, context) != 0)
        return ERR_NO_DEVICE;
    return ERR_OK;
}

void psci_system_off(const struct psci *psci)
{
    if (psci->conduit != PSCI_NONE)
        (void)psci_call(psci, PSCI_SYSTEM_OFF, 0, 0, 0);
}

void psci_system_reset(const struct psci *psci)
{
    if (psci->conduit != PSCI_NONE)
        (void)psci_call(psci, PSCI_SYSTEM_RESET, 0, 0, 0);
}
