// Which secrets of some configs move, under which names, and what their servers are bound to.

import { resolve } from 'node:path';
import { createRedactor, type Redactor } from '@subluminal/core/scan';
import { findProgram, realFile, writerProblem } from '../../../os/index.ts';
import type { SecretBinding, Servers } from '../../../stores/config/index.ts';
import {
  filesNamed,
  fitsCommand,
  hiddenWord,
  isSecretName,
  type Vault,
} from '../../../stores/vault/index.ts';
import { expanded, type MovedSecret, projectOfFile, type ValuePath } from '../index.ts';
import type { FoundConfig } from '../inspect/find-configs.ts';
import { hasDrawn, maskedWords } from '../inspect/mask-words.ts';
import type { ConfigDocument } from '../text/document.ts';

import type { Binding } from './bindings.ts';
import { cutAll } from './cut-values.ts';
import { configDocument, type PlainSecret, type ServersByName, sharedBy } from './plain-secrets.ts';

/** A secret that goes into the store, or is there already. */
export interface SecretMove extends Omit<MovedSecret, 'cut' | 'moved_at'> {
  /** By a function, so that no dump shows it. */
  readonly value: () => string;
}

/** A config whose secrets are to move. */
export interface MovableFile {
  readonly found: FoundConfig;
  readonly secrets: readonly PlainSecret[];
  /** The config without our edits. */
  readonly baseText: string;
}

interface MovePlannerOptions {
  /** What is bound already. */
  readonly servers: Servers;
  readonly others: ServersByName;
  readonly vault: Vault | undefined;
  /** Of this terminal: where programs are found. */
  readonly env: { readonly [name: string]: string | undefined };
}

/** Gathers what is new: names that are taken by one file are taken for the next. */
export class MovePlanner {
  readonly bindings: Binding[] = [];
  readonly secrets = new Map<string, () => string>();
  readonly warnings: string[] = [];
  readonly #parts: MovePlannerOptions;
  readonly #names = new Map<string, string>();
  readonly #bindWords: BindWords = wordBinder();

  constructor(parts: MovePlannerOptions) {
    this.#parts = parts;
    const { vault } = parts;
    for (const { name } of vault?.secrets ?? []) {
      const value = vault?.value(name);
      if (typeof value === 'string' && !this.#names.has(value)) this.#names.set(value, name);
    }
  }

  movesOf({ found, secrets, baseText }: MovableFile): readonly SecretMove[] {
    const { file, client } = found;
    const document = configDocument({ ...found.config, text: baseText });
    const targets = secrets.flatMap((secret) => {
      const value = document?.valueAt(secret.path);
      return typeof value === 'string' ? [{ path: secret.path, value, secret }] : [];
    });
    const { left } = cutAll(baseText, { format: file.format, targets });
    return targets.flatMap((target): readonly SecretMove[] => {
      const { server, variable, path, command } = target.secret;
      const words = `${variable} of ${server} in ${file.path}`;
      if (left.includes(target)) {
        return this.#stays(`${words} is written in a way that could not come back as it is`);
      }
      const { value } = target;
      const bound = this.#bindWords(command);
      const starts = this.#startOf(found, document, { ...target.secret, bound });
      const asked = { client: client.id, server, variable, value, words, started: command };
      const name = this.#nameFor({ ...asked, command: bound, starts });
      return name === undefined ? [] : [{ server, path, secret: name, value: () => value }];
    });
  }

  #startOf(
    found: FoundConfig,
    document: ConfigDocument | undefined,
    { path, project, command, bound }: PlainSecret & { readonly bound: readonly string[] },
  ): BoundProgram | string {
    if (document === undefined) return 'its config cannot be read';
    const { env } = this.#parts;
    return boundProgram({ found, document, path: path.slice(0, -2), project, command, bound, env });
  }

