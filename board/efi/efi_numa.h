/* Nodes of memory: of a machine with several, each core reaches one of them faster (NUMA). */
#ifndef INGOT_BOARD_EFI_EFI_NUMA_H
#define INGOT_BOARD_EFI_EFI_NUMA_H

#include "board/device_tree.h"

/* How many nodes have memory, by numa-node-id of the tree's memory (its blob may be NULL), else by ACPI's SRAT (6.4, 5.2.16); rsdp: the
 * table that EFI gives, or NULL. 1 if neither says anything; 64 are counted at most. */
unsigned efi_numa_nodes(const struct device_tree *tree, const void *rsdp);

#endif
