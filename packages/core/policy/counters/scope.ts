// The keys of counters: which calls share one.
import type { Mode, Scope } from '@subluminal/contracts';
import type { Call } from '../model/call.ts';
import { keyName } from './table.ts';

/** When and for which call a rule counts; made once per call, and shared by all its rules. */
export interface CallMoment {
  readonly call: Call;
  readonly nowMs: number;
  /** Of the policy: only `control` asks people. */
  readonly mode: Mode;
  readonly keys: CallKeys;
}

/** The keys of one call, each made when a rule first asks for it. */
interface CallKeys {
  tool: string | undefined;
  serverTool: string | undefined;
  toolCall: string | undefined;
  serverToolCall: string | undefined;
}

const RUN_KEY = 'run';

/** The key of a counter that is shared by a run, a tool name, or a tool of one server. */
export function scopeKey(scope: Scope, { call, keys }: CallMoment): string {
  if (scope === 'run') return RUN_KEY;
  if (scope === 'tool') {
    keys.tool ??= toolText(call);
    return keys.tool;
  }
  keys.serverTool ??= serverToolText(call);
  return keys.serverTool;
}

/** The same for a call that is not being decided. */
export function scopeKeyOf(scope: Scope, call: Call): string {
  if (scope === 'run') return RUN_KEY;
  return scope === 'tool' ? toolText(call) : serverToolText(call);
}

/**
 * The key of "the same call again". Equal arguments of different tools are different calls, so
 * the tool is part of it in every scope; with `tool`, the server is not.
 */
export function callKey(scope: Scope, { call, keys }: CallMoment): string {
  if (scope === 'tool') {
    keys.toolCall ??= `${toolText(call)}\u0000${askedFor(call)}`;
    return keys.toolCall;
  }
  keys.serverToolCall ??= `${serverToolText(call)}\u0000${askedFor(call)}`;
  return keys.serverToolCall;
}

function askedFor({ args_hash, round }: Call): string {
  return round === undefined ? args_hash : `${args_hash} ${round}`;
}

/** A turn is counted by its model; a rule counts turns or the others, never both. */
function toolText(call: Call): string {
  return `tool ${keyName(call.tool_name)}`;
}

/** Names may hold any character, so the length marks where the first ends. */
function serverToolText(call: Call): string {
  const server = keyName(call.server_name);
  return `tool ${server.length} ${server}\u0000${keyName(call.tool_name)}`;
}
