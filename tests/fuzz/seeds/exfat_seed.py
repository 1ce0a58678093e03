#!/usr/bin/env python3
"""Write seeds for exfat_fuzz: small disks of tests/exfat.py, with a GPT and without, with contiguous and fragmented files. usage: exfat_seed.py
OUT"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = sys.argv[1]
FILES = ["models/small.ingot=+1999", "models/gr\u00f6\u00dfe \u6a21\u578b with a long name.ingot=+2048",
         "models/more/deep.ingot=+100"]


def make(name, *options):
    subprocess.run([sys.executable, os.path.join(HERE, "../../exfat.py"), name, "--cluster", "512", *options, *FILES],
                   check=True)


make(OUT, "--bytes", "90112", "--start", "17408")
make(OUT + "-pieces", "--bytes", "65536", "--table", "none", "--pieces")
