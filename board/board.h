/* A board as the rest of Ingot sees it: one struct, which each board defines once. For a new board,
 * copy a folder and change its five files (docs/PORTING.md). */
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

/* Size for set_input_buffer: 11 s of input at 115200 baud, enough for a long paste. */
enum { BOARD_INPUT_BYTES = 128 * 1024 };

struct kernel_tuning;
struct facts;

/* The machine as firmware and device tree describe it. boot (or the host program) fills the struct
 * before the runtime starts; then it is constant. */
struct machine {
    struct memory_range ram[BOARD_MAX_RAM]; /* free RAM after the image; [0] is the arena */
    unsigned n_ram;
    size_t ram_bytes;                   /* all RAM of the machine, for messages */
    unsigned n_cores;                   /* cores present, 1 .. BOARD_MAX_CORES */
    uint64_t core_ids[BOARD_MAX_CORES]; /* the cores' ids in the tree; 0 if there is no tree */
    /* The cores' relative speeds, as the tree gives them; [0] is 0 if it does not. */
    uint32_t core_capacity[BOARD_MAX_CORES];
    uint32_t cpu_features;              /* features of core 0: bits of enum cpu_feature
                                           (kernels/) */
    size_t cache_bytes;                 /* size of core 0's second-level cache, shared or not; 0:
                                           not known */
    const char *cpu_name;               /* "Cortex-A72", "rv64gcv, VLEN 128" */
    const struct kernel_tuning *tuning; /* of core 0 (kernels/tuning.h); never NULL */
    struct memory_range initrd;         /* bytes == 0: none */
    char args[BOARD_ARGS_BYTES];        /* boot arguments, NUL-terminated */
    size_t args_bytes;                  /* full length of the arguments; args may contain only their
                             beginning, or nothing */
    size_t args_limit;                  /* longest arguments that this machine can pass on */
    uint64_t entry_ticks;               /* board.ticks() at the first instruction of C */
    uint64_t date; /* real time at entry_ticks, in seconds since 1970; 0: not known */
};

/* GPIO lines to which a person may wire things, numbered as in the board's README. Core 0 only. */
struct board_pins {
    /* Returns NULL if the line is free, else the reason, without a full stop, why it must not be
     * touched: there is no such line, or the board uses it. The other functions are called only for
     * usable lines. */
    const char *(*error_message)(unsigned line);
    /* Make the line an input, or an output with the level `high`; an output has that level at
     * once. */
    void (*setup)(unsigned line, bool output, bool high);
    void (*write)(unsigned line, bool high);
    bool (*read)(unsigned line);
};

/* I2C buses to which a person may wire sensors, numbered as in the board's README. Core 0 only. */
struct board_i2c {
    /* Reserve the bus and its lines for sensors; nothing is driven yet. Returns NULL on
     * success, else the reason without a full stop. The other functions are called only for usable
     * buses. */
    const char *(*claim)(unsigned bus);
    /* Write 1 to 16 bytes in one transfer. ERR_NO_DEVICE: no device answers at the address;
     * ERR_TIMEOUT: a device holds the bus; ERR_IO, ERR_UNSUPPORTED: the bus fails. */
    enum err (*write)(unsigned bus, unsigned address, const uint8_t *bytes, unsigned n);
    enum err (*read)(unsigned bus, unsigned address, uint8_t *bytes, unsigned n);
};

/* Ethernet; runtime/base/platform.h describes the functions. Core 0 only. tree: the machine's
 * device tree; its blob is NULL if there is none. board_network is in a board's network.c, which
 * only images with NETWORK=yes have. */
struct device_tree;
struct board_network {
    const char *(*open)(const struct device_tree *tree, uint8_t address[6]);
    bool (*is_up)(void);
    bool (*send)(const uint8_t *frame, size_t bytes);
    size_t (*receive)(uint8_t *to, size_t room);
    const char *(*trouble)(
        void); /* returns why an existing link cannot be used, or NULL; the member is NULL if all
                  links are usable */
};
extern const struct board_network board_network;

