// Gemini CLI, tried with 0.61.0. It parses what a hook prints before it looks at the exit code, so a refusal
// is always JSON.
import { isJsonObject, type JsonValue } from '@subluminal/contracts';
import { defineDialect, outputText, printed, refusedBy } from './define-dialect.ts';
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
import type { HookReply, ToolUse } from './types.ts';

/** It puts files that a prompt names behind this line, where anybody may have written them. */
const FILES = '--- Content from referenced files ---';
/** To refuse the last answer of a turn would start another one. */
const HARMLESS = /^(?:AfterAgent|Session(?:Start|End)|Notification|PreCompress)$/;

export const geminiCli = defineDialect({
  client: 'gemini-cli',
  events: {
    ...SESSION_EVENTS,
    BeforeAgent: readPrompt('prompt_id', ({ text }) => ({ isFromUser: !text.includes(FILES) })),
    BeforeTool: beforeTool(readUse),
    AfterTool: afterTool('tool_response', { isError: hasError, isReplaceable: true }, readUse),
  },
  pass: printed({}),
  refuse: (_event, reason) => denied(reasonText(reason)),
  // New arguments are put over the old ones: an argument that is gone would stay.
  rewrite({ use }, { text, members }) {
    const old: unknown = JSON.parse(use.argsText);
    if (!isJsonObject(old) || Object.keys(old).some((key) => !Object.hasOwn(members, key))) {
      return undefined;
    }
    const stdout = `{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":${text}}}`;
    return { ...printed({}), stdout };
  },
  replace: (_event, output, note) => denied(outputText(output, note, 'llmContent')),
  refuseUnread: (eventName = '', reason) =>
    HARMLESS.test(eventName) ? printed({}) : denied(reasonText(reason)),
  writtenServerName: (name) => name.replaceAll(/[^a-zA-Z0-9_\-.:]/g, '_'),
});

function hasError(output: JsonValue): boolean {
  const error = isJsonObject(output) ? output['error'] : undefined;
  return error !== undefined && error !== null;
}

/** An MCP tool has names of its own beside the one for the model. */
function readUse(body: HookBody): ToolUse | string {
  const use = readToolUse(body);
  const context = body.members['mcp_context'];
  if (typeof use === 'string' || !isJsonObject(context)) return use;
  const server = nameAt(context, 'server_name');
  const tool = nameAt(context, 'tool_name');
  return server === undefined || tool === undefined
    ? 'the MCP server of the tool is not named'
    : { ...use, server, tool };
}

function denied(reason: string): HookReply {
  return refusedBy({ decision: 'deny', reason }, reason);
}
