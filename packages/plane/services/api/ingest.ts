// Events that come in by HTTP: the lines of a body, numbered.
import type { IncomingMessage } from 'node:http';
import { API_ENDPOINTS } from '@subluminal/contracts';
import { readBytes } from './body.ts';
import type { Problem } from './problem.ts';
import type { NumberedLine } from './types.ts';

type ReadLines =
  | { readonly ok: true; readonly lines: readonly NumberedLine[] }
  | { readonly ok: false; readonly problem: Problem };

const LIMIT = API_ENDPOINTS.ingest.body;

/** All lines of a body. A line that is no event counts, too: the ledger sets it aside. */
export async function readLines(
  request: IncomingMessage,
  { producer, seq }: { readonly producer: string; readonly seq: number },
): Promise<ReadLines> {
  const body = await readBytes(request, LIMIT.bytesMax);
  if (!Buffer.isBuffer(body)) return { ok: false, problem: body };
  const texts = body.toString('utf8').split('\n', LIMIT.linesMax + 2);
  // The end of the last line, not the beginning of another.
  if (texts.at(-1) === '') texts.pop();
  if (texts.length > LIMIT.linesMax) {
    const detail = `The body has more than ${LIMIT.linesMax} lines.`;
    return { ok: false, problem: { status: 413, code: 'SUB_API_LIMIT', detail } };
  }
  return { ok: true, lines: texts.map((line, at) => ({ producer, seq: seq + at, line })) };
}
