// The handshake with a legacy server, on behalf of an agent that knows none.

import { LEGACY_VERSIONS, MODERN_VERSION } from '../../session/versions.ts';
import { withoutTasks } from '../shared/capabilities.ts';
import { META } from '../shared/era-names.ts';
import { objectOf, stringOf, textAt, unlessEmpty } from '../shared/object-text.ts';

/** An agent need not say who it is, but a handshake must. */
const UNNAMED = '{"name":"unnamed","version":"0"}';

/** The parameters of `initialize`, from the metadata of the agent's first request. */
export function initializeParams(meta: string): string {
  return objectOf({
    protocolVersion: JSON.stringify(LEGACY_VERSIONS[0]),
    capabilities: withoutTasks(textAt(meta, META.capabilities) ?? '{}'),
    clientInfo: textAt(meta, META.clientInfo) ?? UNNAMED,
  });
}

/** What a legacy server said of itself. */
export interface LegacyServer {
  readonly capabilities: string;
  readonly serverInfo: string | undefined;
  readonly instructions: string | undefined;
}

/** Reads the result of `initialize`; a text says why the server can't be used. */
export function legacyServerIn(result: string): LegacyServer | string {
  const version = stringOf(textAt(result, 'protocolVersion'));
  if (version === undefined || !LEGACY_VERSIONS.includes(version)) {
    const spoken = version === undefined ? 'names none' : 'speaks an unknown one';
    return `the server was asked for protocol version ${LEGACY_VERSIONS[0]}, and ${spoken}`;
  }
  return {
    capabilities: textAt(result, 'capabilities') ?? '{}',
    serverInfo: textAt(result, 'serverInfo'),
    instructions: textAt(result, 'instructions'),
  };
}

/** The result of `server/discover`. */
export function discoverResult({ capabilities, serverInfo, instructions }: LegacyServer): string {
  return objectOf({
    resultType: '"complete"',
    supportedVersions: JSON.stringify([MODERN_VERSION]),
    capabilities: withoutTasks(capabilities),
    instructions,
    ttlMs: '0',
    cacheScope: '"private"',
    _meta: unlessEmpty(objectOf({ [META.serverInfo]: serverInfo })),
  });
}
