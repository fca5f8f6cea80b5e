// Codex, tried with 0.166. It runs the tool after everything that it does not accept: so a refusal is exit
// code 2 with a reason, which goes through no parser, and what must be JSON is JSON as its parser takes it.
import { isJsonObject, type JsonValue } from '@subluminal/contracts';
import { canonicalize } from '../json/index.ts';
import { type HookBody, readInput, readPrompt, readResult, readToolUse } from './hook-body.ts';
import { reasonText } from './reason-text.ts';
import { codexTranscriptArgs, codexTranscriptLine } from './transcript-lines.ts';
import type { HookAnswer, HookDialect, HookEvent, HookReply } from './types.ts';

const PASS: HookReply = { stdout: '', stderr: '', exitCode: 0 };

export const codex: HookDialect = {
  client: 'codex',
  read: (text) => readInput(text, readEvent),
  write,
  refuseUnread: (eventName, reason) => (isHarmless(eventName) ? PASS : refusal(reason)),
  writtenServerName: (name) => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_'),
  transcriptLine: codexTranscriptLine,
  transcriptArgs: codexTranscriptArgs,
};

function readEvent(name: string, body: HookBody): HookEvent | string {
  switch (name) {
    case 'SessionStart':
      return { kind: 'session_start' };
    case 'SessionEnd':
      return { kind: 'session_end' };
    case 'UserPromptSubmit': {
      const prompt = readPrompt(body, 'turn_id');
      // A prompt of a sub-agent was written by the agent that started it.
      const isFromUser = body.members['agent_id'] === undefined;
      return typeof prompt === 'string' ? prompt : { ...prompt, isFromUser };
    }
    case 'PreToolUse': {
      const use = readToolUse(body);
      return typeof use === 'string' ? use : { kind: 'before_tool', use };
    }
    case 'PostToolUse': {
      const output = body.members['tool_response'];
      const isError = output !== undefined && isJsonObject(output) && output['isError'] === true;
      const about = { key: 'tool_response', isError, isReplaceable: true };
      return readResult(body, readToolUse(body), about);
    }
    default:
      return { kind: 'other', name };
  }
}

function write(event: HookEvent, answer: HookAnswer): HookReply {
  switch (answer.do) {
    case 'pass':
      return PASS;
    case 'refuse':
      return isRefusable(event) ? refusal(answer.reason) : PASS;
    case 'rewrite':
      return event.kind === 'before_tool' ? rewrite(answer.argsText) : PASS;
    case 'replace':
      return event.kind === 'after_tool' ? replace(answer.output, answer.note) : PASS;
  }
}

/** To block the end of a turn would start another one, and so on without an end. */
function isHarmless(eventName: string | undefined): boolean {
  return /^(?:Stop|Subagent(?:Start|Stop)|Session(?:Start|End)|(?:Pre|Post)Compact)$/.test(
    eventName ?? '',
  );
}

function isRefusable({ kind }: HookEvent): boolean {
  return kind === 'before_tool' || kind === 'after_tool' || kind === 'prompt';
}

function refusal(reason: string): HookReply {
  return { stdout: '', stderr: reasonText(reason), exitCode: 2 };
}

/** Rewritten arguments need `allow` beside them; Codex asks its user all the same. */
function rewrite(argsText: string): HookReply {
  if (!isAcceptedArgs(argsText)) return refusal('The arguments could not be rewritten.');
  const decision = '"hookEventName":"PreToolUse","permissionDecision":"allow"';
  return { ...PASS, stdout: `{"hookSpecificOutput":{${decision},"updatedInput":${argsText}}}` };
}

/** The model gets the reason of a block in place of the output, as a text. */
function replace(output: JsonValue, note: string): HookReply {
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  const whole = note === '' ? text : `${reasonText(note)}\n${text}`;
  return { stdout: '', stderr: whole.trim() === '' ? '(no output)' : whole, exitCode: 2 };
}

/** Its parser stops at 128 levels, of which our members take two. */
const ARGS_DEPTH_MAX = 120;

function isAcceptedArgs(argsText: string): boolean {
  const checked = canonicalize(argsText);
  if (!checked.ok) return false;
  const args: unknown = JSON.parse(argsText);
  return isJsonObject(args) && isAccepted(args, 1);
}

/** Its parser has neither half characters nor numbers that a double cannot hold. */
function isAccepted(value: JsonValue, depth: number): boolean {
  if (depth > ARGS_DEPTH_MAX) return false;
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, each]) => {
    return isAccepted(key, depth) && isAccepted(each, depth + 1);
  });
}
