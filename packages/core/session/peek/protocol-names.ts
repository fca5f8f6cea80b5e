// The keys of the protocol, by the object that holds them. A key that folds to one of these without being it
// is one key for us and another for a reader that ignores case, so such a message is refused.
import { foldKey } from '../../json/index.ts';
import { asciiBytes } from '../../json/text.ts';
import { MINUS, NINE, QUOTE, ZERO } from '../../json/units.ts';
import { latinOf } from '../../surface/names/spelling.ts';
import type { ByteRange } from './types.ts';

/** The objects of a message whose keys mean something to the protocol. */
export type ProtocolObject =
  | 'top'
  | 'params'
  | 'meta'
  | 'result'
  | 'error'
  /** The answer of a call in a message about its task; nothing is decided on its keys here. */
  | 'answer'
  | 'failure'
  | 'data'
  | 'item'
  | 'part'
  | 'task'
  | 'annotations'
  | 'schema'
  | 'reference'
  | 'argument';

export interface ProtocolKeys {
  readonly keys: readonly string[];
  readonly words: readonly Uint8Array[];
  /** The key, by what it folds to. */
  readonly byFold: ReadonlyMap<string, string>;
  /** Members whose value is an object at a known place, or a list of such objects. */
  readonly inside: ReadonlyMap<string, ProtocolObject>;
}

/** Keys of the items of lists and results: tools, resources, prompts, messages, content. */
const ITEM_KEYS = `
  name title description inputSchema outputSchema annotations _meta type text data mimeType uri
  uriTemplate blob resource icons size role content arguments execution id input toolUseId
  structuredContent isError required
`;

type Inside = { readonly [key: string]: ProtocolObject };

const IN_ITEM: Inside = {
  annotations: 'annotations',
  inputSchema: 'schema',
  outputSchema: 'schema',
};

const RESULT_KEYS = `
  isError content structuredContent _meta resultType protocolVersion tools resources
  resourceTemplates prompts contents messages nextCursor roots instructions capabilities
  serverInfo description completion action role model stopReason task tasks inputRequests
  requestState ttlMs cacheScope supportedVersions taskId status statusMessage createdAt
  lastUpdatedAt pollIntervalMs result error
`;

const IN_RESULT: Inside = {
  ...{ content: 'item', tools: 'item', resources: 'item', resourceTemplates: 'item' },
  ...{ prompts: 'item', contents: 'item', messages: 'item', roots: 'item', tasks: 'task' },
  task: 'task',
};

const DELIMITERS = /(?<=.)[_-]/g;

/**
 * The text that a key of the protocol folds to. Beyond case, `is_error` is `isError` for readers that take their
 * own names of fields beside those of the protocol, as the official SDK for Python may.
 */
function foldProtocolKey(key: string): string {
  return foldKey(key).replaceAll(DELIMITERS, '');
}

function protocolKeys(text: string, inside: Inside = {}): ProtocolKeys {
  const keys = text.trim().split(/\s+/);
  return {
    keys,
    words: keys.map(asciiBytes),
    byFold: new Map(keys.map((key) => [foldProtocolKey(key), key])),
    inside: new Map(Object.entries(inside)),
  };
}

export const PROTOCOL: { readonly [P in ProtocolObject]: ProtocolKeys } = {
  top: protocolKeys('jsonrpc id method params result error', {
    ...{ params: 'params', result: 'result', error: 'error' },
  }),
  params: protocolKeys(
    `name arguments _meta protocolVersion requestId uri cursor task ref argument context
    inputResponses requestState capabilities clientInfo level logger data progressToken progress
    total message reason messages modelPreferences systemPrompt includeContext temperature
    maxTokens metadata stopSequences tools toolChoice requestedSchema mode url elicitationId
    taskId status statusMessage subscriptions notifications ttl createdAt lastUpdatedAt ttlMs
    pollInterval pollIntervalMs result error inputRequests`,
    {
      ...{ _meta: 'meta', ref: 'reference', argument: 'argument', messages: 'item' },
      ...{ tools: 'item', task: 'task', result: 'answer', error: 'failure' },
    },
  ),
  meta: protocolKeys(
    `progressToken io.modelcontextprotocol/protocolVersion io.modelcontextprotocol/clientInfo
    io.modelcontextprotocol/clientCapabilities io.modelcontextprotocol/related-task
    io.modelcontextprotocol/serverInfo io.modelcontextprotocol/subscriptionId
    io.modelcontextprotocol/logLevel subluminal`,
  ),
  result: protocolKeys(RESULT_KEYS, { ...IN_RESULT, result: 'answer', error: 'failure' }),
  error: protocolKeys('code message data'),
  answer: protocolKeys(RESULT_KEYS, IN_RESULT),
  failure: protocolKeys('code message data'),
  data: protocolKeys('subluminal'),
  item: protocolKeys(ITEM_KEYS, {
    ...IN_ITEM,
    ...{ content: 'part', resource: 'part', arguments: 'part' },
  }),
  part: protocolKeys(ITEM_KEYS, { ...IN_ITEM, resource: 'part' }),
  task: protocolKeys('taskId status statusMessage createdAt lastUpdatedAt ttl pollInterval _meta'),
  annotations: protocolKeys(
    `title readOnlyHint destructiveHint idempotentHint openWorldHint audience priority
    lastModified`,
  ),
  schema: protocolKeys(
    `type properties required description title additionalProperties items enum const default
    oneOf anyOf allOf $ref $defs definitions $schema`,
  ),
  reference: protocolKeys('type name uri title'),
  argument: protocolKeys('name value'),
};

