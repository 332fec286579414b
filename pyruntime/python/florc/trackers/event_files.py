"""Event files of TensorBoard, written without it: records of TFRecord, each a protocol buffer `Event`.

A file holds a `uint64` length, a masked CRC-32C of it, the bytes, and a masked CRC-32C of these, over and over, little endian
(tensorflow/core/lib/io/record_writer.h). Fields of `Event` (tensorflow/core/util/event.proto): 1 `wall_time` (double), 2 `step`
(int64), 3 `file_version`, 5 `summary`; of `Summary` (tensorboard/compat/proto/summary.proto): 1 `value`; of `Value`: 1 `tag`,
2 `simple_value` (float). A field that comes again takes the place of the one before it.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .known import EVENT_FILE
from .point import Sent

_VERSION = b"brain.Event:2"
_POLYNOMIAL = 0x82F63B78
_STEP, _VERSION_FIELD, _SUMMARY, _VALUE, _TAG = 2, 3, 5, 1, 1
_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _table()


def masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and moved, as TFRecord has it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF


class Event(NamedTuple):
    """One value of an event file. `value`: a `Value` with its tag."""

    step: int
    at: float
    tag: str
    value: bytes


def write(folder: str, name: str, points: Sequence[Sent]) -> int:
    """Add points to the file of a folder that ends in `.NAME`, which is written anew, sorted by step. A tag's points at a step
    take the place of those that it has there, unless all of them are there: a part of a run may give some of the points that
    have the same step. Returns how many points are new or different. Raises OSError.

    The new file is named by the present second: a TensorBoard that is running has read older files to their ends, and reads on in
    one that comes after them."""
    os.makedirs(folder, exist_ok=True)
    earlier = sorted(file for file in os.listdir(folder) if EVENT_FILE in file and file.endswith(f".{name}"))
    known: dict[tuple[str, int], list[Event]] = {}
    for file in earlier:
        for event in read(os.path.join(folder, file)):
            known.setdefault((event.tag, event.step), []).append(event)
    given: dict[tuple[str, int], list[Event]] = {}
    for point in points:
        value = _value(point)
        given.setdefault((point.name, point.step), []).append(Event(point.step, point.at, point.name, value))

    def values(events: Sequence[Event]) -> Counter[bytes]:
        return Counter(event.value for event in events)

    given = {key: events for key, events in given.items() if not values(events) <= values(known.get(key, ()))}
    new = sum(map(len, given.values()))
    if not new:
        return 0
    whole = sorted(
        (event for events in {**known, **given}.values() for event in events), key=lambda event: (event.step, event.tag)
    )
    path = os.path.join(folder, f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{name}")
    part = os.path.join(folder, f".{os.getpid()}.{name}.part")
    with open(part, "wb") as out:
        out.write(_record(_double(1, whole[0].at) + _field(_VERSION_FIELD, _VERSION)))
        for event in whole:
            head = _double(1, event.at) + _varint(_STEP << 3 | _VARINT) + _varint(event.step & (1 << 64) - 1)
            out.write(_record(head + _field(_SUMMARY, _field(_VALUE, event.value))))
    os.replace(part, path)
    for file in earlier:
        if os.path.join(folder, file) != path:
            os.remove(os.path.join(folder, file))
    return new


def read(path: str) -> Iterator[Event]:
    """The values of a file that `write` made, up to what is damaged. Raises OSError."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        body = data[at + 12 : at + 12 + length]
        end = at + 12 + length
        if end + 4 > len(data) or struct.unpack_from("<I", data, end)[0] != masked_crc(body):
            return
        at = end + 4
        step, wall, value = 0, 0.0, b""
        for number, found in _fields(body):
            if number == 1:
                (wall,) = struct.unpack("<d", found)
            elif number == _STEP:
                step = _whole(found)
            elif number == _SUMMARY:
                value = next((inner for inner_number, inner in _fields(found) if inner_number == _VALUE), b"")
        if value:
            tags = [inner for number, inner in _fields(value) if number == _TAG]
            yield Event(step, wall, tags[-1].decode() if tags else "", value)


def _value(point: Sent) -> bytes:
    tag = _field(_TAG, point.name.encode())
    if point.data:
        return b64decode(point.data) + tag
    return tag + _varint(2 << 3 | _FLOAT) + struct.pack("<f", _as_float(point.value or 0.0))


def _as_float(value: float) -> float:
    """What does not fit into 32 bits is infinite, as numpy has it."""
    try:
        struct.pack("<f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value


def _record(body: bytes) -> bytes:
    length = struct.pack("<Q", len(body))
    return length + struct.pack("<I", masked_crc(length)) + body + struct.pack("<I", masked_crc(body))


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _double(number: int, value: float) -> bytes:
    return _varint(number << 3 | _DOUBLE) + struct.pack("<d", value)


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(data)) + data


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Numbers and bytes of the fields of a message: of a number its own bytes."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _BYTES:
            length, at = _read_varint(data, at)
        elif kind == _VARINT:
            length = _read_varint(data, at)[1] - at
        else:
            length = 8 if kind == _DOUBLE else 4
        yield number, data[at : at + length]
        at += length


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[at]
        found |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return found, at


def _whole(data: bytes) -> int:
    found, _ = _read_varint(data, 0)
    return found - (1 << 64) if found >> 63 else found
