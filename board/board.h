/* A board as the rest of Ingot sees it: one struct, which each board defines once. A new board
 * is a copied folder and four files (docs/PORTING.md). */
#ifndef INGOT_BOARD_BOARD_H
#define INGOT_BOARD_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/block_device.h"
#include "board/err.h"
#include "board/machine.h"
#include "board/screen.h"

/* For set_input_buffer: 11 s of 115200 baud, a long paste during a reply. */
enum { BOARD_INPUT_BYTES = 128 * 1024 };

struct kernel_tuning;
struct facts;

/* The machine as firmware and device tree describe it. boot (or the host program) fills it
 * before the runtime starts; it is constant afterwards. */
struct machine {
    struct memory_range ram[BOARD_MAX_RAM]; /* free RAM after the image; [0] is the arena */
    unsigned n_ram;
    size_t ram_bytes;                   /* all RAM of the machine, for messages */
    unsigned n_cores;                   /* cores present, 1 .. BOARD_MAX_CORES */
    uint64_t core_ids[BOARD_MAX_CORES]; /* how the tree names them; 0 without one */
    /* The relative speed of each, as the tree says; [0] is 0: it says nothing of it. */
    uint32_t core_capacity[BOARD_MAX_CORES];
    uint32_t cpu_features;              /* features of core 0: bits of enum cpu_feature
                                         * (kernels/) */
    size_t cache_bytes;                 /* core 0's second-level cache, shared or not; 0: not
                                         * known */
    const char *cpu_name;               /* "Cortex-A72", "rv64gcv, VLEN 128" */
    const struct kernel_tuning *tuning; /* of core 0 (kernels/tuning.h); never NULL */
    struct memory_range initrd;         /* bytes == 0: none */
    char args[BOARD_ARGS_BYTES];        /* boot arguments, NUL-terminated */
    size_t args_bytes;    /* their length; args may hold only the beginning, or nothing */
    size_t args_limit;    /* the longest that this machine could have passed on */
    uint64_t entry_ticks; /* board.ticks() at the first instruction of C */
    uint64_t date; /* seconds since 1970 at entry_ticks, of the clock on the wall; 0: not known */
};

/* Lines that a person may wire something to, by numbers that the board's README has. Core 0. */
struct board_pins {
    /* Why a line must not be touched, as an error message without a full stop: it does not exist,
     * or the board uses it itself. NULL: it is free. The other functions are called only for usable
     * lines. */
    const char *(*error_message)(unsigned line);
    /* The line becomes an output that is `high` or not, without the other level in between, or an input. */
    void (*setup)(unsigned line, bool output, bool high);
    void (*write)(unsigned line, bool high);
    bool (*read)(unsigned line);
};

/* Buses that a person may wire sensors to, by numbers that the board's README has. Core 0. */
struct board_i2c {
    /* The bus is for sensors from here on, and its lines for nothing else. NULL: it is; else why not, an error message
     * without a full stop. Nothing is driven yet. The other functions are called only for usable
     * buses. */
    const char *(*claim)(unsigned bus);
    /* One transfer of 1 to 16 bytes. ERR_NO_DEVICE: no device answers at the address; ERR_TIMEOUT:
     * a device holds the bus; ERR_IO, ERR_UNSUPPORTED: it does not work. */
    enum err (*write)(unsigned bus, unsigned address, const uint8_t *bytes, unsigned n);
    enum err (*read)(unsigned bus, unsigned address, uint8_t *bytes, unsigned n);
};

/* Ethernet, as runtime/base/platform.h has it. Core 0. tree: of the machine, blob NULL: there is none. board_network is in a board's
 * network.c, which only images with NETWORK=yes have. */
