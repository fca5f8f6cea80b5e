// Single messages between a modern agent and a legacy server.
import {
  CACHEABLE_METHODS,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  META,
  RESOURCE_NOT_FOUND,
} from '../shared/era-names.ts';
import { isObjectText, textAt, unlessEmpty, withMembers } from '../shared/object-text.ts';

/** Metadata of a request without the members of the era. */
const NO_ERA = {
  [META.version]: undefined,
  [META.clientInfo]: undefined,
  [META.capabilities]: undefined,
  [META.logLevel]: undefined,
};

/** A request or notification as a legacy server knows it. */
export function toLegacy(text: string, id?: string): string {
  const params = textAt(text, 'params');
  const meta = textAt(params, '_meta');
  const changes = {
    ...(isObjectText(meta) && { _meta: unlessEmpty(withMembers(meta, NO_ERA)) }),
    inputResponses: undefined,
    requestState: undefined,
  };
  return `${withMembers(text, {
    ...(id !== undefined && { id }),
    ...(isObjectText(params) && { params: withMembers(params, changes) }),
  })}\n`;
}

/** The parameters that make a call the same call: all but metadata and input. */
export function callParams(params: string): string {
  return withMembers(params, {
    _meta: undefined,
    inputResponses: undefined,
    requestState: undefined,
  });
}

/** A result as a modern agent expects it. */
export function toModernResult(
  result: string,
  { method, serverInfo }: { readonly method: string; readonly serverInfo: string | undefined },
): string {
  const meta = textAt(result, '_meta');
  return withMembers(result, {
    // Whatever a legacy server wrote there has no meaning in its era.
    resultType: '"complete"',
    ...(CACHEABLE_METHODS.has(method) && { ttlMs: '0', cacheScope: '"private"' }),
    ...(serverInfo !== undefined && {
      _meta: withMembers(isObjectText(meta) ? meta : undefined, { [META.serverInfo]: serverInfo }),
    }),
  });
}

/** Codes that only the specification of the modern era may give a meaning. */
const RESERVED = { from: -32099, to: -32020 };

export function toModernError(error: string): string {
  const code = Number(textAt(error, 'code'));
  const isReserved = code >= RESERVED.from && code <= RESERVED.to;
  if (code !== RESOURCE_NOT_FOUND && !isReserved) return error;
  return withMembers(error, { code: String(isReserved ? INTERNAL_ERROR : INVALID_PARAMS) });
}
