// The agent clients of this user and this project, and whether their servers go through `sub shim`.
// Configurations of others hold secrets: servers are named, and nothing else of them is told.
import { readFileSync, statSync } from 'node:fs';
import { CLIENTS, type Client, type ConfigFile, type ServerEntry } from '@subluminal/plane/clients';
import { plural, shortened } from '../text.ts';
import { type Check, type Machine, ok, warn } from './check.ts';

interface Counted {
  readonly name: string;
  /** Undefined when the file could not be read. */
  readonly servers: readonly ServerEntry[] | undefined;
}

const FILE_BYTES_MAX = 33_554_432;

const BY_SHIM = 'Run `sub import` to put a shim in front of each of them.';
const BY_NOBODY =
  'Calls to servers with an address are neither decided nor recorded: a shim needs a command.';

const clients: Check = {
  id: 'clients',
  run: async (machine) => {
    const found = filesOf(machine).flatMap(counted);
    if (found.length === 0) return ok('no configuration of a known client here');
    const text = found.map(words).join('; ');
    const open = found.flatMap(({ servers = [] }) => servers).filter((one) => !isGoverned(one));
    const fixes = [
      ...(open.some((one) => !isRemote(one)) ? [BY_SHIM] : []),
      ...(open.some(isRemote) ? [BY_NOBODY] : []),
      ...(found.some(({ servers }) => servers === undefined)
        ? ['Correct the file; the client cannot read it either.']
        : []),
    ];
    return fixes.length === 0 ? ok(text) : warn(text, fixes.join(' '));
  },
};

interface ClientFile {
  readonly client: Client;
  readonly file: ConfigFile;
}

function filesOf({ userHome, cwd, env }: Machine): readonly ClientFile[] {
  const place = { platform: process.platform, userHome, project: cwd, env };
  return CLIENTS.flatMap((client) => client.files(place).map((file) => ({ client, file })));
}

function counted({ client, file }: ClientFile): readonly Counted[] {
  const name = file.scope === 'project' ? `${client.title}, this project` : client.title;
  try {
    const stats = statSync(file.path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true) return [];
    if (stats.size > FILE_BYTES_MAX) return [{ name, servers: undefined }];
    const read = client.read(file, readFileSync(file.path, 'utf8'));
    return [{ name, servers: read.kind === 'config' ? read.entries : undefined }];
  } catch {
    return [{ name, servers: undefined }];
  }
}

function words({ name, servers }: Counted): string {
  if (servers === undefined) return `${name}: the file cannot be read`;
  const governed = servers.filter(isGoverned).length;
  const open = servers.filter((one) => !isGoverned(one));
  const [remote, local] = [open.filter(isRemote), open.filter((one) => !isRemote(one))];
  return [
    `${name}: ${governed} of ${plural(servers.length, 'server')} governed`,
    ...(local.length > 0 ? [`not ${namesOf(local)}`] : []),
    ...(remote.length > 0 ? [`not yet ${namesOf(remote)} (by address)`] : []),
  ].join(', ');
}

const NAMES_MAX = 8;
const NAME_LENGTH_MAX = 40;

function namesOf(servers: readonly ServerEntry[]): string {
  const names = [...new Set(servers.map(({ name }) => shortened(name, NAME_LENGTH_MAX)))];
  const rest = names.length - NAMES_MAX;
  return names.slice(0, NAMES_MAX).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Without a command there is nothing that a shim could stand in front of. */
function isRemote({ command }: ServerEntry): boolean {
  return command === undefined;
}

function isGoverned({ governed }: ServerEntry): boolean {
  return governed !== undefined;
}

export { clients };
