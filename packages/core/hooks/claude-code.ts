// Claude Code, tried with 2.1.325. A refusal says the same twice, because the reply may go over HTTP, where
// the body decides, or end a process, where exit code 2 blocks in every version.
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import { canonicalize, itemTexts, memberText } from '../json/index.ts';
import {
  type HookBody,
  nameAt,
  readInput,
  readPrompt,
  readResult,
  readToolUse,
} from './hook-body.ts';
import { reasonText } from './reason-text.ts';
import { claudeTranscriptLine } from './transcript-lines.ts';
import type {
  AfterToolEvent,
  HookAnswer,
  HookDialect,
  HookEvent,
  HookReply,
  ToolUse,
} from './types.ts';
import { hasShapeOf, withheldOutput } from './withheld-output.ts';

const PASS: HookReply = { stdout: '{}', stderr: '', exitCode: 0 };
const NOTIFICATION = /^\s*<task-notification\b/;

export const claudeCode: HookDialect = {
  client: 'claude-code',
  read: (text) => readInput(text, readEvent),
  write,
  refuseUnread: (eventName, reason) => refusal(eventName, reason),
  writtenServerName,
  transcriptLine: claudeTranscriptLine,
};

function readEvent(name: string, body: HookBody): HookEvent | string {
  switch (name) {
    case 'SessionStart':
      return { kind: 'session_start' };
    case 'SessionEnd':
      return { kind: 'session_end' };
    case 'UserPromptSubmit':
      return readClaudePrompt(body);
    case 'PreToolUse': {
      const use = readUse(body);
      return typeof use === 'string' ? use : { kind: 'before_tool', use };
    }
    case 'PostToolUse': {
      const about = { key: 'tool_response', isError: false, isReplaceable: true };
      return readResult(body, readUse(body), about);
    }
    case 'PostToolUseFailure': {
      const about = { key: 'error', isError: true, isReplaceable: false };
      return readResult(body, readUse(body), about);
    }
    case 'PostToolBatch':
      return readBatch(body);
    case 'InstructionsLoaded': {
      const path = nameAt(body.members, 'file_path');
      const isIncluded = nameAt(body.members, 'load_reason') === 'include';
      return isIncluded && path !== undefined
        ? { kind: 'included_file', path }
        : { kind: 'other', name };
    }
    case 'ConfigChange': {
      const path = nameAt(body.members, 'file_path');
      return { kind: 'config_change', ...(path !== undefined && { path }) };
    }
    default:
      return { kind: 'other', name };
  }
}

function readClaudePrompt(body: HookBody): HookEvent | string {
  const prompt = readPrompt(body, 'prompt_id');
  if (typeof prompt === 'string') return prompt;
  const isFromUser = !NOTIFICATION.test(prompt.text);
  return { ...prompt, isFromUser, files: mentionedFiles(prompt.text) };
}

/** Rather too many than too few: `@name` may be an agent or a resource as well. */
const MENTION = /(?<![\p{L}\p{N}_])@(?:"([^"\n]+)"|([^\s"]+))/gu;