struct device_tree;
struct board_network {
    const char *(*open)(const struct device_tree *tree, uint8_t address[6]);
    bool (*is_up)(void);
    bool (*send)(const uint8_t *frame, size_t bytes);
    size_t (*receive)(uint8_t *to, size_t room);
    const char *(*trouble)(
        void); /* why an existing link cannot be used, else NULL; NULL: every link is usable */
};
extern const struct board_network board_network;

/* A member may be NULL if its comment says so: the board then lacks the function. */
struct board {
    const char *name;

    /* Set up console, cores and all other devices but storage, and map them (board/isa.h). dtb: a
     * checked device tree that stays readable, or NULL if there is none. Runs on core 0 with the
     * MMU on and nothing but the image mapped. */
    void (*early_init)(const void *dtb);

    /* If the firmware passed no device tree: fill ram[] with the machine's whole RAM, and n_ram,
     * n_cores and the arguments. Called on core 0 after early_init. NULL: a tree is needed. */
    void (*describe)(struct machine *machine);

    /* Correct what the device tree says about RAM, before it is mapped or used, and about cores, if
     * the board knows better. Called on core 0 after early_init. NULL: the tree is right. */
    void (*amend)(struct machine *machine);

    void (*putc)(char c); /* blocks while the transmitter is full */
    int (*getc)(void);    /* next received byte, or -1 when there is none */
    /* Sleep until a byte may have arrived since getc returned none, at most a quarter of a second
     * if something else must be polled. Returns at once if nothing would end the sleep. NULL: never
     * sleeps. */
    void (*idle)(void);
    /* The same for some hundredths of a second at most, and only if a byte is known to end it: for
     * callers that wait for a byte with a time limit. NULL: never sleeps. */
    void (*nap)(void);
    /* Sleep for at most this many microseconds, while waiting for a polled device; an interrupt
     * ends it. Returns at once if no timer would end the sleep. Core 0. NULL: never sleeps. */
    void (*rest)(uint32_t micros);
    /* True once for every Ctrl-C that has arrived and that getc has not given; getc leaves it out
     * then. NULL: input arrives by getc alone. */
    bool (*interrupted)(void);
    uint32_t (*lost)(void); /* bytes lost on the way in since it was last asked; or NULL */
    /* XON/XOFF: pause the peer before input is lost, pause output where the peer asks. Off at the
     * start. NULL: the line has other means. */
    void (*flow_control)(bool on);

    /* From now on keep bytes that wait for getc in `bytes` bytes at `memory`, a power of two;
     * waiting bytes move there. Before, the board keeps them in a few KiB of its own. The memory
     * stays the board's. Core 0. ERR_BAD_ARGUMENT: no power of two, or more bytes are waiting;
     * nothing changes. NULL: the sender waits for getc. */
    enum err (*set_input_buffer)(uint8_t *memory, size_t bytes);

    void (*set_baud)(uint32_t baud); /* drains first; NULL: the rate is fixed or has no meaning */

    /* The highest usual rate up to `most` that the UART's clock reaches within 2 %, or at least
     * 115200 if it reaches none. NULL where set_baud is. */
    uint32_t (*best_baud)(uint32_t most);

    uint64_t (*ticks)(void); /* monotonic counter, same on every core */
    uint64_t (*ticks_hz)(void);

    /* Start core (1 .. n_cores-1) in entry(arg) on a stack of its own with MMU, caches
     * and FPU on. ERR_NO_DEVICE: firmware refused. */
    enum err (*start_core)(unsigned core, void (*entry)(void *arg), void *arg);

    /* Microseconds for which a core of the workers looks at its word before it sleeps
     * (runtime/compute/workers.c). Longer than a wake-up takes if every core has a processor of
     * its own; 0 if they share. */
    uint32_t spin_micros;
    void (*yield)(void); /* between looks: other programs may run; NULL: there are none */
    /* Thousandths of a processor, over all processors, that were idle since the last call; -1: not
     * known. Core 0. NULL: no other program shares the processors. */
    int (*idle_processors)(void);

