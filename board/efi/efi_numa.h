/* Counts the nodes of memory (NUMA): if there are several, each core reaches one of them faster. */
#ifndef INGOT_BOARD_EFI_EFI_NUMA_H
#define INGOT_BOARD_EFI_EFI_NUMA_H

#include "board/device_tree.h"

/* Return the number of nodes with memory, at most 64: from numa-node-id of the tree's memory
 * (tree->blob may be NULL), else from ACPI's SRAT (6.4, 5.2.16), else 1. rsdp: the table from EFI,
 * or NULL. */
unsigned efi_numa_nodes(const struct device_tree *tree, const void *rsdp);

#endif
