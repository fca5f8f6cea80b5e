// Claude Code, tried with 2.1.325. A refusal says the same twice, because the reply may go over HTTP, where
// the body decides, or end a process, where exit code 2 blocks in every version.
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import { itemTexts, memberText } from '../json/index.ts';
import { defineDialect, printed, type RefusableEvent, refusedBy } from './define-dialect.ts';
import {
  afterTool,
  beforeTool,
  type HookBody,
  nameAt,
  readPrompt,
  readToolUse,
  SESSION_EVENTS,
} from './hook-body.ts';
import { reasonText } from './reason-text.ts';
import { claudeTranscriptLine } from './transcript-lines.ts';
import type { AfterToolEvent, HookEvent, HookReply, ToolUse } from './types.ts';
import { hasShapeOf, withheldOutput } from './withheld-output.ts';

const BRINGS_HOOKS: ReadonlySet<string> = new Set([
  ...['Skill', 'SlashCommand', 'Agent', 'Task', 'Workflow'],
]);
const NOTIFICATION = /^\s*<task-notification\b/;

export const claudeCode = defineDialect({
  client: 'claude-code',
  events: {
    ...SESSION_EVENTS,
    UserPromptSubmit: readPrompt('prompt_id', ({ text }) => ({
      isFromUser: !NOTIFICATION.test(text),
      files: mentionedFiles(text),
    })),
    PreToolUse: beforeTool(readUse),
    PostToolUse: afterTool('tool_response', { isError: false, isReplaceable: true }, readUse),
    PostToolUseFailure: afterTool('error', { isError: true, isReplaceable: false }, readUse),
    PostToolBatch: readBatch,
    InstructionsLoaded: readInstructions,
    ConfigChange({ members }) {
      const path = nameAt(members, 'file_path');
      return { kind: 'config_change', ...(path !== undefined && { path }) };
    },
  },
  pass: printed({}),
  refuse,
  // Skills, commands and sub-agents may bring hooks along that answer the question.
  question: {
    isOpenedBy: (event) =>
      (event.kind === 'other' && event.name === 'UserPromptExpansion') ||
      (event.kind === 'before_tool' && BRINGS_HOOKS.has(event.use.tool)),
    write: (reason) => permission('ask', reasonText(reason)),
  },
  // Without a decision beside them, so that the client asks its user as it would have done.
  rewrite(_event, { text, note }) {
    const context = note === '' ? '' : `"additionalContext":${JSON.stringify(reasonText(note))},`;
    const members = `"hookEventName":"PreToolUse",${context}"updatedInput":${text}`;
    return { ...printed({}), stdout: `{"hookSpecificOutput":{${members}}}` };
  },
  replace,
  refuseUnread: refusal,
  writtenServerName,
  transcriptLine: claudeTranscriptLine,
});

/** Only what a file of instructions includes may be any file. */
function readInstructions({ members }: HookBody): HookEvent {
  const path = nameAt(members, 'file_path');
  return path !== undefined && nameAt(members, 'load_reason') === 'include'
    ? { kind: 'included_file', path }
    : { kind: 'other', name: 'InstructionsLoaded' };
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

const REFUSED_EVENTS = {
  before_tool: 'PreToolUse',
  prompt: 'UserPromptSubmit',
  config_change: 'ConfigChange',
  before_model: 'PostToolBatch',
} as const;

function refuse(event: RefusableEvent, reason: string): HookReply {
  return event.kind === 'after_tool'
    ? withhold(event, reason)
    : refusal(REFUSED_EVENTS[event.kind], reason);
}

/** Unless the event is known to take a refusal by itself, the whole session ends. */
function refusal(eventName: string | undefined, reason: string): HookReply {
  const text = reasonText(reason);
  const block = { decision: 'block', reason: text };
  switch (eventName) {
    case 'PreToolUse':
      return { ...permission('deny', text), stderr: text, exitCode: 2 };
    case 'UserPromptSubmit':
    case 'ConfigChange':
      return refusedBy(block, text);
    default:
      // Exit code 2 would hide nothing that a tool has told, and drop the body.
      return printed({ continue: false, stopReason: text, ...block });
  }
}

function permission(permissionDecision: 'deny' | 'ask', permissionDecisionReason: string) {
  const decision = { permissionDecision, permissionDecisionReason };
  return specific({ hookEventName: 'PreToolUse', ...decision });
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

function replace(event: AfterToolEvent, output: JsonValue, note: string): HookReply {
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
  return printed({ hookSpecificOutput });
}
