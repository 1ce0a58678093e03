/* Reader of flattened device trees (Devicetree Specification 0.4, chapter 5; version 17, last
 * compatible version 16). The blob is checked once, when it is opened, and never written. Strings
 * and values are not copied: they point into the blob. No state, no allocation, no recursion. */
#ifndef INGOT_BOARD_DEVICE_TREE_H
#define INGOT_BOARD_DEVICE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum {
    DEVICE_TREE_MAX_BYTES = 2 * 1024 * 1024, /* the largest blob that is read */
    DEVICE_TREE_MAX_DEPTH = 16,              /* levels of nodes, including the root */
    DEVICE_TREE_HEADER_BYTES = 40,
};

/* An open tree; all offsets are from blob and were checked against total_bytes. */
struct device_tree {
    const uint8_t *blob;
    uint32_t total_bytes;
    uint32_t structure, structure_end;
    uint32_t strings, strings_end;
    uint32_t reservations;
};

/* A cursor on one node. level[0] is the root, level[depth] the node itself. The levels between are
 * kept because a node's reg is decoded with its parents' cells and ranges. */
struct device_tree_node {
    const char *name; /* with its unit address: "memory@40000000"; "" for the root */
    int depth;        /* -1 before the first device_tree_next */
    struct {
        uint32_t properties;                /* offset of the first token inside the node */
        uint32_t address_cells, size_cells; /* cells of an address and a size in the children's reg;
                                               2 and 1 if the node does not give them */
    } level[DEVICE_TREE_MAX_DEPTH];
    uint32_t next; /* offset of the first token after the cursor */
};

/* True if the blob begins as a device tree does, whatever its size. Reads 4 bytes. */
bool device_tree_is_one(const void *blob);

/* The size that the blob's header claims; 0 if it is not a device tree, or too large. Reads at most
 * DEVICE_TREE_HEADER_BYTES bytes. */
size_t device_tree_bytes(const void *blob);

/* Check the whole blob and fill *tree; at most `bytes` bytes of the blob are read. ERR_BAD_MAGIC;
 * ERR_BAD_VERSION; ERR_TRUNCATED: the blob is larger than `bytes`; ERR_BAD_HEADER: the header or a
 * token is out of bounds, or the tree is too deep. */
enum err device_tree_open(struct device_tree *tree, const void *blob, size_t bytes);

/* Copy the used part of the blob to `to`, which has `bytes` bytes and must not overlap the blob.
 * The space that firmware leaves at the blob's end is not copied; the copy is a valid blob of its
 * own size. ERR_NO_SPACE. */
enum err device_tree_copy(const struct device_tree *tree, void *to, size_t bytes);

/* Put the cursor before the root. */
void device_tree_begin(struct device_tree_node *node);

/* Step to the next node in the order of the blob, parents before children; false at the end. */
bool device_tree_next(const struct device_tree *tree, struct device_tree_node *node);

/* Step to the next available node whose `compatible` list has that string, or (second function)
 * whose device_type is that string. */
bool device_tree_next_compatible(const struct device_tree *tree, struct device_tree_node *node,
                                 const char *compatible);
bool device_tree_next_type(const struct device_tree *tree, struct device_tree_node *node,
                           const char *type);

/* Go to an absolute path such as "/cpus/cpu@0"; "@..." may be left out, and a ":" ends the path.
 * Returns false if there is no node there. */
bool device_tree_find(const struct device_tree *tree, struct device_tree_node *node,
                      const char *path);

/* Find a property of the node: return its value and store its size; NULL if there is none. */
const uint8_t *device_tree_property(const struct device_tree *tree,
                                    const struct device_tree_node *node, const char *name,
                                    uint32_t *bytes);

/* Read a property as one number of 4 or 8 bytes. */
bool device_tree_number(const struct device_tree *tree, const struct device_tree_node *node,
                        const char *name, uint64_t *value);

/* Read a property as a string that ends inside the value; NULL if it is absent or not a string. */
const char *device_tree_string(const struct device_tree *tree, const struct device_tree_node *node,
                               const char *name);

/* True if `text` is one of the strings of a list property ("compatible",
 * "riscv,isa-extensions"). */
bool device_tree_lists(const struct device_tree *tree, const struct device_tree_node *node,
                       const char *name, const char *text);

/* True if the node's status is absent, "okay" or "ok". */
bool device_tree_available(const struct device_tree *tree, const struct device_tree_node *node);

/* Read range `index` of the node's reg, and translate it through the ranges of all ancestors into
 * the CPU's addresses. size may be NULL. Returns false if the range is missing, invisible to the
 * CPU, or beyond 64 bits. */
bool device_tree_reg(const struct device_tree *tree, const struct device_tree_node *node,
                     unsigned index, uint64_t *base, uint64_t *size);

/* Read entry `index` of the memory reservation block. */
bool device_tree_reservation(const struct device_tree *tree, unsigned index, uint64_t *base,
                             uint64_t *size);

/* ---- what the tree says about the machine: device_tree_machine.c ---------------------------- */

/* Return /chosen bootargs; "" if there are none. */
const char *device_tree_bootargs(const struct device_tree *tree);

/* Read /chosen linux,initrd-start and -end; false if they are absent, empty or reversed. */
bool device_tree_initrd(const struct device_tree *tree, uint64_t *base, uint64_t *size);

/* Go to the node that /chosen stdout-path names by a path or an alias; store the rate that follows
 * a colon (":115200") in *baud, or 0 if there is none. */
bool device_tree_console(const struct device_tree *tree, struct device_tree_node *node,
                         uint32_t *baud);

/* Step to the next available cpu node that can work; a RISC-V hart without MMU, FPU or 64 bits
 * cannot. */
bool device_tree_next_cpu(const struct device_tree *tree, struct device_tree_node *node);

/* List the hardware ids (MPIDR affinity, hart id) of these cpu nodes in ids[0 .. max): `first`,
 * then the others in the order of the blob. Returns their number. */
unsigned device_tree_cpus(const struct device_tree *tree, uint64_t first, uint64_t *ids,
                          unsigned max);

/* Return the number of available cpu nodes that can work. */
unsigned device_tree_n_cpus(const struct device_tree *tree);

/* Set capacity[0 .. n) to the relative speeds of the cores `ids`, each at least 1. A speed is
 * capacity-dmips-mhz, multiplied by the clock if every core has a clock-frequency. If a core lacks
 * capacity-dmips-mhz, all are 0, because then nothing can be compared. Source: devicetree binding
 * cpu/cpu-capacity. */
void device_tree_capacities(const struct device_tree *tree, const uint64_t *ids, unsigned n,
                            uint32_t *capacity);

/* Return cache-size, in bytes, of the first node with cache-level 2; 0 if absent or above SIZE_MAX.
 * Source: Devicetree Specification, "Multi-level and Shared Cache Nodes". */
size_t device_tree_cache(const struct device_tree *tree);

/* Return timebase-frequency of /cpus or of the first cpu node that has it; 0 if there is none. */
uint64_t device_tree_timebase(const struct device_tree *tree);

#endif
