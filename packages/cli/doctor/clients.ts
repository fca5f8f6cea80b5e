// The agent clients of this user and this project, and whether their servers go through `sub shim`.
// Configurations of others hold secrets: servers are named, and nothing else of them is told.
import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { plural, shortened } from '../text.ts';
import { type Check, type Machine, ok, warn } from './check.ts';
import { type ClientServer, jsonServers, tomlServers } from './client-file.ts';

interface Client {
  readonly name: string;
  readonly path: string;
  readonly servers: (text: string) => readonly ClientServer[] | undefined;
}

interface Counted {
  readonly client: Client;
  /** Undefined when the file could not be read. */
  readonly servers: readonly ClientServer[] | undefined;
}

const FILE_BYTES_MAX = 33_554_432;

const BY_SHIM = 'Put `sub shim --server-name NAME --` in front of the command of each server.';
const BY_NOBODY =
  'Calls to servers with an address are neither decided nor recorded: a shim needs a command.';

const clients: Check = {
  id: 'clients',
  run: async (machine) => {
    const found = clientsOf(machine).flatMap(counted);
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

function clientsOf({ userHome, cwd }: Machine): readonly Client[] {
  const json = (name: string, path: string): Client => ({ name, path, servers: jsonServers });
  return [
    json('Claude Code', join(userHome, '.claude.json')),
    json('Claude Code, this project', join(cwd, '.mcp.json')),
    { name: 'Codex', path: join(userHome, '.codex', 'config.toml'), servers: tomlServers },
    json('Cursor', join(userHome, '.cursor', 'mcp.json')),
    json('Cursor, this project', join(cwd, '.cursor', 'mcp.json')),
    json('VS Code, this project', join(cwd, '.vscode', 'mcp.json')),
  ];
}

function counted(client: Client): readonly Counted[] {
  try {
    const stats = statSync(client.path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true) return [];
    if (stats.size > FILE_BYTES_MAX) return [{ client, servers: undefined }];
    return [{ client, servers: client.servers(readFileSync(client.path, 'utf8')) }];
  } catch {
    return [{ client, servers: undefined }];
  }
}

function words({ client, servers }: Counted): string {
  if (servers === undefined) return `${client.name}: the file cannot be read`;
  const governed = servers.filter(isGoverned).length;
  const open = servers.filter((one) => !isGoverned(one));
  const [remote, local] = [open.filter(isRemote), open.filter((one) => !isRemote(one))];
  return [
    `${client.name}: ${governed} of ${plural(servers.length, 'server')} governed`,
    ...(local.length > 0 ? [`not ${namesOf(local)}`] : []),
    ...(remote.length > 0 ? [`not yet ${namesOf(remote)} (by address)`] : []),
  ].join(', ');
}

const NAMES_MAX = 8;
const NAME_LENGTH_MAX = 40;

function namesOf(servers: readonly ClientServer[]): string {
  const names = [...new Set(servers.map(({ name }) => shortened(name, NAME_LENGTH_MAX)))];
  const rest = names.length - NAMES_MAX;
  return names.slice(0, NAMES_MAX).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Without a command there is nothing that a shim could stand in front of. */
function isRemote({ command }: ClientServer): boolean {
  return command.length === 0;
}

const SUB_NAMES: ReadonlySet<string> = new Set(['sub', 'sub.mjs', 'sub.js', 'sub.cmd', 'sub.exe']);

/** `sub shim …`, however `sub` itself is started; what stands behind `--` is the server's own. */
function isGoverned({ command }: ClientServer): boolean {
  const end = command.indexOf('--', command[0] === 'npx' ? 2 : 1);
  const own = end === -1 ? command : command.slice(0, end);
  return own.some(
    (word, index) =>
      SUB_NAMES.has(basename(word.replaceAll('\\', '/'))) && own[index + 1] === 'shim',
  );
}

export { clients };
