// Cursor, by its documentation, not tried. Outputs of its own tools cannot be replaced.
import { isJsonObject, type JsonObject } from '@subluminal/contracts';
import { defineDialect, printed, refusedBy } from './define-dialect.ts';
import { afterTool, beforeTool, nameAt, readPrompt, SESSION_EVENTS } from './hook-body.ts';
import { reasonText } from './reason-text.ts';
import type { HookReply } from './types.ts';

const HARMLESS = /^(?:after|post|session|subagent|stop|preCompact)/;

export const cursor = defineDialect({
  client: 'cursor',
  events: {
    sessionStart: SESSION_EVENTS.SessionStart,
    sessionEnd: SESSION_EVENTS.SessionEnd,
    beforeSubmitPrompt: readPrompt('generation_id', (_prompt, { members }) => ({
      files: attachedFiles(members),
    })),
    preToolUse: beforeTool(),
    postToolUse: afterTool('tool_output', { isError: false, isReplaceable: false }),
    postToolUseFailure: afterTool('error_message', { isError: true, isReplaceable: false }),
  },
  // It tells the same use by `preToolUse`: who uses another event has not got ours.
  unanswered: /^before/,
  pass: printed({}),
  passPrompt: printed({ continue: true }),
  refuse({ kind }, reason) {
    if (kind === 'prompt') return promptRefusal(reasonText(reason));
    return kind === 'after_tool' ? noted(reason) : refusal(reason);
  },
  // Whether it then still asks its user is not said.
  rewrite: () => undefined,
  replace: (_event, _output, note) => noted(note),
  refuseUnread: (eventName = '', reason) =>
    HARMLESS.test(eventName) ? printed({}) : refusal(reason),
  writtenServerName: (name) => name,
});

function attachedFiles(members: JsonObject): readonly string[] {
  const list = members['attachments'];
  if (!Array.isArray(list)) return [];
  return list.filter(isJsonObject).flatMap((one) => {
    return nameAt(one, 'file_path') ?? nameAt(one, 'filePath') ?? [];
  });
}

/** Exit code 2 blocks, whichever members this version reads. */
function refusal(reason: string): HookReply {
  const text = reasonText(reason);
  const messages = { user_message: text, agent_message: text };
  return refusedBy({ permission: 'deny', continue: false, ...messages }, text);
}

function promptRefusal(user_message: string): HookReply {
  return refusedBy({ continue: false, user_message }, user_message);
}

/** The model has seen the output: it is told about it at least. */
function noted(note: string): HookReply {
  return note === '' ? printed({}) : printed({ additional_context: reasonText(note) });
}
