// The body of a turn, within bounds, without its content encoding.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { GatheredBytes } from '@subluminal/plane/os';
import type { BodyPlace } from './body-room.ts';

/** A request: of a server, or of this process. */
export interface BodySource extends Readable {
  readonly headers: IncomingHttpHeaders;
}

export type RequestBody =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /** The bodies of other turns take all that bodies may take. */
  | { readonly kind: 'no_room' }
  /** A sentence that says what is wrong with it. */
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'gone' };

const INFLATE = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
const INFLATED_AT_ONCE = { chunkSize: 64 * 1024 };
const TOO_LARGE: RequestBody = { kind: 'too_large' };
const NO_ROOM: RequestBody = { kind: 'no_room' };
/** So much more is read and dropped: a client that is cut off while it writes never sees the answer. */
const DRAINED_TIMES_MAX = 4;

export interface BodyBounds {
  readonly bytesMax: number;
  readonly place: BodyPlace;
}

export async function readRequestBody(
  request: BodySource,
  bounds: BodyBounds,
): Promise<RequestBody> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const isPlain = encoding === 'identity' || encoding === '';
  if (!isPlain && !isInflated(encoding)) return unknownEncoding(encoding, request);
  const read = await readBytes(request, bounds);
  if (read.kind !== 'body' || isPlain || !isInflated(encoding)) return read;
  try {
    return await inflated(INFLATE[encoding](INFLATED_AT_ONCE), read.bytes, bounds);
  } catch {
    return { kind: 'invalid', why: `The body is not valid ${encoding}.` };
  }
}

/** Each piece has its place before the next one is made: a few bytes may become many. */
async function inflated(
  decoder: Transform,
  bytes: Buffer,
  { bytesMax, place }: BodyBounds,
): Promise<RequestBody> {
  const pieces: Buffer[] = [];
  let length = 0;
  decoder.end(bytes);
  for await (const piece of decoder) {
    if (!Buffer.isBuffer(piece)) continue;
    length += piece.length;
    if (length > bytesMax) return TOO_LARGE;
    if (!place.take(piece.length)) return NO_ROOM;
    pieces.push(piece);
  }
  return { kind: 'body', bytes: Buffer.concat(pieces) };
}

function isInflated(encoding: string): encoding is keyof typeof INFLATE {
  return Object.hasOwn(INFLATE, encoding);
}

function unknownEncoding(encoding: string, request: BodySource): RequestBody {
  request.resume();
  const name = /^[a-z0-9-]{1,16}$/.test(encoding) ? encoding : 'this encoding';
  const why = `A body in ${name} is not read here. Switch the compression of requests off, or use gzip.`;
  return { kind: 'invalid', why };
}

function readBytes(request: BodySource, { bytesMax, place }: BodyBounds): Promise<RequestBody> {
  return new Promise((resolve) => {
    const gathered = new GatheredBytes();
    let length = 0;
    let hasRoom = true;
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) length = bytesMax + 1;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      hasRoom &&= length > bytesMax || place.take(chunk.length);
      if (length <= bytesMax && hasRoom) gathered.add(chunk);
      else {
        gathered.clear();
        place.leave();
      }
      if (length > DRAINED_TIMES_MAX * bytesMax) resolve(TOO_LARGE);
    });
    request.on('end', () => {
      if (!hasRoom) return resolve(NO_ROOM);
      resolve(length > bytesMax ? TOO_LARGE : { kind: 'body', bytes: gathered.take() });
    });
    request.on('error', () => resolve({ kind: 'gone' }));
    request.on('close', () => resolve({ kind: 'gone' }));
  });
}
