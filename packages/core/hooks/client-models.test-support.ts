// What the clients do with a reply, as strict as they were seen to be and as their sources say: whatever
// one of them doesn't accept lets the tool run, or shows its output.
import { isJsonObject, isObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import type { HookReply } from './types.ts';

export type Effect =
  | { readonly kind: 'goes_on' }
  | { readonly kind: 'goes_on_with'; readonly args: unknown }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The client asks its user; without one, the tool does not run. */
  | { readonly kind: 'asks'; readonly reason: string }
  /** The session ends before its model learns anything. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'shows'; readonly output: unknown }
  /** The client complains, and goes on. */
  | { readonly kind: 'failed_open'; readonly why: string };

const GOES_ON: Effect = { kind: 'goes_on' };

function failedOpen(why: string): Effect {
  return { kind: 'failed_open', why };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function unknownKey(object: JsonObject, known: readonly string[]): string | undefined {
  return Object.keys(object).find((key) => !known.includes(key));
}

const CLAUDE_MEMBERS = ['continue', 'stopReason', 'decision', 'reason', 'hookSpecificOutput'];
const CLAUDE_SPECIFIC = [
  'hookEventName',
  'permissionDecision',
  'permissionDecisionReason',
  'updatedInput',
  'additionalContext',
  'updatedToolOutput',
];
const EXIT_2_BLOCKS = new Set(['PreToolUse', 'UserPromptSubmit', 'ConfigChange', 'PostToolBatch']);

/** Claude Code 2.1.325 without `onFailure`. `original` is the output of the tool, where there is one. */
export function claudeCodeDoes(
  event: string,
  reply: HookReply,
  by: { readonly way: 'http' | 'command'; readonly original?: JsonValue },
): Effect {
  if (by.way === 'command' && reply.exitCode === 2) {
    if (!EXIT_2_BLOCKS.has(event)) return failedOpen('exit 2 hides nothing here');
    return reply.stderr.trim() === ''
      ? failedOpen('no reason')
      : { kind: 'refused', reason: reply.stderr };
  }
  const body = parsed(reply.stdout);
  if (body === undefined) return failedOpen('no JSON object');
  const specific = body['hookSpecificOutput'];
  const odd = unknownKey(body, CLAUDE_MEMBERS);
  if (odd !== undefined) return failedOpen(`unknown member ${odd}`);
  if (specific === undefined) return claudeGeneral(event, body);
  if (!isJsonObject(specific) || specific['hookEventName'] !== event) {
    return failedOpen('another event');
  }
  const oddPart = unknownKey(specific, CLAUDE_SPECIFIC);
  if (oddPart !== undefined) return failedOpen(`unknown member ${oddPart}`);
  return event === 'PreToolUse' ? claudePermission(specific) : claudeOutput(specific, by.original);
}

function claudeGeneral(event: string, body: JsonObject): Effect {
  const reason = body['reason'];
  const isBlock = body['decision'] === 'block' && typeof reason === 'string' && reason !== '';
  if (isBlock && EXIT_2_BLOCKS.has(event)) return { kind: 'refused', reason };
  // A tool that has not run yet would run before the session stops.
  if (body['continue'] === false && event === 'PostToolUse') return { kind: 'stopped' };
  return Object.keys(body).length === 0 ? GOES_ON : failedOpen('nothing that this event takes');
}

function claudePermission(specific: JsonObject): Effect {
  const { permissionDecision, permissionDecisionReason: reason, updatedInput } = specific;
  if (permissionDecision === 'deny') {
    return typeof reason === 'string' && reason.trim() !== ''
      ? { kind: 'refused', reason }
      : failedOpen('no reason');
  }
  if (permissionDecision === 'ask' && typeof reason === 'string' && reason.trim() !== '') {
    return { kind: 'asks', reason };
  }
  if (permissionDecision !== undefined) return failedOpen("the client's own question is skipped");
  return isJsonObject(updatedInput) ? { kind: 'goes_on_with', args: updatedInput } : GOES_ON;
}

function claudeOutput(specific: JsonObject, original: JsonValue | undefined): Effect {
  const output = specific['updatedToolOutput'];
  if (output === undefined) return GOES_ON;
  return isClaudeShape(original, output)
    ? { kind: 'shows', output }
    : failedOpen('another shape is ignored');
}

function isClaudeShape(original: JsonValue | undefined, output: JsonValue): boolean {
  if (typeof original === 'string') return typeof output === 'string' || Array.isArray(output);
  if (!isJsonObject(original) || !isJsonObject(output)) return false;
  const shell = ['stdout', 'stderr', 'interrupted'];
  const needed = shell.every((key) => key in original) ? shell : Object.keys(original);
  return needed.every((key) => typeof output[key] === typeof original[key]);
}

const CODEX_MEMBERS = [
  'continue',
  'stopReason',
  'suppressOutput',
  'systemMessage',
  'decision',
  'reason',
  'hookSpecificOutput',
];
const CODEX_SPECIFIC = [
  'hookEventName',
  'permissionDecision',
  'permissionDecisionReason',
  'updatedInput',
  'additionalContext',
];

/** Codex, after codex-rs/hooks/src/events and engine/output_parser.rs. */
export function codexDoes(event: string, reply: HookReply): Effect {
  const { stderr, stdout, exitCode } = reply;
  if (exitCode === 2) {
    const reason = stderr.trim();
    if (reason === '') return failedOpen('no reason');
    return event === 'PostToolUse'
      ? { kind: 'shows', output: reason }
      : { kind: 'refused', reason };
  }
  if (stdout.trim() === '') return GOES_ON;
  const body = parsed(stdout);
  if (body === undefined || !isRustJson(body, 1)) return failedOpen('no JSON object');
  const odd = unknownKey(body, CODEX_MEMBERS);
  const specific = body['hookSpecificOutput'];
  if (odd !== undefined || !isJsonObject(specific)) return failedOpen('not accepted');
  const oddPart = unknownKey(specific, CODEX_SPECIFIC);
  if (oddPart !== undefined || specific['hookEventName'] !== event) return failedOpen('odd part');
  const { permissionDecision, updatedInput } = specific;
  return permissionDecision === 'allow' && updatedInput !== undefined
    ? { kind: 'goes_on_with', args: updatedInput }
    : failedOpen('not accepted');
}

/** What serde_json parses: 127 levels, finite numbers, whole characters. */
function isRustJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) {
    return depth < 128 && value.every((each) => isRustJson(each, depth + 1));
  }
  if (!isObject(value)) return true;
  return (
    depth < 128 &&
    Object.entries(value).every(
      ([key, each]) => isRustJson(key, depth) && isRustJson(each, depth + 1),
    )
  );
}

/** Whether a tool runs with exactly these arguments, or not at all. */
export function isRewrittenOrRefused(effect: Effect, argsText: string): boolean {
  if (effect.kind === 'refused') return true;
  return (
    effect.kind === 'goes_on_with' &&
    JSON.stringify(effect.args) === JSON.stringify(JSON.parse(argsText))
  );
}
