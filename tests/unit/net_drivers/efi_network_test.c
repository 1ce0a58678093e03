/* Frames by the firmware's SimpleNetwork: a device in each of its states, filters, frames both
 * ways, buffers that the firmware keeps, a cable, and firmware that refuses. */
#include "board/efi/efi_network.h"

#include "tests/unit/board/fakes/fake_efi.h"

enum { FIRST = 10, SECOND = 11, FRAMES = 16, FRAME = 1514 };

static struct fake_network {
    struct efi_network protocol; /* first: the interface is the device */
    struct efi_network_mode mode;
    unsigned starts, initializes, shutdowns, transmits, wrong;
    bool refuses_start, keeps; /* keeps: it does not give sent buffers back */
    efi_status filters_answer;
    uint32_t filter;
    const uint8_t *sent[FRAMES];
    uint64_t sent_bytes;
    uint8_t sent_frame[FRAME];
    unsigned n_sent;
    const uint8_t *came;
    uint64_t came_bytes;
} cards[2];

static struct fake_network *card_of(struct efi_network *n)
{
    return (struct fake_network *)n;
}

static efi_status EFI_API start(struct efi_network *n)
{
    struct fake_network *f = card_of(n);

    f->starts++;
    f->wrong += f->mode.state != EFI_NETWORK_STOPPED;
    if (f->refuses_start)
        return FAKE_ERROR;
    f->mode.state = EFI_NETWORK_STARTED;
    return EFI_SUCCESS;
}

static efi_status EFI_API initialize(struct efi_network *n, uint64_t more_receive,
                                     uint64_t more_send)
{
    struct fake_network *f = card_of(n);

    f->initializes++;
    f->wrong += f->mode.state != EFI_NETWORK_STARTED || more_receive != 0 || more_send != 0;
    f->mode.state = EFI_NETWORK_INITIALIZED;
    return EFI_SUCCESS;
}

static efi_status EFI_API shut_down(struct efi_network *n)
{
    card_of(n)->shutdowns++;
    card_of(n)->mode.state = EFI_NETWORK_STARTED;
    return EFI_SUCCESS;
}

static efi_status EFI_API set_filters(struct efi_network *n, uint32_t on, uint32_t off,
                                      bool reset_groups, uint64_t n_groups,
                                      const struct efi_mac *groups)
{
    struct fake_network *f = card_of(n);

    f->wrong += (on & ~f->mode.filters) != 0 || off != 0 || n_groups != 0 || groups != NULL ||
                !reset_groups;
    f->filter = on;
    return f->filters_answer;
}

static efi_status EFI_API get_status(struct efi_network *n, uint32_t *interrupts, void **sent)
{
    struct fake_network *f = card_of(n);

    *interrupts = 0;
    *sent = NULL;
    if (!f->keeps && f->n_sent != 0) {
        f->n_sent--;
        *sent = (void *)(uintptr_t)f->sent[f->n_sent];
    }
    return EFI_SUCCESS;
}

static efi_status EFI_API transmit(struct efi_network *n, uint64_t header_bytes, uint64_t bytes,
                                   const void *frame, const struct efi_mac *from,
                                   const struct efi_mac *to, const uint16_t *type)
{
    struct fake_network *f = card_of(n);

    f->wrong += header_bytes != 0 || from != NULL || to != NULL || type != NULL || bytes > FRAME;
    for (unsigned i = 0; i < f->n_sent; i++)
        f->wrong += f->sent[i] == frame; /* it has that buffer already */
    if (f->n_sent == FRAMES)
        return EFI_NOT_READY;
    f->sent[f->n_sent++] = frame;
    f->sent_bytes = bytes;
    memcpy(f->sent_frame, frame, bytes);
    f->transmits++;
    return EFI_SUCCESS;
}

static efi_status EFI_API receive(struct efi_network *n, uint64_t *header_bytes, uint64_t *bytes,
                                  void *frame, struct efi_mac *from, struct efi_mac *to,
                                  uint16_t *type)
{
    struct fake_network *f = card_of(n);

    f->wrong += header_bytes != NULL || from != NULL || to != NULL || type != NULL;
    if (f->came == NULL)
        return EFI_NOT_READY;
    if (f->came_bytes > *bytes) {
        *bytes = f->came_bytes;
        f->came = NULL;
        return EFI_BUFFER_TOO_SMALL;
    }
    *bytes = f->came_bytes;
    memcpy(frame, f->came, f->came_bytes);
    f->came = NULL;
    return EFI_SUCCESS;
}

static void insert(unsigned i, uintptr_t handle)
{
    static const uint8_t address[6] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };
    struct fake_network *f = &cards[i];

    f->protocol = (struct efi_network){ .start = start,
                                        .initialize = initialize,
                                        .shutdown = shut_down,
                                        .receive_filters = set_filters,
                                        .get_status = get_status,
                                        .transmit = transmit,
                                        .receive = receive,
                                        .mode = &f->mode };
    f->mode.address_bytes = 6;
    f->mode.header_bytes = 14;
    f->mode.filters = 0x1f;
    f->mode.interface_type = EFI_NETWORK_ETHERNET;
    memcpy(f->mode.address.bytes, address, sizeof address);
    f->mode.address.bytes[5] = (uint8_t)(f->mode.address.bytes[5] + i);
    fake_add(handle, &efi_network_guid, &f->protocol);
}

