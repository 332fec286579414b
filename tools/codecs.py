"""Writes `compiler/src/source/single_byte.tsv`: Python's own single-byte codecs, for files with a coding cookie.

One line per codec that extends ASCII: its names, a tab, the characters of bytes 0x80 to 0xFF in hexadecimal (`-` for a
byte that is no character). `--compare FILE` reads what `cargo test -p florc dump_two_bytes -- --ignored` wrote and says
for each multi-byte codec where it differs from Python's.
"""

from __future__ import annotations

import sys
from encodings.aliases import aliases
from pathlib import Path

TABLE = Path(__file__).parent.parent / "compiler/src/source/single_byte.tsv"
# Decoded without a table.
NATIVE = {"ascii", "latin_1", "utf_8"}


def main() -> None:
    if sys.argv[1:2] == ["--compare"]:
        return compare(Path(sys.argv[2]))
    lines = []
    for codec in sorted(set(aliases.values()) - NATIVE):
        table = characters(codec)
        if table:
            names = [codec] + sorted(alias for alias, name in aliases.items() if name == codec and alias != codec)
            lines.append(" ".join(names) + "\t" + " ".join(table))
    TABLE.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} codecs")


def characters(codec: str) -> list[str] | None:
    try:
        plain = bytes(range(128)).decode(codec)
    except (UnicodeError, LookupError, TypeError):
        return None
    if plain != bytes(range(128)).decode("ascii"):
        return None
    table = []
    for byte in range(128, 256):
        try:
            char = bytes([byte]).decode(codec)
        except UnicodeDecodeError:
            char = ""
        table.append(f"{ord(char):x}" if char else "-")
    # A codec of two-byte characters leaves most lead bytes without one.
    try:
        b"\xb0\xa1".decode(codec)
        is_single = all(two_are_two(codec, lead) for lead in range(0x81, 0xFF))
    except UnicodeDecodeError:
        is_single = table.count("-") < 50
    return table if is_single and table.count("-") < 50 else None


def two_are_two(codec: str, lead: int) -> bool:
    try:
        return len(bytes([lead, 0xA1]).decode(codec)) == 2
    except UnicodeDecodeError:
        return True


def compare(dump: Path) -> None:
    for line in dump.read_text(encoding="utf-8").splitlines():
        codec, found = line.split("\t")
        theirs = dict(part.split("=") for part in found.split())
        differs = refused = 0
        for lead in range(0x80, 0x100):
            for trail in [None, *range(0x30, 0x100)]:
                data = bytes([lead]) if trail is None else bytes([lead, trail])
                try:
                    text = data.decode(codec)
                except UnicodeDecodeError:
                    refused += data.hex() in theirs
                    continue
                shown = ",".join(f"{ord(char):x}" for char in text)
                if theirs.get(data.hex()) != shown:
                    differs += 1
        print(f"{codec}: {differs} sequences differ; {refused} are read that Python refuses")


if __name__ == "__main__":
    main()
