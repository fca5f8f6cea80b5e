// Batches: several messages in one JSON array. Only MCP 2025-03-26 has them; they are governed one by one.
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
import { INVALID_WORDS, type InvalidReason, type MessageId, type Seen } from './peek/types.ts';
import { recordRefused, reject, UNASKED } from './reject-message.ts';
import { type Command, DEFAULT_LIMITS } from './types.ts';

type Govern = (step: MessageStep, seen: Seen) => void;

const OPEN = asciiBytes('[');
const SEPARATOR = asciiBytes(',');
const CLOSE = asciiBytes(']\n');

/** The messages of a batch, read once. */
export function batchItems(context: Context, message: Message): BatchItems {
  message.batch ??= readItems(message, context.limits.batchItemsMax);
  return message.batch;
}

/** The messages of a batch; undefined for one that a session refuses as a whole. */
export function batchMessages(bytes: Uint8Array): readonly Seen[] | undefined {
  const { items, fault } = readItems({ from: 'agent', bytes }, DEFAULT_LIMITS.batchItemsMax);
  return fault === undefined ? items.map(({ seen }) => seen) : undefined;
}

/** Splits a batch into its messages. The whole array is validated. */
function readItems(
  { from, bytes: whole }: Pick<Message, 'from' | 'bytes'>,
  itemsMax: number,
): BatchItems {
  const scan = new ByteScanner<InvalidReason>(whole, false);
  const items: Message[] = [];
  scan.next();
  scan.at++;
  const isEmpty = scan.next() === CLOSE_BRACKET;
  for (;;) {
    const byte = scan.next();
    const start = scan.at;
    if (isEmpty || byte !== OPEN_BRACE) scan.complain('not_object');
    if (items.length >= itemsMax) scan.complain('too_many_keys');
    if (scan.reason !== undefined || !scan.skipValue(1)) break;
    const bytes = whole.subarray(start, scan.at);
    items.push({
      kind: 'whole',
      from,
      bytes,
      seen: peek(bytes),
      call: undefined,
      batch: undefined,
    });
    const next = scan.next();
    scan.at++;
    if (next === CLOSE_BRACKET) break;
    if (next !== COMMA) scan.complain('json');
  }
  if (scan.reason === undefined && scan.next() !== END) scan.complain('json');
  const { reason, offset } = scan;
  if (reason === undefined) return { items, fault: undefined };
  return { items: [], fault: { reason, offset } };
}

export function governBatch(step: MessageStep, govern: Govern): void {
  if (step.message === undefined) throw new Error('a batch is read before it is governed');
  const { items, fault } = batchItems(step.context, step.message);
  if (!takesBatches(step.context)) return refuseBatch(step, items);
  if (fault !== undefined) {
    const detail = `A batch was refused: ${INVALID_WORDS[fault.reason]}.`;
    return reject(step, { ...UNASKED, ...fault, detail });
  }
  const passed: Uint8Array[] = [];
  let isAsWritten = true;
  for (const message of items) {
    const { bytes, seen } = message;
    const out: Command[] = [];
    const forward = { do: 'forward', to: other(step.from), bytes } as const;
    govern({ ...step, bytes, out, forward, message }, seen);
    for (const command of out) {
      if (command.do === 'forward') {
        passed.push(command.bytes ?? bytes);
        isAsWritten &&= command === forward;
      } else if (command.do !== 'drop') step.out.push(command);
    }
  }
  if (isAsWritten && passed.length === items.length) step.out.push(step.forward);
  else if (passed.length === 0) step.out.push({ do: 'drop', reason: 'refused' });
  else step.out.push({ do: 'forward', to: other(step.from), bytes: assembled(passed) });
}

/** Answers every request of a batch, so that none waits for an answer that never comes. */
function refuseBatch(step: MessageStep, items: readonly Message[]): void {
  const detail = 'JSON-RPC batches are only taken where MCP 2025-03-26 was negotiated.';
  const fault = { reason: 'batch', detail, asks: true, code: INVALID_REQUEST } as const;
  const ids = step.from === 'agent' ? requestIds(items) : [];
  if (ids.length === 0 || !step.context.enforcing) return reject(step, { ...fault, id: ids[0] });
  recordRefused(step, detail);
  report(step, { what: 'REJECTED', reason: 'batch', detail });
  for (const id of ids) {
    const out: Command[] = [];
    reject({ ...step, out }, { ...fault, id, recorded: true });
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
