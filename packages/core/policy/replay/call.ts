// From a recorded event to a call that can be decided again.
import { type Event, type EventOf, isObject, type JsonObject } from '@subluminal/contracts';
import { argsHash } from '../../json/index.ts';
import type { Sha256 } from '../../ports.ts';
import type { Call, Identity } from '../types.ts';
import type { ArgsKnowledge } from './types.ts';

export interface RecordedCall {
  readonly call: Call;
  readonly args: ArgsKnowledge;
}

export function callOfStart(event: EventOf<'tool_call_start'>, sha256: Sha256): RecordedCall {
  const { server_name, tool_name, args_hash, bytes_in, risk_class, tags } = event.call;
  const { args, value } = argsOf(event.call, sha256);
  return {
    args,
    call: {
      identity: identityOf(event),
      server_name,
      tool_name,
      args_hash,
      bytes_in,
      risk_class: risk_class ?? tags ?? [],
      ...(value !== undefined && { args: value }),
    },
  };
}

/** What a decision alone tells of its call, when the start is missing. */
export function callOfDecision(event: EventOf<'tool_call_decision'>): RecordedCall {
  const { server_name, tool_name, args_hash, risk_class = [] } = event.call;
  const identity = identityOf(event);
  const call = { identity, server_name, tool_name, args_hash, bytes_in: 0, risk_class };
  return { args: 'unknown', call };
}

function identityOf(event: Event): Identity {
  const { run_id, agent_id, client, env, principal, workload } = event;
  return {
    run_id,
    agent_id,
    client,
    env,
    ...(principal !== undefined && { principal }),
    ...(workload !== undefined && { workload: { ...workload } }),
  };
}

/** A preview is made for eyes: redacted or cut, it must not pass for the arguments. */
function argsOf(
  call: EventOf<'tool_call_start'>['call'],
  sha256: Sha256,
): { readonly args: ArgsKnowledge; readonly value?: JsonObject } {
  if (call.args_stream_hash !== undefined) return { args: 'uninspected' };
  const { truncated, args_preview: text } = call.preview;
  if (truncated || text === undefined) return { args: 'unknown' };
  const hashed = argsHash(text, sha256);
  if (!hashed.ok || hashed.hash !== call.args_hash) return { args: 'unknown' };
  const value: unknown = JSON.parse(text);
  return isArgs(value) ? { args: 'known', value } : { args: 'unknown' };
}

/** What comes out of JSON holds nothing but JSON. */
function isArgs(value: unknown): value is JsonObject {
  return isObject(value);
}
