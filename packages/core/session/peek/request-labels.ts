// Members of `_meta` that tell requests apart and say nothing about what is asked for. Clients write
// them anew into every request, so a retry of a call that a person has approved has other ones.
import { MINUS, NINE, QUOTE, ZERO } from '../../json/units.ts';
import type { Range } from './types.ts';

/** A number, or a string of letters and digits that names something. */
const ID_LABELS: readonly string[] = [
  'progressToken',
  'traceparent',
  'tracestate',
  'claudecode/toolUseId',
  'callId',
  'threadId',
];
/** What a client says of itself; servers do not act on it. */
const CLIENT_LABELS: readonly string[] = [
  'io.modelcontextprotocol/protocolVersion',
  'io.modelcontextprotocol/clientInfo',
  'io.modelcontextprotocol/clientCapabilities',
  'io.modelcontextprotocol/logLevel',
  'x-codex-turn-metadata',
];
export const REQUEST_LABELS: readonly string[] = [...ID_LABELS, ...CLIENT_LABELS];

const ID_BYTES_MAX = 256;
const CLIENT_BYTES_MAX = 4_096;

/** Whether this member is no more than a label; `label` is the place of its key in the list. */
export function isLabelValue(label: number, bytes: Uint8Array, { start, end }: Range): boolean {
  if (label >= ID_LABELS.length) return end - start <= CLIENT_BYTES_MAX;
  if (end - start > ID_BYTES_MAX) return false;
  const first = bytes[start] ?? 0;
  if (first === QUOTE) return isIdText(bytes, start + 1, end - 1);
  return first === MINUS || (first >= ZERO && first <= NINE);
}

/** No space and no quote: a name, not words. */
function isIdText(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (ID_BYTES[bytes[at] ?? 0] !== 1) return false;
  return true;
}

const ID_BYTES = new Uint8Array(256);
for (const char of '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.:=,@+/') {
  ID_BYTES[char.charCodeAt(0)] = 1;
}
