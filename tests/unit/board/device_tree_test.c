/* The device tree reader against a tree made by hand, damaged in every way that a byte can be, and
 * against the trees of QEMU's machines if QEMU is there. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board/device_tree.h"
#include "tests/unit/board/fakes/tree_writer.h"
#include "tests/unit/tap.h"

/* capacity and MHz; 0: the tree does not say */
static void capacity(struct writer *w, uint32_t dmips, uint32_t mhz)
{
    if (dmips != 0)
        CELLS(w, "capacity-dmips-mhz", dmips);
    if (mhz != 0)
        CELLS(w, "clock-frequency", mhz * 1000000);
}

static void cpu(struct writer *w, const char *name, uint32_t id, const char *status)
{
    static const uint32_t of[][2] = { { 0, 0 }, { 1024, 2000 }, { 446, 1400 }, { 512, 0 } };

    begin(w, name);
    text(w, "device_type", "cpu");
    CELLS(w, "reg", id);
    if (status != NULL)
        text(w, "status", status);
    property(w, "riscv,isa-extensions", "i\0m\0v", 6);
    capacity(w, of[id][0], of[id][1]);
    end(w);
}

static void hart(struct writer *w, const char *name, uint32_t id, const char *mmu, const char *isa)
{
    begin(w, name);
    text(w, "device_type", "cpu");
    CELLS(w, "reg", id);
    text(w, "riscv,isa", isa);
    if (mmu != NULL)
        text(w, "mmu-type", mmu);
    end(w);
}

static void make_soc(struct writer *w)
{
    begin(w, "soc");
    CELLS(w, "#address-cells", 1);
    CELLS(w, "#size-cells", 1);
    CELLS(w, "ranges", 0x7c000000, 0, 0xfc000000, 0x03800000, 0x40000000, 4, 0, 0x800000);
    begin(w, "serial@7e201000");
    property(w, "compatible", "brcm,uart\0arm,pl011", 20);
    CELLS(w, "reg", 0x7e201000, 0x200, 0x40000010, 0x10, 0x7f700000, 0x200000, 0x10, 0x10);
    end(w);
    begin(w, "bus");
    begin(w, "hidden@0"); /* a bus without ranges */
    CELLS(w, "reg", 0, 0, 16);
    end(w);
    end(w);
    end(w);
}

static void make_tree(struct writer *w)
{
    memset(w, 0, sizeof *w);
    begin(w, "");
    CELLS(w, "#address-cells", 2);
    CELLS(w, "#size-cells", 1);
    put_token(w, 4); /* NOP */
    begin(w, "aliases");
    text(w, "serial0", "/soc/serial@7e201000");
    end(w);
    begin(w, "chosen");
    text(w, "bootargs", "model=a.ingot n=32");
    text(w, "stdout-path", "serial0:115200n8");
    CELLS(w, "linux,initrd-start", 0x48000000);
    CELLS(w, "linux,initrd-end", 0, 0x48001234);
    end(w);
    begin(w, "memory@40000000");
    text(w, "device_type", "memory");
    CELLS(w, "reg", 0, 0x40000000, 0x20000000, 1, 0, 0x1000);
    end(w);
    begin(w, "cpus");
    CELLS(w, "#address-cells", 1);
    CELLS(w, "#size-cells", 0);
    CELLS(w, "timebase-frequency", 10000000);
    cpu(w, "cpu@0", 0, "disabled");
    cpu(w, "cpu@1", 1, "okay");
    cpu(w, "cpu@2", 2, NULL);
    cpu(w, "cpu@3", 3, "ok");
    hart(w, "cpu@4", 4, NULL, "rv64imafdc");
    hart(w, "cpu@5", 5, "riscv,none", "rv64imafdc");
    hart(w, "cpu@6", 6, "riscv,sv39", "rv64imafdcb_zba_zbb");
    hart(w, "cpu@7", 7, "riscv,sv39",
         "rv64imac_zba_zfd"); /* StarFive's 2021.10 calls its S7 this */
    hart(w, "cpu@8", 8, "riscv,sv39", "rv32imafdc");
    hart(w, "cpu@9", 9, "riscv,none", "rv64gc");
    end(w);
    begin(w, "cache-controller@1");
    CELLS(w, "cache-level", 1);
    CELLS(w, "cache-size", 0x8000);
    end(w);
    begin(w, "cache-controller@2");
    CELLS(w, "cache-level", 2);
    CELLS(w, "cache-size", 0x200000);
    end(w);
    make_soc(w);
    end(w);
    finish(w, 100);
}

