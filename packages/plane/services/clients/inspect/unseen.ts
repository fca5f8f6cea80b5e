// What no shim sees: the built-in tools of a client, and servers with an address that no shim can stand before.
import { hooksOf } from '../hooks/registry.ts';
import { type Client, type ClientId, clientOf, isForProject } from '../index.ts';
import { clientPlace } from './adoption-place.ts';
import { findConfigs } from './find-configs.ts';

interface UnseenFile {
  readonly client: ClientId;
  readonly servers: readonly {
    readonly name: string;
    readonly state: string;
    readonly isDisabled: boolean;
    readonly isRemote?: true;
  }[];
}

const SERVERS_MAX = 8;
const NAME_LENGTH_MAX = 40;

/** As `hookStatus` tells it. */
interface HookedClient {
  readonly client: ClientId;
  readonly state: string;
}

/** One line for all of these files; undefined when everything is seen. */
export function unseenText(
  files: readonly UnseenFile[],
  hooks: readonly HookedClient[] = [],
): string | undefined {
  const stateOf = (id: ClientId) => hooks.find(({ client }) => client === id)?.state;
  const clients = [...new Set(files.map(({ client }) => clientOf(client)))];
  const unhooked = clients.filter(
    ({ id, builtInTools }) => builtInTools.length > 0 && stateOf(id) !== 'installed',
  );
  const tools = unhooked.map(
    ({ title, builtInTools }) => `${title} (${builtInTools.join(', ')}, …)`,
  );
  const remote = new Set(
    files.flatMap(({ servers }) =>
      servers
        .filter(
          ({ state, isDisabled, isRemote }) =>
            isRemote === true && state === 'unknown' && !isDisabled,
        )
        .map(({ name }) => name.slice(0, NAME_LENGTH_MAX)),
    ),
  );
  const more = remote.size - SERVERS_MAX;
  const names =
    [...remote].slice(0, SERVERS_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const parts = [
    ...(tools.length === 0 ? [] : [`the built-in tools of ${tools.join(' and ')}`]),
    ...(remote.size === 0 ? [] : [`servers by address: ${names}`]),
  ];
  // Hooks that are there and not called are not mended by putting them in again.
  const byHooks = unhooked.filter(
    ({ id }) => hooksOf(id) !== undefined && stateOf(id) !== 'faulty',
  );
  const [first] = byHooks;
  const which = byHooks.length === 1 && first !== undefined ? ` ${first.id}` : '';
  const hint = first === undefined ? '' : ` Hooks govern these tools: sub import${which} --hooks`;
  return parts.length === 0 ? undefined : `Not seen by Subluminal: ${parts.join('; ')}.${hint}`;
}

interface StartedClient {
  readonly client: Client;
  readonly cwd: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly configPath?: string | undefined;
  /** Its own tools were governed. */
  readonly isHooked?: boolean;
}

/** The same for one client, where it was started. */
export function unseenByClient({
  client,
  cwd,
  env,
  configPath,
  isHooked = false,
}: StartedClient): string | undefined {
  const place = clientPlace({ env, project: cwd });
  const isOurs = isForProject(cwd);
  const { found } = findConfigs({ place, clients: [client], configPath });
  const servers = found.flatMap(({ config }) =>
    config.entries.filter(isOurs).map(({ name, transport, obstacle, isDisabled }) => {
      const state = obstacle === undefined ? 'open' : 'unknown';
      return {
        name,
        state,
        isDisabled,
        ...(transport === 'remote' && { isRemote: true as const }),
      };
    }),
  );
  const hooks = isHooked ? [{ client: client.id, state: 'installed' }] : [];
  return unseenText([{ client: client.id, servers }], hooks);
}
