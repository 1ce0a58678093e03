/* A list of adapters to use: "NAME", "NAME:0.5", "ONE:0.8,OTHER". */
#ifndef INGOT_RUNTIME_ADAPTER_LIST_H
#define INGOT_RUNTIME_ADAPTER_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum { ADAPTER_LIST_MOST = 4, ADAPTER_LIST_BYTES = 256 };

struct adapter_list {
    uint32_t n;
    struct {
        char name[ADAPTER_LIST_BYTES]; /* not empty, no comma and no colon */
        float scale;                   /* within +-100 */
    } items[ADAPTER_LIST_MOST];
};

/* Read text, NUL-terminated and shorter than ADAPTER_LIST_BYTES; "" and "off" are empty lists.
 * Returns false if the list is malformed or names an adapter twice. */
bool adapter_list_read(struct adapter_list *list, const char *text);

#endif
