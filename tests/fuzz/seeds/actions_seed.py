#!/usr/bin/env python3
"""Write a seed for actions_fuzz: pins=, sensors=, then a text of actions. usage: actions_seed.py OUT"""
import sys

open(sys.argv[1], "wb").write(b"light:3,fan:4:low,door:5:in:low,uart:14,far:40:out\nroom:i2c1:0x48:tmp105,boiler:i2c0:0x18:mcp9808\n# the porch\npulse light|fan ms 1..5000 ; # x\nwords light lamp|desk_lamp;words on an;words not nicht\n# Turn on the desk lamp, don\xe2\x80\x99t pulse the fan for 200 ms.\n")
