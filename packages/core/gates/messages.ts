// All messages that are no tool call.
import { isObject } from '@subluminal/contracts';
import { itemTextsAt } from '../json/text-parts.ts';
import type { MessageVerdict, OtherMessage, Way } from '../session/guard.ts';
import { OBSERVED_METHODS, RESULT_METHODS } from '../session/peek/protocol-names.ts';
import { eraOf } from '../session/versions.ts';
import { isSpoken } from '../taint/spoken.ts';
import { holdsTaskResult, inboundPassage, resultPassage, taskPassage } from './answers.ts';
import { BY_CONTENT, judge } from './content.ts';
import { isBadDefinition } from './definitions.ts';
import type { Memory } from './guard-memory.ts';
import { passageWithoutLeaks } from './leaks.ts';
import { forThisClient, isList, LISTS, type ListMethod, listedPage, type Page } from './lists.ts';
import { INTRODUCTIONS, TASK_LIST, TASKS, UNKNOWN } from './methods.ts';
import { oversizedPassage } from './oversized-messages.ts';
import { reviewInstructions } from './pinned.ts';
import { selfPassage, useInputRoots, useRoots } from './self-protection.ts';
import { accessTo, allowedSubscriptions, taskAccess } from './surface.ts';
import type { SeenMessages } from './table.ts';
import { taintRead } from './tainted.ts';
import {
  clean,
  mergedNote,
  passageWith,
  quotedName,
  refusedPassage,
  SAME,
  withoutName,
} from './verdicts.ts';
import { holdsOnlySafeNumbers, isSameShape, isWalkable } from './walk.ts';

interface SeenMessage {
  readonly way: Way;
  readonly message: OtherMessage;
  readonly nowMs: number;
}

/** Judges a message. The texts of a refusal hold no secret. */
export function passageOf(
  memory: Memory,
  seenMessages: SeenMessages,
  seen: SeenMessage,
): MessageVerdict {
  const { way, message, nowMs } = seen;
  const { kind, method } = message;
  const { options } = memory;
  const { leaks } = options;
  const govern = (one: OtherMessage) =>
    way === 'in' ? incoming(memory, one, nowMs) : outgoing(memory, one, nowMs);
  let passage: MessageVerdict;
  if (!isWalkable(message.value)) {
    passage = oversizedPassage(memory, seenMessages, { way, kind, method });
  } else if (leaks === undefined || message.value === undefined) passage = govern(message);
  // Injected secrets go first, whatever else is found in a message.
  else passage = passageWithoutLeaks({ ...options, leaks }, seen, govern);
  if (passage.kind !== 'refused') return passage;
  const { summary, hint, note } = passage;
  const names = [method, message.call?.tool ?? method];
  const safe = names.reduce((text, name) => withoutName(text, name, options), summary);
  return {
    ...passage,
    summary: clean(safe, options),
    ...(hint !== undefined && { hint: clean(hint, options) }),
    ...(note !== undefined && { note: mergedNote([note], options) }),
  };
}

function incoming(memory: Memory, message: OtherMessage, nowMs: number): MessageVerdict {
  const passage = judged(memory, message, nowMs);
  const { method, kind } = message;
  if (passage.kind !== 'changed' || kind !== 'answer' || !CACHEABLE.has(method)) return passage;
  return { ...passage, value: forThisClient(memory, passage.value) };
}

/** Requests whose answers say since 2026-07-28 how long they may be kept, and by whom. */
const CACHEABLE: ReadonlySet<string> = new Set([
  ...Object.keys(LISTS),
  'resources/read',
  'server/discover',
]);