function mentionedFiles(text: string): readonly string[] {
  const names = [...text.matchAll(MENTION)].map(([, quoted, bare]) => quoted ?? bare ?? '');
  // A sentence may go on behind the name, and `@file.ts#L3-9` shows some lines of it.
  const readings = names
    .flatMap((name) => [name, name.replace(/[\p{P}\p{S}]+$/u, '')])
    .flatMap((name) => [name, name.replace(/#.*$/, '')]);
  return [...new Set(readings)].filter((name) => name !== '');
}

/** What it names beyond its uses is what those before it have told. */
function readBatch({ text }: HookBody): HookEvent | string {
  const texts = itemTexts(memberText(text, 'tool_calls') ?? '');
  if (texts === undefined) return "the hook's input has no list of `tool_calls`";
  const uses: ToolUse[] = [];
  for (const each of texts) {
    const call: unknown = JSON.parse(each);
    const use = isJsonObject(call) ? readToolUse({ text: each, members: call }) : 'no tool call';
    if (typeof use === 'string') return use;
    uses.push(use);
  }
  return { kind: 'before_model', uses };
}

/** With the name of the server from beside the tool's, where several servers could be meant by that. */
function readUse(body: HookBody): ToolUse | string {
  const use = readToolUse(body);
  const server = body.members['mcp_server'];
  if (typeof use === 'string' || use.server === undefined || !isJsonObject(server)) return use;
  const name = nameAt(server, 'name');
  if (name === undefined) return use;
  const prefix = `mcp__${writtenServerName(name)}__`;
  const whole = nameAt(body.members, 'tool_name') ?? '';
  const { isServerUncertain: _, ...known } = use;
  return whole.startsWith(prefix)
    ? { ...known, server: name, tool: whole.slice(prefix.length) }
    : 'the names of the tool and of its MCP server differ';
}

function writtenServerName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
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
      return replace(event, answer.output, answer.note);
  }
}

function refuse(event: HookEvent, reason: string): HookReply {
  switch (event.kind) {
    case 'before_tool':
      return refusal('PreToolUse', reason);
    case 'prompt':
      return refusal('UserPromptSubmit', reason);
    case 'config_change':
      return refusal('ConfigChange', reason);
    case 'before_model':
      return refusal('PostToolBatch', reason);
    case 'after_tool':
      return withhold(event, reason);
    case 'included_file':
    case 'session_start':
    case 'session_end':
    case 'other':
      // Nothing there can be refused, and to block the end of a turn would start another one.
      return PASS;
  }
}

/** Unless the event is known to take a refusal by itself, the whole session ends. */
function refusal(eventName: string | undefined, reason: string): HookReply {
  const text = reasonText(reason);
  const block = { decision: 'block', reason: text };
  switch (eventName) {
    case 'PreToolUse': {
      const permission = { permissionDecision: 'deny', permissionDecisionReason: text };
      return blocked({ hookSpecificOutput: { hookEventName: eventName, ...permission } }, text);
    }
    case 'UserPromptSubmit':
    case 'ConfigChange':
      return blocked(block, text);
    default:
      // Exit code 2 would hide nothing that a tool has told, and drop the body.
      return { ...PASS, stdout: JSON.stringify({ continue: false, stopReason: text, ...block }) };
  }
}

function blocked(body: JsonObject, reason: string): HookReply {
  return { stdout: JSON.stringify(body), stderr: reason, exitCode: 2 };
}

/** The output of a failed tool can be withheld only before the model goes on. */
function withhold(event: AfterToolEvent, reason: string): HookReply {
  const text = reasonText(reason);
  if (!event.isReplaceable) {
    return specific({ hookEventName: 'PostToolUseFailure', additionalContext: text });
  }
  const output = withheldOutput(event.output, text);
  return output === undefined ? refusal(undefined, reason) : replacement(output, {});
}

function rewrite(event: HookEvent, argsText: string): HookReply {
  if (event.kind !== 'before_tool') return PASS;
  const checked = canonicalize(argsText);
  if (!checked.ok || !checked.canonical.startsWith('{')) {
    return refuse(event, 'The arguments could not be rewritten.');
  }
  // Without a decision beside it, so that the client asks its user as it would have done.
  const stdout = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":${argsText}}}`;
  return { ...PASS, stdout };
}

function replace(event: HookEvent, output: JsonValue, note: string): HookReply {
  if (event.kind !== 'after_tool') return PASS;
  const context: JsonObject = note === '' ? {} : { additionalContext: reasonText(note) };
  if (!event.isReplaceable) return specific({ hookEventName: 'PostToolUseFailure', ...context });
  // It takes no notice of another shape: the model would get what the tool has told.
  if (!hasShapeOf(event.output, output)) return withhold(event, note);
  return replacement(output, context);
}

function replacement(updatedToolOutput: JsonValue, context: JsonObject): HookReply {
  return specific({ hookEventName: 'PostToolUse', ...context, updatedToolOutput });
}

function specific(hookSpecificOutput: JsonObject): HookReply {
  return { ...PASS, stdout: JSON.stringify({ hookSpecificOutput }) };
}
