/* Reader of flattened device trees (Devicetree Specification 0.4, chapter 5; version 17, last
 * compatible version 16). The blob is checked once when it is opened and never written; nothing
 * is copied, strings and values point into the blob. No state, no allocation, no recursion. */
#ifndef INGOT_BOARD_DEVICE_TREE_H
#define INGOT_BOARD_DEVICE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum {
    DEVICE_TREE_MAX_BYTES = 2 * 1024 * 1024, /* a larger blob is refused */
    DEVICE_TREE_MAX_DEPTH = 16,              /* levels of nodes, the root included */
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

/* A cursor on one node. level[0] is the root, level[depth] the node itself: the way up is kept
 * because a node's reg is decoded with its parents' cells and ranges. */
struct device_tree_node {
    const char *name; /* with its unit address: "memory@40000000"; "" for the root */
    int depth;        /* -1 before the first device_tree_next */
    struct {
        uint32_t properties;                /* offset of the first token inside the node */
        uint32_t address_cells, size_cells; /* for children; 2 and 1 if the node does not say */
    } level[DEVICE_TREE_MAX_DEPTH];
    uint32_t next; /* offset of the first token that the cursor has not passed */
};

/* Whether the blob begins as a device tree does, of whatever size. Reads as device_tree_bytes. */
bool device_tree_is_one(const void *blob);

/* The size that the blob's header claims, or 0 where it is not a device tree or too large. Reads
 * DEVICE_TREE_HEADER_BYTES bytes. */
size_t device_tree_bytes(const void *blob);

/* Check the blob, of which `bytes` may be read, from end to end and fill *tree.
 * ERR_BAD_MAGIC, ERR_BAD_VERSION, ERR_TRUNCATED: larger than `bytes`; ERR_BAD_HEADER: the header
 * or any token is out of bounds, or the tree too deep. */
enum err device_tree_open(struct device_tree *tree, const void *blob, size_t bytes);

/* Copy the used part of the blob, without the room that firmware leaves at its end, to `to`,
 * which has `bytes` bytes and may not overlap it. The copy is a valid blob of its size.
 * ERR_NO_SPACE. */
enum err device_tree_copy(const struct device_tree *tree, void *to, size_t bytes);

/* Put the cursor before the root. */
void device_tree_begin(struct device_tree_node *node);

/* Step to the next node in the order of the blob, parents before children; false at the end. */
bool device_tree_next(const struct device_tree *tree, struct device_tree_node *node);

/* The next available node whose `compatible` list, or whose device_type, has that string. */
bool device_tree_next_compatible(const struct device_tree *tree, struct device_tree_node *node,
                                 const char *compatible);
bool device_tree_next_type(const struct device_tree *tree, struct device_tree_node *node,
                           const char *type);

/* Go to an absolute path, "/cpus/cpu@0". "@..." may be left out; the path ends before a ":".
 * False: there is no node there. */
bool device_tree_find(const struct device_tree *tree, struct device_tree_node *node,
                      const char *path);

/* Value of a property of the node and its size, or NULL. */
const uint8_t *device_tree_property(const struct device_tree *tree,
                                    const struct device_tree_node *node, const char *name,
                                    uint32_t *bytes);

/* A property as one number of 4 or 8 bytes. */
bool device_tree_number(const struct device_tree *tree, const struct device_tree_node *node,
                        const char *name, uint64_t *value);

/* A property as a string, NUL inside the value; NULL where it is absent or no string. */
const char *device_tree_string(const struct device_tree *tree, const struct device_tree_node *node,
                               const char *name);

/* Is `text` one of the strings of a list property ("compatible", "riscv,isa-extensions")? */
bool device_tree_lists(const struct device_tree *tree, const struct device_tree_node *node,
                       const char *name, const char *text);

/* status is absent, "okay" or "ok". */
bool device_tree_available(const struct device_tree *tree, const struct device_tree_node *node);

/* Range `index` of the node's reg, as the CPU sees it: cells of the parent, translated through
 * the ranges of all ancestors. size may be NULL. False: the range is missing, not visible to the
 * CPU, or not within 64 bits. */
bool device_tree_reg(const struct device_tree *tree, const struct device_tree_node *node,
                     unsigned index, uint64_t *base, uint64_t *size);

/* Entry `index` of the memory reservation block. */
bool device_tree_reservation(const struct device_tree *tree, unsigned index, uint64_t *base,
                             uint64_t *size);

/* ---- what the tree says about the machine: device_tree_machine.c ---------------------------- */

/* /chosen bootargs, "" if there are none. */
const char *device_tree_bootargs(const struct device_tree *tree);

/* /chosen linux,initrd-start and -end; false: none, or an empty or reversed range. */
bool device_tree_initrd(const struct device_tree *tree, uint64_t *base, uint64_t *size);

/* The node of /chosen stdout-path: a path or an alias, its ":115200" goes to *baud (0: none). */
bool device_tree_console(const struct device_tree *tree, struct device_tree_node *node,
                         uint32_t *baud);

/* The next available cpu node that can work: a RISC-V hart without MMU, FPU or 64 bits cannot. */
bool device_tree_next_cpu(const struct device_tree *tree, struct device_tree_node *node);

/* Hardware ids (MPIDR affinity, hart id) of those cpu nodes, the one that equals `first`
 * in front, otherwise in the order of the blob. Returns how many of them are in ids[0 .. max). */
unsigned device_tree_cpus(const struct device_tree *tree, uint64_t first, uint64_t *ids,
                          unsigned max);

/* How many of those cpu nodes there are. */
unsigned device_tree_n_cpus(const struct device_tree *tree);

/* capacity[0 .. n) = relative speed of each of the cores `ids`, at least 1: capacity-dmips-mhz,
 * times the highest clock if each has a clock-frequency. All are 0 if a core lacks it, because then
 * nothing can be compared. Source: devicetree binding cpu/cpu-capacity. */
void device_tree_capacities(const struct device_tree *tree, const uint64_t *ids, unsigned n,
                            uint32_t *capacity);

/* cache-size of the first node whose cache-level is 2, bytes; 0: there is none, or it is above SIZE_MAX.
 * Source: Devicetree Specification, "Multi-level and Shared Cache Nodes". */
size_t device_tree_cache(const struct device_tree *tree);

/* timebase-frequency of /cpus or of the first cpu node that has one; 0: none. */
uint64_t device_tree_timebase(const struct device_tree *tree);

#endif
