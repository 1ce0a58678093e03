"""A terminal's screen after the bytes it received: the part of ECMA-48 that the line editor uses."""

import codecs
import re
import unicodedata

SEQUENCE = re.compile(r"\x1b(?:([78])|\[\??([0-9;]*)([A-Za-z]))")


def width_of(char):
    if unicodedata.combining(char) or char == "\u200d":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


class Screen:
    """Any number of rows of `columns` cells. As on a VT100, the cursor waits after the last column."""

    def __init__(self, columns=80):
        self.columns = columns
        self.rows = [{}]
        self.soft = set()  # rows that the terminal began by wrapping
        self.row = self.column = 0
        self.saved = (0, 0)
        self.colours = 0
        self.questions = 0
        self.rest = ""
        self.utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, text):
        """Take text, or bytes, which may be cut at any place."""
        if isinstance(text, bytes):
            text = self.utf8.decode(text)
        text, at = self.rest + text, 0
        self.rest = ""
        while at < len(text):
            if text[at] != "\x1b":
                self.put(text[at])
                at += 1
                continue
            found = SEQUENCE.match(text, at)
            if found is None:
                self.rest = text[at:]
                return
            self.obey(found)
            at = found.end()

    def put(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.down(1)
        elif char == "\b":
            self.column = max(0, self.column - 1)
        elif char >= " ":
            width = width_of(char)
            if width == 0:
                self.rows[self.row][max(0, self.column - 1)] += char
                return
            if self.column + width > self.columns:
                self.down(1)
                self.soft.add(self.row)
                self.column = 0
            self.rows[self.row][self.column] = char
            for i in range(1, width):
                self.rows[self.row][self.column + i] = ""
            self.column += width

    def down(self, n):
        self.row += n
        while len(self.rows) <= self.row:
            self.rows.append({})

    def obey(self, found):
        mark, numbers, final = found.groups()
        n = int(numbers) if numbers and numbers.isdigit() else 0
        if mark == "7":
            self.saved = (self.row, self.column)
        elif mark == "8":
            self.row, self.column = self.saved
        elif final == "A":
            self.row = max(0, self.row - max(n, 1))
        elif final == "B":
            self.down(max(n, 1))
        elif final == "C":
            self.column = min(self.columns - 1, self.column + max(n, 1))
        elif final == "D":
            self.column = max(0, self.column - max(n, 1))
        elif final == "H":
            self.row = self.column = 0
        elif final == "J":
            self.erase(n)
        elif final == "K":
            self.rows[self.row] = {c: t for c, t in self.rows[self.row].items() if c < self.column}
        elif final == "m":
            self.colours += 1
        elif final == "n":
            self.questions += 1

    def erase(self, n):
        if n == 2:
            self.rows = [{}]
            self.down(self.row)
            return
        del self.rows[self.row + 1:]
        self.soft = {row for row in self.soft if row <= self.row}
        self.rows[self.row] = {c: t for c, t in self.rows[self.row].items() if c < self.column}

    def resize(self, columns):
        """Change the width. Lines keep their text and are wrapped again, as on most terminals."""
        lines, cursor = [], (0, 0)
        for i, row in enumerate(self.rows):
            if i not in self.soft:
                lines.append({})
                start = 0
            lines[-1].update({start + c: t for c, t in row.items()})
            if i == self.row:
                cursor = (len(lines) - 1, start + self.column)
            start += self.columns
        self.rows, self.soft, self.columns = [], set(), columns
        for n, cells in enumerate(lines):
            at = cursor[1] if n == cursor[0] else 0
            for start in range(0, max(max(cells, default=0), at) + 1, columns):
                if start:
                    self.soft.add(len(self.rows))
                if n == cursor[0] and start <= at < start + columns:
                    self.row, self.column = len(self.rows), at - start
                self.rows.append({c - start: t for c, t in cells.items() if start <= c < start + columns})

    def line(self, row):
        cells = self.rows[row]
        return "".join(cells.get(c, " ") for c in range(max(cells, default=-1) + 1))

    def tail(self, n=1):
        """The last rows up to the lowest one that is not empty, as one text."""
        last = max((i for i, cells in enumerate(self.rows) if cells), default=0)
        return "\n".join(self.line(i).rstrip() for i in range(max(0, last - n + 1), last + 1))
