// Copilot CLI, tried with 1.0.102. Its hooks must be configured under names such as `PreToolUse`: only then
// does the input name its event. What it cannot read lets the tool run, and so does a hook that takes too
// long; one that ends with another exit code than 0 denies it.
import { memberText } from '../json/index.ts';
import {
  defineDialect,
  outputText,
  printed,
  type RefusableEvent,
  refusedBy,
} from './define-dialect.ts';
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
import type { AfterToolEvent, HookReply, ToolUse } from './types.ts';

export const copilotCli = defineDialect({
  client: 'copilot-cli',
  events: {
    ...SESSION_EVENTS,
    UserPromptSubmit: readPrompt('prompt_id'),
    PreToolUse: beforeTool(readUse),
    PostToolUse: afterTool('tool_result', { isError: false, isReplaceable: true }, readUse),
    PostToolUseFailure: afterTool('error', { isError: true, isReplaceable: false }, readUse),
  },
  pass: printed({}),
  refuse,
  // They take the place of all arguments that the tool had.
  rewrite: (_event, { text }) => ({ ...printed({}), stdout: `{"modifiedArgs":${text}}` }),
  replace: (event, output, note) =>
    event.isReplaceable
      ? result(outputText(output, note, 'text_result_for_llm'))
      : printed({ additionalContext: note === '' ? '' : reasonText(note) }),
  refuseUnread,
  writtenServerName,
  isToolOf,
});

function writtenServerName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '-');
}

/** It writes `server-tool`. `a-b-c` may be a tool of `a` or of `a-b`, so it is neither's. */
function isToolOf(tool: string, server: string): boolean {
  const parts = tool.split('-');
  return parts.length === 2 && parts[0] === writtenServerName(server);
}

/** Arguments that are no JSON, such as a patch, are told as a text. */
function readUse(body: HookBody): ToolUse | string {
  const tool = nameAt(body.members, 'tool_name');
  const isText = typeof body.members['tool_input'] === 'string';
  const text = isText ? memberText(body.text, 'tool_input') : undefined;
  if (tool === undefined || text === undefined) return readToolUse(body);
  return { tool, argsText: `{"input":${text}}` };
}

function refuse(event: RefusableEvent, reason: string): HookReply {
  if (event.kind === 'before_tool') return denied(reason);
  return event.kind === 'after_tool' ? withhold(event, reason) : blocked(reason);
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
      return printed({});
  }
}

/** Exit code 2 denies a tool whatever else is said, and blocks nothing else. */
function denied(reason: string): HookReply {
  const text = reasonText(reason);
  return refusedBy({ permissionDecision: 'deny', permissionDecisionReason: text }, text);
}

/** Whatever the event is: exit code 2 would not block a prompt. */
function blocked(reason: string): HookReply {
  const text = reasonText(reason);
  const deny = { permissionDecision: 'deny', permissionDecisionReason: text };
  return printed({ decision: 'block', reason: text, ...deny });
}

function withhold({ isReplaceable }: AfterToolEvent, reason: string): HookReply {
  const text = reasonText(reason);
  return isReplaceable ? result(text) : printed({ additionalContext: text });
}

function result(textResultForLlm: string): HookReply {
  return printed({ modifiedResult: { resultType: 'success', textResultForLlm } });
}
