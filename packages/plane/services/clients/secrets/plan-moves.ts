// Plans which secrets of some configs move, under which names, and how their servers are bound.

import { resolve } from 'node:path';
import { definedFields } from '@subluminal/contracts';
import {
  findProgram,
  type ProcessEnvironment,
  realFile,
  writerProblem,
} from '../../../os/index.ts';
import type { SecretBinding, Servers } from '../../../stores/config/index.ts';
import { filesNamed, hiddenWord, isSecretName, type Vault } from '../../../stores/vault/index.ts';
import { expandText, type MovedSecret, projectOfFile, withBraces } from '../index.ts';
import type { FoundConfig } from '../inspect/find-configs.ts';
import { hasDrawn, maskedWords } from '../inspect/mask-words.ts';
import type { ConfigDocument } from '../text/document.ts';
import type { Binding, BindingName, BindingStart } from './bindings.ts';
import { cutAll } from './cut-values.ts';
import {
  configDocument,
  fitsBinding,
  knownForms,
  type PlainSecret,
  type ServersByName,
  sharedBy,
} from './plain-secrets.ts';

/** A secret that goes into the store, or is there already. */
export interface SecretMove extends Omit<MovedSecret, 'cut' | 'moved_at'> {
  /** By a function, so that no dump shows it. */
  readonly value: () => string;
}

export interface MovableFile {
  readonly found: FoundConfig;
  readonly secrets: readonly PlainSecret[];
  /** The config without our edits. */
  readonly baseText: string;
}

interface MovePlannerOptions {
  /** The bindings of config.toml. */
  readonly servers: Servers;
  readonly others: ServersByName;
  readonly vault: Vault | undefined;
  /** Of this terminal: where programs are found. */
  readonly env: ProcessEnvironment;
}

interface SecretRequest extends PlainSecret {
  readonly client: string;
  readonly value: string;
  /** How a binding names the command. */
  readonly bound: readonly string[];
  /** What the command starts, or why nothing can be bound. */
  readonly starts: BindingStart | string;
}

/** The name of a secret in the store, or why it stays in plain text. */
type NameOrReason = { readonly name: string } | { readonly stays: string };

/** A binding of config.toml, or one that is planned. */
type KnownBinding = BindingName &
  Partial<Pick<SecretBinding, 'source' | 'command' | 'program' | 'files' | 'url'>>;

/** Collects new bindings and secrets; a name that one file takes is taken for the next. */
export class MovePlanner {
  readonly bindings: Binding[] = [];
  readonly secrets = new Map<string, () => string>();
  readonly warnings: string[] = [];
  readonly #options: MovePlannerOptions;
  readonly #names = new Map<string, string>();