    /* Sleep until *word may differ from `old` (WFE, WFI, futex). May return early. */
    void (*wait)(const _Atomic uint32_t *word, uint32_t old);
    /* Wake every core that waits on *word; called after *word was changed. */
    void (*wake)(const _Atomic uint32_t *word);

    /* Find a display that is attached, have it show pixels and fill *screen. Memory for them, if they need any of
     * ours, is cut from the end of *free, which is mapped. Core 0, once, after early_init. False: there is no
     * display, or none that works. NULL: the board can have none; else
     * its board.mk has HAS_DISPLAY. */
    bool (*open_screen)(struct board_screen *screen, struct memory_range *free);

    /* Find storage: fill devices[], cards before flash, and return how many (0 ..
     * BOARD_MAX_BLOCK). Called once on core 0, after the MMU is on. */
    unsigned (*find_storage)(struct block_device *devices[BOARD_MAX_BLOCK]);
    /* After find_storage, on core 0 at a prompt: storage that came or went (runtime/base/platform.h, look). NULL: none
     * does, or the board does not see it. */
    struct block_device *(*look_for_storage)(void);
    /* Before find_storage: let a core move the data of cards, instead of their DMA. NULL: the board
     * has no choice. */
    void (*use_pio)(void);
    /* Called before find_storage, to test on any machine what only a few need: the DMA of cards
     * reaches only the cores' addresses below `end`, even if the hardware could do more. NULL: the
     * board has no such limit. */
    void (*limit_dma)(uint64_t end);

    /* Before find_storage: what is printed on the keys of keyboards, enum keyboard_layout_name
     * (board/keyboard.h). NULL: the board takes none. */
    void (*set_keyboard)(unsigned layout);
    /* After find_storage: whether a keyboard is attached. NULL where set_keyboard is. */
    bool (*has_keyboard)(void);

    /* Before find_storage: the highest generation of the PCIe link, 2 or 3. NULL: the board has no choice. */
    void (*set_pcie)(unsigned generation);

    /* Some storage has no DMA, or none after use_pio: one core of several may serve it and do
     * nothing else (runtime/storage/io_core.h). */
    bool storage_needs_cpu;

    /* A read of the card begins (true) or ends: an LED. Reads overlap, and each that begins ends.
     * Cheap. May be NULL. */
    void (*activity)(bool active);

    const struct board_pins *pins; /* NULL: none that we know */
    const struct board_i2c *i2c;   /* NULL: none that we know */

    /* Light the board's LED, or put it out, for a panic or a warning that nobody can read. Called
     * on core 0, at any time: even before early_init, within it and within a trap, so it maps what
     * it needs itself. NULL: the board has no LED that we can drive. */
    void (*led)(bool lit);

    /* Print what firmware and registers say about the machine. May be NULL. */
    void (*facts)(const struct facts *f);

    /* Read temperature, clock and limits. Takes up to a few milliseconds. May be NULL. */
    void (*health)(struct board_health *health);

    /* Restart the machine unless alive() is called within `millis` milliseconds (at most 15000); 0:
     * never. doing: a constant text for the next start's log, "loading the model". May be NULL. */
    void (*watchdog)(uint32_t millis, const char *doing);
    /* Core 0 is alive. It calls this again and again while it looks for input, waits for the
     * card, or works on a layer. Cheap. NULL where watchdog is. */
    void (*alive)(void);
    /* How the last run ended; the same answer during the whole run. NULL where watchdog is. */
    void (*last_run)(struct board_last_run *last);
    /* Whether an emulator runs this: its watchdog goes off at once. NULL where watchdog is. */
    bool (*is_emulated)(void);

    /* Start again from the firmware. Returns if the firmware cannot. May be NULL. */
    void (*restart)(void);

    /* Never returns. status 0: fine, else failed; only the host program and SBI pass it on. */
    void (*power_off)(int status) __attribute__((noreturn));
};

extern const struct board board;

#endif
