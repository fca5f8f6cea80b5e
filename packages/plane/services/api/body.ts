// The body of a request, within bounds.
import type { IncomingMessage } from 'node:http';
import type { ApiInput } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { Problem } from './problem.ts';

const SHOWN_LENGTH_MAX = 80;

export function tooLarge(bytesMax: number): Problem {
  const detail = `The body has more than ${bytesMax} bytes.`;
  return { status: 413, code: 'SUB_API_LIMIT', detail };
}

export async function readBytes(
  request: IncomingMessage,
  bytesMax: number,
): Promise<Buffer | Problem> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // The connection is still needed for the answer.
    const parts: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of parts) {
      bytes += chunk.length;
      if (bytes > bytesMax) break;
      chunks.push(chunk);
    }
  } catch {
    // Whoever sent it is gone, and will hardly read this.
    return { status: 400, code: 'SUB_API_REQUEST', detail: 'The body is not complete.' };
  }
  if (bytes <= bytesMax) return Buffer.concat(chunks);
  // The rest is read and forgotten, within the time that a request has: an answer that comes while
  // the other side still writes is lost when the connection ends with it.
  request.resume();
  return tooLarge(bytesMax);
}

type ReadInput<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

/** The one JSON object of a body; nothing stands for an empty one. */
export async function readInput<T>(
  request: IncomingMessage,
  { bytesMax, parse }: ApiInput<T>,
): Promise<ReadInput<T>> {
  const bytes = await readBytes(request, bytesMax);
  if (!Buffer.isBuffer(bytes)) return { ok: false, problem: bytes };
  let value: unknown;
  try {
    value = bytes.length === 0 ? {} : JSON.parse(bytes.toString('utf8'));
  } catch {
    return wrong('The body is not JSON.');
  }
  const parsed = parse(value);
  if (parsed.ok) return { ok: true, value: parsed.value };
  const { path = [], expected = '', got = '' } = parsed.mismatches[0] ?? {};
  const name = visible(path.join('.') || 'body', SHOWN_LENGTH_MAX);
  return wrong(`\`${name}\` must be ${expected}, not ${visible(got, SHOWN_LENGTH_MAX)}.`);
}

function wrong(detail: string): { readonly ok: false; readonly problem: Problem } {
  return { ok: false, problem: { status: 400, code: 'SUB_API_REQUEST', detail } };
}