function judged(memory: Memory, message: OtherMessage, nowMs: number): MessageVerdict {
  const { kind, method, isError, call } = message;
  if (holdsTaskResult(message)) return taskPassage(memory, message, nowMs);
  const source = { tool: call?.tool ?? method, callId: call?.callId ?? '' };
  if (kind !== 'answer') {
    if (isSpoken(method)) taintRead(memory, { ...source, content: message.value });
    return inboundPassage(memory, message, nowMs);
  }
  if (method === UNKNOWN) return strayAnswer(memory);
  if (RESULT_METHODS.includes(method)) return resultPassage(memory, message, nowMs);
  if (OBSERVED_METHODS.has(method)) {
    taintRead(memory, { ...source, content: message.value });
  }
  if (isError) return inboundPassage(memory, message, nowMs);
  if (isList(method)) return listPassage(memory, method, { message, nowMs });
  if (method === TASK_LIST) return taskListPassage(memory, message, nowMs);
  if (INTRODUCTIONS.includes(method)) return introduced(memory, message, nowMs);
  return inboundPassage(memory, message, nowMs);
}

/** Without the tasks that the agent may not ask about: what they do is in their states. */
function taskListPassage(memory: Memory, message: OtherMessage, nowMs: number): MessageVerdict {
  const { manifest, enforces } = memory.options;
  const { value } = message;
  if (manifest === undefined || !enforces.surface) return inboundPassage(memory, message, nowMs);
  const tasks: unknown = isObject(value) ? (value['tasks'] ?? []) : undefined;
  if (!isObject(value) || !Array.isArray(tasks)) {
    const summary = 'The server answers `tasks/list` without a list of tasks.';
    return refusedPassage({ rule_id: 'gate:manifest', reason_code: 'ANSWER_REFUSED', summary });
  }
  const kept = tasks.filter((task: unknown) => {
    const id: unknown = isObject(task) ? task['taskId'] : undefined;
    const call = typeof id === 'string' ? message.taskCall?.(id) : undefined;
    return taskAccess(manifest, call).kind === 'pass';
  });
  const shown = kept.length === tasks.length ? value : { ...value, tasks: kept };
  const passage = inboundPassage(memory, { ...message, value: shown }, nowMs);
  return passage.kind === 'same' ? passageWith(value, shown, passage.note) : passage;
}

/** Judges the entries of a list as definitions, and the members beside them as content. */
function listPassage(
  memory: Memory,
  method: ListMethod,
  { message, nowMs }: Omit<SeenMessage, 'way'>,
): MessageVerdict {
  const { value } = message;
  const { field } = LISTS[method];
  if (!isObject(value)) return listedPage(memory, method, { value, nowMs });
  const { [field]: items, ...rest } = value;
  const beside = inboundPassage(memory, { ...message, value: rest }, nowMs);
  if (beside.kind === 'refused') return beside;
  const others = beside.kind === 'changed' ? beside.value : undefined;
  const calm = isObject(others) ? { ...others, [field]: items } : value;
  const passage = listedPage(memory, method, {
    value: calm,
    nowMs,
    texts: textsOf(memory, message),
  });
  if (passage.kind === 'refused') return passage;
  const note = mergedNote([beside.note, passage.note], memory.options);
  return passageWith(value, passage.kind === 'changed' ? passage.value : calm, note);
}

/** The JSON of each entry, for the pins. Without the text, only entries whose numbers a double can hold have one. */
function textsOf({ options }: Memory, { method, value, text }: OtherMessage): Page['texts'] {
  if (options.pins === undefined || method !== 'tools/list') return undefined;
  if (text !== undefined) return itemTextsAt(text, 'tools') ?? [];
  const items: unknown = isObject(value) ? value['tools'] : undefined;
  if (!Array.isArray(items)) return undefined;
  return items.map((item: unknown) =>
    holdsOnlySafeNumbers(item) ? JSON.stringify(item) : undefined,
  );
}

/**
 * Clients disagree on which ids are the same, `1` and `"1"` for example. An answer
 * that matches no request for us may match one for them, and would pass every gate.
 */
function strayAnswer({ options }: Memory): MessageVerdict {
  const { manifest, pins, content, taint, enforces } = options;
  const isGuarded =
    (manifest !== undefined && enforces.surface) ||
    (pins !== undefined && enforces.pins) ||
    ((content !== undefined || taint !== undefined) && enforces.content);
  if (!isGuarded) return SAME;
  const summary = 'The answer belongs to no open request.';
  return refusedPassage({
    reason_code: 'ANSWER_REFUSED',
    summary,
    hint: 'Send the request again.',
  });
}

