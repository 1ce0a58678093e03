#!/usr/bin/env python3
"""Write a seed for actions_fuzz: pins=, then a text of actions. usage: actions_seed.py OUT"""
import sys

open(sys.argv[1], "wb").write(b"light:3,fan:4:low,door:5:in:low,uart:14,far:40:out\n# the porch\npulse light|fan ms 1..5000 ; # x\n")
