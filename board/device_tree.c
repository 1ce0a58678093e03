#include "board/device_tree.h"

#include <string.h>

#include "board/min_max.h"

/* Devicetree Specification 0.4, sections 5.2 and 5.4. */
enum {
    FDT_MAGIC_VALUE = (int)0xd00dfeedu,
    FDT_OFFSET_TOTAL = 4,
    FDT_OFFSET_STRUCTURE = 8,
    FDT_OFFSET_STRINGS = 12,
    FDT_OFFSET_RESERVATIONS = 16,
    FDT_OFFSET_VERSION = 20,
    FDT_OFFSET_COMPATIBLE_VERSION = 24,
    FDT_OFFSET_STRINGS_BYTES = 32,
    FDT_OFFSET_STRUCTURE_BYTES = 36,
    FDT_VERSION = 17,
    FDT_COMPATIBLE_VERSION = 16,
};

enum { TOKEN_BEGIN_NODE = 1, TOKEN_END_NODE = 2, TOKEN_PROPERTY = 3, TOKEN_NOP = 4, TOKEN_END = 9 };

struct token {
    uint32_t kind;
    uint32_t next;        /* offset of the next token */
    const char *name;     /* name of the node or property */
    const uint8_t *value; /* of the property */
    uint32_t bytes;
};

static uint32_t read_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t read_u64(const uint8_t *p)
{
    return (uint64_t)read_u32(p) << 32 | read_u32(p + 4);
}

/* The string at [at, end); NULL if no NUL ends it there. */
static const char *string_at(const struct device_tree *tree, uint32_t at, uint32_t end)
{
    if (at >= end || memchr(tree->blob + at, '\0', end - at) == NULL)
        return NULL;
    return (const char *)tree->blob + at;
}

static uint32_t align4(uint32_t n)
{
    return (n + 3) & ~3u;
}

static bool property_read(const struct device_tree *tree, uint32_t at, struct token *token)
{
    uint32_t name;

    if (tree->structure_end - at < 12)
        return false;
    token->bytes = read_u32(tree->blob + at + 4);
    name = read_u32(tree->blob + at + 8);
    at += 12;
    if (token->bytes > tree->structure_end - at || name > tree->strings_end - tree->strings)
        return false;
    token->value = tree->blob + at;
    token->name = string_at(tree, tree->strings + name, tree->strings_end);
    token->next = at + align4(token->bytes);
    return token->name != NULL;
}

/* Read the token at `at`; false if it is not within the structure block. Offsets stay under
 * DEVICE_TREE_MAX_BYTES, so the sums here cannot wrap. */
static bool token_read(const struct device_tree *tree, uint32_t at, struct token *token)
{
    if (at > tree->structure_end || tree->structure_end - at < 4)
        return false;
    token->kind = read_u32(tree->blob + at);
    token->next = at + 4;
    switch (token->kind) {
    case TOKEN_BEGIN_NODE:
        token->name = string_at(tree, at + 4, tree->structure_end);
        if (token->name == NULL)
            return false;
        token->next = align4(at + 4 + (uint32_t)strlen(token->name) + 1);
        return true;
    case TOKEN_PROPERTY: return property_read(tree, at, token);
    case TOKEN_END_NODE:
    case TOKEN_NOP:
    case TOKEN_END: return true;
    default: return false;
    }
}

/* Check that nodes are balanced, that properties are only inside nodes and before children, and
 * that there is one root. */
static enum err structure_check(const struct device_tree *tree)
{
    uint32_t at = tree->structure;
    int depth = 0;
    bool root_seen = false, properties_allowed = false;
    struct token token;

    while (token_read(tree, at, &token)) {
        at = token.next;
        switch (token.kind) {
        case TOKEN_BEGIN_NODE:
            if (depth == DEVICE_TREE_MAX_DEPTH || (depth == 0 && root_seen))
                return ERR_BAD_HEADER;
            depth++;
            root_seen = properties_allowed = true;
            break;
        case TOKEN_END_NODE:
            if (depth == 0)
                return ERR_BAD_HEADER;
            depth--;
            properties_allowed = false;
            break;
        case TOKEN_PROPERTY:
            if (!properties_allowed)
                return ERR_BAD_HEADER;
            break;
        case TOKEN_END: return err_unless(depth == 0 && root_seen, ERR_BAD_HEADER);
        default: break;
        }
    }
    return ERR_BAD_HEADER;
}

