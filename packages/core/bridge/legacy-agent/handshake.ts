// The answer to `initialize` of a legacy agent, made of what a modern server says of itself.
import { itemTexts } from '../../json/text-parts.ts';
import { LEGACY_VERSIONS, MODERN_VERSION } from '../../session/versions.ts';
import { withoutTasks } from '../shared/capabilities.ts';
import { META } from '../shared/era-names.ts';
import { isObjectText, objectOf, stringOf, textAt, withMembers } from '../shared/object-text.ts';

/** What the agent said of itself in `initialize`. */
export interface LegacyClient {
  readonly version: string;
  readonly capabilities: string;
  /** The metadata that every request of the agent gets. */
  readonly meta: { readonly [key: string]: string };
}

/** A server need not say who it is, but the answer to a handshake must. */
const UNNAMED_SERVER = '{"name":"unnamed","version":"0"}';

export function legacyClientIn(initialize: string): LegacyClient {
  const params = textAt(initialize, 'params');
  const asked = stringOf(textAt(params, 'protocolVersion')) ?? '';
  const declared = textAt(params, 'capabilities');
  const clientInfo = textAt(params, 'clientInfo');
  const capabilities = modernCapabilities(isObjectText(declared) ? declared : '{}');
  return {
    version: LEGACY_VERSIONS.includes(asked) ? asked : (LEGACY_VERSIONS[0] ?? ''),
    capabilities,
    meta: {
      [META.version]: JSON.stringify(MODERN_VERSION),
      ...(isObjectText(clientInfo) && { [META.clientInfo]: clientInfo }),
      [META.capabilities]: capabilities,
    },
  };
}

/** Roots can't change any more, and tasks are not translated. */
function modernCapabilities(capabilities: string): string {
  const roots = textAt(capabilities, 'roots');
  const changed = isObjectText(roots) ? withMembers(roots, { listChanged: undefined }) : undefined;
  return withoutTasks(withMembers(capabilities, { roots: changed }));
}

export function initializeResult({ version }: LegacyClient, discovered: string): string {
  const serverInfo = textAt(discovered, '_meta', META.serverInfo);
  return objectOf({
    protocolVersion: JSON.stringify(version),
    capabilities: withoutTasks(textAt(discovered, 'capabilities') ?? '{}'),
    serverInfo: isObjectText(serverInfo) ? serverInfo : UNNAMED_SERVER,
    instructions: textAt(discovered, 'instructions'),
  });
}

/** Whether this result of `server/discover` names the revision that the bridge speaks. */
export function speaksModern(discovered: string): boolean {
  const versions = itemTexts(textAt(discovered, 'supportedVersions') ?? '') ?? [];
  return versions.includes(JSON.stringify(MODERN_VERSION));
}
