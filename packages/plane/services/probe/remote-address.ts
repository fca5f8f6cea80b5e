// The address of a remote server, and how its entry says to log in, by its name in the configs of clients.
import { type Failure, failure } from '@subluminal/contracts';
import {
  CLIENTS,
  type ClientPlace,
  effectiveServers,
  expandText,
  loginIn,
  type OwnLogin,
  type ServerEntry,
} from '../clients/index.ts';
import { clientPlace } from '../clients/inspect/adoption-place.ts';
import { type FoundConfig, findConfigs } from '../clients/inspect/find-configs.ts';
import { configDocument } from '../clients/secrets/plain-secrets.ts';

interface AddressQuery {
  readonly server: string;
  readonly place: Pick<ClientPlace, 'env' | 'project'>;
}

export interface NamedRemote {
  readonly kind: 'named';
  readonly url: string;
  /** What its entry says about logging in. */
  readonly login: OwnLogin;
}

export function remoteNamed({ server, place }: AddressQuery): NamedRemote | Failure {
  const { found } = findConfigs({ place: clientPlace(place), clients: CLIENTS });
  const named = CLIENTS.flatMap((client) => {
    const configs = found.filter((one) => one.client.id === client.id);
    const servers = effectiveServers(
      configs.map(({ config }) => config),
      place.project,
    );
    return servers
      .filter(({ entry }) => isNamed(entry, server))
      .flatMap(({ entry, file }) => {
        const { remote, governed } = entry;
        const config = configs.find((one) => one.file === file);
        const url = addressIn(entry, config);
        if (url === undefined) return [];
        const login = remote?.login ?? loginIn(governed?.remote?.flags ?? []);
        return [{ url: expandText(url, client, place.env), login }];
      });
  });
  const [first, ...others] = new Set(named.map(({ url }) => url));
  if (first === undefined) {
    const message = `no client has a remote server \`${server}\`.`;
    return failure('SUB_SERVER_UNKNOWN', message, 'Give its address with --url.');
  }
  if (others.length === 0) {
    const logins = named.map(({ login }) => login);
    const login = logins.find((one) => Object.keys(one).length > 0) ?? {};
    return { kind: 'named', url: first, login };
  }
  const all = [first, ...others].join(', ');
  const message = `clients have different addresses for \`${server}\`: ${all}.`;
  return failure('SUB_USAGE', message, 'Choose one with --url.');
}

/** As written; an address that is a secret stands in the environment of the entry. */
function addressIn(
  { remote, governed, path }: ServerEntry,
  found: FoundConfig | undefined,
): string | undefined {
  const shown = remote?.url ?? governed?.remote?.url;
  const variable = governed?.remote?.urlVariable;
  if (shown !== undefined || variable === undefined || found === undefined) return shown;
  const value = configDocument(found.config)?.valueAt([...path, 'env', variable]);
  return typeof value === 'string' ? value : undefined;
}

/** By its own name, or by the one that policies and pins know it by. */
function isNamed({ name, governed }: ServerEntry, server: string): boolean {
  return name === server || governed?.serverName === server;
}
