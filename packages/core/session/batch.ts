// Several messages in one JSON array: only where 2025-03-26 was negotiated, and then one by one.
import { CLOSE_BRACKET, COMMA } from '../json/units.ts';
import { INVALID_REQUEST } from './answers.ts';
import { type Items, itemsOf } from './batch-items.ts';
import { type Context, other, report, type Step, takesBatches } from './context.ts';
import { reject } from './malformed.ts';
import { peek } from './peek/peek.ts';
import type { MessageId, Range, Seen } from './peek/types.ts';
import { INVALID_WORDS } from './peek/types.ts';
import { recordRefused } from './refused.ts';
import type { Command } from './types.ts';

type Govern = (context: Context, step: Step, seen: Seen) => void;

const OPEN = 0x5b;
const NEWLINE = 0x0a;

export function governBatch(context: Context, step: Step, govern: Govern): void {
  const found = itemsOf(step.bytes, context.limits.batchItemsMax);
  if (!takesBatches(context)) return refuseBatch(context, step, found);
  if (!found.ok) {
    const { reason, offset } = found;
    const detail = `A batch was refused: ${INVALID_WORDS[reason]}.`;
    const fault = { reason, detail, offset, asks: false, code: INVALID_REQUEST };
    return reject(context, step, { ...fault, id: undefined });
  }
  const passed: Uint8Array[] = [];
  let isAsWritten = true;
  for (const { start, end } of found.items) {
    const bytes = step.bytes.subarray(start, end);
    const out: Command[] = [];
    const forward = { do: 'forward', to: other(step.from), bytes } as const;
    govern(context, { ...step, bytes, out, forward }, peek(bytes));
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
function refuseBatch(context: Context, step: Step, found: Items): void {
  const detail = 'JSON-RPC batches are only taken where MCP 2025-03-26 was negotiated.';
  const told = { reason: 'batch', detail, asks: true, code: INVALID_REQUEST } as const;
  const ids = step.from === 'agent' && found.ok ? requestIds(step.bytes, found.items) : [];
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

function requestIds(bytes: Uint8Array, items: readonly Range[]): readonly MessageId[] {
  const ids = new Map<string, MessageId>();
  for (const { start, end } of items) {
    const seen = peek(bytes.subarray(start, end));
    if (seen.kind === 'request') ids.set(seen.id.json, seen.id);
  }
  return [...ids.values()];
}

/** A batch of the messages that remain, each as it was written. */
function assembled(parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length + 1, 2);
  const line = new Uint8Array(length);
  let at = 0;
  line[at++] = OPEN;
  for (const [index, part] of parts.entries()) {
    if (index > 0) line[at++] = COMMA;
    line.set(part, at);
    at += part.length;
  }
  line[at++] = CLOSE_BRACKET;
  line[at] = NEWLINE;
  return line;
}
