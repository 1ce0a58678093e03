#include "board/drivers/bus/tree_pci.h"

struct pci_ecam *tree_pci(const struct device_tree *tree)
{
    static struct pci_ecam pci;
    static bool looked, found;

    if (!looked)
        found = pci_ecam_find(&pci, tree) == ERR_OK;
    looked = true;
    return found ? &pci : NULL;
}
