// The keys of the protocol, by the object that holds them. A key that folds to one of these without being it
// is one key for us and another for a reader that ignores case, so such a message is refused.
import { foldKey } from '../../json/index.ts';
import { asciiBytes } from '../../json/text.ts';

/** The objects of a message whose keys mean something to the protocol. */
export type Place =
  | 'top'
  | 'params'
  | 'meta'
  | 'result'
  | 'error'
  | 'data'
  | 'item'
  | 'part'
  | 'task'
  | 'annotations'
  | 'schema'
  | 'reference'
  | 'argument';

export interface PlaceKeys {
  readonly keys: readonly string[];
  readonly words: readonly Uint8Array[];
  /** From what a key folds to, to the key. */
  readonly byFold: ReadonlyMap<string, string>;
  /** Members whose value is an object of a place, or a list of such. */
  readonly inside: ReadonlyMap<string, Place>;
}

/** What a list shows, and what a result holds: tools, resources, prompts, messages, content. */
const ITEM_KEYS = `
  name title description inputSchema outputSchema annotations _meta type text data mimeType uri
  uriTemplate blob resource icons size role content arguments execution id input toolUseId
  structuredContent isError required
`;

const KEYS: { readonly [P in Place]: string } = {
  top: `jsonrpc id method params result error`,
  params: `
    name arguments _meta protocolVersion requestId uri cursor task ref argument context
    inputResponses requestState capabilities clientInfo level logger data progressToken progress
    total message reason messages modelPreferences systemPrompt includeContext temperature
    maxTokens metadata stopSequences tools toolChoice requestedSchema mode url elicitationId
    taskId status statusMessage subscriptions notifications ttl
  `,
  meta: `
    progressToken io.modelcontextprotocol/protocolVersion io.modelcontextprotocol/clientInfo
    io.modelcontextprotocol/clientCapabilities io.modelcontextprotocol/related-task
    io.modelcontextprotocol/serverInfo subluminal
  `,
  result: `
    isError content structuredContent _meta resultType protocolVersion tools resources
    resourceTemplates prompts contents messages nextCursor roots instructions capabilities
    serverInfo description completion action role model stopReason task tasks inputRequests
    requestState ttlMs cacheScope supportedVersions
  `,
  error: `code message data`,
  data: `subluminal`,
  item: ITEM_KEYS,
  part: ITEM_KEYS,
  task: `taskId status statusMessage createdAt lastUpdatedAt ttl _meta`,
  annotations: `
    title readOnlyHint destructiveHint idempotentHint openWorldHint audience priority
    lastModified
  `,
  schema: `
    type properties required description title additionalProperties items enum const default
    oneOf anyOf allOf $ref $defs definitions $schema
  `,
  reference: `type name uri title`,
  argument: `name value`,
};

type Inside = { readonly [key: string]: Place };

/** What stands inside of an item. */
const IN_ITEM: Inside = {
  annotations: 'annotations',
  inputSchema: 'schema',
  outputSchema: 'schema',
};

const INSIDE: { readonly [P in Place]?: Inside } = {
  top: { params: 'params', result: 'result', error: 'error' },
  params: {
    _meta: 'meta',
    ref: 'reference',
    argument: 'argument',
    messages: 'item',
    tools: 'item',
    task: 'task',
  },
  result: {
    ...{ content: 'item', tools: 'item', resources: 'item', resourceTemplates: 'item' },
    ...{ prompts: 'item', contents: 'item', messages: 'item', roots: 'item', tasks: 'task' },
    task: 'task',
  },
  item: { ...IN_ITEM, content: 'part', resource: 'part', arguments: 'part' },
  part: { ...IN_ITEM, resource: 'part' },
};

const DELIMITERS = /(?<=.)[_-]/g;

/**
 * What a key of the protocol folds to. Beyond case, `is_error` is `isError` for readers that take their
 * own names of fields beside those of the protocol, as the official SDK for Python may.
 */
function foldProtocolKey(key: string): string {
  return foldKey(key).replaceAll(DELIMITERS, '');
}

function placeKeys(place: Place): PlaceKeys {
  const keys = KEYS[place].trim().split(/\s+/);
  return {
    keys,
    words: keys.map(asciiBytes),
    byFold: new Map(keys.map((key) => [foldProtocolKey(key), key])),
    inside: new Map(Object.entries(INSIDE[place] ?? {})),
  };
}

export const PROTOCOL: { readonly [P in Place]: PlaceKeys } = {
  top: placeKeys('top'),
  params: placeKeys('params'),
  meta: placeKeys('meta'),
  result: placeKeys('result'),
  error: placeKeys('error'),
  data: placeKeys('data'),
  item: placeKeys('item'),
  part: placeKeys('part'),
  task: placeKeys('task'),
  annotations: placeKeys('annotations'),
  schema: placeKeys('schema'),
  reference: placeKeys('reference'),
  argument: placeKeys('argument'),
};

/** Whether a key folds to a key of the protocol at this place without being it. */
export function isFolded({ byFold }: PlaceKeys, key: string): boolean {
  const meant = byFold.get(foldProtocolKey(key));
  return meant !== undefined && meant !== key;
}
