// Where the real clients stand that `npm run test:clients` has installed, if it has.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBody } from './script.ts';

export type PinnedId = 'claude-code' | 'codex';

export interface Pinned {
  readonly id: PinnedId;
  readonly title: string;
  readonly version: string;
  /** The package.json and the lockfile that name it, with the hashes of every part. */
  readonly manifest: string;
  /** Named after the version, so that a new pin is a new folder. */
  readonly folder: string;
}

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLIENTS = join(ROOT, 'node_modules', '.cache', 'subluminal', 'clients');

export const PINNED: readonly Pinned[] = [
  pinned('claude-code', 'Claude Code', '@anthropic-ai/claude-code'),
  pinned('codex', 'Codex', '@openai/codex'),
];

function pinned(id: PinnedId, title: string, packageName: string): Pinned {
  const manifest = join(ROOT, 'test', 'clients', 'pinned', id);
  const read: unknown = JSON.parse(readFileSync(join(manifest, 'package.json'), 'utf8'));
  const wanted = isBody(read) && isBody(read['dependencies']) ? read['dependencies'] : {};
  const version = wanted[packageName];
  if (typeof version !== 'string') throw new Error(`${manifest} does not name ${packageName}`);
  return { id, title, version, manifest, folder: join(CLIENTS, `${id}-${version}`) };
}

/** The folder that has the command of the client, or undefined while it cannot be started. */
export function binFolder({ id, folder }: Pinned): string | undefined {
  const modules = join(folder, 'node_modules');
  return id === 'codex' ? codexFolder(modules) : claudeFolder(modules);
}

/** Its own script starts the native part, which npm leaves out without a word where there is none. */
function codexFolder(modules: string): string | undefined {
  const natives = foldersOf(join(modules, '@openai'), 'codex-').flatMap((native) =>
    foldersOf(join(native, 'vendor'), '').map((folder) => join(folder, 'bin', 'codex')),
  );
  const bin = join(modules, '.bin');
  return natives.some((file) => existsSync(file)) && existsSync(join(bin, 'codex'))
    ? bin
    : undefined;
}

/** The native part is the command; the package around it only copies it when its scripts may run. */
function claudeFolder(modules: string): string | undefined {
  return foldersOf(join(modules, '@anthropic-ai'), 'claude-code-').find((folder) =>
    existsSync(join(folder, 'claude')),
  );
}

function foldersOf(parent: string, prefix: string): readonly string[] {
  if (!existsSync(parent)) return [];
  const names = readdirSync(parent).filter((name) => name.startsWith(prefix));
  return names.map((name) => join(parent, name));
}
