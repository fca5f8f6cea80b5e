// What a server is asked, as any client asks it: who it is, and everything that it lists.
import { isObject } from '@subluminal/contracts';
import { itemTextsAt, memberText } from '@subluminal/core/session';
import { visible } from '@subluminal/core/visible';
import { type Answer, type Dialogue, METHOD_NOT_FOUND } from './dialogue.ts';
import type { Seen } from './seen.ts';

export type Conversed =
  | { readonly kind: 'seen'; readonly seen: Seen }
  /** Why not, as the end of a sentence about the server. */
  | { readonly kind: 'failed'; readonly why: string };

type Failed = Extract<Conversed, { kind: 'failed' }>;

const ASKED_VERSION = '2025-11-25';
const MODERN_VERSION = '2026-07-28';
const PAGES_MAX = 500;
const ITEMS_MAX = 10_000;
const SAID_MAX = 200;

interface Greeted {
  readonly kind: 'greeted';
  readonly about: Pick<Seen, 'protocolVersion' | 'serverInfo' | 'instructions'>;
  readonly capabilities: { readonly [name: string]: unknown };
  /** Goes with every request. */
  readonly params: object;
}

export async function converse(dialogue: Dialogue, clientVersion: string): Promise<Conversed> {
  const greeted = await greet(dialogue, clientVersion);
  if (greeted.kind === 'failed') return greeted;
  const notes: string[] = [];
  const lists: { [key: string]: readonly unknown[] } = {};
  let toolTexts: Seen['toolTexts'];
  for (const list of LISTS) {
    const listed = await listAll(dialogue, list, greeted);
    // Tools are what all of this is about; without the rest there is less to write down.
    if (listed.kind === 'failed' && list.isNeeded) return listed;
    if (listed.kind === 'failed') notes.push(`The server ${listed.why}.`);
    lists[list.key] = listed.kind === 'failed' ? [] : listed.items;
    if (listed.kind === 'listed' && list.key === 'tools') toolTexts = listed.texts;
  }
  const { tools = [], prompts = [], resources = [], resourceTemplates: templates = [] } = lists;
  const seen = { ...greeted.about, tools, toolTexts, prompts, resources, templates, notes };
  return { kind: 'seen', seen };
}

async function greet(dialogue: Dialogue, version: string): Promise<Greeted | Failed> {
  const clientInfo = { name: 'subluminal', version };
  const params = { protocolVersion: ASKED_VERSION, capabilities: {}, clientInfo };
  const answer = await dialogue.request('initialize', params);
  // Servers of the modern era have no greeting; each request tells what a greeting told.
  if (answer.kind === 'error' && answer.code === METHOD_NOT_FOUND) return modern(version);
  if (answer.kind !== 'result') return { kind: 'failed', why: wordsOf('initialize', answer) };
  dialogue.notify('notifications/initialized');
  const { protocolVersion, serverInfo, instructions, capabilities } = answer.result;
  return {
    kind: 'greeted',
    about: {
      protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : '',
      serverInfo: infoIn(serverInfo),
      instructions: typeof instructions === 'string' ? instructions : null,
    },
    capabilities: isObject(capabilities) ? capabilities : {},
    params: {},
  };
}

function modern(version: string): Greeted {
  const about = { protocolVersion: MODERN_VERSION, serverInfo: {}, instructions: undefined };
  const prefix = 'io.modelcontextprotocol/';
  const meta = {
    [`${prefix}protocolVersion`]: MODERN_VERSION,
    [`${prefix}clientCapabilities`]: {},
    [`${prefix}clientInfo`]: { name: 'subluminal', version },
  };
  return { kind: 'greeted', about, capabilities: {}, params: { _meta: meta } };
}

function infoIn(value: unknown): Seen['serverInfo'] {
  const { name, version } = isObject(value) ? value : {};
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof version === 'string' && { version }),
  };
}

interface List {
  readonly method: string;
  /** Where the items stand in an answer. */
  readonly key: string;
  readonly capability: string;
  readonly isNeeded: boolean;
}

const LISTS: readonly List[] = [
  { method: 'tools/list', key: 'tools', capability: 'tools', isNeeded: true },
  { method: 'prompts/list', key: 'prompts', capability: 'prompts', isNeeded: false },
  { method: 'resources/list', key: 'resources', capability: 'resources', isNeeded: false },
  {
    method: 'resources/templates/list',
    key: 'resourceTemplates',
    capability: 'resources',
    isNeeded: false,
  },
];

type Listed =
  | {
      readonly kind: 'listed';
      readonly items: readonly unknown[];
      /** The JSON of each. */
      readonly texts: readonly (string | undefined)[];
    }
  | Failed;

/** Asked for whether the server has announced it or not: an agent may ask all the same. */
async function listAll(dialogue: Dialogue, list: List, greeted: Greeted): Promise<Listed> {
  const { method, key, capability } = list;
  const items: unknown[] = [];
  const texts: (string | undefined)[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const params = { ...greeted.params, ...(cursor !== undefined && { cursor }) };
    const answer = await dialogue.request(method, params);
    const isAnnounced = Object.hasOwn(greeted.capabilities, capability);
    if (answer.kind === 'error' && page === 0 && !isAnnounced)
      return { kind: 'listed', items, texts };
    if (answer.kind !== 'result') return { kind: 'failed', why: wordsOf(method, answer) };
    const found = answer.result[key];
    if (!Array.isArray(found)) return { kind: 'failed', why: `answers ${method} without a list` };
    const written = itemTextsAt(memberText(answer.line, 'result') ?? '', key) ?? [];
    for (const [at, item] of found.entries()) {
      items.push(item);
      texts.push(written[at]);
    }
    if (items.length > ITEMS_MAX) break;
    const { nextCursor } = answer.result;
    if (typeof nextCursor !== 'string' || nextCursor === '')
      return { kind: 'listed', items, texts };
    if (cursors.has(nextCursor)) {
      return { kind: 'failed', why: `answers ${method} with the same page again and again` };
    }
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
  return { kind: 'failed', why: `answers ${method} with more than is taken` };
}

function wordsOf(method: string, answer: Exclude<Answer, { kind: 'result' }>): string {
  if (answer.kind === 'over') return answer.why;
  return `refuses ${method} (${answer.code}): ${visible(answer.message, SAID_MAX)}`;
}
