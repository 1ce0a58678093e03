/* Motorcomm's YT8531, a PHY on RGMII: sets delays, drive strengths and the transmit clock as the
 * device tree says, in registers that only this maker's PHYs have. Source: phy/motorcomm.c of
 * U-Boot and of Linux, which have the same numbers (only facts were taken). The driver never ran on
 * hardware. */
#ifndef INGOT_BOARD_DRIVERS_NET_YT8531_H
#define INGOT_BOARD_DRIVERS_NET_YT8531_H

#include <stdbool.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/drivers/net/ethernet_phy.h"

/* Zeros: nothing is changed. */
struct yt8531 {
    bool delays_receive, delays_send; /* the tree has a number for this delay */
    bool more;                        /* received data is delayed by another 1900 ps */
    uint8_t receive, send;            /* delays in steps of 150 ps */
    bool adjusts;                     /* the transmit clock is set for each rate */
    bool inverts_10, inverts_100, inverts_1000;
    /* Drive strengths towards the controller, in microamperes. 1 to 8 are the register's value plus
     * 1; 0: no change. */
    uint16_t clock_strength, data_strength;
};

/* Read the properties of the PHY `node`, by the names of Linux and of upstream U-Boot, or by those
 * of StarFive's U-Boot of 2021, which give the registers' values. mode is the phy-mode of its
 * controller, or NULL. */
void yt8531_of_tree(struct yt8531 *y, const struct device_tree *tree,
                    const struct device_tree_node *node, const char *mode);

/* Set the delays and strengths, if the PHY is a YT8531. */
void yt8531_start(const struct yt8531 *y, const struct phy *p);

/* Set the transmit clock for a link of this many Mbit/s, if the PHY is a YT8531. */
void yt8531_follow(const struct yt8531 *y, const struct phy *p, unsigned mbits);

#endif
