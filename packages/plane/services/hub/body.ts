// The body of a request, within bounds.
import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'malformed'; readonly message: string }
  | { readonly kind: 'too_large' }
  /** Too much is being read at this moment, by all requests together. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'aborted' };

interface BodyLimits {
  readonly bodyBytesMax: number;
  readonly bodiesBytesMax: number;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** So much more is read and dropped: who is cut off while writing never sees the answer. */
const DRAINED_TIMES_MAX = 4;

/** Reads bodies; what is held for all of them at a time has a limit of its own. */
export function bodyReader({ bodyBytesMax, bodiesBytesMax }: BodyLimits) {
  let bytesHeld = 0;
  return (request: IncomingMessage): Promise<Body> =>
    new Promise((resolve) => {
      let chunks: Buffer[] = [];
      let bytes = 0;
      let held = 0;
      let problem: 'too_large' | 'busy' | undefined;
      const settle = (body: Body): void => {
        bytesHeld -= held;
        held = 0;
        chunks = [];
        resolve(body);
      };
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > bodyBytesMax) problem = 'too_large';
        else if (problem === undefined && bytesHeld + chunk.length > bodiesBytesMax) {
          problem = 'busy';
        }
        if (problem === undefined) {
          chunks.push(chunk);
          held += chunk.length;
          bytesHeld += chunk.length;
        } else if (bytes > DRAINED_TIMES_MAX * bodyBytesMax) {
          settle({ kind: problem });
        } else if (held > 0) {
          bytesHeld -= held;
          held = 0;
          chunks = [];
        }
      });
      request.on('end', () => settle(problem === undefined ? parse(chunks) : { kind: problem }));
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
    return { kind: 'malformed', message: 'the body is not JSON in UTF-8' };
  }
}