/* ---- the tree by hand ------------------------------------------------------------------------ */

/* cpu@1 and cpu@2 have a capacity and a clock, cpu@3 a capacity alone, hart 6 none. */
static void test_capacities(const struct device_tree *tree)
{
    static const uint64_t with_clocks[] = { 2, 1 }, without[] = { 1, 3, 2 }, with_none[] = { 1, 6 },
                          elsewhere[] = { 1, 77 };
    uint32_t capacity[3] = { 9, 9, 9 };

    device_tree_capacities(tree, with_clocks, 2, capacity);
    OK(capacity[0] == 446 * 1400 && capacity[1] == 1024 * 2000 && capacity[2] == 9,
       "capacities are multiplied by clocks, in the order of the ids");
    device_tree_capacities(tree, without, 3, capacity);
    OK(capacity[0] == 1024 && capacity[1] == 512 && capacity[2] == 446,
       "clocks are not used if one core has none");
    device_tree_capacities(tree, with_none, 2, capacity);
    OK(capacity[0] == 0 && capacity[1] == 0, "capacities are not used if a core has none");
    capacity[0] = capacity[1] = 9;
    device_tree_capacities(tree, elsewhere, 2, capacity);
    OK(capacity[0] == 0 && capacity[1] == 0, "a core that the tree does not know gets no property");
}

static void test_nodes(const struct device_tree *tree)
{
    struct device_tree_node node;
    unsigned n = 0;

    device_tree_begin(&node);
    while (device_tree_next(tree, &node))
        n++;
    OK(n == 21, "the walk visits 21 nodes (%u)", n);
    OK(device_tree_cache(tree) == 0x200000, "the cache of the second level is found");
    OK(!device_tree_next(tree, &node), "the walk stays at its end");
    OK(device_tree_find(tree, &node, "/") && node.depth == 0, "the path / is the root");
    OK(device_tree_find(tree, &node, "/memory") && strcmp(node.name, "memory@40000000") == 0,
       "a path without unit address is found");
    OK(device_tree_find(tree, &node, "/soc/serial@7e201000"), "a path with unit address is found");
    OK(device_tree_find(tree, &node, "/soc/serial:115200n8") && node.depth == 2,
       "text after a colon is not part of the path");
    OK(!device_tree_find(tree, &node, "/soc/serial@7e201001"), "another unit address is not found");
    OK(!device_tree_find(tree, &node, "/soc/serial@7e20100"),
       "a prefix of a unit address is not found");
    OK(!device_tree_find(tree, &node, "/cpus/serial"), "a child of another node is not found");
    OK(!device_tree_find(tree, &node, "soc") && !device_tree_find(tree, &node, ""),
       "relative and empty paths are not found");
    OK(device_tree_find(tree, &node, "/cpus/cpu@2") &&
           device_tree_lists(tree, &node, "riscv,isa-extensions", "v") &&
           !device_tree_lists(tree, &node, "riscv,isa-extensions", "vv"),
       "entries of a list of strings are found");
    device_tree_begin(&node);
    OK(device_tree_next_compatible(tree, &node, "arm,pl011") && node.depth == 2,
       "the second compatible string is found");
    OK(!device_tree_next_compatible(tree, &node, "arm,pl011"),
       "no other node has that compatible string");
}

