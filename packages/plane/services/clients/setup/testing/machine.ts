// A home, a config of a client and the store of secrets, in a folder of their own; for tests only.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { homePaths, loadConfig } from '../../../../stores/config/index.ts';
import { resolveBindings } from '../../../../stores/vault/index.ts';
import { type Client, clientOf } from '../../index.ts';
import type { MoveStep } from '../../secrets/move-secrets.ts';
import type { ChangeStep } from '../../store/config-file.ts';
import { applyImport, type ImportOptions, planImport, planMoves } from '../import.ts';
import { applyRestore, planRestore } from '../restore.ts';

/** In a bundle there is no source beside it: the caller says where `sub` is. */
function scriptPath(): string {
  return fileURLToPath(new URL('../../../../../cli/bin/sub.mjs', import.meta.url));
}

interface Ways {
  readonly client?: Client | undefined;
  readonly script?: string;
  readonly onStep?: (step: ChangeStep | MoveStep) => void;
}

export function optionsIn(folder: string, ways: Ways = {}): ImportOptions {
  const env = {
    HOME: join(folder, 'home'),
    SUB_HOME: join(folder, 'sub'),
    PATH: join(folder, 'bin'),
  };
  return {
    env,
    project: join(folder, 'project'),
    paths: homePaths(env),
    client: 'client' in ways ? ways.client : clientOf('claude-code'),
    servers: [],
    own: { runtime: process.execPath, script: ways.script ?? scriptPath() },
    redactPatterns: [],
    keychain: null,
    ...(ways.onStep !== undefined && { onStep: ways.onStep }),
  };
}

/** What `sub import --move-secrets --yes` does; gives what it warned of. */
export async function importMoving(options: ImportOptions, onStep?: (step: MoveStep) => void) {
  const plan = await planImport(options);
  if (plan.kind === 'failure') throw new Error(plan.message);
  const moving = await planMoves(plan.files, options);
  if (moving.kind === 'failure') throw new Error(moving.message);
  const stored = await moving.moves.store(onStep);
  if (stored.kind === 'failure') throw new Error(stored.message);
  const files = moving.files.filter(({ isChanged }) => isChanged);
  const told: string[] = [];
  for (const file of files) {
    const result = applyImport(file, options);
    if (result.kind === 'failure') throw new Error(result.message);
    told.push(...result.warnings);
  }
  moving.moves.end();
  return { warnings: moving.warnings, files, told };
}

export async function restoreAll(options: ImportOptions): Promise<readonly string[]> {
  const plan = await planRestore({ ...options, isProjectOnly: false });
  if (plan.kind === 'failure') throw new Error(plan.message);
  const told = plan.problems.map(({ code, message, fix }) => `${code} ${message} ${fix}`);
  for (const file of plan.files) {
    const result = await applyRestore(file);
    if (result.kind === 'failure') told.push(`${result.code} ${result.message} ${result.fix}`);
  }
  return told;
}

interface Started {
  readonly env?: { readonly [name: string]: string };
  readonly words?: readonly string[];
  /** The address that its shim stands before. */
  readonly url?: string;
}

/** What a shim of that name would give its server; that of the command which is bound, unless told. */
export async function envOf(
  options: ImportOptions,
  serverName: string,
  { env = {}, words, url }: Started = {},
) {
  const loaded = await loadConfig({ env: options.env, flags: {}, cwd: '/' });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join());
  const { home } = options.paths;
  const { servers } = loaded;
  const [bound] = servers.get(serverName)?.secretBindings ?? [];
  const command = words ?? bound?.command ?? [];
  const { PATH = '' } = options.env;
  const resolved = await resolveBindings({
    serverName,
    ...(url === undefined ? { command } : { url }),
    servers,
    env: { PATH, ...env },
    home,
    userHome: home,
    keychain: null,
  });
  const { PATH: _path, ...given } = resolved.serverEnv();
  return { env: given, problems: resolved.problems };
}

/** Every file below a folder that holds the value: as it is, in hex, or in Base64 at any offset. */
function holding(folder: string, value: string): readonly string[] {
  const forms = formsOf(value);
  return filesIn(folder).filter((path) => {
    const text = readFileSync(path).toString('latin1');
    return forms.some((form) => text.includes(form));
  });
}

function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
  const hex = bytes.toString('hex');
  return [bytes.toString('latin1'), hex, hex.toUpperCase(), ...base64].filter(
    (one) => one.length > 5,
  );
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile());
}

/** What the configs of the tests start. */
const PROGRAMS = ['npx', 'docker', 'node', 'a', 'a b', 'b', 'late', 'x', 'y'];

export class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), 'sub-moving-'));
  readonly config = join(this.folder, 'home', '.claude.json');

  constructor() {
    mkdirSync(join(this.folder, 'home'));
    mkdirSync(join(this.folder, 'bin'));
    for (const name of PROGRAMS) this.program(name);
  }

  /** A program that a server can be started by. */
  program(name: string, folder = join(this.folder, 'bin')): string {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, name);
    writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
    return path;
  }

  options(ways: Ways = {}): ImportOptions {
    return optionsIn(this.folder, ways);
  }

  write(text: string, path = this.config): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return text;
  }

  read(path = this.config): string {
    return readFileSync(path, 'utf8');
  }

  /** In the home of sub; the key of the store is no secret of a config. */
  get bindings(): string {
    const path = join(this.folder, 'sub', 'config.toml');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  holding(value: string): readonly string[] {
    return holding(this.folder, value);
  }

  end(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
