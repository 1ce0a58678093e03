/* Each byte has a price (Lagrange's multiplier), and each item takes the offer with the least sum
 * of loss and price. Bisection finds the lowest price at which all items fit. Remaining bytes go to
 * single better offers, best ratio first. If one item is much larger than the others, many bytes
 * would remain, so each of its offers is tried. */
#include "flash_image/pack/pack_budget.h"

#include <math.h>

#define LEAST_PRICE 1e-30 /* loss per byte */
#define HIGHEST_PRICE 1e+30
enum { HALVINGS = 120 }; /* halvings of the exponent's range, enough for a double's precision */

uint64_t budget_bytes(const struct budget_item *items, size_t n)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < n; i++) {
        bytes += items[i].offers[items[i].chosen].bytes;
    }
    return bytes;
}

double budget_loss(const struct budget_item *items, size_t n)
{
    double loss = 0;

    for (size_t i = 0; i < n; i++) {
        loss += items[i].offers[items[i].chosen].loss;
    }
    return loss;
}

/* Instead of an item's number: no item keeps its choice. */
enum { NOBODY = -1 };

static void choose_smallest(struct budget_item *item)
{
    item->chosen = 0;
    for (unsigned k = 1; k < item->n; k++) {
        uint64_t least = item->offers[item->chosen].bytes;

        if (item->offers[k].bytes < least ||
            (item->offers[k].bytes == least &&
             item->offers[k].loss < item->offers[item->chosen].loss)) {
            item->chosen = k;
        }
    }
}

static void choose_by_price(struct budget_item *item, double price)
{
    double least = INFINITY;

    for (unsigned k = 0; k < item->n; k++) {
        double cost = item->offers[k].loss + price * (double)item->offers[k].bytes;

        if (cost < least) {
            least = cost;
            item->chosen = k;
        }
    }
}

static void choose_all_by_price(struct budget_item *items, size_t n, long kept, double price)
{
    for (size_t i = 0; i < n; i++) {
        if ((long)i != kept) {
            choose_by_price(&items[i], price);
        }
    }
}

/* Return the loss that offer k saves per additional byte; 0 if it does not fit, or does not save
 * any. */
static double gain(const struct budget_item *item, unsigned k, uint64_t left)
{
    uint64_t now = item->offers[item->chosen].bytes, then = item->offers[k].bytes;
    double saved = item->offers[item->chosen].loss - item->offers[k].loss;

    if (!(saved > 0) || (then > now && then - now > left)) {
        return 0;
    }
    return then > now ? saved / (double)(then - now) : INFINITY;
}

/* Spend the remaining bytes on better offers while one fits. */
static void fill(struct budget_item *items, size_t n, long kept, uint64_t bytes)
{
    for (;;) {
        uint64_t left = bytes - budget_bytes(items, n);
        struct budget_item *best = NULL;
        unsigned offer = 0;
        double most = 0;

        for (size_t i = 0; i < n; i++) {
            for (unsigned k = 0; (long)i != kept && k < items[i].n; k++) {
                double g = gain(&items[i], k, left);

                if (g > most) {
                    most = g;
                    best = &items[i];
                    offer = k;
                }
            }
        }
        if (best == NULL) {
            return;
        }
        best->chosen = offer;
    }
}

/* Choose for all items except `kept`, whose choice stays. False: the smallest offers do not fit. */
static bool choose_others(struct budget_item *items, size_t n, long kept, uint64_t bytes)
{
    double low = LEAST_PRICE, high = HIGHEST_PRICE;

    for (size_t i = 0; i < n; i++) {
        if ((long)i != kept) {
            choose_smallest(&items[i]);
        }
    }
    if (budget_bytes(items, n) > bytes) {
        return false;
    }
    for (int i = 0; i < HALVINGS; i++) {
        double middle = sqrt(low * high); /* gives the same bits everywhere, unlike exp and log */

        choose_all_by_price(items, n, kept, middle);
        if (budget_bytes(items, n) > bytes) {
            low = middle;
        } else {
            high = middle;
        }
    }
    choose_all_by_price(items, n, kept, high);
    fill(items, n, kept, bytes);
    return true;
}

static uint64_t most_bytes(const struct budget_item *item)
{
    uint64_t most = 0;

    for (unsigned k = 0; k < item->n; k++) {
        most = item->offers[k].bytes > most ? item->offers[k].bytes : most;
    }
    return most;
}

static size_t largest(const struct budget_item *items, size_t n)
{
    size_t found = 0;

    for (size_t i = 1; i < n; i++) {
        if (most_bytes(&items[i]) > most_bytes(&items[found])) {
            found = i;
        }
    }
    return found;
}

bool budget_choose(struct budget_item *items, size_t n, uint64_t bytes)
{
    size_t big;
    unsigned best = 0;
    double least = INFINITY;

    if (n == 0) {
        return true;
    }
    big = largest(items, n);
    for (unsigned k = 0; k < items[big].n; k++) {
        items[big].chosen = k;
        if (choose_others(items, n, (long)big, bytes) && budget_loss(items, n) < least) {
            least = budget_loss(items, n);
            best = k;
        }
    }
    if (least == INFINITY) {
        (void)choose_others(items, n, NOBODY, bytes);
        return false;
    }
    items[big].chosen = best;
    return choose_others(items, n, (long)big, bytes);
}
