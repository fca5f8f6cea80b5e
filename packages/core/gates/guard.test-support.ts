// Guards for tests: everything real, small options, and calls that count how often they are read.
import type { JsonObject } from '@subluminal/contracts';
import type { Envelope, GuardedCall, MessageVerdict, OtherMessage } from '../session/guard.ts';
import { sha256 } from '../surface/gmail.test-support.ts';
import type { GuardOptions } from './guard-options.ts';

export const fingerprint = (text: string) => sha256(`keyed ${text}`).slice(0, 16);

export const ENFORCED = { surface: true, pins: true, content: true, asks: true } as const;
export const OBSERVED = { surface: false, pins: false, content: false, asks: true } as const;

export function optionsOf(options: Partial<GuardOptions> = {}): GuardOptions {
  const redact = (text: string) => text;
  return { server: 'mail', enforces: ENFORCED, sha256, fingerprint, redact, ...options };
}

interface TestCall {
  readonly tool: string;
  readonly args?: JsonObject | undefined;
  readonly approved?: readonly string[];
  readonly callId?: string;
  /** What stands beside its arguments. */
  readonly beside?: JsonObject;
  readonly id?: string;
}

export function callOf({
  tool,
  args,
  approved = [],
  callId = 'c1',
  ...more
}: TestCall): GuardedCall {
  const { beside, id = '1' } = more;
  const rest = beside && { params: beside };
  const envelope: Envelope = { written: `${id} tools/call`, method: 'tools/call', rest };
  return { callId, tool, args, envelope, isApproved: (ruleId) => approved.includes(ruleId) };
}

/** A call whose arguments nobody may look at. */
export function sealedCall(tool: string): GuardedCall {
  return {
    callId: 'c1',
    tool,
    get args(): never {
      throw new Error('the arguments were parsed');
    },
    envelope: undefined,
    isApproved: () => false,
  };
}

export function answer(
  method: string,
  value: unknown,
  more: Partial<OtherMessage> = {},
): OtherMessage {
  return { kind: 'answer', method, value, isError: false, ...more };
}

/** The answer to a call of a tool. */
export function result(
  tool: string,
  value: unknown,
  more: Partial<OtherMessage> = {},
): OtherMessage {
  return answer('tools/call', value, { call: { callId: 'c1', tool }, ...more });
}

export function request(method: string, value: unknown): OtherMessage {
  return { kind: 'request', method, value, isError: false };
}

export const textResult = (text: string) => ({ content: [{ type: 'text', text }] });

/** What arrives; throws when nothing does. */
export function arrived(message: OtherMessage, passage: MessageVerdict): unknown {
  if (passage.kind === 'refused') throw new Error(passage.summary);
  return passage.kind === 'same' ? message.value : passage.value;
}
