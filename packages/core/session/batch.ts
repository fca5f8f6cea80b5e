// Several messages in one JSON array: only where 2025-03-26 was negotiated, and then one by one.
import { ByteScanner } from '../json/byte-scanner.ts';
import { asciiBytes, concatBytes } from '../json/text.ts';
import { CLOSE_BRACKET, COMMA, END, OPEN_BRACE } from '../json/units.ts';
import { INVALID_REQUEST } from './answer-lines.ts';
import {
  type BatchItems,
  type Context,
  type Message,
  type MessageStep,
  other,
  report,
  takesBatches,
} from './context.ts';
import { peek } from './peek/peek.ts';
import {
  type ByteRange,
  INVALID_WORDS,
  type InvalidReason,
  type MessageId,
  type Seen,
} from './peek/types.ts';
import { recordRefused, reject } from './reject-message.ts';
import type { Command } from './types.ts';

type Govern = (context: Context, step: MessageStep, seen: Seen) => void;

const OPEN = asciiBytes('[');
const SEPARATOR = asciiBytes(',');
const CLOSE = asciiBytes(']\n');

/** The messages of a batch, read once. */
export function batchItems(context: Context, message: Message): BatchItems {
  message.batch ??= readItems(message, context.limits.batchItemsMax);
  return message.batch;
}

function readItems({ from, bytes: whole }: Message, itemsMax: number): BatchItems {
  const found = itemRanges(whole, itemsMax);
  if (!found.ok) return found;
  const items = found.items.map(({ start, end }): Message => {
    const bytes = whole.subarray(start, end);
    return { kind: 'whole', from, bytes, seen: peek(bytes), call: undefined, batch: undefined };
  });
  return { ok: true, items };
}

export function governBatch(context: Context, step: MessageStep, govern: Govern): void {
  if (step.message === undefined) throw new Error('a batch is read before it is governed');
  const found = batchItems(context, step.message);
  if (!takesBatches(context)) return refuseBatch(context, step, found);
  if (!found.ok) {
    const { reason, offset } = found;
    const detail = `A batch was refused: ${INVALID_WORDS[reason]}.`;
    const fault = { reason, detail, offset, asks: false, code: INVALID_REQUEST };
    return reject(context, step, { ...fault, id: undefined });
  }
  const passed: Uint8Array[] = [];
  let isAsWritten = true;
  for (const message of found.items) {
    const { bytes, seen } = message;
    const out: Command[] = [];
    const forward = { do: 'forward', to: other(step.from), bytes } as const;
    govern(context, { ...step, bytes, out, forward, message }, seen);
    for (const command of out) {
      if (command.do === 'forward') {
        passed.push(command.bytes ?? bytes);
        isAsWritten &&= command === forward;
      } else if (command.do !== 'drop') step.out.push(command);
    }
  }
  if (isAsWritten && passed.length === found.items.length) step.out.push(step.forward);
  else if (passed.length === 0) step.out.push({ do: 'drop', reason: 'refused' });
  else step.out.push({ do: 'forward', to: other(step.from), bytes: assembled(passed) });
}

/** Every request in it gets its answer, so that nobody waits for one that never comes. */
function refuseBatch(context: Context, step: MessageStep, found: BatchItems): void {
  const detail = 'JSON-RPC batches are only taken where MCP 2025-03-26 was negotiated.';
  const told = { reason: 'batch', detail, asks: true, code: INVALID_REQUEST } as const;
  const ids = step.from === 'agent' && found.ok ? requestIds(found.items) : [];
  const [first, ...others] = ids;
  if (first === undefined || !context.enforcing) {
    return reject(context, step, { ...told, id: first });
  }
  recordRefused(context, step, detail);
  report(step, { what: 'REJECTED', reason: 'batch', detail });
  for (const id of [first, ...others]) {
    const out: Command[] = [];
    reject(context, { ...step, out }, { ...told, id, recorded: true });
    step.out.push(...out.filter((command) => command.do === 'answer'));
  }
  step.out.push({ do: 'drop', reason: 'batch' });
}

function requestIds(items: readonly Message[]): readonly MessageId[] {
  const ids = new Map<string, MessageId>();
  for (const { seen } of items) if (seen.kind === 'request') ids.set(seen.id.json, seen.id);
  return [...ids.values()];
}

/** A batch of the messages that remain, each as it was written. */
function assembled(messages: readonly Uint8Array[]): Uint8Array {
  const parts = messages.flatMap((message) => [SEPARATOR, message]).slice(1);
  return concatBytes(OPEN, ...parts, CLOSE);
}

type ItemRanges =
  | { readonly ok: true; readonly items: readonly ByteRange[] }
  | { readonly ok: false; readonly reason: InvalidReason; readonly offset: number };

/** Where the messages of a batch stand. The whole array is validated. */
function itemRanges(bytes: Uint8Array, itemsMax: number): ItemRanges {
  const scan = new ByteScanner<InvalidReason>(bytes, false);
  const items: ByteRange[] = [];
  scan.next();
  scan.at++;
  const empty = scan.next() === CLOSE_BRACKET;
  for (;;) {
    const byte = scan.next();
    const start = scan.at;
    if (empty || byte !== OPEN_BRACE) scan.complain('not_object');
    if (items.length >= itemsMax) scan.complain('too_many_keys');
    if (scan.reason !== undefined || !scan.skipValue(1)) break;
    items.push({ start, end: scan.at });
    const next = scan.next();
    scan.at++;
    if (next === CLOSE_BRACKET) break;
    if (next !== COMMA) scan.complain('json');
  }
  if (scan.reason === undefined && scan.next() !== END) scan.complain('json');
  const { reason, offset } = scan;
  return reason === undefined ? { ok: true, items } : { ok: false, reason, offset };
}
