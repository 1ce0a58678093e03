/* A plugin of QEMU that counts the instructions of each piece of code, apart for each part of the
 * program that called it: a piece in the range of a mark makes the mark's part the present one. The
 * first argument is marks=FILE, lines "begin end part" in hexadecimal, a part of 0xff being the
 * beginning of a pass; the second out=FILE, lines "pass part address instructions". One core.
 *
 * The functions are declared here, as distributions leave QEMU's header out. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 16, PASSES = 8, MARKS = 64, NO_REGISTERS = 0, NEW_PASS = 0xff, VERSION = 2 };

struct qemu_plugin_tb;
struct qemu_info_t;
typedef uint64_t plugin_id;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*done)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
                                          void (*executed)(unsigned, void *), int flags,
                                          void *data);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*ended)(plugin_id, void *), void *data);
int qemu_plugin_install(plugin_id id, const struct qemu_info_t *info, int argc, char **argv);
extern int qemu_plugin_version;

int qemu_plugin_version = VERSION;

struct piece {
    struct piece *next;
    uint64_t address, n_instructions;
    unsigned part; /* PARTS: the present one */
    int begins;    /* a pass */
    uint64_t times[PASSES][PARTS];
};

static struct mark {
    uint64_t begin, end;
    unsigned part;
} marks[MARKS];

static struct piece *pieces;
static size_t n_marks;
static unsigned pass, part;
static const char *out;

static void executed(unsigned core, void *data)
{
    struct piece *p = data;

    (void)core;
    if (p->begins && pass + 1 < PASSES) {
        pass++;
    }
    if (p->part < PARTS) {
        part = p->part;
    }
    p->times[pass][part]++;
}

static void mark_piece(struct piece *p)
{
    p->part = PARTS;
    for (size_t i = 0; i < n_marks; i++) {
        const struct mark *m = &marks[i];

        if (m->part == NEW_PASS) {
            p->begins |= p->address == m->begin;
        } else if (p->address >= m->begin && p->address < m->end) {
            p->part = m->part;
        }
    }
}

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
    struct piece *p = calloc(1, sizeof *p);

    (void)id;
    if (p == NULL) {
        abort();
    }
    p->address = qemu_plugin_tb_vaddr(tb);
    p->n_instructions = qemu_plugin_tb_n_insns(tb);
    mark_piece(p);
    p->next = pieces;
    pieces = p;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, NO_REGISTERS, p);
}

static void ended(plugin_id id, void *data)
{
    FILE *f = fopen(out, "w");

    (void)id;
    (void)data;
    for (const struct piece *p = pieces; f != NULL && p != NULL; p = p->next) {
        for (unsigned i = 0; i < PASSES * PARTS; i++) {
            uint64_t times = p->times[i / PARTS][i % PARTS];

            if (times != 0) {
                fprintf(f, "%u %u %" PRIx64 " %" PRIu64 "\n", i / PARTS, i % PARTS, p->address,
                        times * p->n_instructions);
            }
        }
    }
    if (f != NULL) {
        fclose(f);
    }
}

static int read_marks(const char *name)
{
    FILE *f = fopen(name, "r");
    struct mark m;

    if (f == NULL) {
        return 0;
    }
    while (n_marks < MARKS &&
           fscanf(f, "%" SCNx64 " %" SCNx64 " %x", &m.begin, &m.end, &m.part) == 3) {
        marks[n_marks++] = m;
    }
    fclose(f);
    return 1;
}

int qemu_plugin_install(plugin_id id, const struct qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    if (argc != 2 || strncmp(argv[0], "marks=", 6) != 0 || strncmp(argv[1], "out=", 4) != 0 ||
        !read_marks(argv[0] + 6)) {
        return 1;
    }
    out = strdup(argv[1] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
