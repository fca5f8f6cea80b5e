// The answer of a server on its way to the agent: scanned, cut, marked, and remembered as read.
import { isObject } from '@subluminal/contracts';
import { neutral } from '../scan/detect/external.ts';
import type { ContentNote, Passage, Passing } from '../session/guard.ts';
import { answerLimit } from '../surface/index.ts';
import { visible } from '../text/visible.ts';
import { bounded, isStructureTooLong, withinBytes } from './blocks.ts';
import { judge } from './content.ts';
import type { Memory } from './memory.ts';
import { TASKS } from './methods.ts';
import { hasSmallLimit } from './table.ts';
import { taintRead } from './tainted.ts';
import { callOfTask, taskBegun } from './task-tools.ts';
import { noteOf } from './verdicts.ts';
import { isSameShape, withTextsAndKeys } from './walk.ts';

type Refused = Extract<Passage, { kind: 'refused' }>;

/** A value that goes on its way, or the words that are said instead. */
type Treated =
  | { readonly ok: true; readonly value: unknown; readonly note?: ContentNote | undefined }
  | { readonly ok: false; readonly refused: Refused };

/** A result that a model reads. */
export function resultPassage(memory: Memory, received: Passing, nowMs: number): Passage {
  const message = withTool(memory, received);
  const { method, call } = message;
  const sized = withinLimit(memory, message, message.value);
  if (!sized.ok) return sized.refused;
  const scanned = scanInbound(memory, { ...message, value: sized.value }, nowMs);
  if (!scanned.ok) return scanned.refused;
  const shown = forModel(memory, message, scanned.value);
  if (!shown.ok) return shown.refused;
  const { value } = shown;
  const tool = call?.tool ?? method;
  taintRead(memory, { tool, callId: call?.callId ?? '', content: value });
  const note = noteOf([sized.note, scanned.note, shown.note], memory.options);
  return value === message.value ? { kind: 'same', note } : { kind: 'changed', value, note };
}

/** What a task comes to is judged as the answer of the tool that began it. */
function withTool({ tasks }: Memory, message: Passing): Passing {
  const { method, call, value, isError } = message;
  if (call !== undefined && !isError) taskBegun(tasks, call, value);
  if (call !== undefined || !TASKS.includes(method)) return message;
  return { ...message, value, call: callOfTask(tasks, value) };
}

const LARGE = 'Ask for less: narrow the query, or read it in parts.';

/** The size that the manifest allows. */
function withinLimit(memory: Memory, message: Passing, value: unknown): Treated {
  const { options } = memory;
  const { manifest, enforces } = options;
  const { method, call, isError } = message;
  if (manifest === undefined || isError || !isObject(value) || !hasSmallLimit(options)) {
    return { ok: true, value };
  }
  if (method !== 'tools/call' && method !== 'tasks/result') return { ok: true, value };
  const limit = answerLimit(manifest, call?.tool ?? '');
  const fitting = withinBytes(method, value, limit);
  if (fitting === value) return { ok: true, value };
  if (!enforces.surface) return { ok: true, value, note: tagged('too_large') };
  if (fitting !== undefined) {
    return { ok: true, value: fitting, note: { action: 'redact', findings: ['size:cut'] } };
  }
  const of = call === undefined ? '' : ` of \`${visible(call.tool, 120)}\``;
  const summary = `The answer${of} is larger than the ${limit.bytesMax} bytes that the manifest allows.`;
  return refused('RESULT_TOO_LARGE', summary, { hint: LARGE, findings: ['size:refused'] });
}

function tagged(finding: string): ContentNote {
  return { action: 'tag', findings: [`size:${finding}`] };
}

interface Saying {
  readonly hint: string;
  readonly findings: readonly string[];
}

function refused(reason_code: string, summary: string, { hint, findings }: Saying): Treated {
  const note: ContentNote = { action: 'block', findings };
  return { ok: false, refused: { kind: 'refused', reason_code, summary, hint, note } };
}

