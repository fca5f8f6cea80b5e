// Lists of tools, prompts and resources on their way to the agent.
import { type Era, isObject, type ReasonCode } from '@subluminal/contracts';
import type { MessageVerdict } from '../session/guard.ts';
import {
  type Filtered,
  filterPrompts,
  filterResources,
  filterResourceTemplates,
  filterTools,
  findCollisions,
  type RemovedReason,
} from '../surface/index.ts';
import { uncached } from '../surface/list.ts';
import { badNames } from './definitions.ts';
import type { Memory } from './guard-memory.ts';
import { addNotice } from './notices.ts';
import { noticeMissing, reviewTools } from './pinned.ts';
import { passageWith, quotedName, refusedPassage, SAME } from './verdicts.ts';
import { nameOf, namesOf } from './walk.ts';

export const LISTS = {
  'tools/list': { field: 'tools', key: 'name', filter: filterTools },
  'prompts/list': { field: 'prompts', key: 'name', filter: filterPrompts },
  'resources/list': { field: 'resources', key: 'uri', filter: filterResources },
  'resources/templates/list': {
    field: 'resourceTemplates',
    key: 'uriTemplate',
    filter: filterResourceTemplates,
  },
} as const;
export type ListMethod = keyof typeof LISTS;

/** Over all pages of one list. */
const OFFERED_MAX = 20_000;

/** Over all lists of a session: a server that always lists other tools must not fill our memory. */
const KNOWN_MAX = 50_000;
const NONE: ReadonlySet<string> = new Set();

export function isList(method: string): method is ListMethod {
  return Object.hasOwn(LISTS, method);
}

/** One page of a list as the agent may see it. */
export function listedPage(memory: Memory, method: ListMethod, page: Page): MessageVerdict {
  const { value, nowMs } = page;
  const { field, key } = LISTS[method];
  const items = listItems(value, field);
  if (items === undefined) return malformedList(memory, method);
  const before = memory.offered.get(method) ?? NONE;
  const names = namesOf(items, key);
  const offered = new Set([...before, ...names]);
  if (offered.size > OFFERED_MAX || knownCount(memory) > KNOWN_MAX) {
    return refusedList(`The server lists more than ${OFFERED_MAX} entries.`);
  }
  const isLast = !isObject(value) || typeof value['nextCursor'] !== 'string';
  memory.offered.set(method, isLast ? NONE : offered);
  const isWhole = isLast && before.size === 0;
  const hidden = hiddenOn(memory, method, { items, texts: page.texts, isWhole, nowMs });
  if (method === 'tools/list') {
    const room = Math.max(0, KNOWN_MAX - memory.offeredEver.size);
    for (const name of names.slice(0, room)) memory.offeredEver.add(name);
  }
  if (isLast && method === 'tools/list') {
    memory.wasListed = true;
    if (before.size > 0) noticeMissing(memory, offered);
    noticeLookAlikes(memory, [...offered]);
  }
  const filtered = byManifest(memory, method, { value, offeredBefore: [...before] });
  const shown = withoutHidden(memory, filtered, { method, hidden });
  return passageWith(value, shown);
}

function knownCount({ review, bad }: Memory): number {
  return Math.max(bad.size, review?.kind === 'reviewed' ? review.verdicts.size : 0);
}

export interface Page {
  readonly value: unknown;
  /** The JSON of each entry; see `Listing.texts` of the pins. */
  readonly texts?: readonly (string | undefined)[] | undefined;
  readonly nowMs: number;
}

/** The entries of an answer; undefined if it may hold definitions in another form. */
function listItems(value: unknown, field: string): readonly unknown[] | undefined {
  if (!isObject(value)) return undefined;
  const items: unknown = value[field] ?? [];
  return Array.isArray(items) ? items : undefined;
}

/** An answer without a list has no entries to judge, so it is refused where entries are judged. */
function malformedList(memory: Memory, method: ListMethod): MessageVerdict {
  const { manifest, enforces } = memory.options;
  const isEnforced = judgesItems(memory) || (manifest !== undefined && enforces.surface);
  const summary = `The server answers \`${method}\` without a list of ${LISTS[method].field}.`;
  addNotice(memory, {
    what: 'definition_suspicious',
    enforced: isEnforced,
    reason_code: 'DEFINITION_SUSPICIOUS',
    detail: summary,
  });
  return isEnforced ? refusedList(summary) : SAME;
}

function refusedList(summary: string): MessageVerdict {
  const hint = 'Go on without this list.';
  return refusedPassage({ reason_code: 'ANSWER_REFUSED', summary, hint });
}

interface ListedPage {
  readonly items: readonly unknown[];
  readonly texts: Page['texts'];
  readonly isWhole: boolean;
  readonly nowMs: number;
}

/** The names that content or pins keep from the agent, where that is enforced. */
function hiddenOn(
  memory: Memory,
  method: ListMethod,
  { items, texts, isWhole, nowMs }: ListedPage,
): ReadonlySet<string> {
  const { enforces } = memory.options;
  const { key } = LISTS[method];
  const isTools = method === 'tools/list';
  const bad = badNames(memory, { items, key, kind: isTools ? 'tool' : 'listed' }, nowMs);
  if (isTools) {
    for (const name of namesOf(items, key)) {
      if (bad.has(name)) memory.bad.add(name);
      else memory.bad.delete(name);
    }
  }
  const changed = isTools
    ? reviewTools(memory, { tools: items, texts, isComplete: isWhole }, nowMs)
    : new Set<string>();
  // Where the instructions are bad no tool may be called, so none is shown.
  const all = isTools && memory.areInstructionsBad ? namesOf(items, key) : [];
  return new Set([
    ...(enforces.content ? [...bad, ...all] : []),
    ...(enforces.pins ? changed : []),
  ]);
}

