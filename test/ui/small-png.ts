// A PNG with a palette of 256 colours: a third of the size, and nobody sees the difference in a page that has few.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = 8;
const COLOURS_MAX = 256;
const EXACT = 64;
/** The upper bits of red, green and blue. */
const KIND_BITS = 0xe0_e0_e0;
const RGB = 2;
const INDEXED = 3;
const RGB_BYTES = 3;
const RGBA_BYTES = 4;

export function smallPng(png: Buffer): Buffer {
  const { width, height, pixels } = decoded(png);
  const palette = chosenColours(pixels);
  const nearest = new Map<number, number>(palette.map((colour, at) => [colour, at]));
  const rows = Buffer.alloc((width + 1) * height);
  pixels.forEach((colour, at) => {
    const known = nearest.get(colour) ?? nearestColour(palette, colour);
    nearest.set(colour, known);
    rows[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = known;
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(8, 8);
  header.writeUInt8(INDEXED, 9);
  const colours = Buffer.from(palette.flatMap((colour) => [...partsOf(colour)]));
  return Buffer.concat([
    png.subarray(0, SIGNATURE),
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  const whole = Buffer.alloc(named.length + 8);
  whole.writeUInt32BE(data.length, 0);
  named.copy(whole, 4);
  whole.writeUInt32BE(crc32(named), named.length + 4);
  return whole;
}

/** As the browser writes it: eight bits, no interlacing, with or without alpha. */
function decoded(png: Buffer) {
  const parts: Buffer[] = [];
  for (let at = SIGNATURE; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const name = png.toString('latin1', at + 4, at + 8);
    if (name === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const bytes = png.readUInt8(25) === RGB ? RGB_BYTES : RGBA_BYTES;
  const lines = inflateSync(Buffer.concat(parts));
  const stride = width * bytes;
  const pixels = new Uint32Array(width * height);
  let before = Buffer.alloc(stride);
  for (let y = 0; y < height; y++) {
    const start = y * (stride + 1);
    const line = lines.subarray(start + 1, start + 1 + stride);
    unfilter(line, { before, filter: lines.readUInt8(start), bytes });
    for (let x = 0; x < width; x++) pixels[y * width + x] = line.readUIntBE(x * bytes, RGB_BYTES);
    before = line;
  }
  return { width, height, pixels };
}

function unfilter(
  line: Buffer,
  { before, filter, bytes }: { before: Buffer; filter: number; bytes: number },
): void {
  for (let at = 0; at < line.length; at++) {
    const left = at < bytes ? 0 : (line[at - bytes] ?? 0);
    const up = before[at] ?? 0;
    const corner = at < bytes ? 0 : (before[at - bytes] ?? 0);
    const guesses = [0, left, up, (left + up) >> 1, paeth(left, up, corner)];
    line[at] = (line[at] ?? 0) + (guesses[filter] ?? 0);
  }
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [left, up, corner].map((one) => Math.abs(guess - one));
  if (toLeft === undefined || toUp === undefined || toCorner === undefined) return 0;
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

/** The most frequent colours as they are, then one of each kind: a small red text stays red. */
function chosenColours(pixels: Uint32Array): readonly number[] {
  const counts = new Map<number, number>();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const sorted = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([colour]) => colour);
  const chosen = new Set(sorted.slice(0, EXACT));
  const kinds = new Set<number>();
  for (const colour of sorted) {
    const kind = colour & KIND_BITS;
    if (chosen.size < COLOURS_MAX && !kinds.has(kind)) chosen.add(colour);
    kinds.add(kind);
  }
  return [...chosen];
}

function partsOf(colour: number): readonly [number, number, number] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

function nearestColour(palette: readonly number[], colour: number): number {
  const [red, green, blue] = partsOf(colour);
  let best = 0;
  let bestDistance = Number.POSITIVE_INFINITY;
  palette.forEach((one, at) => {
    const [r, g, b] = partsOf(one);
    const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
    if (distance < bestDistance) [best, bestDistance] = [at, distance];
  });
  return best;
}