/** Whether a key folds to a key of the protocol at this place without being it. */
export function isFolded({ byFold }: ProtocolKeys, key: string): boolean {
  const meant = byFold.get(foldProtocolKey(key));
  return meant !== undefined && meant !== key;
}

// Members of `_meta` that only identify a request. Clients write new ones into every request, so a retry
// of a call that a person has approved has other ones.

/** A number, or a string of letters and digits that names something. */
const ID_LABELS: readonly string[] = [
  'progressToken',
  'traceparent',
  'tracestate',
  'baggage',
  'claudecode/toolUseId',
  'callId',
  'threadId',
];
/** Facts about the client; servers do not act on them. */
const CLIENT_LABELS: readonly string[] = [
  'io.modelcontextprotocol/protocolVersion',
  'io.modelcontextprotocol/clientInfo',
  'io.modelcontextprotocol/clientCapabilities',
  'io.modelcontextprotocol/logLevel',
  'x-codex-turn-metadata',
];
export const REQUEST_LABELS: readonly string[] = [...ID_LABELS, ...CLIENT_LABELS];

const ID_BYTES_MAX = 256;
const CLIENT_BYTES_MAX = 4_096;

/** Whether this value is a mere label; `label` is the place of its key in the list. */
export function isLabelValue(label: number, bytes: Uint8Array, { start, end }: ByteRange): boolean {
  if (label >= ID_LABELS.length) return end - start <= CLIENT_BYTES_MAX;
  if (end - start > ID_BYTES_MAX) return false;
  const first = bytes[start] ?? 0;
  if (first === QUOTE) return isIdText(bytes, start + 1, end - 1);
  return first === MINUS || (first >= ZERO && first <= NINE);
}

/** Whether a text has neither a space nor a quote: then it is a name, no prose. */
function isIdText(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (ID_BYTES[bytes[at] ?? 0] !== 1) return false;
  return true;
}

const ID_BYTES = new Uint8Array(256);
for (const char of '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.:=,@+/') {
  ID_BYTES[char.charCodeAt(0)] = 1;
}

// The methods of the protocol. A text that only looks like one of them is no method: a lenient server may
// take it for that method, and no rule for the method would see it.

function words(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '));
}

/** Methods that an agent may send to a server, over all revisions of the protocol. */
export const AGENT_METHODS = words(
  'initialize server/discover ping tools/list tools/call prompts/list prompts/get resources/list',
  'resources/templates/list resources/read resources/subscribe resources/unsubscribe',
  'completion/complete subscriptions/listen logging/setLevel tasks/get tasks/result tasks/list',
  'tasks/cancel tasks/update notifications/initialized notifications/cancelled',
  'notifications/progress notifications/roots/list_changed notifications/tasks/status',
);
/** Methods that a server may send. */
const SERVER_METHODS = words(
  'sampling/createMessage elicitation/create roots/list notifications/message',
  'notifications/resources/updated notifications/resources/list_changed',
  'notifications/tools/list_changed notifications/prompts/list_changed',
  'notifications/elicitation/complete notifications/subscriptions/acknowledged',
  'notifications/tasks',
);
/** Requests whose answers a model reads. */
export const RESULT_METHODS = words('tools/call tasks/result resources/read prompts/get');
/** Requests whose answers an agent may take values from; a server may describe itself in them. */
export const OBSERVED_METHODS: ReadonlySet<string> = new Set([
  ...RESULT_METHODS,
  ...words('completion/complete initialize prompts/list resources/list resources/templates/list'),
  ...words('server/discover tasks/get tools/list'),
]);

const CONTROL = /[\u0000-\u001f\u007f]/;
/** No server is expected to decode a text more often. */
const DECODINGS_MAX = 4;
const ESCAPE = /%([0-9a-f]{2})/gi;
/** Letters of other scripts that look like a slash. */
const SLASH_LETTERS = /[\u3033\u30ce\u4e3f\u2cc6\u1735]/gu;
const NO_LETTER = /[^\p{L}\p{N}]+/gu;

const METHODS: ReadonlySet<string> = new Set([...AGENT_METHODS, ...SERVER_METHODS]);
/** Made when the first unknown method comes: a start-up should not wait for it. */
let folded: ReadonlySet<string> | undefined;

/** Whether this may be the name of a method, whether or not the protocol has it. */
export function isMethodName(text: string): boolean {
  if (METHODS.has(text)) return true;
  // A lenient server could ignore control characters.
  return text !== '' && !CONTROL.test(text) && !isLookAlikeMethod(text);
}

/** Whether this is no method of the protocol but can be taken for one. */
export function isLookAlikeMethod(text: string): boolean {
  if (METHODS.has(text)) return false;
  folded ??= new Set([...METHODS].map(foldedOf));
  return folded.has(foldedOf(text));
}

/** A method name without case, separators, escapes and the end of a URL; letters by their looks. */
function foldedOf(text: string): string {
  const [path = ''] = decoded(text).split(/[?#;]/, 1);
  return latinOf(path.replace(SLASH_LETTERS, '')).replace(NO_LETTER, '');
}

function decoded(text: string): string {
  let plain = text.normalize('NFKC');
  for (let round = 0; round < DECODINGS_MAX && plain.includes('%'); round++) {
    plain = plain.replace(ESCAPE, (_escape, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return plain;
}