static void power_up(void)
{
    fake_power_up();
    memset(cards, 0, sizeof cards);
    insert(0, FIRST);
}

static uint8_t address[6];

static const char *open_it(void)
{
    memset(address, 0, sizeof address);
    return efi_network_open(NULL, address);
}

static void test_states(void)
{
    for (uint32_t state = EFI_NETWORK_STOPPED; state <= EFI_NETWORK_INITIALIZED; state++) {
        power_up();
        cards[0].mode.state = state;
        OK(open_it() == NULL && address[5] == 0x56 && cards[0].wrong == 0 &&
               cards[0].mode.state == EFI_NETWORK_INITIALIZED && fw.opens == 1 && fw.pools == 0,
           "a device in state %u is opened only for ourselves", (unsigned)state);
    }
    OK(cards[0].filter == (EFI_NETWORK_UNICAST | EFI_NETWORK_BROADCAST | EFI_NETWORK_ALL_MULTICAST),
       "the filter lets frames for groups in");
    power_up();
    cards[0].mode.filters = EFI_NETWORK_UNICAST | EFI_NETWORK_BROADCAST | EFI_NETWORK_ALL;
    OK(open_it() == NULL && cards[0].wrong == 0 && (cards[0].filter & EFI_NETWORK_ALL),
       "the filter lets all frames in if it knows no groups");
    power_up();
    cards[0].mode.filters = 0;
    cards[0].filters_answer = EFI_UNSUPPORTED;
    OK(open_it() == NULL && cards[0].wrong == 0 && address[5] == 0x56,
       "U-Boot's device works without filters");
    power_up();
    cards[0].filters_answer = EFI_UNSUPPORTED;
    OK(open_it() == NULL && cards[0].wrong == 0,
       "a device works that names filters and does not know how to set them");
}

static void test_refused(void)
{
    fake_power_up();
    OK(strstr(open_it(), "no network device") != NULL && fw.pools == 0,
       "a machine without a network says so");
    power_up();
    cards[0].mode.interface_type = 6;
    OK(strstr(open_it(), "no network device") != NULL, "a device that is not Ethernet is refused");
    power_up();
    fw.opens = -1;
    OK(strstr(open_it(), "OpenProtocol") != NULL, "a device that the firmware keeps is refused");
    power_up();
    cards[0].refuses_start = true;
    OK(strstr(open_it(), "does not start") != NULL, "a device that does not start is refused");
    power_up();
    cards[0].filters_answer = FAKE_ERROR;
    OK(strstr(open_it(), "does not start") != NULL,
       "a device that does not take filters is refused");
    power_up();
    cards[0].refuses_start = true;
    insert(1, SECOND);
    OK(open_it() == NULL && address[5] == 0x57 && fw.pools == 0,
       "the next device is taken in place of one that does not start");
}

static void test_frames(void)
{
    uint8_t frame[FRAME + 4], back[FRAME];
    unsigned n = 0;

    for (unsigned i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)(i * 7);
    power_up();
    (void)open_it();
    for (unsigned i = 0; i < 40; i++) {
        n += efi_network_send(frame + i, FRAME - i) && cards[0].sent_bytes == FRAME - i &&
             memcmp(cards[0].sent_frame, frame + i, FRAME - i) == 0;
    }
    OK(n == 40 && cards[0].wrong == 0, "forty frames go out as they are");
    OK(!efi_network_send(frame, FRAME + 1), "a frame that is too long does not go out");
    cards[0].keeps = true;
    for (n = 0; n < 100 && efi_network_send(frame, 60); n++) {
    }
    OK(n >= 4 && n < 16 && cards[0].wrong == 0, "firmware that gives nothing back gets no more");
    cards[0].keeps = false;
    OK(efi_network_send(frame, 60) && cards[0].wrong == 0,
       "firmware that gives buffers back gets frames again");
    OK(efi_network_receive(back, sizeof back) == 0, "no frame has come yet");
    cards[0].came = frame;
    cards[0].came_bytes = FRAME;
    OK(efi_network_receive(back, sizeof back) == FRAME && memcmp(frame, back, FRAME) == 0,
       "a frame comes as it is");
    cards[0].came = frame;
    cards[0].came_bytes = FRAME + 4;
    OK(efi_network_receive(back, sizeof back) == FRAME && memcmp(frame, back, FRAME) == 0 &&
           efi_network_receive(back, sizeof back) == 0,
       "a frame with its checksum comes without it, and leaves the firmware");
    OK(efi_network_is_up(), "firmware that does not know its cable always has one");
    cards[0].mode.knows_cable = true;
    OK(!efi_network_is_up(), "a cable that is pulled is seen");
    cards[0].mode.cable = true;
    OK(efi_network_is_up(), "a cable that is plugged in is seen");
}

int main(void)
{
    test_states();
    test_refused();
    test_frames();
    return tap_done();
}
