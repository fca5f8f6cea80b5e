// Asks a server what every client asks: who it is, and everything that it lists.
import { definedFields, isObject } from '@subluminal/contracts';
import { itemTextsAt, MODERN_VERSION, memberText } from '@subluminal/core/session';
import type { Listing } from '@subluminal/core/surface';
import { visible } from '@subluminal/core/visible';
import { parseJson } from '../../os/index.ts';
import { LineReader } from '../../os/line-reader.ts';

/** Why the server could not be asked, as the end of a sentence about it. */
interface Failed {
  readonly why: string;
}

const ASKED_VERSION = '2025-11-25';
const PAGES_MAX = 500;
const ITEMS_MAX = 10_000;
const SAID_MAX = 200;

interface Greeted {
  readonly about: Pick<ServerListing, 'protocolVersion' | 'serverInfo' | 'instructions'>;
  readonly capabilities: { readonly [name: string]: unknown };
  /** Goes with every request. */
  readonly params: object;
}

export async function converse(
  dialogue: Dialogue,
  clientVersion: string,
): Promise<ServerListing | Failed> {
  const greeted = await greet(dialogue, clientVersion);
  if ('why' in greeted) return greeted;
  const notes: string[] = [];
  const lists: { [key: string]: readonly unknown[] } = {};
  let toolTexts: ServerListing['toolTexts'];
  for (const list of LISTS) {
    const listed = await listAll(dialogue, list, greeted);
    // Tools are what all of this is about; without the rest there is less to write down.
    if ('why' in listed) {
      if (list.key === 'tools') return listed;
      notes.push(`The server ${listed.why}.`);
      continue;
    }
    lists[list.key] = listed.items;
    if (list.key === 'tools') toolTexts = listed.texts;
  }
  const { tools = [], prompts = [], resources = [], resourceTemplates: templates = [] } = lists;
  return { ...greeted.about, tools, toolTexts, prompts, resources, templates, notes };
}

async function greet(dialogue: Dialogue, version: string): Promise<Greeted | Failed> {
  const clientInfo = { name: 'subluminal', version };
  const params = { protocolVersion: ASKED_VERSION, capabilities: {}, clientInfo };
  const answer = await dialogue.request('initialize', params);
  // Servers of the modern era have no greeting; each request carries its content.
  const discovered = answer.kind === 'error' ? await discover(dialogue, version) : undefined;
  if (discovered !== undefined) return discovered;
  if (answer.kind === 'error' && answer.code === METHOD_NOT_FOUND) return modern(version);
  if (answer.kind !== 'result') return { why: wordsOf('initialize', answer) };
  dialogue.notify('notifications/initialized');
  const { protocolVersion, serverInfo, instructions, capabilities } = answer.result;
  return {
    about: {
      protocolVersion: textIn(protocolVersion) ?? '',
      serverInfo: infoIn(serverInfo),
      instructions: textIn(instructions) ?? null,
    },
    capabilities: isObject(capabilities) ? capabilities : {},
    params: {},
  };
}

/** A server of the modern era tells what it is; undefined where it is none, or does not tell. */
async function discover(dialogue: Dialogue, version: string): Promise<Greeted | undefined> {
  const greeted = modern(version);
  const answer = await dialogue.request('server/discover', greeted.params);
  if (answer.kind !== 'result') return undefined;
  const { capabilities, instructions, _meta: meta } = answer.result;
  const serverInfo = infoIn(isObject(meta) ? meta[`${META_PREFIX}serverInfo`] : undefined);
  const about = { ...greeted.about, serverInfo, instructions: textIn(instructions) ?? null };
  return { ...greeted, about, capabilities: isObject(capabilities) ? capabilities : {} };
}

const META_PREFIX = 'io.modelcontextprotocol/';

function modern(version: string): Greeted {
  const about = { protocolVersion: MODERN_VERSION, serverInfo: {}, instructions: undefined };
  const meta = {
    [`${META_PREFIX}protocolVersion`]: MODERN_VERSION,
    [`${META_PREFIX}clientCapabilities`]: {},
    [`${META_PREFIX}clientInfo`]: { name: 'subluminal', version },
  };
  return { about, capabilities: {}, params: { _meta: meta } };
}