static void test_ranges(const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t base = 0, bytes = 0;

    device_tree_find(tree, &node, "/memory");
    OK(device_tree_reg(tree, &node, 0, &base, &bytes) && base == 0x40000000 && bytes == 0x20000000,
       "the first range of memory is read");
    OK(device_tree_reg(tree, &node, 1, &base, &bytes) && base == 0x100000000 && bytes == 0x1000,
       "a range above 4 GiB is read");
    OK(!device_tree_reg(tree, &node, 2, &base, &bytes), "there is no third range");
    device_tree_find(tree, &node, "/soc/serial");
    OK(device_tree_reg(tree, &node, 0, &base, &bytes) && base == 0xfe201000 && bytes == 0x200,
       "reg is translated through ranges");
    OK(device_tree_reg(tree, &node, 1, &base, NULL) && base == 0x400000010,
       "reg is translated through the second row of ranges");
    OK(!device_tree_reg(tree, &node, 2, &base, &bytes), "a reg that leaves its window is refused");
    OK(!device_tree_reg(tree, &node, 3, &base, &bytes), "a reg that no window has is refused");
    device_tree_find(tree, &node, "/soc/bus/hidden");
    OK(!device_tree_reg(tree, &node, 0, &base, &bytes),
       "a reg on a bus that the CPU cannot see is refused");
    OK(device_tree_reservation(tree, 0, &base, &bytes) && base == 0x80000000 && bytes == 0x1000 &&
           !device_tree_reservation(tree, 1, &base, &bytes),
       "the reserved memory is found");
}

static void test_questions(const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t base = 0, bytes = 0, ids[6];
    uint32_t baud = 0;

    OK(strcmp(device_tree_bootargs(tree), "model=a.ingot n=32") == 0, "bootargs are read");
    OK(device_tree_initrd(tree, &base, &bytes) && base == 0x48000000 && bytes == 0x1234,
       "an initrd is read from 32 and 64 bits");
    OK(device_tree_console(tree, &node, &baud) && baud == 115200 &&
           strcmp(node.name, "serial@7e201000") == 0,
       "stdout-path is followed through an alias, with a rate (%u)", baud);
    OK(device_tree_cpus(tree, 1, ids, 6) == 4 && ids[0] == 1 && ids[1] == 2 && ids[2] == 3 &&
           ids[3] == 6,
       "a disabled core and harts without MMU are left out");
    OK(device_tree_cpus(tree, 3, ids, 6) == 4 && ids[0] == 3 && ids[1] == 1 && ids[2] == 2,
       "the booting core comes first");
    OK(device_tree_cpus(tree, 3, ids, 2) == 2 && ids[0] == 3 && ids[1] == 1,
       "the booting core is never left out");
    OK(device_tree_timebase(tree) == 10000000, "the timebase is read");
    test_capacities(tree);
}

