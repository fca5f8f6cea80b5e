// Where the programs stand that are installed on demand: the real clients of `npm run test:clients`, and
// the suite of `npm run conformance`.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBody } from './script.ts';

export type PinnedId = 'claude-code' | 'codex' | 'copilot-cli' | 'gemini-cli';

export interface Pinned {
  readonly id: string;
  readonly title: string;
  readonly version: string;
  /** The package.json and the lockfile that name it, with the hashes of every part. */
  readonly manifest: string;
  /** Named after the version, so that a new pin is a new folder. */
  readonly folder: string;
  /** The folder that has its command, in `node_modules`; undefined while it cannot be started. */
  readonly findBin: (modules: string) => string | undefined;
}

interface PinnedPackage extends Pick<Pinned, 'id' | 'title' | 'manifest' | 'findBin'> {
  readonly packageName: string;
}

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const INSTALLED = join(ROOT, 'node_modules', '.cache', 'subluminal', 'clients');
const MANIFESTS = join(ROOT, 'test', 'clients', 'pinned');

export const PINNED: readonly Pinned[] = [
  pinnedPackage({
    id: 'claude-code' satisfies PinnedId,
    title: 'Claude Code',
    packageName: '@anthropic-ai/claude-code',
    manifest: join(MANIFESTS, 'claude-code'),
    findBin: claudeFolder,
  }),
  pinnedPackage({
    id: 'codex' satisfies PinnedId,
    title: 'Codex',
    packageName: '@openai/codex',
    manifest: join(MANIFESTS, 'codex'),
    findBin: codexFolder,
  }),
  pinnedPackage({
    id: 'copilot-cli' satisfies PinnedId,
    title: 'Copilot CLI',
    packageName: '@github/copilot',
    manifest: join(MANIFESTS, 'copilot-cli'),
    findBin: copilotFolder,
  }),
  pinnedPackage({
    id: 'gemini-cli' satisfies PinnedId,
    title: 'Gemini CLI',
    packageName: '@google/gemini-cli',
    manifest: join(MANIFESTS, 'gemini-cli'),
    findBin: geminiFolder,
  }),
];

export function pinnedPackage({ packageName, ...about }: PinnedPackage): Pinned {
  const { id, manifest } = about;
  const read: unknown = JSON.parse(readFileSync(join(manifest, 'package.json'), 'utf8'));
  const wanted = isBody(read) && isBody(read['dependencies']) ? read['dependencies'] : {};
  const version = wanted[packageName];
  if (typeof version !== 'string') throw new Error(`${manifest} does not name ${packageName}`);
  return { ...about, version, folder: join(INSTALLED, `${id}-${version}`) };
}

export function binFolder({ folder, findBin }: Pinned): string | undefined {
  return findBin(join(folder, 'node_modules'));
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

function copilotFolder(modules: string): string | undefined {
  return foldersOf(join(modules, '@github'), 'copilot-').find((folder) =>
    existsSync(join(folder, 'copilot')),
  );
}

function geminiFolder(modules: string): string | undefined {
  const bin = join(modules, '.bin');
  return existsSync(join(bin, 'gemini')) ? bin : undefined;
}

function foldersOf(parent: string, prefix: string): readonly string[] {
  if (!existsSync(parent)) return [];
  const names = readdirSync(parent).filter((name) => name.startsWith(prefix));
  return names.map((name) => join(parent, name));
}