/* Check that the list ends with a pair of zeros inside the blob. */
static bool reservations_check(const struct device_tree *tree)
{
    uint32_t at = tree->reservations;

    if (at % 8 != 0)
        return false;
    for (; at <= tree->total_bytes && tree->total_bytes - at >= 16; at += 16)
        if (read_u64(tree->blob + at) == 0 && read_u64(tree->blob + at + 8) == 0)
            return true;
    return false;
}

size_t device_tree_bytes(const void *blob)
{
    const uint8_t *header = blob;
    uint32_t total;

    if (read_u32(header) != (uint32_t)FDT_MAGIC_VALUE)
        return 0;
    total = read_u32(header + FDT_OFFSET_TOTAL);
    if (total < DEVICE_TREE_HEADER_BYTES || total > DEVICE_TREE_MAX_BYTES)
        return 0;
    return total;
}

static bool block_fits(uint32_t offset, uint32_t bytes, uint32_t total)
{
    return offset >= DEVICE_TREE_HEADER_BYTES && offset <= total && bytes <= total - offset;
}

enum err device_tree_open(struct device_tree *tree, const void *blob, size_t bytes)
{
    const uint8_t *header = blob;
    uint32_t structure_bytes, strings_bytes;

    if (bytes < DEVICE_TREE_HEADER_BYTES)
        return ERR_TRUNCATED;
    if (read_u32(header) != (uint32_t)FDT_MAGIC_VALUE)
        return ERR_BAD_MAGIC;
    if (read_u32(header + FDT_OFFSET_VERSION) < FDT_VERSION ||
        read_u32(header + FDT_OFFSET_COMPATIBLE_VERSION) > FDT_COMPATIBLE_VERSION)
        return ERR_BAD_VERSION;
    tree->blob = header;
    tree->total_bytes = (uint32_t)device_tree_bytes(blob);
    if (tree->total_bytes == 0)
        return ERR_BAD_HEADER;
    if (tree->total_bytes > bytes)
        return ERR_TRUNCATED;

    tree->structure = read_u32(header + FDT_OFFSET_STRUCTURE);
    tree->strings = read_u32(header + FDT_OFFSET_STRINGS);
    tree->reservations = read_u32(header + FDT_OFFSET_RESERVATIONS);
    structure_bytes = read_u32(header + FDT_OFFSET_STRUCTURE_BYTES);
    strings_bytes = read_u32(header + FDT_OFFSET_STRINGS_BYTES);
    if (tree->structure % 4 != 0 || structure_bytes % 4 != 0 ||
        !block_fits(tree->structure, structure_bytes, tree->total_bytes) ||
        !block_fits(tree->strings, strings_bytes, tree->total_bytes) || !reservations_check(tree))
        return ERR_BAD_HEADER;
    tree->structure_end = tree->structure + structure_bytes;
    tree->strings_end = tree->strings + strings_bytes;
    return structure_check(tree);
}

enum err device_tree_copy(const struct device_tree *tree, void *to, size_t bytes)
{
    uint8_t *copy = to;
    uint32_t used = tree->reservations;

    while (read_u64(tree->blob + used) != 0 || read_u64(tree->blob + used + 8) != 0)
        used += 16;
    used += 16;
    used = max_u32(used, tree->structure_end);
    used = max_u32(used, tree->strings_end);
    if (used > bytes)
        return ERR_NO_SPACE;
    memcpy(copy, tree->blob, used);
    for (unsigned i = 0; i < 4; i++)
        copy[FDT_OFFSET_TOTAL + i] = (uint8_t)(used >> (24 - 8 * i));
    return ERR_OK;
}

/* ---- nodes ------------------------------------------------------------------------------- */

void device_tree_begin(struct device_tree_node *node)
{
    node->name = "";
    node->depth = -1;
    node->next = 0;
}

static const uint8_t *property_at(const struct device_tree *tree, uint32_t properties,
                                  const char *name, uint32_t *bytes)
{
    struct token token;
    uint32_t at = properties;

    while (token_read(tree, at, &token)) {
        at = token.next;
        if (token.kind == TOKEN_NOP)
            continue;
        if (token.kind != TOKEN_PROPERTY)
            return NULL;
        if (strcmp(token.name, name) != 0)
            continue;
        *bytes = token.bytes;
        return token.value;
    }
    return NULL;
}