/** Findings are redacted or tagged; what must not arrive does not. */
function scanInbound(memory: Memory, message: Passing, nowMs: number): Treated {
  const { value, method, call } = message;
  const section = memory.content;
  if (section === undefined) return { ok: true, value };
  const place = call?.tool ?? method;
  const judged = judge(memory, section, { direction: 'inbound', value, place, nowMs });
  const { action, note } = judged;
  if (!memory.options.enforces.content) return { ok: true, value, note };
  const findings = note?.findings ?? [];
  if (action === 'block' || action === 'ask') {
    const summary = `${subjectOf(message)} is held back: it has ${judged.words}.`;
    return refused('CONTENT_BLOCKED', summary, { hint: HELD_BACK, findings });
  }
  if (!keepsShape(message, judged.value)) {
    const summary = `${subjectOf(message)} is held back: it has ${judged.words} where nothing can be put in its place.`;
    return refused('CONTENT_BLOCKED', summary, { hint: HELD_BACK, findings });
  }
  return { ok: true, value: judged.value, note };
}

const HELD_BACK = 'Go on without it, or get what you need in another way.';

function subjectOf({ kind, call, method }: Passing): string {
  if (call !== undefined) return `The answer of \`${visible(call.tool, 120)}\``;
  const name = `\`${visible(method, 120)}\``;
  return kind === 'answer' ? `The answer to ${name}` : `The message ${name} of the server`;
}

/** Programs read structured content, errors and requests: only their texts may differ. */
function keepsShape({ value, kind, isError }: Passing, treated: unknown): boolean {
  if (value === treated) return true;
  if (kind !== 'answer' || isError) return isSameShape(value, treated);
  if (!isObject(value) || !isObject(treated)) return isSameShape(value, treated);
  return isSameShape(value['structuredContent'], treated['structuredContent']);
}

/** Not too much of it, and told from where it is. */
function forModel(memory: Memory, { method, call, isError }: Passing, value: unknown): Treated {
  const section = memory.content;
  const { enforces, server, redact } = memory.options;
  if (section === undefined || !enforces.content) return { ok: true, value };
  const isMarked = section.external_content === 'mark';
  // Where no mark can stand, nothing may look like the end of one.
  const calm = isMarked ? withTextsAndKeys(value, neutral) : value;
  if (isError) return { ok: true, value: calm };
  const unitsMax = section.max_result_chars;
  if (isStructureTooLong(value, unitsMax)) {
    const of = call === undefined ? '' : ` of \`${visible(call.tool, 120)}\``;
    const summary = `The structured answer${of} has more than the ${unitsMax} characters of \`content.max_result_chars\` in the policy, and cannot be cut.`;
    return refused('RESULT_TOO_LARGE', summary, { hint: LARGE, findings: ['size:refused'] });
  }
  // The agent has chosen the name: a secret in it does not come back in a mark of ours.
  const tool = call && redact(call.tool);
  const base = { method, source: `mcp:${server}`, tool, unitsMax };
  const cut = bounded(calm, { ...base, isMarked: false });
  const note: ContentNote | undefined =
    cut === calm ? undefined : { action: 'redact', findings: ['size:cut'] };
  return { ok: true, value: isMarked ? bounded(calm, { ...base, isMarked }) : cut, note };
}

/** Anything else that comes in and carries text. */
export function inboundPassage(memory: Memory, received: Passing, nowMs: number): Passage {
  const message = received.kind === 'answer' ? withTool(memory, received) : received;
  const scanned = scanInbound(memory, message, nowMs);
  if (!scanned.ok) return scanned.refused;
  const { note } = scanned;
  const value = withoutMarks(memory, scanned.value);
  return value === message.value ? { kind: 'same', note } : { kind: 'changed', value, note };
}

/** Where content from outside is marked, nothing that a server says may look like such a mark. */
function withoutMarks({ content, options }: Memory, value: unknown): unknown {
  const isMarked = content?.external_content === 'mark' && options.enforces.content;
  return isMarked ? withTextsAndKeys(value, neutral) : value;
}
