#!/usr/bin/env python3
"""Writes tests/fixtures/images: pictures in the kinds of PNG there are, and a small set of digits.

    pip install pillow numpy
    tests/oracle/make_images_fixture.py [FONTS]

FONTS is a folder of the DejaVu fonts. A picture NAME.png stands beside NAME.pgm or NAME.ppm, the
same as eight bits without transparency; too_large.png claims more than it holds. The PNG files are
written here, chunk by chunk, and Pillow reads back those that it can: neither is libpng.
"""

import io
import pathlib
import random
import struct
import sys
import zlib

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "images"
FONTS = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/fonts/truetype/dejavu")
SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
         (1, 0, 2, 1)]  # first row, first column, steps between rows and columns
SIDE = 16
EACH = 60


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed_rows(pixels, depth):
    """Rows of (height, width, channels) as PNG has them, each behind filter 0."""
    rows = b""
    for row in pixels:
        if depth == 16:
            rows += b"\0" + row.astype(">u2").tobytes()
        else:
            bits = np.unpackbits(row.reshape(-1, 1).astype(np.uint8), axis=1)[:, 8 - depth:]
            rows += b"\0" + np.packbits(bits.reshape(-1)).tobytes()
    return rows


def png(pixels, depth, kind, palette=b"", transparency=b"", interlaced=False):
    height, width, _ = pixels.shape
    rows = b""
    if interlaced:
        for top, left, down, right in ADAM7:
            part = pixels[top::down, left::right]
            rows += packed_rows(part, depth) if part.size else b""
    else:
        rows = packed_rows(pixels, depth)
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced))
    return (SIGNATURE + chunk(b"IHDR", header)
            + (chunk(b"PLTE", palette) if palette else b"")
            + (chunk(b"tRNS", transparency) if transparency else b"")
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def netpbm(eight_bits):
    height, width, channels = eight_bits.shape
    head = f"P{5 if channels == 1 else 6}\n{width} {height}\n255\n".encode()
    return head + eight_bits.astype(np.uint8).tobytes()


def to_eight_bits(pixels, depth):
    return (pixels.astype(np.int64) * 255 + (2**depth - 1) // 2) // (2**depth - 1)


def write_picture(name, data, expected):
    (FOLDER / f"{name}.png").write_bytes(data)
    suffix = "pgm" if expected.shape[2] == 1 else "ppm"
    (FOLDER / f"{name}.{suffix}").write_bytes(netpbm(expected))
    if "16" not in name:  # which Pillow makes something else of
        read = np.asarray(Image.open(io.BytesIO(data)).convert("L" if suffix == "pgm" else "RGB"))
        assert (read.reshape(expected.shape) == expected).all(), name


def write_pictures(rng):
    def draw(depth, channels, shape=(5, 7)):
        return rng.integers(0, 2**depth, (*shape, channels))

    for depth in (1, 2, 4, 8, 16):
        grey = draw(depth, 1)
        write_picture(f"grey_{depth}", png(grey, depth, GREY), to_eight_bits(grey, depth))
    for depth in (8, 16):
        rgb = draw(depth, 3)
        write_picture(f"rgb_{depth}", png(rgb, depth, RGB), to_eight_bits(rgb, depth))
    rgb = draw(8, 3, (9, 11))
    write_picture("rgb_interlaced", png(rgb, 8, RGB, interlaced=True), rgb)
    rgba = draw(8, 4)
    write_picture("rgba", png(rgba, 8, RGBA), rgba[:, :, :3])
    grey_alpha = draw(8, 2)
    write_picture("grey_alpha", png(grey_alpha, 8, GREY_ALPHA), grey_alpha[:, :, :1])
    for depth in (2, 8):
        colours = rng.integers(0, 256, (2**depth, 3))
        places = draw(depth, 1)
        palette = colours.astype(np.uint8).tobytes()
        write_picture(f"palette_{depth}", png(places, depth, PALETTE, palette, b"\0\x80"),
                      colours[places[:, :, 0]])
    header = struct.pack(">IIBBBBB", 30000, 30000, 8, GREY, 0, 0, 0)
    (FOLDER / "too_large.png").write_bytes(SIGNATURE + chunk(b"IHDR", header)
                                           + chunk(b"IDAT", zlib.compress(bytes(60)))
                                           + chunk(b"IEND", b""))


def digit(number, font, rng):
    """A digit as it might have been scanned: turned, moved, blurred, with noise."""
    large = Image.new("L", (4 * SIDE, 4 * SIDE), 0)
    at = (2 * SIDE + rng.uniform(-5, 5), 2 * SIDE + rng.uniform(-5, 5))
    ImageDraw.Draw(large).text(at, str(number), fill=255, font=font, anchor="mm")
    large = large.rotate(rng.uniform(-12, 12), resample=Image.BILINEAR)
    large = large.filter(ImageFilter.GaussianBlur(rng.uniform(0.5, 2.5)))
    small = np.asarray(large.resize((SIDE, SIDE), Image.BOX)).astype(float)
    noise = np.array([rng.gauss(0, 14) for _ in range(SIDE * SIDE)]).reshape(SIDE, SIDE)
    return np.clip(small * rng.uniform(0.6, 1) + noise, 0, 255).astype(np.uint8)


def write_digits(rng):
    names = sorted(path for path in FONTS.glob("DejaVu*.ttf") if "Math" not in path.name)
    pictures, labels = [], []
    for index in range(10 * EACH):
        number = index % 10
        font = ImageFont.truetype(str(rng.choice(names)), rng.randint(40, 54))
        pictures.append(digit(number, font, rng))
        labels.append(number)
    count = len(labels)
    head = struct.pack(">HBBIII", 0, 8, 3, count, SIDE, SIDE)
    (FOLDER / "digits.idx3-ubyte").write_bytes(head + np.stack(pictures).tobytes())
    head = struct.pack(">HBBI", 0, 8, 1, count)
    (FOLDER / "digits.idx1-ubyte").write_bytes(head + bytes(labels))


FOLDER.mkdir(exist_ok=True)
write_pictures(np.random.default_rng(1))
write_digits(random.Random(1))