/* A member may be NULL if its comment says so; the board then lacks the function. */
struct board {
    const char *name;

    /* Set up and map console, cores and all other devices except storage (board/isa.h). dtb: a
     * checked device tree that stays readable, or NULL if there is none. Runs on core 0 with the
     * MMU on and nothing but the image mapped. */
    void (*early_init)(const void *dtb);

    /* If the firmware passed no device tree: fill ram[] with the machine's whole RAM, and n_ram,
     * n_cores and the arguments. Called on core 0 after early_init. If NULL, the tree is needed. */
    void (*describe)(struct machine *machine);

    /* Correct the RAM and the cores that the device tree gave, before RAM is mapped or used. Called
     * on core 0 after early_init. The member is NULL if the tree is right. */
    void (*amend)(struct machine *machine);

    void (*putc)(char c); /* blocks while the transmitter is full */
    int (*getc)(void);    /* next received byte, or -1 when there is none */
    /* Sleep until a byte may have arrived since getc returned -1, at most a quarter of a second if
     * something else must be polled. Return at once if nothing would end the sleep. NULL: never
     * sleeps. */
    void (*idle)(void);
    /* As idle, for callers with a time limit: sleep at most some hundredths of a second, and only
     * if a byte is known to end the sleep. NULL: never sleeps. */
    void (*nap)(void);
    /* Sleep for at most this many microseconds, while waiting for a polled device; an interrupt
     * ends the sleep. Return at once if no timer would end it. Core 0 only. NULL: never sleeps. */
    void (*rest)(uint32_t micros);
    /* True if a Ctrl-C has arrived that getc has not returned. Then every Ctrl-C so far counts as
     * handled, and getc skips it. The member is NULL if input arrives only by getc. */
    bool (*interrupted)(void);
    uint32_t (*lost)(void); /* received bytes lost since the last call; or NULL */
    /* Use XON/XOFF: pause the peer before input is lost, and pause output if the peer asks for it.
     * Off at the start. The member is NULL if the line has another flow control. */
    void (*flow_control)(bool on);

    /* From now on the board stores received bytes in `memory` until getc takes them; bytes that
     * already wait move there. `bytes`, the size of `memory`, is a power of two. Before this call
     * the board uses a few KiB of its own. Core 0 only. ERR_BAD_ARGUMENT: `bytes` is not a power of
     * two, or less than the number of waiting bytes. The member is NULL if the sender waits for
     * getc. */
    enum err (*set_input_buffer)(uint8_t *memory, size_t bytes);

    void (*set_baud)(uint32_t baud); /* first sends pending output; NULL if the rate is fixed or
                                        unused */

    /* The highest usual rate up to `most` that the UART's clock reaches within 2 %; 115200 if it
     * reaches none. NULL if set_baud is NULL. */
    uint32_t (*best_baud)(uint32_t most);

    uint64_t (*ticks)(void); /* monotonic counter, the same on every core */
    uint64_t (*ticks_hz)(void);

    /* Run entry(arg) on `core` (1 .. n_cores - 1), on its own stack, with MMU, caches and FPU on.
     * ERR_NO_DEVICE: firmware refused. */
    enum err (*start_core)(unsigned core, void (*entry)(void *arg), void *arg);

    /* How many microseconds a worker's core polls the variable that it waits for, before it sleeps
     * (runtime/compute/workers.c). If every core has its own processor, this is longer than a
     * wake-up takes; if cores share processors, it is 0. */
    uint32_t spin_micros;
    void (*yield)(void); /* let other programs run while a core polls; NULL if there are none */
    /* Idle time of all processors since the last call, in thousandths of a processor; -1: not
     * known. Core 0 only. The member is NULL if no other program shares the processors. */
    int (*idle_processors)(void);

    /* Sleep until *word may differ from `old` (WFE, WFI, futex). May return early. */
    void (*wait)(const _Atomic uint32_t *word, uint32_t old);
    /* Wake every core that waits on *word; called after *word was changed. */
    void (*wake)(const _Atomic uint32_t *word);