function byManifest(
  memory: Memory,
  method: ListMethod,
  { value, offeredBefore }: { readonly value: unknown; readonly offeredBefore: readonly string[] },
): unknown {
  const { manifest, enforces } = memory.options;
  if (manifest === undefined) return value;
  const options = { era: eraOf(memory, value), offeredBefore };
  const filtered = LISTS[method].filter(value, manifest, options);
  noticeFiltered(memory, filtered);
  return enforces.surface ? filtered.result : value;
}

const REMOVED: {
  readonly [R in RemovedReason]: { readonly reason_code: ReasonCode; readonly detail: string };
} = {
  forbidden: { reason_code: 'TOOL_FORBIDDEN', detail: 'The manifest forbids it.' },
  not_listed: { reason_code: 'TOOL_NOT_LISTED', detail: 'The manifest does not list it.' },
  duplicate_name: { reason_code: 'PIN_AMBIGUOUS', detail: 'Its name stands in the list twice.' },
  malformed: { reason_code: 'DEFINITION_SUSPICIOUS', detail: 'It has no usable name.' },
  schema_too_complex: {
    reason_code: 'DEFINITION_SUSPICIOUS',
    detail: 'Its schema is too complex to be limited.',
  },
};

function noticeFiltered(memory: Memory, filtered: Filtered): void {
  const enforced = memory.options.enforces.surface;
  for (const { name, reason } of filtered.removed) {
    addNotice(memory, { what: 'tool_hidden', enforced, name, ...REMOVED[reason] });
  }
  for (const name of filtered.rewritten) {
    const detail = 'Its parameters are limited by the manifest.';
    const reason_code = 'SCHEMA_REWRITTEN';
    addNotice(memory, { what: 'schema_rewritten', enforced, name, reason_code, detail });
  }
  for (const name of filtered.unlisted) {
    const detail = 'It is in the manifest, but the server does not offer it.';
    addNotice(memory, {
      what: 'tool_removed',
      enforced,
      name,
      reason_code: 'TOOL_REMOVED',
      detail,
    });
  }
}

/** The same object when nothing is hidden. */
function withoutHidden(
  memory: Memory,
  value: unknown,
  { method, hidden }: { readonly method: ListMethod; readonly hidden: ReadonlySet<string> },
): unknown {
  const { field, key } = LISTS[method];
  if (!isObject(value)) return value;
  const items: unknown = value[field];
  if (!Array.isArray(items)) return value;
  const isJudged = judgesItems(memory);
  const kept = items.filter((item: unknown) => {
    const name = nameOf(item, key);
    // An entry without a name was not judged, and cannot be called.
    return name === undefined ? !isJudged : !hidden.has(name);
  });
  if (kept.length === items.length) return value;
  return { ...value, [field]: kept };
}

function judgesItems({ options }: Memory): boolean {
  const { pins, content, enforces } = options;
  return (pins !== undefined && enforces.pins) || (content !== undefined && enforces.content);
}

/** An answer that was changed for this client: no other client may be given it, and none may keep it. */
export function forThisClient(memory: Memory, value: unknown): unknown {
  // An answer that asks for input is never kept.
  if (!isObject(value) || value['resultType'] === 'input_required') return value;
  return uncached(value, eraOf(memory, value));
}

/** Only lists of the modern era have cache fields, whatever version the server named. */
function eraOf({ era }: Memory, value: unknown): Era {
  const isModern = isObject(value) && ('ttlMs' in value || 'cacheScope' in value);
  return isModern ? 'modern' : era;
}

const COLLIDING_SHOWN_MAX = 5;

/** Notes which names can be taken for those of servers whose tools are pinned. */
function noticeLookAlikes(memory: Memory, tools: readonly string[]): void {
  const { pins, server } = memory.options;
  if (pins?.opened.ok !== true) return;
  const key = JSON.stringify(tools);
  if (key === memory.compared) return;
  memory.compared = key;
  const others = [...pins.opened.store.servers]
    .filter(([name]) => name !== server)
    .map(([name, known]) => ({ server: name, tools: [...known.tools.keys()] }));
  for (const { kind, names } of findCollisions([{ server, tools }, ...others]).found) {
    const own = names.find((named) => named.server === server);
    const rest = names.filter((named) => named !== own).slice(0, COLLIDING_SHOWN_MAX);
    if (own === undefined || rest.length === 0) continue;
    const shown = rest.map((named) => quotedName(`${named.server}/${named.tool}`));
    const how = kind === 'same_name' ? 'has the same name as' : 'can be taken for';
    addNotice(memory, {
      what: 'look_alike',
      enforced: false,
      name: own.tool,
      reason_code: 'LOOK_ALIKE',
      detail: `It ${how} ${shown.join(', ')}.`,
    });
  }
}
