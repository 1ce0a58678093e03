/* The common parts of the Raspberry Pi boards: console, mailbox, cores, health, power. A board
 * provides addresses and pins. There is only one machine, so functions that need nothing more from
 * the board are direct members of struct board: .health = raspberry_pi_health. */
#ifndef INGOT_BOARD_DRIVERS_SOC_RASPBERRY_PI_H
#define INGOT_BOARD_DRIVERS_SOC_RASPBERRY_PI_H

#include "board/board.h"
#include "board/device_tree.h"
#include "board/drivers/dma/dma.h"
#include "board/drivers/serial/pl011.h"
#include "board/drivers/soc/bcm_gpio.h"
#include "board/drivers/soc/bcm_mailbox.h"
#include "board/drivers/soc/generic_timer.h"

enum {
    RASPBERRY_PI_CORES = 4,
    RASPBERRY_PI_BAUD = 115200,
    RASPBERRY_PI_NO_LED = -1,
    RASPBERRY_PI_EXPANDER = 128,  /* plus a pin of the firmware's expander */
    RASPBERRY_PI_ALWAYS_ON = 256, /* + a pin of BCM2712's always-on block */
};

struct raspberry_pi;

struct raspberry_pi_places {
    uintptr_t uart, mailbox, watchdog;
    uintptr_t gpio;     /* registers of bcm_gpio; 0: none */
    uintptr_t gpio_aon; /* BCM2712's always-on pins; 0: none */
    /* Set pi->led and led_inverted from pi->revision, which may be 0; make a pin of `gpio` an
     * output. The member is NULL if there is no LED. */
    void (*find_led)(struct raspberry_pi *pi);
    uintptr_t chip_id; /* register with the stepping, for a person to read; 0: none */
    enum bcm_pull_kind pull;
    uint32_t uart_hz;      /* rate to set for the UART's clock; 0: leave clock and baud rate */
    uint32_t uart_left_hz; /* the UART's clock, if the firmware has set no baud rate */
    void (*listen)(void);  /* called on each core, before it waits or wakes others */
};

struct raspberry_pi {
    const struct raspberry_pi_places *places;
    struct device_tree tree; /* blob NULL: none */
    struct bcm_mailbox mailbox;
    struct pl011 uart;
    uint32_t uart_hz;  /* clock of the UART; 0: unknown, and the firmware's rate stays */
    uint32_t revision; /* revision code of the board; 0: unknown */
    int led;           /* pin; RASPBERRY_PI_EXPANDER and _ALWAYS_ON say which block it belongs to */
    bool led_inverted;
    bool emulated;    /* QEMU runs the board; QEMU's watchdog does not count down, but restarts the
                         machine when armed */
    unsigned n_reads; /* number of reads of the card in progress; above 0, the LED is on */
    uint32_t watchdog_millis; /* 0: not armed */
    uint64_t start_ticks, fed_ticks;
    uint32_t n_alive;           /* number of calls of raspberry_pi_alive in QEMU */
    bool pio;                   /* a core moves the card's data, after raspberry_pi_use_pio */
    uint64_t dma_end;           /* limit from raspberry_pi_limit_dma; 0: the hardware's limit */
    uint32_t reset_status;      /* reset status as the firmware left it */
    void (*before_reset)(void); /* puts devices into the state that the firmware expects; NULL:
                                   nothing to do */
    struct board_last_run last_run;
    struct raspberry_pi_core {
        const struct raspberry_pi *pi;
        _Atomic uint32_t started; /* set after the two members below */
        void (*entry)(void *arg);
        void *arg;
    } cores[RASPBERRY_PI_CORES];
};

/* For board.led: switch the LED on or off, at any time, even before or during
 * raspberry_pi_init. */
void raspberry_pi_led(struct raspberry_pi *pi, const struct raspberry_pi_places *places, bool lit);

/* Open the tree (dtb may be NULL) and the mailbox, and read what the firmware knows; raise the
 * cores' clock to the allowed maximum. This maps the registers. An LED controlled by a register is
 * on from now until there is a console, so it stays on if the start hangs in between. */
void raspberry_pi_init(struct raspberry_pi *pi, const struct raspberry_pi_places *places,
                       const void *dtb);

/* Put the UART on GPIO 14 and 15, at RASPBERRY_PI_BAUD, and make it the line of serial.h. */
void raspberry_pi_open_console(struct raspberry_pi *pi);

/* For board.set_baud. A rate above what the UART's clock can give becomes the highest possible
 * rate. */
void raspberry_pi_set_baud(uint32_t baud);
uint32_t raspberry_pi_best_baud(uint32_t most);

/* For board.describe: fill in the RAM below the VideoCore's share and above 1 GiB, the four cores,
 * and the arguments. */
void raspberry_pi_describe(struct machine *machine);

/* Fetch the other cores through the word that the firmware makes them poll: the tree's
 * cpu-release-addr, or the words of the firmware's own start code. From then on all cores sleep in
 * board.wait, even those that we do not start, because in QEMU the firmware's loop takes a whole
 * processor. */
void raspberry_pi_fetch_cores(struct raspberry_pi *pi);

/* For board.start_core: start a core that was fetched. */
enum err raspberry_pi_start_core(unsigned core, void (*entry)(void *arg), void *arg);

/* For board.facts: report the facts of this machine. */
void raspberry_pi_tell(struct raspberry_pi *pi, const struct facts *f);

/* The model in bits 4 to 11 of the revision code. */
static inline unsigned raspberry_pi_model(const struct raspberry_pi *pi)
{
    return pi->revision >> 4 & 0xff;
}

/* A controller's DMA window, limited by raspberry_pi_limit_dma. */
struct dma_window raspberry_pi_window(struct dma_window window);

/* Functions for the members of struct board with these names. */
void raspberry_pi_use_pio(void);
void raspberry_pi_limit_dma(uint64_t end);
void raspberry_pi_activity(bool active);
bool raspberry_pi_open_screen(struct board_screen *screen, struct memory_range *free);
void raspberry_pi_health(struct board_health *health);
void raspberry_pi_facts(const struct facts *f);
void raspberry_pi_watchdog(uint32_t millis, const char *doing);
void raspberry_pi_alive(void);
void raspberry_pi_last_run(struct board_last_run *last);
bool raspberry_pi_is_emulated(void);
void raspberry_pi_restart(void);
void raspberry_pi_power_off(int status) __attribute__((noreturn));

/* Clock, condition, watchdog, display and power, as members of struct board. */
#define RASPBERRY_PI \
    .ticks = generic_timer_ticks, .ticks_hz = generic_timer_hz, .health = raspberry_pi_health, \
    .open_screen = raspberry_pi_open_screen, .facts = raspberry_pi_facts, \
    .watchdog = raspberry_pi_watchdog, .alive = raspberry_pi_alive, \
    .last_run = raspberry_pi_last_run, .is_emulated = raspberry_pi_is_emulated, \
    .restart = raspberry_pi_restart, .power_off = raspberry_pi_power_off

#endif
