// Events that come in by HTTP: the lines of a body, numbered.
import type { IncomingMessage } from 'node:http';
import { API_ENDPOINTS } from '@subluminal/contracts';
import { tooLarge } from './guard.ts';
import type { Problem } from './problem.ts';
import type { NumberedLine } from './types.ts';

type ReadLines =
  | { readonly ok: true; readonly lines: readonly NumberedLine[] }
  | { readonly ok: false; readonly problem: Problem };

const LIMIT = API_ENDPOINTS.ingest.body;

/** All lines of a body. A line that is no event counts, too: the ledger sets it aside. */
async function readLines(
  request: IncomingMessage,
  { producer, seq }: { readonly producer: string; readonly seq: number },
): Promise<ReadLines> {
  const body = await readBody(request);
  if (typeof body !== 'string') return { ok: false, problem: body };
  const texts = body.split('\n', LIMIT.linesMax + 2);
  // The end of the last line, not the beginning of another.
  if (texts.at(-1) === '') texts.pop();
  if (texts.length > LIMIT.linesMax) {
    const detail = `The body has more than ${LIMIT.linesMax} lines.`;
    return { ok: false, problem: { status: 413, code: 'SUB_API_LIMIT', detail } };
  }
  return { ok: true, lines: texts.map((line, at) => ({ producer, seq: seq + at, line })) };
}

async function readBody(request: IncomingMessage): Promise<string | Problem> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // The connection is still needed for the answer.
    const parts: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of parts) {
      bytes += chunk.length;
      if (bytes > LIMIT.bytesMax) break;
      chunks.push(chunk);
    }
  } catch {
    // Whoever sent it is gone, and will hardly read this.
    return { status: 400, code: 'SUB_API_REQUEST', detail: 'The body is not complete.' };
  }
  if (bytes <= LIMIT.bytesMax) return Buffer.concat(chunks).toString('utf8');
  // The rest is read and forgotten, within the time that a request has: an answer that comes while
  // the other side still writes is lost when the connection ends with it.
  request.resume();
  return tooLarge(LIMIT.bytesMax);
}

export { readLines };