  #nameFor(asked: SecretRequest): string | undefined {
    const { server, variable, value, words, command, starts } = asked;
    const bound = this.#boundTo(asked);
    if (bound !== undefined) return this.#reused(bound, asked);
    if (typeof starts === 'string') {
      this.#stays(`${words} cannot be bound to its server: ${starts}`);
      return undefined;
    }
    const { clash, also, apart } = sharedBy(this.#parts.others, asked);
    if (clash !== undefined) {
      this.#stays(
        `${words} is not what ${clash} has for a server of that name, and both would get the same`,
      );
      return undefined;
    }
    if (also.length > 0) {
      this.warnings.push(
        `${server} of ${also.join(', ')} has no ${variable}, and gets this one too: servers of one name and one command share their secrets.`,
      );
    }
    if (apart.length > 0) {
      this.warnings.push(
        `${server} of ${apart.join(', ')} starts something else: it does not get ${variable}, and behind a shim it will not start in production under that name. Give it another one.`,
      );
    }
    const name = this.#names.get(value) ?? this.#newName(asked);
    this.bindings.push({ server, variable, secret: name, command, ...starts });
    return name;
  }

  /** What it gets by its name and command. */
  #boundTo({
    server,
    variable,
    started,
    starts,
  }: SecretRequest): SecretBinding | Binding | undefined {
    const isSame = (other: string) => other.toUpperCase() === variable.toUpperCase();
    const isFor = ({
      command,
      program,
      files,
    }: Pick<SecretBinding, 'command' | 'program' | 'files'>) =>
      command === undefined ||
      (fitsCommand(command, started) &&
        (program === undefined || isSameStart({ program, files: files ?? [] }, starts)));
    const bindings = this.#parts.servers.get(server)?.secretBindings ?? [];
    return (
      bindings.find((one) => isSame(one.injectAs) && isFor(one)) ??
      this.bindings.find((one) => one.server === server && isSame(one.variable) && isFor(one))
    );
  }

  /** What the server gets already stands in the store: only the copy in the config goes. */
  #reused(
    bound: SecretBinding | Binding,
    { value, words, variable }: SecretRequest,
  ): string | undefined {
    const [name, isOurs] =
      'secretRef' in bound
        ? [bound.secretRef, bound.source === 'vault' && bound.injectAs === variable]
        : [bound.secret, bound.variable === variable];
    const held = this.secrets.get(name)?.() ?? this.#parts.vault?.value(name);
    if (isOurs && held === value) return name;
    this.#stays(
      `${words} is not used: its server is bound to \`${name}\`, which has another value (\`sub secrets rotate\` changes that)`,
    );
    return undefined;
  }

  #newName(asked: SecretRequest): string {
    const { vault } = this.#parts;
    const taken = new Set([
      ...(vault?.secrets ?? []).map(({ name }) => name),
      ...this.secrets.keys(),
    ]);
    const name = secretNames(asked).find((one) => !taken.has(one));
    if (name === undefined) throw new Error('every name for a secret is taken');
    this.secrets.set(name, () => asked.value);
    this.#names.set(asked.value, name);
    return name;
  }

  #stays(words: string): readonly never[] {
    this.warnings.push(`${words}: it stays in plain text.`);
    return [];
  }
}

/** Two projects may have servers of one name and one command, which start their own files. */
function isSameStart({ program, files }: BoundProgram, starts: BoundProgram | string): boolean {
  return (
    typeof starts === 'object' &&
    realFile(program) === realFile(starts.program) &&
    JSON.stringify(files) === JSON.stringify(starts.files)
  );
}

interface SecretRequest {
  readonly client: string;
  readonly server: string;
  readonly variable: string;
  readonly value: string;
  /** What starts the server, and how its binding names that. */
  readonly started: readonly string[];
  readonly command: readonly string[];
  /** What the command starts, or why nothing can be bound. */
  readonly starts: BoundProgram | string;
  /** Where it stands, for people. */
  readonly words: string;
}

// What a moved secret is called in the store: by its client, its server and its variable.

const PART_LENGTH_MAX = 40;
const TRIES_MAX = 99;

interface SecretOrigin {
  readonly client: string;
  readonly server: string;
  readonly variable: string;
}

/** The names to try, in order: the first that is free, or that holds the same value, is taken. */
function secretNames({ client, server, variable }: SecretOrigin): readonly string[] {
  const plain = [client, server, variable].map(partOf).join('.');
  const base = isSecretName(plain) ? plain : `moved.${partOf(variable)}`;
  return [base, ...Array.from({ length: TRIES_MAX - 1 }, (_, at) => `${base}-${at + 2}`)];
}