  constructor(options: MovePlannerOptions) {
    this.#options = options;
    const { vault } = options;
    for (const { name } of vault?.secrets ?? []) {
      const value = vault?.value(name);
      if (typeof value === 'string' && !this.#names.has(value)) this.#names.set(value, name);
    }
  }

  movesOf({ found, secrets, baseText }: MovableFile): readonly SecretMove[] {
    const { file, client } = found;
    const document = configDocument({ ...found.config, text: baseText });
    if (document === undefined) return [];
    const targets = secrets.flatMap((secret) => {
      const value = document.valueAt(secret.path);
      return typeof value === 'string' ? [{ path: secret.path, value, secret }] : [];
    });
    const { left } = cutAll(baseText, { format: file.format, targets });
    return targets.flatMap((target): readonly SecretMove[] => {
      const { value, path, secret } = target;
      const { server, variable } = secret;
      const { url } = secret;
      const bound = url === undefined ? bindableWords(secret.command) : [url];
      const starts =
        url === undefined
          ? boundProgram({ found, document, secret, bound, env: this.#options.env })
          : boundAddress(url);
      const named = left.includes(target)
        ? { stays: 'is written in a way that could not come back as it is' }
        : this.#nameFor({ ...secret, client: client.id, value, bound, starts });
      if ('name' in named) {
        const of = url === undefined ? {} : { variable };
        return [{ server, path, ...of, secret: named.name, value: () => value }];
      }
      const words = `${variable} of ${server} in ${file.path}`;
      this.warnings.push(`${words} ${named.stays}: it stays in plain text.`);
      return [];
    });
  }

  #nameFor(asked: SecretRequest): NameOrReason {
    const { server, variable, value, bound: command, starts } = asked;
    const known = this.#knownFor(asked);
    if (known !== undefined) return this.#reused(known, asked);
    if (typeof starts === 'string') return { stays: `cannot be bound to its server: ${starts}` };
    const { clash, also, apart } = sharedBy(this.#options.others, { ...asked, command });
    if (clash !== undefined) {
      return {
        stays: `is not what ${clash} has for a server of that name, and both would get the same`,
      };
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
    return { name };
  }

  /** What the server gets by its name and command. */
  #knownFor({ server, variable, command: words, starts }: SecretRequest): KnownBinding | undefined {
    const configured = this.#options.servers.get(server)?.secretBindings ?? [];
    const known: readonly KnownBinding[] = [
      ...configured.map((one) => ({
        ...one,
        server,
        variable: one.injectAs,
        secret: one.secretRef,
      })),
      ...this.bindings.filter((one) => one.server === server),
    ];
    return known.find(
      ({ variable: other, command, url, program, files = [] }) =>
        other.toUpperCase() === variable.toUpperCase() &&
        fitsBinding(definedFields({ command, url }), words) &&
        (program === undefined || isSameStart({ program, files }, starts)),
    );
  }

  /** What the server gets already stands in the store: only the copy in the config goes. */
  #reused(known: KnownBinding, { value, variable }: SecretRequest): NameOrReason {
    const { secret: name, source = 'vault' } = known;
    const held = this.secrets.get(name)?.() ?? this.#options.vault?.value(name);
    if (source === 'vault' && known.variable === variable && held === value) return { name };
    return {
      stays: `is not used: its server is bound to \`${name}\`, which has another value (\`sub secrets rotate\` changes that)`,
    };
  }

  #newName(asked: SecretRequest): string {
    const stored = this.#options.vault?.secrets ?? [];
    const taken = new Set([...stored.map(({ name }) => name), ...this.secrets.keys()]);
    const name = secretNames(asked).find((one) => !taken.has(one));
    if (name === undefined) throw new Error('every name for a secret is taken');
    this.secrets.set(name, () => asked.value);
    this.#names.set(asked.value, name);
    return name;
  }
}

/** Clients expand variables in an address: the shim would not know it again. */
function boundAddress(url: string): BindingStart | string {
  return url.includes('${') ? 'its address depends on a variable' : { url };
}

/** Two projects may have servers of one name and one command, which start their own files. */
function isSameStart({ program, files }: BoundProgram, starts: BindingStart | string): boolean {
  return (
    typeof starts === 'object' &&
    'program' in starts &&
    realFile(program) === realFile(starts.program) &&
    JSON.stringify(files) === JSON.stringify(starts.files)
  );
}

// What a moved secret is called in the store: by its client, its server and its variable.

const PART_LENGTH_MAX = 40;
const TRIES_MAX = 99;

/** The names to try, in order: the first that is free, or that holds the same value, is taken. */
function secretNames({ client, server, variable }: SecretRequest): readonly string[] {
  const plain = [client, server, variable].map(partOf).join('.');
  const base = isSecretName(plain) ? plain : `moved.${partOf(variable)}`;
  return [base, ...Array.from({ length: TRIES_MAX - 1 }, (_, at) => `${base}-${at + 2}`)];
}

/** Only letters, digits, `_` and `-`; all else may be hostile. */
function partOf(text: string): string {
  const plain = text.replaceAll(/[^A-Za-z0-9_]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return plain.slice(0, PART_LENGTH_MAX) || 'x';
}

// The command of a server as a binding names it. Arguments may hold secrets, and settings must not.

const WORD_LENGTH_MAX = 512;
const REFERENCE = /\$\{[^}]*\}/g;
/** Matches any text in a bound command. */
const ANYTHING = ['$', '{any}'].join('');

/** Word by word; what may be a secret by its digest. */
function bindableWords(words: readonly string[]): readonly string[] {
  const mask = maskedWords();
  return words.map((word) => {
    const isShown = mask(word) === word;
    const isSecret = word.length > WORD_LENGTH_MAX || knownForms(word).length > 0;
    const rest = word.replaceAll(REFERENCE, ' ');
    if (rest === word) return isShown && !isSecret ? word : hiddenWord(word);
    // Its client puts another text there each time: no digest would fit.
    return isSecret || hasDrawn(rest) ? ANYTHING : word;
  });
}

// What a server's command starts, as its binding names it: the program, and the files that its words
// name. Looked up as the client would, from what its entry and this terminal say.

type BoundProgram = Extract<BindingStart, { readonly program: string }>;

interface ServerStartContext {
  readonly found: FoundConfig;
  readonly document: ConfigDocument;
  readonly secret: PlainSecret;
  /** How the binding names the command. */
  readonly bound: readonly string[];
  readonly env: ProcessEnvironment;
}

/** A text says why nothing can be bound, in words that end no sentence. */
function boundProgram(starting: ServerStartContext): BoundProgram | string {
  const { found, document, secret, bound, env } = starting;
  const folder = folderOf(starting);
  const expand = (text: string): string => {
    const placed = folder === undefined ? text : text.replaceAll('${workspaceFolder}', folder);
    return expandText(withBraces(placed, found.client), found.client, env);
  };
  const words = secret.command.map(expand);
  const [word = ''] = words;
  const ownPath = document.valueAt([...secret.path.slice(0, -1), 'PATH']);
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

/** The path of a secret ends with `env` and its variable. */
function folderOf({ found, document, secret }: ServerStartContext): string | undefined {
  const { file, client } = found;
  const home = secret.project ?? (file.scope === 'project' ? projectOfFile(file) : undefined);
  const own = document.valueAt([...secret.path.slice(0, -2), 'cwd']);
  if (typeof own !== 'string' || withBraces(own, client).includes('${')) return home;
  return home === undefined && !own.startsWith('/') ? undefined : resolve(home ?? '/', own);
}