/** Judges the introduction of a server: its instructions as a definition, the rest as content. */
function introduced(memory: Memory, message: OtherMessage, nowMs: number): MessageVerdict {
  const { value } = message;
  const { instructions, ...rest }: { readonly [key: string]: unknown } = isObject(value)
    ? value
    : {};
  if (isModern(rest)) memory.era = 'modern';
  else if (message.method === 'initialize') memory.era = 'legacy';
  const text = typeof instructions === 'string' ? instructions : null;
  const isOther = reviewInstructions(memory, text, nowMs);
  const definition = { kind: 'instructions', value: text ?? '', name: 'initialize' } as const;
  const isBad = isBadDefinition(memory, definition, nowMs);
  // A second introduction does not replace the first: the agent may have read both.
  memory.areInstructionsBad ||= isBad;
  const { pins, content } = memory.options.enforces;
  const isWithheld = instructions !== undefined && ((isOther && pins) || (isBad && content));
  const others = text === null && !isWithheld ? value : rest;
  const passage = inboundPassage(memory, { ...message, value: others }, nowMs);
  if (passage.kind === 'refused') return passage;
  // A server whose instructions were left out would look like one without instructions.
  if (isWithheld) {
    const changed = passage.kind === 'changed' ? passage.value : rest;
    const shown = isObject(changed) ? changed : rest;
    return { kind: 'changed', value: { ...shown, instructions: WITHHELD }, note: passage.note };
  }
  if (passage.kind !== 'changed' || text === null || !isObject(passage.value)) return passage;
  return { ...passage, value: { ...passage.value, instructions } };
}

const WITHHELD =
  'The instructions of this server are withheld, and its tools are blocked, until a person has looked at them.';

/** Whether a server uses the revision of 2026-07-28 or a later one. */
function isModern({ protocolVersion, supportedVersions }: { [key: string]: unknown }): boolean {
  const versions = Array.isArray(supportedVersions) ? supportedVersions : [protocolVersion];
  return versions.some(
    (version: unknown) => typeof version === 'string' && eraOf(version) === 'modern',
  );
}

function outgoing(memory: Memory, message: OtherMessage, nowMs: number): MessageVerdict {
  const { kind, method, value, call } = message;
  const { manifest, enforces } = memory.options;
  useInputRoots(memory.options, value);
  if (kind === 'answer' && method === 'roots/list') useRoots(memory.options, value);
  else {
    const kept = selfPassage(memory.options, method, value);
    if (kept !== undefined) return kept;
  }
  if (kind !== 'answer' && manifest !== undefined) {
    const isTask = kind === 'request' && TASKS.includes(method);
    const access = isTask ? taskAccess(manifest, call) : accessTo(manifest, method, value);
    if (access.kind === 'refuse' && enforces.surface) {
      const { reason_code, message: summary, hint } = access;
      return refusedPassage({ rule_id: 'gate:manifest', reason_code, summary, hint });
    }
  }
  if (method !== 'subscriptions/listen') return scanOutbound(memory, message, nowMs);
  const wanted = allowedSubscriptions(memory, value);
  const passage = scanOutbound(memory, { ...message, value: wanted }, nowMs);
  return passage.kind === 'same' ? passageWith(value, wanted, passage.note) : passage;
}

/** Nobody can be asked about these messages: the action `ask` refuses them. */
function scanOutbound(memory: Memory, message: OtherMessage, nowMs: number): MessageVerdict {
  const { content: section, options } = memory;
  const { value, method } = message;
  if (section === undefined || value === undefined) return SAME;
  const found = judge(memory, section, { direction: 'outbound', value, place: method, nowMs });
  const { action, note } = found;
  if (!options.enforces.content) return { kind: 'same', note };
  const isFirm = action === 'block' || action === 'ask';
  if (isFirm || !isSameShape(value, found.value)) {
    const summary = `${quotedName(method)} is not sent: it has ${found.words}.`;
    const hint = 'Leave it out, and send it again.';
    return refusedPassage({ ...BY_CONTENT, summary, hint }, note?.findings ?? []);
  }
  return passageWith(value, found.value, note);
}