static uint32_t cells_at(const struct device_tree *tree, uint32_t properties, const char *name,
                         uint32_t absent)
{
    uint32_t bytes;
    const uint8_t *value = property_at(tree, properties, name, &bytes);

    if (value == NULL || bytes != 4)
        return absent;
    return read_u32(value);
}

static void node_enter(const struct device_tree *tree, struct device_tree_node *node,
                       const struct token *token)
{
    node->depth++;
    node->name = token->name;
    node->level[node->depth].properties = token->next;
    node->level[node->depth].address_cells = cells_at(tree, token->next, "#address-cells", 2);
    node->level[node->depth].size_cells = cells_at(tree, token->next, "#size-cells", 1);
}

bool device_tree_next(const struct device_tree *tree, struct device_tree_node *node)
{
    struct token token;
    uint32_t at = node->next == 0 ? tree->structure : node->next;

    while (token_read(tree, at, &token)) {
        at = token.next;
        if (token.kind == TOKEN_END)
            break;
        if (token.kind == TOKEN_END_NODE)
            node->depth--; /* the cursor is at the parent again: a sibling gets the same level */
        if (token.kind != TOKEN_BEGIN_NODE)
            continue;
        node_enter(tree, node, &token);
        node->next = at;
        return true;
    }
    /* At the end the cursor stays at the closing token. */
    node->next = tree->structure_end - 4;
    node->depth = -1;
    return false;
}

bool device_tree_next_compatible(const struct device_tree *tree, struct device_tree_node *node,
                                 const char *compatible)
{
    while (device_tree_next(tree, node))
        if (device_tree_lists(tree, node, "compatible", compatible) &&
            device_tree_available(tree, node))
            return true;
    return false;
}

bool device_tree_next_type(const struct device_tree *tree, struct device_tree_node *node,
                           const char *type)
{
    while (device_tree_next(tree, node)) {
        const char *found = device_tree_string(tree, node, "device_type");

        if (found != NULL && strcmp(found, type) == 0 && device_tree_available(tree, node))
            return true;
    }
    return false;
}

/* True if the path component of `length` bytes names the node, with or without its unit address. */
static bool component_matches(const char *name, const char *component, size_t length)
{
    if (strlen(name) < length || memcmp(name, component, length) != 0)
        return false;
    return name[length] == '\0' || (name[length] == '@' && memchr(component, '@', length) == NULL);
}

bool device_tree_find(const struct device_tree *tree, struct device_tree_node *node,
                      const char *path)
{
    int want = 0; /* depth of the path component that is searched for now */
    size_t at = 0, component = 0, length = strcspn(path, ":");

    if (length == 0 || path[0] != '/')
        return false;
    device_tree_begin(node);
    if (!device_tree_next(tree, node))
        return false;
    for (;;) {
        at += component;
        while (at < length && path[at] == '/')
            at++;
        if (at == length)
            return true;
        for (component = 0; at + component < length && path[at + component] != '/'; component++)
            continue;
        want++;
        do {
            /* The walk has left the parent's subtree: the parent has no child of this name. */
            if (!device_tree_next(tree, node) || node->depth < want)
                return false;
        } while (node->depth != want || !component_matches(node->name, path + at, component));
    }
}

/* ---- properties -------------------------------------------------------------------------- */

const uint8_t *device_tree_property(const struct device_tree *tree,
                                    const struct device_tree_node *node, const char *name,
                                    uint32_t *bytes)
{
    if (node->depth < 0)
        return NULL;
    return property_at(tree, node->level[node->depth].properties, name, bytes);
}

bool device_tree_number(const struct device_tree *tree, const struct device_tree_node *node,
                        const char *name, uint64_t *value)
{
    uint32_t bytes;
    const uint8_t *p = device_tree_property(tree, node, name, &bytes);

    if (p == NULL || (bytes != 4 && bytes != 8))
        return false;
    *value = bytes == 8 ? read_u64(p) : read_u32(p);
    return true;
}

const char *device_tree_string(const struct device_tree *tree, const struct device_tree_node *node,
                               const char *name)
{
    uint32_t bytes;
    const uint8_t *p = device_tree_property(tree, node, name, &bytes);

    if (p == NULL || bytes == 0 || memchr(p, '\0', bytes) == NULL)
        return NULL;
    return (const char *)p;
}

