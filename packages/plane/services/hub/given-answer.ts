// An answer that was given: the same call under the same id gets the very same one.
import type { EvaluateResponse, Profile } from '@subluminal/contracts';
import type { Call } from '@subluminal/core/policy';
import type { AskedCall } from './read-call.ts';

/** Suggested arguments can be large; all kept answers together may hold this much of them. */
export const ANSWERS_LENGTH_MAX = 16 * 1024 * 1024;
const ANSWER_LENGTH = 1_024;

/** An answer that was given, and to which question. */
export interface Given extends Pick<Call, 'server_name' | 'tool_name' | 'args_hash'> {
  readonly profile: Profile;
  /** The policy that it was decided by, and the approval rules that were satisfied then. */
  readonly policyHash: string;
  readonly approved: string;
  readonly response: EvaluateResponse;
}

export function isHeld({ call_decision }: EvaluateResponse): boolean {
  return call_decision?.approval?.wait === 'hold';
}

export function isSameCall(given: Given, { call, profile }: AskedCall): boolean {
  const isSameTool = given.server_name === call.server_name && given.tool_name === call.tool_name;
  return isSameTool && given.profile === profile && given.args_hash === call.args_hash;
}

export function approvedIn({ approved = [] }: Call): string {
  return approved.length === 0 ? '' : JSON.stringify(approved);
}

export function lengthOf({ call_decision }: EvaluateResponse): number {
  const suggested = call_decision?.hint?.suggested_args ?? null;
  return ANSWER_LENGTH + (suggested === null ? 0 : JSON.stringify(suggested).length);
}