    /* Find an attached display, let it show pixels and fill *screen. If the pixels need RAM, take
     * it from the end of *free, which is mapped. Core 0 calls it once, after early_init. Returns
     * false if there is no display, or none that works. The member is NULL if the board never has
     * one; otherwise its board.mk has HAS_DISPLAY. */
    bool (*open_screen)(struct board_screen *screen, struct memory_range *free);

    /* Find storage: fill devices[], cards before flash, and return their number (0 ..
     * BOARD_MAX_BLOCK). Called once on core 0, after the MMU is on. */
    unsigned (*find_storage)(struct block_device *devices[BOARD_MAX_BLOCK]);
    /* After find_storage, on core 0 at a prompt: find storage that came or went
     * (runtime/base/platform.h, look). The member is NULL if the board cannot detect this, or if
     * its storage never changes. */
    struct block_device *(*look_for_storage)(void);
    /* Before find_storage: let a core, not DMA, move the data of cards. The member is NULL if
     * the board has no choice. */
    void (*use_pio)(void);
    /* Before find_storage: let the DMA of cards reach only the cores' addresses below `end`. Only a
     * few machines need the limit, but tests may set it on any machine. The member is NULL if the
     * board has no such limit. */
    void (*limit_dma)(uint64_t end);

    /* Before find_storage: set the layout of keyboards, an enum keyboard_layout_name
     * (board/keyboard.h). The member is NULL if the board supports no keyboards. */
    void (*set_keyboard)(unsigned layout);
    /* After find_storage: true if a keyboard is attached. NULL if set_keyboard is NULL. */
    bool (*has_keyboard)(void);

    /* Before find_storage: limit the generation of the PCIe link to 2 or 3. NULL: no choice. */
    void (*set_pcie)(unsigned generation);

    /* True if some storage has no DMA, or has none after use_pio. Then one of several cores may be
     * reserved for this storage (runtime/storage/io_core.h). */
    bool storage_needs_cpu;

    /* Show on an LED that a read of the card begins (true) or ends. Reads may overlap; each call
     * with true is followed by one with false. Cheap. May be NULL. */
    void (*activity)(bool active);

    const struct board_pins *pins; /* NULL if the board has no lines that a person may wire */
    const struct board_i2c *i2c;   /* NULL if the board has no bus that a person may wire */

    /* Switch the board's LED on or off, for a panic or a warning that nobody can read. Called on
     * core 0 at any time, even before or in early_init or in a trap, so it maps what it needs
     * itself. The member is NULL if the board has no LED that we can drive. */
    void (*led)(bool lit);

    /* Report what firmware and registers say about the machine. May be NULL. */
    void (*facts)(const struct facts *f);

    /* Read temperature, clock and limits. Takes up to a few milliseconds. May be NULL. */
    void (*health)(struct board_health *health);

    /* Restart the machine unless alive() is called within `millis` milliseconds (at most 15000); 0:
     * never. doing: a constant text for the next start's log ("loading the model"). May be NULL. */
    void (*watchdog)(uint32_t millis, const char *doing);
    /* Report that core 0 is alive. Core 0 calls this again and again while it looks for input,
     * waits for the card or a USB device, or works on a layer. Other cores call it only while they
     * show why the machine stops. Cheap. NULL if watchdog is NULL. */
    void (*alive)(void);
    /* Report how the last run ended; every call gives the same answer. NULL if watchdog is NULL. */
    void (*last_run)(struct board_last_run *last);
    /* True in an emulator, whose watchdog fires at once. NULL if watchdog is NULL. */
    bool (*is_emulated)(void);

    /* Restart the machine. Returns if the firmware cannot do that. May be NULL. */
    void (*restart)(void);

    /* Never returns. status 0: fine, else failed; only the host program and SBI pass it on. */
    void (*power_off)(int status) __attribute__((noreturn));
};

extern const struct board board;

#endif
