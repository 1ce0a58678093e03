/* Nodes of memory (NUMA): if a machine has several, each core reaches one of them faster. */
#ifndef INGOT_BOARD_EFI_EFI_NUMA_H
#define INGOT_BOARD_EFI_EFI_NUMA_H

#include "board/device_tree.h"

/* The number of nodes with memory, from numa-node-id of the tree's memory (its blob may be NULL), else from ACPI's SRAT (6.4, 5.2.16);
 * rsdp: the table from EFI, or NULL. 1 if neither gives it; at most 64 are counted. */
unsigned efi_numa_nodes(const struct device_tree *tree, const void *rsdp);

#endif