/** Letters, digits, `_` and `-`; whatever else was there may be anything. */
function partOf(text: string): string {
  const plain = text.replaceAll(/[^A-Za-z0-9_]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return plain.slice(0, PART_LENGTH_MAX) || 'x';
}

// The command of a server as a binding names it. Arguments may hold secrets, and settings must not.

type BindWords = (words: readonly string[]) => readonly string[];

const WORD_LENGTH_MAX = 512;
const REFERENCE = /\$\{[^}]*\}/g;
/** What stands for any text. */
const ANYTHING = ['$', '{any}'].join('');

/** Word by word; what may be a secret by its digest. Made once: the known forms are many. */
function wordBinder(): BindWords {
  let redactor: Redactor | undefined;
  const isSecret = (word: string): boolean => {
    redactor ??= createRedactor({});
    return word.length > WORD_LENGTH_MAX || redactor.redact(word).found.length > 0;
  };
  return (words) => {
    const mask = maskedWords();
    return words.map((word) => {
      const isShown = mask(word) === word;
      const rest = word.replaceAll(REFERENCE, ' ');
      if (rest === word) return isShown && !isSecret(word) ? word : hiddenWord(word);
      // Its client puts another text there each time: no digest would fit.
      return isSecret(word) || hasDrawn(rest) ? ANYTHING : word;
    });
  };
}

// What a server's command starts, as its binding names it: the program, and the files that its words
// name. Looked up as the client would, from what its entry and this terminal say.

interface BoundProgram {
  readonly program: string;
  readonly files: readonly string[];
}

interface ServerStartContext {
  readonly found: FoundConfig;
  readonly document: ConfigDocument;
  /** Where the entry, or the part of it that holds its environment, stands. */
  readonly path: ValuePath;
  /** The folder of the project that the entry is for, if it is for one alone. */
  readonly project: string | undefined;
  readonly command: readonly string[];
  /** How the binding names the command. */
  readonly bound: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
}

/** A text says why nothing can be bound, in words that end no sentence. */
function boundProgram(starting: ServerStartContext): BoundProgram | string {
  const { document, path, command, bound, env } = starting;
  const folder = folderOf(starting);
  const expand = expander(starting, folder);
  const words = command.map(expand);
  const [word = ''] = words;
  const ownPath = document.valueAt([...path, 'env', 'PATH']);
  const searched = typeof ownPath === 'string' ? expand(ownPath) : env['PATH'];
  if (word.includes('${') || searched?.includes('${')) {
    return 'its program depends on a variable that is not known here';
  }
  const vague = folder === undefined ? words.find(isRelativePath) : undefined;
  if (vague !== undefined) {
    return `${vague} is looked for in a folder that only the client knows: name it by its whole path`;
  }
  const cwd = folder ?? '/';
  const program = findProgram(word, { cwd, path: searched });
  const real = program === undefined ? undefined : realFile(program);
  if (program === undefined || real === undefined) {
    return `its program ${word} is not found here: name it by its whole path`;
  }
  const files = filesNamed(bound, { words, cwd });
  for (const one of [real, ...files]) {
    const hand = writerProblem(one);
    if (hand !== undefined) return `${one} ${hand}`;
  }
  return { program, files };
}

/** What starts with a dot, or looks like a script: a package may have a slash in its name too. */
function isRelativePath(word: string): boolean {
  return /^\.{1,2}(?:\/|$)/.test(word) || /^[^/-].*\.(?:[cm]?[jt]sx?|py|rb|pl|php|sh)$/.test(word);
}

function folderOf({
  found: { file },
  document,
  path,
  project,
}: ServerStartContext): string | undefined {
  const home = project ?? (file.scope === 'project' ? projectOfFile(file) : undefined);
  const own = document.valueAt([...path, 'cwd']);
  if (typeof own !== 'string' || own.includes('${')) return home;
  return home === undefined && !own.startsWith('/') ? undefined : resolve(home ?? '/', own);
}

function expander({ found: { client }, env }: ServerStartContext, folder: string | undefined) {
  return (text: string): string => {
    const placed = folder === undefined ? text : text.replaceAll('${workspaceFolder}', folder);
    return expanded({ command: placed, args: [] }, client, env).command ?? placed;
  };
}
