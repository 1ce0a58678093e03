#include "board/board.h"
#include "board/drivers/net/tree_network.h"

const struct board_network board_network = {
    .open = tree_network_open,
    .is_up = tree_network_is_up,
    .send = tree_network_send,
    .receive = tree_network_receive,
};
