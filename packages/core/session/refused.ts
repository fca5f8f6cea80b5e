// Calls that were refused before they could be read. They are on record like any other.

import { type ReadCall, recordDecision, recordStart } from './apply-decision.ts';
import { outcomeOf } from './calls.ts';
import { type Context, type Step, sizeOf } from './context.ts';
import { emitEnd } from './events.ts';
import { NOT_INSPECTED } from './preview.ts';

/** The tool of a call that could not be read. */
export const UNREADABLE = '(unreadable)';
/** Enough to tell two of them apart, and quick to hash. */
const HASHED_BYTES_MAX = 65_536;

/** Puts a message on record that may have been a call, and why it did not pass. */
export function recordRefused(context: Context, step: Step, why: string): void {
  const { config, version } = context;
  const { identity, serverName: server_name } = config;
  const args_hash = hashOf(context, step.bytes);
  const bytes_in = step.bytesTotal ?? sizeOf(step.bytes);
  const ref = { call_id: config.callId(), server_name, tool_name: UNREADABLE, args_hash };
  const read: ReadCall = {
    call: { identity, server_name, tool_name: UNREADABLE, args_hash, bytes_in },
    ref,
    seq: config.seq?.() ?? ++context.seq,
    preview: NOT_INSPECTED,
    fault: why,
    progressToken: undefined,
    version,
    shared: false,
  };
  recordEnded(context, step, read);
}

/** The whole of a call that never was one: its start, its refusal and its end. */
export function recordEnded(context: Context, step: Step, read: ReadCall): void {
  const decided = { read, outcome: outcomeOf(context, step, read), id: undefined };
  recordStart(context, step, decided);
  recordDecision(context, step, decided);
  const error = { class: 'policy_block', message: read.fault ?? '' } as const;
  emitEnd(step, read.ref, { status: 'ERROR', sinceMs: step.nowMs, bytesOut: 0, error });
}

/** A hash that tells apart what was not read as arguments: that of its first bytes. */
export function hashOf({ config }: Context, bytes: Uint8Array): string {
  const seen = bytes.subarray(0, HASHED_BYTES_MAX);
  return config.sha256Bytes?.(seen) ?? config.sha256(unitsOf(seen));
}

/** The bytes as a text, each as the character of its number. */
export function unitsOf(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 1_024) {
    text += String.fromCharCode(...bytes.subarray(at, at + 1_024));
  }
  return text;
}
