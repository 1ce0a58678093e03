/* Opens a console for a person or a program: a UART that the device tree names, with our own
 * driver; else the firmware's serial protocol, which also passes every byte unchanged; else the
 * firmware's console, which drops escape sequences. UEFI 2.10, 12.8 and 12.3 to 12.4. */
#include <stdatomic.h>

#include "board/drivers/serial/serial.h"
#include "board/efi/efi_call.h"
#include "board/efi/efi_parts.h"
#include "board/isa.h"

enum { IDLE_MICROS = 10000, LOOKS = 25, REPORT_BYTES = 8192, HUNDRED_NS = 10 };

static struct efi_console {
    struct efi_serial *ports[2]; /* of the serial protocol; NULL: none */
    struct efi_text_output *out;
    efi_event timer;   /* NULL: the firmware provides none, so we poll */
    bool ours;         /* the UART has a driver of ours, which any core may call */
    bool only_display; /* the firmware's console has no serial line */
    bool covered;      /* our pixels are on the display */
    /* A report that core 0 sends for another core, which may not call the firmware. */
    char report[REPORT_BYTES];
    _Atomic unsigned reported;
    atomic_bool ends; /* after the report the machine must be switched off */
    unsigned sent;
} efi_console;

/* ---- the firmware's serial protocol as a UART ----------------------------------------------- */

static int serial_protocol_receive(void *uart)
{
    struct efi_serial *serial = uart;
    uint64_t n = 1;
    uint32_t bits;
    uint8_t byte;

    /* If no byte waits, a read would block until its time-out. */
    if (efi_failed(EFI_CALL(serial->get_control(serial, &bits))) ||
        (bits & EFI_SERIAL_INPUT_EMPTY) != 0)
        return SERIAL_NOTHING;
    if (efi_failed(EFI_CALL(serial->read(serial, &n, &byte))) || n != 1)
        return SERIAL_NOTHING;
    return byte;
}

static bool serial_protocol_send(void *uart, uint8_t byte)
{
    struct efi_serial *serial = uart;
    uint64_t n = 1;

    (void)EFI_CALL(serial->write(serial, &n, &byte));
    return true; /* an error cannot be reported */
}

static void serial_protocol_listen(void *uart)
{
    (void)uart;
}

static void serial_protocol_drain(void *uart)
{
    (void)uart;
}

static const struct serial_uart serial_protocol = {
    .receive = serial_protocol_receive,
    .send = serial_protocol_send,
    .listen = serial_protocol_listen,
    .drain = serial_protocol_drain,
};

/* True if the port reports whether a byte has arrived. Other ports are not read, because a read
 * would wait for a byte, up to a second each time; the firmware's console, which reads from the
 * same port, is used instead. */
static bool tells_input(efi_handle handle)
{
    struct efi_serial *serial = efi_protocol_of(handle, &efi_serial_guid);
    uint32_t bits;

    return serial != NULL && !efi_failed(EFI_CALL(serial->get_control(serial, &bits)));
}

/* True if the firmware's console has a terminal on the port. EDK2 marks the terminals of its
 * console. */
static bool is_console(efi_handle port)
{
    const struct efi_device_path *its = efi_protocol_of(port, &efi_device_path_guid);
    efi_handle *terminals;
    uint64_t n = efi_handles(&efi_console_out_guid, &terminals);
    bool found = false;

    for (uint64_t i = 0; i < n && its != NULL && !found; i++) {
        const struct efi_device_path *path = efi_protocol_of(terminals[i], &efi_device_path_guid);

        found = path != NULL && efi_path_begins(path, its);
    }
    efi_handles_free(terminals);
    return found;
}

/* Open the port exclusively, so that the firmware's own terminal, which reads from it in the
 * background, releases it. Returns NULL if the port cannot be used. */
static struct efi_serial *open_port(efi_handle handle)
{
    void *port = NULL;

    if (!tells_input(handle) ||
        efi_failed(EFI_CALL(efi_boot()->open_protocol(handle, &efi_serial_guid, &port, efi_image(),
                                                      NULL, EFI_OPEN_EXCLUSIVE))))
        return NULL;
    return port;
}

/* Open two ports of the firmware's console, because the remote console of a server is often on its
 * second port. If the firmware does not say which ports its console has, open the first port that
 * works. */
static bool open_serial_protocol(void)
{
    struct efi_serial **ports = efi_console.ports;
    efi_handle *handles;
    uint64_t n = efi_handles(&efi_serial_guid, &handles);

    ports[0] = ports[1] = NULL;
    for (uint64_t i = 0; i < n && ports[1] == NULL; i++)
        if (is_console(handles[i]))
            ports[ports[0] != NULL] = open_port(handles[i]);
    for (uint64_t i = 0; i < n && ports[0] == NULL; i++)
        ports[0] = open_port(handles[i]);
    efi_handles_free(handles);
    return ports[0] != NULL;
}

static void use_ports(void)
{
    serial_open(&serial_protocol, efi_console.ports[0]);
    if (efi_console.ports[1] != NULL)
        serial_also(&serial_protocol, efi_console.ports[1]);
}

/* ---- the firmware's console as a UART ------------------------------------------------------- */

/* The firmware takes UTF-16, so a character in UTF-8 is sent when all its bytes are here. Escape
 * sequences are dropped. */
static struct efi_text {
    uint32_t character;
    unsigned left; /* bytes that the character still needs */
    enum { TEXT_PLAIN, TEXT_ESCAPED, TEXT_SEQUENCE } state;
} text;

static void out_character(uint32_t c)
{
    uint16_t units[] = { (uint16_t)c, 0 };

    if (efi_console.out == NULL || (efi_console.only_display && efi_console.covered))
        return;
    if (c > UINT16_MAX)
        units[0] = 0xfffd;
    (void)EFI_CALL(efi_console.out->output_string(efi_console.out, units));
}

