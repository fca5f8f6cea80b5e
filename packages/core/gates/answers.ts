// The answer of a server on its way to the agent: scanned, cut, marked, and remembered as read.
import { isObject } from '@subluminal/contracts';
import { neutral } from '../scan/detect/external.ts';
import type {
  ContentNote,
  MessageVerdict,
  OtherMessage,
  RefusedMessage,
} from '../session/guard.ts';
import { answerLimit } from '../surface/index.ts';
import { bounded, isStructureTooLong, withinBytes } from './blocks.ts';
import { judge } from './content.ts';
import type { Memory } from './guard-memory.ts';
import { hasSmallLimit } from './table.ts';
import { taintRead } from './tainted.ts';
import { mergedNote, passageWith, quotedName, refusedPassage } from './verdicts.ts';
import { isSameShape, withTexts } from './walk.ts';

/** A value that goes on its way, or the refusal that arrives instead. */
type Treated =
  | {
      readonly kind: 'passes';
      readonly value: unknown;
      readonly note?: ContentNote | undefined;
    }
  | RefusedMessage;

/** A result that a model reads. */
export function resultPassage(
  memory: Memory,
  message: OtherMessage,
  nowMs: number,
): MessageVerdict {
  const { method, call } = message;
  const sized = withinLimit(memory, message, message.value);
  if (sized.kind === 'refused') return sized;
  const fitting = sized.value === message.value ? message : { ...message, value: sized.value };
  const scanned = scanInbound(memory, fitting, nowMs);
  if (scanned.kind === 'refused') return scanned;
  const shown = forModel(memory, message, scanned.value);
  if (shown.kind === 'refused') return shown;
  const { value } = shown;
  const tool = call?.tool ?? method;
  // Before it is marked: a record with a mark is no record.
  taintRead(memory, { tool, callId: call?.callId ?? '', content: scanned.value });
  const note = mergedNote([sized.note, scanned.note, shown.note], memory.options);
  return passageWith(message.value, value, note);
}

/** Whether a message says how a task goes and holds the answer of its tool (2026-07-28). */
export function holdsTaskResult({ kind, method, value, isError }: OtherMessage): boolean {
  const isState = kind === 'answer' ? method === 'tasks/get' : method === 'notifications/tasks';
  return isState && !isError && isObject(value) && isObject(value['result']);
}

/** The state of a task: the result in it is judged as a direct answer of the tool, the rest as text. */
export function taskPassage(memory: Memory, message: OtherMessage, nowMs: number): MessageVerdict {
  const { value, call, method } = message;
  if (!isObject(value)) return inboundPassage(memory, message, nowMs);
  const { result, ...rest } = value;
  taintRead(memory, { tool: call?.tool ?? method, callId: call?.callId ?? '', content: rest });
  const beside = inboundPassage(memory, { ...message, value: rest }, nowMs);
  if (beside.kind === 'refused') return beside;
  const answer = { kind: 'answer', method: 'tasks/result', value: result, isError: false } as const;
  const inner = resultPassage(memory, { ...answer, call }, nowMs);
  if (inner.kind === 'refused') return inner;
  const note = mergedNote([beside.note, inner.note], memory.options);
  if (beside.kind === 'same' && inner.kind === 'same') return { kind: 'same', note };
  const others = beside.kind === 'changed' && isObject(beside.value) ? beside.value : rest;
  const shown = inner.kind === 'changed' ? inner.value : result;
  return { kind: 'changed', value: { ...others, result: shown }, note };
}

/** Cuts or refuses an answer that is larger than the manifest allows. */
function withinLimit(memory: Memory, message: OtherMessage, value: unknown): Treated {
  const { options } = memory;
  const { manifest, enforces } = options;
  const { method, call, isError } = message;
  if (manifest === undefined || isError || !isObject(value) || !hasSmallLimit(options)) {
    return { kind: 'passes', value };
  }
  if (method !== 'tools/call' && method !== 'tasks/result') return { kind: 'passes', value };
  const limit = answerLimit(manifest, call?.tool ?? '');
  const fitting = withinBytes(method, value, limit);
  if (fitting === value) return { kind: 'passes', value };
  if (!enforces.surface)
    return { kind: 'passes', value, note: { action: 'tag', findings: ['size:too_large'] } };
  if (fitting !== undefined) {
    return { kind: 'passes', value: fitting, note: { action: 'redact', findings: ['size:cut'] } };
  }
  const summary = `The answer${ofTool(message)} is larger than the ${limit.bytesMax} bytes that the manifest allows.`;
  return tooLarge(summary);
}

