// Codex, tried with 0.166. It runs the tool after everything that it does not accept: so a refusal is exit
// code 2 with a reason, which goes through no parser, and what must be JSON is JSON as its parser takes it.
import { isJsonObject, type JsonValue } from '@subluminal/contracts';
import { defineDialect, outputText } from './define-dialect.ts';
import { afterTool, beforeTool, readPrompt, SESSION_EVENTS } from './hook-body.ts';
import { reasonText } from './reason-text.ts';
import { codexTranscriptArgs, codexTranscriptLine } from './transcript-lines.ts';
import type { HookReply } from './types.ts';

const PASS: HookReply = { stdout: '', stderr: '', exitCode: 0 };
/** To block the end of a turn would start another one, and so on without an end. */
const HARMLESS = /^(?:Stop|Subagent(?:Start|Stop)|Session(?:Start|End)|(?:Pre|Post)Compact)$/;

export const codex = defineDialect({
  client: 'codex',
  events: {
    ...SESSION_EVENTS,
    // A prompt of a sub-agent was written by the agent that started it.
    UserPromptSubmit: readPrompt('turn_id', (_prompt, { members }) => ({
      isFromUser: members['agent_id'] === undefined,
    })),
    PreToolUse: beforeTool(),
    PostToolUse: afterTool('tool_response', {
      isError: (output) => isJsonObject(output) && output['isError'] === true,
      isReplaceable: true,
    }),
  },
  pass: PASS,
  refuse: (_event, reason) => refusal(reasonText(reason)),
  // Rewritten arguments need `allow` beside them; Codex asks its user all the same.
  rewrite(_event, { text, members }) {
    if (!isAccepted(members, 1)) return undefined;
    const decision = '"hookEventName":"PreToolUse","permissionDecision":"allow"';
    return { ...PASS, stdout: `{"hookSpecificOutput":{${decision},"updatedInput":${text}}}` };
  },
  // The model gets the reason of a block in place of the output, as a text.
  replace: (_event, output, note) => refusal(outputText(output, note)),
  refuseUnread: (eventName = '', reason) =>
    HARMLESS.test(eventName) ? PASS : refusal(reasonText(reason)),
  writtenServerName: (name) => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_'),
  transcriptLine: codexTranscriptLine,
  transcriptArgs: codexTranscriptArgs,
});

function refusal(stderr: string): HookReply {
  return { stdout: '', stderr, exitCode: 2 };
}

/** Its parser stops at 128 levels, of which our members take two. */
const ARGS_DEPTH_MAX = 120;

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