function infoIn(value: unknown): ServerListing['serverInfo'] {
  const { name, version } = isObject(value) ? value : {};
  return definedFields({ name: textIn(name), version: textIn(version) });
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

interface ListRequest {
  readonly method: string;
  /** Where the items stand in an answer. */
  readonly key: string;
  readonly capability: string;
}

const LISTS: readonly ListRequest[] = [
  { method: 'tools/list', key: 'tools', capability: 'tools' },
  { method: 'prompts/list', key: 'prompts', capability: 'prompts' },
  { method: 'resources/list', key: 'resources', capability: 'resources' },
  { method: 'resources/templates/list', key: 'resourceTemplates', capability: 'resources' },
];

interface Listed {
  readonly items: readonly unknown[];
  /** The JSON of each. */
  readonly texts: readonly (string | undefined)[];
}

/** Asked for whether the server has announced it or not: an agent may ask all the same. */
async function listAll(
  dialogue: Dialogue,
  list: ListRequest,
  greeted: Greeted,
): Promise<Listed | Failed> {
  const { method, key, capability } = list;
  const items: unknown[] = [];
  const texts: (string | undefined)[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const params = { ...greeted.params, ...(cursor !== undefined && { cursor }) };
    const answer = await dialogue.request(method, params);
    const mayLack = page === 0 && !Object.hasOwn(greeted.capabilities, capability);
    if (answer.kind === 'error' && mayLack) return { items, texts };
    if (answer.kind !== 'result') return { why: wordsOf(method, answer) };
    const found = answer.result[key];
    if (!Array.isArray(found)) {
      return mayLack ? { items, texts } : { why: `answers ${method} without a list` };
    }
    const written = itemTextsAt(memberText(answer.line, 'result') ?? '', key) ?? [];
    for (const [at, item] of found.entries()) {
      items.push(item);
      texts.push(written[at]);
    }
    if (items.length > ITEMS_MAX) break;
    const { nextCursor } = answer.result;
    if (typeof nextCursor !== 'string' || nextCursor === '') return { items, texts };
    if (cursors.has(nextCursor)) {
      return { why: `answers ${method} with the same page again and again` };
    }
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
  return { why: `answers ${method} with more than is taken` };
}

function wordsOf(method: string, answer: Exclude<ServerAnswer, { kind: 'result' }>): string {
  if (answer.kind === 'over') return answer.why;
  return `refuses ${method} (${answer.code}): ${visible(answer.message, SAID_MAX)}`;
}

// Requests to a server and their answers, as JSON-RPC in lines or in whole messages.

type ServerAnswer =
  | {
      readonly kind: 'result';
      readonly result: { readonly [name: string]: unknown };
      /** The line that it came in. */
      readonly line: string;
    }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** There will be no answer; why, as the end of a sentence about the server. */
  | { readonly kind: 'over'; readonly why: string };

export const LINE_BYTES_MAX = 16_777_216;
const BYTES_MAX = 67_108_864;
export const TOO_MUCH = 'says more than is taken';
/** Servers greet on standard output, though they must not; some of it is overlooked. */
const FOREIGN_LINES_MAX = 1_000;
const METHOD_NOT_FOUND = -32_601;

export class Dialogue {
  readonly #write: (text: string) => void;
  readonly #lines = new LineReader(LINE_BYTES_MAX);
  readonly #open = new Map<number, (answer: ServerAnswer) => void>();
  #lastId = 0;
  #bytes = 0;
  #foreignLines = 0;
  #over: string | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  request(method: string, params: object): Promise<ServerAnswer> {
    if (this.#over !== undefined) return Promise.resolve({ kind: 'over', why: this.#over });
    const id = ++this.#lastId;
    const answer = new Promise<ServerAnswer>((resolve) => this.#open.set(id, resolve));
    this.#send({ id, method, params });
    return answer;
  }

  notify(method: string): void {
    this.#send({ method });
  }

  /** Takes bytes of the server. */
  feed(chunk: Buffer): void {
    if (this.#over !== undefined) return;
    this.#bytes += chunk.length;
    let isTooLong = this.#bytes > BYTES_MAX;
    if (!isTooLong) {
      this.#lines.read(chunk, (line) => {
        if (line === undefined) isTooLong = true;
        else if (line.trim() !== '') this.#take(line);
      });
    }
    if (isTooLong || this.#lines.restLength > LINE_BYTES_MAX) this.end(TOO_MUCH);
  }

  /** Takes a whole message of the server. */
  message(bytes: Uint8Array): void {
    if (this.#over !== undefined) return;
    this.#bytes += bytes.length;
    if (this.#bytes > BYTES_MAX || bytes.length > LINE_BYTES_MAX) this.end(TOO_MUCH);
    else this.#take(Buffer.from(bytes).toString('utf8'));
  }

  /** Ends every open and every later request; the first reason counts. */
  end(why: string): void {
    this.#over ??= why;
    for (const [id, resolve] of this.#open) {
      this.#open.delete(id);
      resolve({ kind: 'over', why: this.#over });
    }
  }

  #send(message: object): void {
    this.#write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #take(line: string): void {
    const message = parseJson(line);
    if (!isObject(message)) {
      this.#foreignLines++;
      if (this.#foreignLines > FOREIGN_LINES_MAX) this.end('writes what is no MCP');
      return;
    }
    const { id, method } = message;
    if (typeof method === 'string') {
      const isAsked = typeof id === 'string' || typeof id === 'number';
      if (isAsked) this.#send({ id, ...replyTo(method) });
      return;
    }
    const resolve = typeof id === 'number' ? this.#open.get(id) : undefined;
    if (resolve === undefined || typeof id !== 'number') return;
    this.#open.delete(id);
    resolve(answerIn(message, line));
  }
}

/** We offer nothing to a server that we only look at. */
function replyTo(method: string): object {
  if (method === 'ping') return { result: {} };
  return { error: { code: METHOD_NOT_FOUND, message: 'not offered' } };
}

function answerIn(
  { result, error }: { readonly [name: string]: unknown },
  line: string,
): ServerAnswer {
  if (isObject(result)) return { kind: 'result', result, line };
  const { code, message } = isObject(error) ? error : {};
  return {
    kind: 'error',
    code: typeof code === 'number' ? code : 0,
    message: textIn(message) ?? 'no result',
  };
}

// What a server has shown of itself. All of it is hostile text.

export interface ServerListing {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name?: string; readonly version?: string };
  /** Null when the server has none; undefined when it was not asked for them. */
  readonly instructions: string | null | undefined;
  readonly tools: readonly unknown[];
  /** The JSON of each tool, as the server wrote it. */
  readonly toolTexts?: readonly (string | undefined)[] | undefined;
  readonly prompts: readonly unknown[];
  readonly resources: readonly unknown[];
  readonly templates: readonly unknown[];
  /** What could not be listed, in whole sentences. */
  readonly notes: readonly string[];
}

/** For the pins. A look is over all pages, or it has failed. */
export function listingOf({ tools, toolTexts, instructions }: ServerListing): Listing {
  return { tools, texts: toolTexts, isComplete: true, ...definedFields({ instructions }) };
}
