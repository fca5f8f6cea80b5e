// The body of a request, within bounds.
import type { IncomingMessage } from 'node:http';
import { type HubRefusal, refused } from './hub-options.ts';

type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | HubRefusal
  /** All requests together send too much at this moment. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'aborted' };

export interface BodyLimits {
  readonly bodyBytesMax: number;
  readonly bodiesBytesMax: number;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** So much more is read and dropped: a client that is cut off while writing never sees the answer. */
const DRAINED_TIMES_MAX = 4;

/** Reads bodies; the bytes held for all of them together have a limit of their own. */
export function bodyReader({ bodyBytesMax, bodiesBytesMax }: BodyLimits) {
  const tooLarge = refused(413, `a body has at most ${bodyBytesMax} bytes`);
  let heldByAll = 0;
  return (request: IncomingMessage): Promise<Body> =>
    new Promise((resolve) => {
      let chunks: Buffer[] = [];
      let bytes = 0;
      let held = 0;
      let problem: Body | undefined;
      const drop = (): void => {
        heldByAll -= held;
        held = 0;
        chunks = [];
      };
      const settle = (body: Body): void => {
        drop();
        resolve(body);
      };
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > bodyBytesMax) problem = tooLarge;
        else if (heldByAll + chunk.length > bodiesBytesMax) problem ??= { kind: 'busy' };
        if (problem === undefined) {
          chunks.push(chunk);
          held += chunk.length;
          heldByAll += chunk.length;
        } else if (bytes > DRAINED_TIMES_MAX * bodyBytesMax) settle(problem);
        else drop();
      });
      request.on('end', () => settle(problem ?? parse(chunks)));
      request.on('error', () => settle({ kind: 'aborted' }));
      request.on('close', () => settle({ kind: 'aborted' }));
    });
}

function parse(chunks: readonly Buffer[]): Body {
  const [first] = chunks;
  const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  try {
    const value: unknown = JSON.parse(UTF8.decode(bytes));
    return { kind: 'json', value };
  } catch {
    // The text may hold anything, so it is not repeated.
    return refused(400, 'the body is not JSON in UTF-8');
  }
}
