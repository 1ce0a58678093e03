/* Chooses one offer for each item, within a number of bytes, so that the sum of losses is least.
 * `--type auto` uses this to divide a file's size among its matrices. */
#ifndef INGOT_FLASH_IMAGE_PACK_BUDGET_H
#define INGOT_FLASH_IMAGE_PACK_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUDGET_MOST_OFFERS = 16 };

struct budget_item {
    struct {
        uint64_t bytes;
        double loss; /* at least 0, finite */
    } offers[BUDGET_MOST_OFFERS];
    unsigned n; /* at least 1 */
    unsigned chosen;
};

/* Set `chosen` of each item. The sum of losses is the least possible if `bytes` meets a point of
 * the convex hull of all sums; otherwise it exceeds the least by less than the difference between
 * one item's offers. Equal input gives equal choices on every machine. False if even the smallest
 * offers, which are then chosen, take more than `bytes`. */
bool budget_choose(struct budget_item *items, size_t n, uint64_t bytes);

/* The sums of the chosen offers. */
uint64_t budget_bytes(const struct budget_item *items, size_t n);
double budget_loss(const struct budget_item *items, size_t n);

#endif