/* Returns false if the byte belongs to an escape sequence. */
static bool is_text(uint8_t byte)
{
    if (text.state == TEXT_PLAIN && byte == '\33') {
        text.state = TEXT_ESCAPED;
        return false;
    }
    if (text.state == TEXT_ESCAPED) {
        text.state = byte == '[' ? TEXT_SEQUENCE : TEXT_PLAIN;
        return false;
    }
    if (text.state == TEXT_SEQUENCE) {
        if (byte >= '@' && byte <= '~')
            text.state = TEXT_PLAIN;
        return false;
    }
    return true;
}

static bool console_send(void *uart, uint8_t byte)
{
    (void)uart;
    if (!is_text(byte))
        return true;
    if (byte < 0x80) {
        text.left = 0;
        out_character(byte);
    } else if (byte < 0xc0 && text.left != 0) {
        text.character = text.character << 6 | (byte & 0x3f);
        if (--text.left == 0)
            out_character(text.character);
    } else if (byte >= 0xc0) {
        text.left = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
        text.character = byte & (0x3fu >> text.left);
    }
    return true;
}

static int console_receive(void *uart)
{
    (void)uart;
    return efi_keys_take(NULL);
}

static const struct serial_uart console_protocol = {
    .receive = console_receive,
    .send = console_send,
    .listen = serial_protocol_listen,
    .drain = serial_protocol_drain,
};

/* ---- the line ------------------------------------------------------------------------------- */

/* Keep U-Boot's console from the UART: it polls keys whenever one of its timers runs, and would
 * take our bytes. */
static void keep_firmware_from_uart(void)
{
    efi_enter();
    (void)efi_boot()->raise_tpl(EFI_TPL_CALLBACK);
    (void)efi_leave(EFI_SUCCESS);
}

static void open_timer(void)
{
    if (efi_failed(EFI_CALL(efi_boot()->create_event((uint32_t)EFI_EVENT_TIMER, 0, NULL, NULL,
                                                     &efi_console.timer))))
        efi_console.timer = NULL;
}

/* True if the firmware's console has no serial line, as on a PC without a serial port: it has only
 * the display. Without ports for programs, a device tree may still name a UART that the firmware
 * uses. */
static bool has_only_display(void)
{
    efi_handle *handles;
    uint64_t n = efi_handles(&efi_serial_guid, &handles);

    efi_handles_free(handles);
    return n == 0 && efi_tree()->blob == NULL;
}

void efi_console_cover(void)
{
    efi_console.covered = true;
}

void efi_console_open(void)
{
    bool has_protocol = open_serial_protocol();

    efi_console.ours = efi_uart_open(efi_tree());
    if (efi_console.ours && !has_protocol) {
        keep_firmware_from_uart();
        return;
    }
    open_timer();
    if (efi_console.ours)
        return;
    if (has_protocol) {
        use_ports();
    } else {
        efi_console.out = efi_system()->out;
        efi_console.only_display = has_only_display();
        (void)efi_keys_open();
        serial_open(&console_protocol, &efi_console);
    }
}

const char *efi_console_instead(void)
{
    if (efi_console.ours)
        return NULL;
    if (efi_console.ports[0] != NULL)
        return "the firmware's serial port, because no device tree names a UART that Ingot knows";
    if (efi_console.out != NULL)
        return "the firmware's console, without colours, because no device tree names a UART that Ingot "
               "knows and the firmware has no serial port for programs";
    return "none, because the firmware has no console";
}

static bool may_send(void)
{
    return efi_console.ours || core_number() == 0;
}

void efi_console_putc(char c)
{
    unsigned at;

    if (may_send()) {
        serial_putc(c);
        return;
    }
    at = atomic_load(&efi_console.reported);
    if (at < REPORT_BYTES) {
        efi_console.report[at] = c;
        atomic_store(&efi_console.reported, at + 1);
    }
}

/* Send another core's report of a trap or a failed assertion, then switch off in that core's
 * place. */
static void send_report(void)
{
    /* The other core could not draw its report. */
    if (efi_console.sent < atomic_load(&efi_console.reported))
        efi_console.covered = false;
    while (efi_console.sent < atomic_load(&efi_console.reported))
        serial_putc(efi_console.report[efi_console.sent++]);
    if (atomic_load(&efi_console.ends))
        board.power_off(1);
}

void efi_console_end_elsewhere(void)
{
    atomic_store(&efi_console.ends, true);
    core_halt();
}

int efi_console_getc(void)
{
    send_report();
    return serial_getc();
}

bool efi_console_interrupted(void)
{
    send_report();
    return serial_interrupted();
}

static void spin(uint32_t micros)
{
    uint64_t start = board.ticks(), most = board.ticks_hz() / 1000 * micros / 1000;

    while (board.ticks() - start < most && !serial_has_input())
        ;
}

/* Sleep until a timer of the firmware ends; if there is none, poll until the time is
 * over. */
void efi_console_rest(uint32_t micros)
{
    uint64_t which;

    if (efi_console.timer == NULL ||
        efi_failed(EFI_CALL(efi_boot()->set_timer(efi_console.timer, EFI_TIMER_RELATIVE,
                                                  (uint64_t)micros * HUNDRED_NS))))
        spin(micros);
    else
        (void)EFI_CALL(efi_boot()->wait_for_event(1, &efi_console.timer, &which));
}

/* serial_idle sleeps until an interrupt, but we have no interrupts. */
void efi_console_idle(void)
{
    for (unsigned i = 0; i < LOOKS && !serial_has_input(); i++)
        efi_console_rest(IDLE_MICROS);
}
