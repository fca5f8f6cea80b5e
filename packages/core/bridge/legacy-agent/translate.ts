// Single messages between a legacy agent and a modern server.
import { itemTextsAt, memberTexts } from '../../json/text-parts.ts';
import {
  CACHEABLE_METHODS,
  INVALID_PARAMS,
  META,
  RESOURCE_NOT_FOUND,
} from '../shared/era-names.ts';
import {
  isObjectText,
  type MemberChanges,
  textAt,
  unlessEmpty,
  withMembers,
} from '../shared/object-text.ts';

interface ModernParts {
  readonly id: string;
  /** The metadata of the era. */
  readonly meta: MemberChanges;
  /** Of a further round: `inputResponses` and `requestState`. */
  readonly input?: MemberChanges | undefined;
}

/** A request of the agent as a modern server expects it. */
export function toModern(text: string, { id, meta, input }: ModernParts): string {
  const params = textAt(text, 'params');
  const own = textAt(params, '_meta');
  const changed = withMembers(isObjectText(params) ? params : undefined, {
    task: undefined,
    inputResponses: undefined,
    requestState: undefined,
    ...input,
    _meta: withMembers(isObjectText(own) ? own : undefined, {
      [META.logLevel]: undefined,
      ...meta,
    }),
  });
  return `${withMembers(text, { id, params: changed })}\n`;
}

/** A complete result as a legacy agent knows it. */
export function toLegacyResult(result: string, method: string): string {
  const meta = textAt(result, '_meta');
  const structured = textAt(result, 'structuredContent');
  const tools = method === 'tools/list' ? itemTextsAt(result, 'tools') : undefined;
  return withMembers(result, {
    resultType: undefined,
    ...(CACHEABLE_METHODS.has(method) && { ttlMs: undefined, cacheScope: undefined }),
    ...(isObjectText(meta) && {
      _meta: unlessEmpty(withMembers(meta, { [META.serverInfo]: undefined })),
    }),
    // The legacy era knows objects only.
    ...(structured !== undefined && !isObjectText(structured) && { structuredContent: undefined }),
    ...(tools !== undefined && { tools: `[${tools.map(legacyTool).join(',')}]` }),
  });
}

/** The legacy era knows output that is an object, and properties whose schemas are objects. */
function legacyTool(tool: string): string {
  const output = textAt(tool, 'outputSchema');
  const isKept = output === undefined || textAt(output, 'type') === '"object"';
  const input = textAt(tool, 'inputSchema');
  const kept = withObjectSchemas(input);
  if (isKept && kept === input) return tool;
  return withMembers(tool, {
    ...(kept !== undefined && { inputSchema: kept }),
    ...(!isKept && { outputSchema: undefined }),
  });
}

const SCHEMA_WORDS: { readonly [word: string]: string } = { true: '{}', false: '{"not":{}}' };

function withObjectSchemas(schema: string | undefined): string | undefined {
  const properties = textAt(schema, 'properties');
  const words = isObjectText(properties)
    ? memberTexts(properties)?.filter(({ value }) => Object.hasOwn(SCHEMA_WORDS, value))
    : undefined;
  if (words === undefined || words.length === 0) return schema;
  const changes = Object.fromEntries(words.map(({ key, value }) => [key, SCHEMA_WORDS[value]]));
  return withMembers(schema, { properties: withMembers(properties, changes) });
}

export function toLegacyError(error: string, method: string): string {
  const isMissing =
    method === 'resources/read' &&
    Number(textAt(error, 'code')) === INVALID_PARAMS &&
    textAt(error, 'data', 'uri') !== undefined;
  return isMissing ? withMembers(error, { code: String(RESOURCE_NOT_FOUND) }) : error;
}

/** A notification without the mark of its subscription. */
export function withoutSubscription(text: string): string {
  const params = textAt(text, 'params');
  const meta = textAt(params, '_meta');
  if (!isObjectText(params) || !isObjectText(meta)) return `${text.trimEnd()}\n`;
  const kept = unlessEmpty(withMembers(meta, { [META.subscription]: undefined }));
  const changed = unlessEmpty(withMembers(params, { _meta: kept }));
  return `${withMembers(text, { params: changed })}\n`;
}
