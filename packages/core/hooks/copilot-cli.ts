// Copilot CLI, tried with 1.0.102. Its hooks must be configured under names such as `PreToolUse`: only then
// does the input name its event. What it cannot read lets the tool run, and so does a hook that takes too
// long; one that ends with another exit code than 0 denies it.
import { isJsonObject, type JsonValue } from '@subluminal/contracts';
import { canonicalize, memberText } from '../json/index.ts';
import {
  type HookBody,
  nameAt,
  readInput,
  readPrompt,
  readResult,
  readToolUse,
} from './hook-body.ts';
import { reasonText } from './reason-text.ts';
import type {
  AfterToolEvent,
  HookAnswer,
  HookDialect,
  HookEvent,
  HookReply,
  ToolUse,
} from './types.ts';

const PASS: HookReply = { stdout: '{}', stderr: '', exitCode: 0 };

export const copilotCli: HookDialect = {
  client: 'copilot-cli',
  read: (text) => readInput(text, readEvent),
  write,
  refuseUnread,
  writtenServerName: (name) => name,
};

function readEvent(name: string, body: HookBody): HookEvent | string {
  switch (name) {
    case 'SessionStart':
      return { kind: 'session_start' };
    case 'SessionEnd':
      return { kind: 'session_end' };
    case 'UserPromptSubmit':
      return readPrompt(body, 'prompt_id');
    case 'PreToolUse': {
      const use = readUse(body);
      return typeof use === 'string' ? use : { kind: 'before_tool', use };
    }
    case 'PostToolUse': {
      const about = { key: 'tool_result', isError: false, isReplaceable: true };
      return readResult(body, readUse(body), about);
    }
    case 'PostToolUseFailure': {
      const about = { key: 'error', isError: true, isReplaceable: false };
      return readResult(body, readUse(body), about);
    }
    default:
      return { kind: 'other', name };
  }
}

/** Arguments that are no JSON, such as a patch, are told as a text. */
function readUse(body: HookBody): ToolUse | string {
  const tool = nameAt(body.members, 'tool_name');
  const isText = typeof body.members['tool_input'] === 'string';
  const text = isText ? memberText(body.text, 'tool_input') : undefined;
  if (tool === undefined || text === undefined) return readToolUse(body);
  return { tool, argsText: `{"input":${text}}` };
}

function write(event: HookEvent, answer: HookAnswer): HookReply {
  switch (answer.do) {
    case 'pass':
      return PASS;
    case 'refuse':
      return refuse(event, answer.reason);
    case 'rewrite':
      return rewrite(event, answer.argsText);
    case 'replace':
      return event.kind === 'after_tool' ? replace(event, answer.output, answer.note) : PASS;
  }
}

function refuse(event: HookEvent, reason: string): HookReply {
  if (event.kind === 'before_tool') return denied(reason);
  if (event.kind === 'prompt') return blocked(reason);
  return event.kind === 'after_tool' ? replace(event, '', reason) : PASS;
}

/** Exit code 2 denies a tool whatever else is said, and blocks nothing else. */
function denied(reason: string): HookReply {
  const permissionDecisionReason = reasonText(reason);
  const stdout = JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason });
  return { stdout, stderr: permissionDecisionReason, exitCode: 2 };
}

/** Whatever the event is: exit code 2 would not block a prompt. */
function blocked(reason: string): HookReply {
  const text = reasonText(reason);
  const deny = { permissionDecision: 'deny', permissionDecisionReason: text };
  return { ...PASS, stdout: JSON.stringify({ decision: 'block', reason: text, ...deny }) };
}

/** They take the place of all arguments that the tool had. */
function rewrite(event: HookEvent, argsText: string): HookReply {
  const checked = canonicalize(argsText);
  if (!checked.ok || !checked.canonical.startsWith('{')) {
    return refuse(event, 'The arguments could not be rewritten.');
  }
  return { ...PASS, stdout: `{"modifiedArgs":${argsText}}` };
}

function refuseUnread(eventName: string | undefined, reason: string): HookReply {
  switch (eventName) {
    case 'PreToolUse':
      return denied(reason);
    case 'PostToolUse':
      return result(reasonText(reason));
    case 'UserPromptSubmit':
    case undefined:
      return blocked(reason);
    default:
      return PASS;
  }
}

function replace({ isReplaceable }: AfterToolEvent, output: JsonValue, note: string): HookReply {
  const shown = note === '' ? '' : reasonText(note);
  if (!isReplaceable) return { ...PASS, stdout: JSON.stringify({ additionalContext: shown }) };
  return result([shown, modelText(output)].filter((text) => text !== '').join('\n'));
}

function result(textResultForLlm: string): HookReply {
  const modifiedResult = { resultType: 'success', textResultForLlm };
  return { ...PASS, stdout: JSON.stringify({ modifiedResult }) };
}

/** What the model gets to see of an output. */
function modelText(output: JsonValue): string {
  if (typeof output === 'string') return output;
  const text = isJsonObject(output) ? output['text_result_for_llm'] : undefined;
  return typeof text === 'string' ? text : JSON.stringify(output);
}
