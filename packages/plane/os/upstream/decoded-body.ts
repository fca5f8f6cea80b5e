// The body of an answer without its content encoding: some upstreams compress whatever they are asked for.
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { AnswerBody, BodyReader } from './exchange.ts';
import { faultFrom } from './fault.ts';

/** The same body where it is not encoded; undefined where nobody here knows how. */
export function decodedBody(
  body: AnswerBody,
  encoding: string | string[] | undefined,
): AnswerBody | undefined {
  if (encoding === undefined) return body;
  switch (String(encoding).trim().toLowerCase()) {
    case '':
    case 'identity':
      return body;
    case 'gzip':
    case 'x-gzip':
      return new DecodedBody(body, createGunzip());
    case 'deflate':
      return new DecodedBody(body, createInflate());
    case 'br':
      return new DecodedBody(body, createBrotliDecompress());
    default:
      return undefined;
  }
}

class DecodedBody implements AnswerBody {
  readonly #encoded: AnswerBody;
  readonly #decoder: Transform;

  constructor(encoded: AnswerBody, decoder: Transform) {
    this.#encoded = encoded;
    this.#decoder = decoder;
  }

  read(reader: BodyReader): void {
    const encoded = this.#encoded;
    const decoder = this.#decoder;
    decoder.on('data', (bytes: Buffer) => reader.onPart(bytes));
    decoder.on('end', () => reader.onEnd(undefined));
    decoder.on('error', (cause) => {
      encoded.destroy();
      reader.onEnd(faultFrom(cause));
    });
    encoded.read({
      onPart: (bytes) => {
        if (decoder.write(bytes) || encoded.isPaused) return;
        encoded.pause();
        decoder.once('drain', () => encoded.resume());
      },
      onEnd: (fault) => {
        if (fault === undefined) return void decoder.end();
        decoder.destroy();
        reader.onEnd(fault);
      },
    });
  }

  get isPaused(): boolean {
    return this.#decoder.isPaused();
  }

  pause(): void {
    this.#decoder.pause();
  }

  resume(): void {
    this.#decoder.resume();
  }

  destroy(): void {
    this.#encoded.destroy();
    this.#decoder.destroy();
  }
}
