#include "board/board.h"
#include "board/drivers/net/rp1_gem.h"
#include "board/drivers/soc/generic_timer.h"
#include "memory.h"

static struct gem gem;

static const char *rpi5_network_open(const struct device_tree *tree, uint8_t address[6])
{
    return rp1_gem_open(&gem, tree, BOARD_RP1_PCIE, generic_timer_ticks, generic_timer_hz(),
                        address);
}

static bool rpi5_network_is_up(void)
{
    return gem_is_up(&gem);
}

static bool rpi5_network_send(const uint8_t *frame, size_t bytes)
{
    return gem_send(&gem, frame, bytes);
}

static size_t rpi5_network_receive(uint8_t *to, size_t room)
{
    return gem_receive(&gem, to, room);
}

const struct board_network board_network = {
    .open = rpi5_network_open,
    .is_up = rpi5_network_is_up,
    .send = rpi5_network_send,
    .receive = rpi5_network_receive,
};
