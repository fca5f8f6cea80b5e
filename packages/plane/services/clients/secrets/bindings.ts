// The bindings of moved secrets in config.toml: blocks of our own at its end, which go as they came.
// Everything else in the file stays as it is, byte for byte.

import { lstatSync, rmSync } from 'node:fs';
import { type Failure, failure, isObject } from '@subluminal/contracts';
import { parse } from 'smol-toml';
import { writePrivateFile } from '../../../os/index.ts';
import { type HomePaths, loadConfig, type Servers } from '../../../stores/config/index.ts';
import { readServers } from '../../../stores/config/servers.ts';
import { escapePattern, type MovedSecret } from '../index.ts';
import { type SecretPlace, withCode } from '../inspect/adoption-place.ts';
import {
  type ChangeStore,
  configKey,
  ensureFolder,
  lockConfig,
  systemFailure,
} from '../store/change-store.ts';
import {
  draftPath,
  readConfigFile,
  removeConfigDrafts,
  replaceConfigFile,
} from '../store/config-file.ts';
import { sameData, valueAt, withoutValues } from '../text/plain-data.ts';
import { quotedValue } from './cut-values.ts';

/** What tells a binding of ours: which variable of which server gets what. */
export interface BindingName {
  readonly server: string;
  readonly variable: string;
  readonly secret: string;
}

/** The binding that a moved secret needs. */
export function bindingName({ server, path, variable, secret }: MovedSecret): BindingName {
  return { server, variable: variable ?? String(path.at(-1)), secret };
}

export type BindingStart =
  | {
      /** What its command starts: the program, and the files that its words name. */
      readonly program: string;
      readonly files: readonly string[];
    }
  | { readonly url: string };

export type Binding = BindingName &
  BindingStart & {
    /** The command that it is for, as `fitsCommand` takes it; or the address alone. */
    readonly command: readonly string[];
  };

/** What config.toml binds; nothing where it cannot be read. */
export async function boundServers({
  env,
  project,
}: Pick<SecretPlace, 'env' | 'project'>): Promise<Servers> {
  const loaded = await loadConfig({ env, flags: {}, cwd: project });
  return loaded.ok ? loaded.servers : new Map();
}

export interface BindingFile {
  readonly paths: Pick<HomePaths, 'home' | 'config'>;
  readonly store: ChangeStore;
}

const MARK = '# By `sub import --move-secrets`; `sub restore` takes it out again.';
const FILE_BYTES_MAX = 1_048_576;
const DEPTH_MAX = 16;
const TRIES_MAX = 3;

function blockLines({ server, variable, secret }: BindingName): readonly string[] {
  const table = /^[A-Za-z0-9_-]+$/.test(server) ? server : quotedValue(server, 'toml');
  return [
    MARK,
    `[[servers.${table}.secret_bindings]]`,
    `inject_as = ${quotedValue(variable, 'toml')}`,
    `secret_ref = ${quotedValue(secret, 'toml')}`,
    'source = "vault"',
  ];
}

/** The last lines of a block; blocks of earlier versions have none, or the first alone. */
const COMMAND_LINES = String.raw`(?:url = [^\r\n]*\r?\n)?(?:command = \[[^\r\n]*\]\r?\n(?:program = [^\r\n]*\r?\n)?(?:files = \[[^\r\n]*\]\r?\n)?)?`;

function commandLines(binding: Binding): readonly string[] {
  if ('url' in binding) return [`url = ${quotedValue(binding.url, 'toml')}`];
  const { command, program, files } = binding;
  const list = (words: readonly string[]) =>
    `[${words.map((word) => quotedValue(word, 'toml')).join(', ')}]`;
  return [
    `command = ${list(command)}`,
    `program = ${quotedValue(program, 'toml')}`,
    ...(files.length === 0 ? [] : [`files = ${list(files)}`]),
  ];
}

/** The file with these bindings too; a problem where it would not be what the shim can read. */
export async function withBindings(
  text: string,
  bindings: readonly Binding[],
  path: string,
): Promise<string | Failure> {
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const start = text === '' || text.endsWith('\n') ? text : `${text}${lineBreak}`;
  const blocks = bindings
    .flatMap((one) => ['', ...blockLines(one), ...commandLines(one)])
    .map((line) => `${line}${lineBreak}`)
    .join('');
  const next = `${start}${start === '' ? blocks.slice(lineBreak.length) : blocks}`;
  const byHand = 'Write these bindings by hand, or keep the secrets where they are.';
  const message = `${path} cannot take ${bindings.length === 1 ? 'the binding' : 'the bindings'}`;
  const data = dataOf(next);
  if (data === undefined || Buffer.byteLength(next) > FILE_BYTES_MAX) {
    return failure('SUB_CONFIG_VALUE', `${message}.`, byHand);
  }
  const { faults } = await readServers(data['servers']);
  const [first] = faults;
  if (first === undefined) return next;
  return failure('SUB_CONFIG_VALUE', `${message}: ${first.message}.`, first.fix);
}

