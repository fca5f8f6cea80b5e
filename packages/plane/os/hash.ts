// SHA-256 and the ids of calls, for the core.
import { hash, randomFillSync } from 'node:crypto';
import type { Sha256 } from '@subluminal/core/ports';

export const sha256: Sha256 = (text) => hash('sha256', text, 'hex');

export function sha256Bytes(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** What follows the time and the count in an id: 62 random bits behind the two of the variant. */
const RANDOM_BYTES = 8;
const RANDOM_DIGITS = 2 * RANDOM_BYTES;
/** The system is asked for so many at once: to ask for each id costs more than to decide the call. */
const IDS_AT_ONCE = 128;
const VERSION = 0x7000;
const COUNT_MAX = 0xfff;

/** Makes the ids of calls: UUIDs of version 7 (RFC 9562), in ascending order. */
export function callIds(now: () => number = Date.now): () => string {
  const bytes = Buffer.alloc(RANDOM_BYTES * IDS_AT_ONCE);
  let digits = '';
  let used = 0;
  let timeMs = 0;
  let time = '';
  let count = 0;
  const begin = (nowMs: number): void => {
    timeMs = nowMs;
    count = 0;
    const hex = nowMs.toString(16).padStart(12, '0');
    time = `${hex.slice(0, 8)}-${hex.slice(8)}-`;
  };
  return () => {
    if (used === digits.length) {
      digits = newDigits(bytes);
      used = 0;
    }
    const nowMs = now();
    // A clock that was set back, or a millisecond with too many ids: the time goes on from where it was.
    if (nowMs > timeMs) begin(nowMs);
    else if (count === COUNT_MAX) begin(timeMs + 1);
    else count++;
    const start = used;
    used += RANDOM_DIGITS;
    return `${time}${(VERSION + count).toString(16)}-${digits.slice(start, start + 4)}-${digits.slice(start + 4, used)}`;
  };
}

/** Random digits for many ids, each with its variant. */
function newDigits(bytes: Buffer): string {
  randomFillSync(bytes);
  for (let at = 0; at < bytes.length; at += RANDOM_BYTES) {
    bytes[at] = 0x80 | ((bytes[at] ?? 0) & 0x3f);
  }
  return bytes.toString('hex');
}