bool device_tree_lists(const struct device_tree *tree, const struct device_tree_node *node,
                       const char *name, const char *text)
{
    uint32_t bytes;
    size_t length = strlen(text) + 1;
    const uint8_t *p = device_tree_property(tree, node, name, &bytes);

    while (p != NULL && bytes > 0) {
        const uint8_t *end = memchr(p, '\0', bytes);
        uint32_t step;

        if (end == NULL)
            return false;
        step = (uint32_t)(end - p) + 1;
        if (step == length && memcmp(p, text, length) == 0)
            return true;
        p += step;
        bytes -= step;
    }
    return false;
}

bool device_tree_available(const struct device_tree *tree, const struct device_tree_node *node)
{
    uint32_t bytes;
    const char *status = device_tree_string(tree, node, "status");

    if (device_tree_property(tree, node, "status", &bytes) == NULL)
        return true;
    return status != NULL && (strcmp(status, "okay") == 0 || strcmp(status, "ok") == 0);
}

/* Read `cells` big-endian cells; false if the number has more than 64 bits. */
static bool cells_read(const uint8_t *p, uint32_t cells, uint64_t *value)
{
    *value = 0;
    for (uint32_t i = 0; i < cells; i++) {
        if (*value >> 32 != 0)
            return false;
        *value = *value << 32 | read_u32(p + 4 * i);
    }
    return true;
}

/* Translate an address on the bus of level `bus` to an address on the parent's bus. Without
 * `ranges`, children are not memory mapped; if `ranges` is empty, both buses are the same (section
 * 2.3.8). */
static bool address_translate(const struct device_tree *tree, const struct device_tree_node *node,
                              int bus, uint64_t *address, uint64_t bytes)
{
    uint32_t child = node->level[bus].address_cells, size = node->level[bus].size_cells;
    uint32_t parent = node->level[bus - 1].address_cells;
    uint32_t length, row = 4 * (child + parent + size);
    const uint8_t *p = property_at(tree, node->level[bus].properties, "ranges", &length);

    if (p == NULL)
        return false;
    if (length == 0)
        return true;
    for (; length >= row; p += row, length -= row) {
        uint64_t from, to, span;

        if (!cells_read(p, child, &from) || !cells_read(p + 4 * child, parent, &to) ||
            !cells_read(p + 4 * (child + parent), size, &span))
            continue;
        if (*address < from || *address - from >= span || bytes > span - (*address - from))
            continue;
        *address = to + (*address - from);
        return true;
    }
    return false;
}

enum { MAX_CELLS = 4 }; /* no real bus has numbers of more cells */

bool device_tree_reg(const struct device_tree *tree, const struct device_tree_node *node,
                     unsigned index, uint64_t *base, uint64_t *size)
{
    uint32_t bytes, address_cells, size_cells, row;
    uint64_t address, span;
    const uint8_t *p = device_tree_property(tree, node, "reg", &bytes);

    if (p == NULL || node->depth < 1)
        return false;
    for (int i = 0; i < node->depth; i++)
        if (node->level[i].address_cells > MAX_CELLS || node->level[i].size_cells > MAX_CELLS)
            return false;
    address_cells = node->level[node->depth - 1].address_cells;
    size_cells = node->level[node->depth - 1].size_cells;
    row = 4 * (address_cells + size_cells);
    if (row == 0 || index >= bytes / row)
        return false;
    p += (size_t)index * row;
    if (!cells_read(p, address_cells, &address) ||
        !cells_read(p + 4 * address_cells, size_cells, &span))
        return false;
    for (int bus = node->depth - 1; bus > 0; bus--)
        if (size_cells != 0 && !address_translate(tree, node, bus, &address, span))
            return false;
    if (span != 0 && span - 1 > UINT64_MAX - address)
        return false;
    *base = address;
    if (size != NULL)
        *size = span;
    return true;
}

/* ---- memory reservations ------------------------------------------------------------------ */

bool device_tree_reservation(const struct device_tree *tree, unsigned index, uint64_t *base,
                             uint64_t *size)
{
    uint64_t at = tree->reservations;

    /* device_tree_open has checked that a pair of zeros ends the list. */
    for (;; at += 16) {
        *base = read_u64(tree->blob + at);
        *size = read_u64(tree->blob + at + 8);
        if (*base == 0 && *size == 0)
            return false;
        if (index-- == 0)
            return true;
    }
}
