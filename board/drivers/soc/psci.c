#include "board/drivers/soc/psci.h"

#include <string.h>

#include "board/board.h"
#include "board/drivers/irq/gic.h"
#include "board/drivers/serial/serial.h"
#include "board/drivers/soc/psci_call.h"
#include "board/isa.h"
#include "board/min_max.h"

/* Function ids, DEN 0022, section 5.1. */
#define PSCI_SYSTEM_OFF 0x84000008u
#define PSCI_SYSTEM_RESET 0x84000009u
#define PSCI_CPU_ON_64 0xc4000003u

static struct psci {
    enum psci_conduit conduit;
    struct psci_core {
        void (*entry)(void *arg);
        void *arg;
    } cores[BOARD_MAX_CORES];
    uint64_t ids[BOARD_MAX_CORES]; /* MPIDR affinities by core number */
    unsigned n_cores;
} psci;

static int64_t call(uint64_t function, uint64_t a, uint64_t b, uint64_t c)
{
    return psci_call(psci.conduit == PSCI_HVC, function, a, b, c);
}

static void read_conduit(const struct device_tree *tree)
{
    struct device_tree_node node;
    const char *method;

    device_tree_begin(&node);
    if (!device_tree_next_compatible(tree, &node, "arm,psci-0.2")) {
        device_tree_begin(&node);
        if (!device_tree_next_compatible(tree, &node, "arm,psci-1.0"))
            return;
    }
    method = device_tree_string(tree, &node, "method");
    if (method != NULL && strcmp(method, "hvc") == 0)
        psci.conduit = PSCI_HVC;
    else if (method != NULL && strcmp(method, "smc") == 0)
        psci.conduit = PSCI_SMC;
}

void psci_init(const struct device_tree *tree)
{
    if (tree->blob == NULL)
        return;
    read_conduit(tree);
    psci.n_cores = device_tree_cpus(tree, core_hardware_id(), psci.ids, BOARD_MAX_CORES);
}

void psci_open(enum psci_conduit conduit, const uint64_t *ids, unsigned n)
{
    psci.conduit = conduit;
    psci.n_cores = min_u32(n, BOARD_MAX_CORES);
    for (unsigned i = 0; i < psci.n_cores; i++)
        psci.ids[i] = ids[i];
}

bool psci_is_there(void)
{
    return psci.conduit != PSCI_NONE;
}

static void core_main(void *arg)
{
    const struct psci_core *core = arg;

    gic_listen();
    core->entry(core->arg);
}

enum err psci_start_core(unsigned core, void (*entry)(void *arg), void *arg)
{
    uintptr_t start;

    if (core == 0 || core >= psci.n_cores)
        return ERR_NO_DEVICE;
    psci.cores[core] = (struct psci_core){ entry, arg };
    /* The entry must be in memory before the firmware starts the core there. */
    start = core_prepare(core, core_main, &psci.cores[core]);
    if (psci.conduit != PSCI_NONE && call(PSCI_CPU_ON_64, psci.ids[core], start, core) != 0)
        return ERR_NO_DEVICE;
    return ERR_OK;
}

/* Call a function that ends the machine; returns if the firmware cannot do it, or if there is no
 * PSCI. */
static void end(uint64_t function)
{
    serial_drain();
    if (psci.conduit != PSCI_NONE)
        (void)call(function, 0, 0, 0);
}

void psci_restart(void)
{
    end(PSCI_SYSTEM_RESET);
}

_Noreturn void psci_power_off(int status)
{
    (void)status; /* PSCI has no reason code */
    end(PSCI_SYSTEM_OFF);
    core_halt();
}