function tooLarge(summary: string): RefusedMessage {
  const hint = 'Ask for less: narrow the query, or read it in parts.';
  return refusedPassage({ reason_code: 'RESULT_TOO_LARGE', summary, hint }, ['size:refused']);
}

function ofTool({ call }: OtherMessage): string {
  return call === undefined ? '' : ` of ${quotedName(call.tool)}`;
}

/** Redacts or tags findings; refuses content that must not arrive. */
function scanInbound(memory: Memory, message: OtherMessage, nowMs: number): Treated {
  const { value, method, call } = message;
  const section = memory.content;
  if (section === undefined) return { kind: 'passes', value };
  const place = call?.tool ?? method;
  const judged = judge(memory, section, { direction: 'inbound', value, place, nowMs });
  const { action, note } = judged;
  if (!memory.options.enforces.content) return { kind: 'passes', value, note };
  const isBlocked = action === 'block' || action === 'ask';
  if (isBlocked || !keepsShape(message, judged.value)) {
    const end = isBlocked ? '' : ' where nothing can be put in its place';
    const summary = `${subjectOf(message)} is held back: it has ${judged.words}${end}.`;
    const hint = 'Go on without it, or get what you need in another way.';
    return refusedPassage({ reason_code: 'CONTENT_BLOCKED', summary, hint }, note?.findings ?? []);
  }
  return { kind: 'passes', value: judged.value, note };
}

function subjectOf(message: OtherMessage): string {
  const { kind, call, method } = message;
  if (call !== undefined) return `The answer${ofTool(message)}`;
  const name = quotedName(method);
  return kind === 'answer' ? `The answer to ${name}` : `The message ${name} of the server`;
}

/** Programs read structured content, errors and requests: only their texts may differ. */
function keepsShape({ value, kind, isError }: OtherMessage, treated: unknown): boolean {
  if (value === treated) return true;
  if (kind !== 'answer' || isError) return isSameShape(value, treated);
  if (!isObject(value) || !isObject(treated)) return isSameShape(value, treated);
  return PROGRAM_PARTS.every((part) => isSameShape(value[part], treated[part]));
}

/** Members of a result that programs read. */
const PROGRAM_PARTS = ['structuredContent', 'inputRequests'] as const;

/** Cuts a result to its limit, and marks where it comes from. */
function forModel(memory: Memory, message: OtherMessage, value: unknown): Treated {
  const { method, call, isError } = message;
  const section = memory.content;
  const { enforces, server, redact } = memory.options;
  if (section === undefined || !enforces.content) return { kind: 'passes', value };
  const isMarked = section.external_content === 'mark';
  // Text that cannot be marked must not look like the end of a mark.
  const calm = isMarked ? withTexts(value, neutral, neutral) : value;
  if (isError) return { kind: 'passes', value: calm };
  const unitsMax = section.max_result_chars;
  if (isStructureTooLong(value, unitsMax)) {
    const limit = `the ${unitsMax} characters of \`content.max_result_chars\` in the policy`;
    const subject = `The structured answer${ofTool(message)}`;
    return tooLarge(`${subject} has more than ${limit}, and cannot be cut.`);
  }
  // The agent has chosen the name: a secret in it does not come back in a mark of ours.
  const tool = call && redact(call.tool);
  const marking = { method, source: `mcp:${server}`, tool, unitsMax, isMarked };
  const { value: shown, isCut } = bounded(calm, marking);
  if (!isCut) return { kind: 'passes', value: shown };
  return { kind: 'passes', value: shown, note: { action: 'redact', findings: ['size:cut'] } };
}

/** Any other message of the server that carries text. */
export function inboundPassage(
  memory: Memory,
  message: OtherMessage,
  nowMs: number,
): MessageVerdict {
  const scanned = scanInbound(memory, message, nowMs);
  if (scanned.kind === 'refused') return scanned;
  const { note } = scanned;
  const { content, options } = memory;
  // If external content is marked, no text of a server may look like a mark.
  const isMarked = content?.external_content === 'mark' && options.enforces.content;
  const value = isMarked ? withTexts(scanned.value, neutral, neutral) : scanned.value;
  return passageWith(message.value, value, note);
}
