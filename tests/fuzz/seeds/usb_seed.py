#!/usr/bin/env python3
"""Write a seed for usb_fuzz: the configuration of a USB 3 drive, after a keyboard's interface.
usage: usb_seed.py OUT"""
import sys


def bulk(address):
    return bytes([7, 5, address, 2, 0, 4, 0]) + bytes([6, 0x30, 15, 0, 0, 0])


body = bytes([9, 4, 0, 0, 1, 3, 1, 1, 0, 7, 5, 0x83, 3, 8, 0, 10])
body += bytes([9, 4, 1, 0, 2, 8, 6, 0x50, 0]) + bulk(0x81) + bulk(0x02)
with open(sys.argv[1], "wb") as f:
    f.write(bytes([9, 2, 9 + len(body), 0, 2, 1, 0, 0xc0, 0]) + body)