static void test_copy(const struct device_tree *tree)
{
    static uint8_t copy[2 * ROOM];
    struct device_tree copied;
    uint32_t used = tree->total_bytes - 100;

    OK(device_tree_copy(tree, copy, used - 1) == ERR_NO_SPACE,
       "a copy that does not fit is refused");
    OK(device_tree_copy(tree, copy, used) == ERR_OK && device_tree_bytes(copy) == used,
       "a copy leaves out the slack");
    OK(device_tree_open(&copied, copy, used) == ERR_OK, "the copy is a tree");
    test_questions(&copied);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Opens a blob in a buffer of exactly its size, and walks it if it opens; ASan watches the
 * edges. */
static enum err open_exact(const uint8_t *data, size_t bytes)
{
    uint8_t *blob = malloc(bytes);
    struct device_tree tree;
    struct device_tree_node node;
    uint64_t base, size, ids[2];
    uint32_t baud;
    enum err e;

    if (blob == NULL)
        abort();
    memcpy(blob, data, bytes);
    e = device_tree_open(&tree, blob, bytes);
    device_tree_begin(&node);
    while (e == ERR_OK && device_tree_next(&tree, &node))
        for (unsigned i = 0; device_tree_reg(&tree, &node, i, &base, &size); i++)
            continue;
    if (e == ERR_OK) {
        (void)device_tree_console(&tree, &node, &baud);
        (void)device_tree_cpus(&tree, 0, ids, 2);
        (void)device_tree_initrd(&tree, &base, &size);
    }
    free(blob);
    return e;
}

static void test_damage(struct writer *w)
{
    static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
    unsigned short_ok = 0, refused = 0;

    for (uint32_t n = 1; n < w->n_blob; n++)
        short_ok += open_exact(w->blob, n) == ERR_OK;
    OK(short_ok == 0, "every truncation is refused");
    for (uint32_t at = 0; at < w->n_blob; at++) {
        uint8_t old = w->blob[at];

        for (unsigned i = 0; i < sizeof values; i++) {
            w->blob[at] = values[i];
            refused += open_exact(w->blob, w->n_blob) != ERR_OK;
        }
        w->blob[at] = old;
    }
    OK(refused > 100,
       "a tree with any byte changed is refused %u times, and read within its bounds", refused);
}

static void test_header(struct writer *w)
{
    static const struct {
        uint32_t offset, value;
        enum err e;
        const char *what;
    } rows[] = {
        { 0, 0xd00dfeee, ERR_BAD_MAGIC, "magic" },
        { 4, 39, ERR_BAD_HEADER, "total smaller than the header" },
        { 4, 0xffffffff, ERR_BAD_HEADER, "total over the maximum" },
        { 4, 0x100000, ERR_TRUNCATED, "total over the bytes there are" },
        { 8, 0xfffffffc, ERR_BAD_HEADER, "structure offset" },
        { 8, 73, ERR_BAD_HEADER, "structure not aligned" },
        { 12, 0xffffffff, ERR_BAD_HEADER, "strings offset" },
        { 16, 0xfffffff8, ERR_BAD_HEADER, "reservations offset" },
        { 20, 16, ERR_BAD_VERSION, "version 16" },
        { 24, 18, ERR_BAD_VERSION, "compatible with 18 only" },
        { 32, 0xffffffff, ERR_BAD_HEADER, "strings size" },
        { 32, 1, ERR_BAD_HEADER, "strings too short for their names" },
        { 36, 0xfffffffc, ERR_BAD_HEADER, "structure size" },
        { 36, 4, ERR_BAD_HEADER, "structure cut off" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t old[4];
        enum err e;

        memcpy(old, w->blob + rows[i].offset, 4);
        put_u32(w->blob + rows[i].offset, rows[i].value);
        e = open_exact(w->blob, w->n_blob);
        OK(e == rows[i].e, "a header with a wrong %s has the result %d", rows[i].what, e);
        memcpy(w->blob + rows[i].offset, old, 4);
    }
}

static enum err open_nested(struct writer *w, int depth)
{
    memset(w, 0, sizeof *w);
    for (int i = 0; i < depth; i++)
        begin(w, i == 0 ? "" : "n");
    for (int i = 0; i < depth; i++)
        end(w);
    finish(w, 0);
    return open_exact(w->blob, w->n_blob);
}

static void test_structure(struct writer *w)
{
    OK(open_nested(w, DEVICE_TREE_MAX_DEPTH) == ERR_OK, "the deepest tree is accepted");
    OK(open_nested(w, DEVICE_TREE_MAX_DEPTH + 1) == ERR_BAD_HEADER,
       "a tree with one more level is refused");
    OK(open_nested(w, 0) == ERR_BAD_HEADER, "a tree without a root is refused");

    memset(w, 0, sizeof *w);
    begin(w, "");
    finish(w, 0);
    OK(open_exact(w->blob, w->n_blob) == ERR_BAD_HEADER,
       "a tree with a node that never ends is refused");

    memset(w, 0, sizeof *w);
    begin(w, "");
    end(w);
    begin(w, "");
    end(w);
    finish(w, 0);
    OK(open_exact(w->blob, w->n_blob) == ERR_BAD_HEADER, "two roots are refused");

    memset(w, 0, sizeof *w);
    begin(w, "");
    begin(w, "n");
    end(w);
    text(w, "late", "x");
    end(w);
    finish(w, 0);
    OK(open_exact(w->blob, w->n_blob) == ERR_BAD_HEADER,
       "a property after a child node is refused");
}

/* ---- QEMU's trees ---------------------------------------------------------------------------- */

/* Dumps the tree of a machine to `data`; 0: that QEMU is not there. */
static size_t qemu_tree(const char *emulator, const char *machine, uint8_t *data, size_t room)
{
    const char *folder = getenv("TMPDIR");
    char path[256], command[1024] = "";
    size_t bytes = 0;
    int file;
    FILE *in;

    snprintf(path, sizeof path, "%s/device_tree_test.XXXXXX", folder != NULL ? folder : ".");
    file = mkstemp(path);
    if (file < 0)
        return 0;
    (void)!write(file, command, 64); /* any kernel will do; -append needs one */
    close(file);
    snprintf(command, sizeof command,
             "command -v %s >/dev/null && %s -M %s,dumpdtb=%s -m 512M -smp 4 -nic none -nographic "
             "-append 'n=32 temp=0' -kernel %s >/dev/null 2>&1 </dev/null",
             emulator, emulator, machine, path, path);
    (void)!system(command);
    in = fopen(path, "rb");
    if (in != NULL) {
        bytes = fread(data, 1, room, in);
        if (bytes <= 64) /* still the kernel: no tree was dumped */
            bytes = 0;
        fclose(in);
    }
    unlink(path);
    return bytes;
}

static void test_qemu_machine(const struct device_tree *tree, uint64_t ram, const char *uart,
                              unsigned n_virtio)
{
    struct device_tree_node node;
    uint64_t base = 0, bytes = 0, ids[8];
    uint32_t baud;
    unsigned n = 0;

    device_tree_begin(&node);
    OK(device_tree_next_type(tree, &node, "memory") &&
           device_tree_reg(tree, &node, 0, &base, &bytes) && base == ram && bytes == 512u << 20,
       "512 MiB begin where RAM does");
    OK(device_tree_cpus(tree, 0, ids, 8) == 4 && ids[0] == 0 && ids[3] == 3, "4 cores are found");
    OK(device_tree_console(tree, &node, &baud) &&
           device_tree_lists(tree, &node, "compatible", uart),
       "the console is a %s", uart);
    device_tree_begin(&node);
    while (device_tree_next_compatible(tree, &node, "virtio,mmio"))
        n += device_tree_reg(tree, &node, 0, &base, &bytes) && bytes >= 0x200;
    OK(n == n_virtio, "the tree has %u virtio slots", n);
    device_tree_begin(&node);
    OK(device_tree_next_compatible(tree, &node, "cfi-flash") &&
           device_tree_reg(tree, &node, 1, &base, &bytes) && bytes >= 32u << 20,
       "the second bank of flash is found");
}

static void test_qemu(void)
{
    static uint8_t data[DEVICE_TREE_MAX_BYTES], copy[96 * 1024];
    struct device_tree tree;
    struct device_tree_node node;
    const char *method;
    size_t bytes = qemu_tree("qemu-system-aarch64", "virt", data, sizeof data);

    if (bytes == 0) {
        OK(true, "QEMU for arm64 # SKIP qemu-system-aarch64 is not installed");
    } else if (OK(device_tree_open(&tree, data, bytes) == ERR_OK,
                  "the tree of QEMU's arm64 virt opens")) {
        test_qemu_machine(&tree, 0x40000000, "arm,pl011", 32);
        method = device_tree_find(&tree, &node, "/psci")
                     ? device_tree_string(&tree, &node, "method")
                     : NULL;
        OK(method != NULL && strcmp(method, "hvc") == 0, "PSCI is called by hvc");
        OK(device_tree_copy(&tree, copy, sizeof copy) == ERR_OK, "boot's copy has room");
    }
    bytes = qemu_tree("qemu-system-riscv64", "virt", data, sizeof data);
    if (bytes == 0) {
        OK(true, "QEMU for riscv64 # SKIP qemu-system-riscv64 is not installed");
    } else if (OK(device_tree_open(&tree, data, bytes) == ERR_OK,
                  "the tree of QEMU's riscv64 virt opens")) {
        test_qemu_machine(&tree, 0x80000000, "ns16550a", 8);
        OK(device_tree_timebase(&tree) == 10000000, "the timebase is 10 MHz");
        OK(strcmp(device_tree_bootargs(&tree), "n=32 temp=0") == 0, "bootargs are read");
    }
}

int main(void)
{
    static struct writer w;
    struct device_tree tree;

    make_tree(&w);
    if (OK(device_tree_open(&tree, w.blob, w.n_blob) == ERR_OK, "the tree opens")) {
        test_nodes(&tree);
        test_ranges(&tree);
        test_questions(&tree);
        test_copy(&tree);
    }
    test_damage(&w);
    test_header(&w);
    test_structure(&w);
    test_qemu();
    return tap_done();
}