/** The file without those of these bindings that still stand there as we wrote them. */
function withoutBindings(text: string, bindings: readonly BindingName[]): string {
  let now = text;
  for (const binding of bindings) {
    // The last first, so that the offsets of the others stay right.
    for (const { index, 0: block } of [...now.matchAll(blockPattern(binding))].toReversed()) {
      const shorter = now.slice(0, index) + now.slice(index + block.length);
      if (isWithout(now, shorter, binding)) now = shorter;
    }
  }
  return now;
}

/** A block with the empty line before it, which came with it; an editor may have changed line ends. */
function blockPattern(binding: BindingName): RegExp {
  const lines = blockLines(binding).map((line) => `${escapePattern(line)}\\r?\\n`);
  return new RegExp(`(?:(?<=^|\\n)\\r?\\n)?${lines.join('')}${COMMAND_LINES}`, 'g');
}

/** Nothing but one binding of that name may be gone. */
function isWithout(
  text: string,
  shorter: string,
  { server, variable, secret }: BindingName,
): boolean {
  const [before, after] = [dataOf(text), dataOf(shorter)];
  if (before === undefined || after === undefined) return false;
  const path = ['servers', server, 'secret_bindings'];
  const [all, left] = [before, after].map((data): readonly unknown[] => {
    const list = valueAt(data, path);
    return Array.isArray(list) ? list : [];
  });
  const isNamed = (one: unknown) =>
    isObject(one) && one['inject_as'] === variable && one['secret_ref'] === secret;
  return (
    sameData(withoutValues(before, [path]), withoutValues(after, [path])) &&
    all?.some((one, index) => isNamed(one) && sameData(all.toSpliced(index, 1), left)) === true
  );
}

function dataOf(text: string): { readonly [key: string]: unknown } | undefined {
  try {
    return parse(text, { maxDepth: DEPTH_MAX });
  } catch {
    return undefined;
  }
}

type TextChange = (text: string) => Promise<string | Failure>;

export async function addBindings(bindings: readonly Binding[], file: BindingFile) {
  if (bindings.length === 0) return undefined;
  return changeFile(file, (text) => withBindings(text, bindings, file.paths.config));
}

export async function removeBindings(bindings: readonly BindingName[], file: BindingFile) {
  if (bindings.length === 0) return undefined;
  return changeFile(file, async (text) => withoutBindings(text, bindings));
}

/** One process at a time; what others write meanwhile is not overwritten. */
async function changeFile(file: BindingFile, change: TextChange): Promise<Failure | undefined> {
  const { paths, store } = file;
  const lock = lockConfig(configKey(paths.config), paths.config, store);
  if (lock.kind === 'failure') return withCode('SUB_FILE_WRITE', lock);
  try {
    removeConfigDrafts(paths.config);
    for (let tried = 0; tried < TRIES_MAX; tried++) {
      const result = await attempt(file, change);
      if (result !== 'changed') return result;
    }
    const fix = 'Close the editor that writes it, and try again.';
    return failure('SUB_FILE_WRITE', `another program keeps writing ${paths.config}.`, fix);
  } finally {
    lock.release();
  }
}

async function attempt(
  { paths }: BindingFile,
  change: TextChange,
): Promise<Failure | undefined | 'changed'> {
  const config = readConfigFile(paths.config);
  if (config.kind === 'failure') return withCode('SUB_FILE_READ', config);
  const text = config.kind === 'missing' ? '' : config.text;
  const next = await change(text);
  if (typeof next !== 'string') return next;
  if (next === text) return undefined;
  if (config.kind === 'missing') return createConfigFile(paths, next);
  const draft = draftPath(config.target);
  const result = replaceConfigFile({ config, bytes: Buffer.from(next), draft });
  if (result.kind === 'changed') return 'changed';
  if (next === '') dropEmpty(paths.config);
  return result.kind === 'failure' ? withCode('SUB_FILE_WRITE', result) : undefined;
}

/** Removes the file when nothing is left in it. A link stays: the user made it. */
function dropEmpty(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true && stats.size === 0) rmSync(path, { force: true });
}

function createConfigFile(
  { home, config }: BindingFile['paths'],
  text: string,
): Failure | undefined {
  const unsafe = ensureFolder(home);
  if (unsafe !== undefined) return withCode('SUB_HOME_UNSAFE', unsafe);
  try {
    writePrivateFile(config, Buffer.from(text));
    return undefined;
  } catch (cause) {
    return withCode('SUB_FILE_WRITE', systemFailure(config, 'written', cause));
  }
}
