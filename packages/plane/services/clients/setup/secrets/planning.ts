// Which secrets of some configs move, under which names, and what their servers are bound to.

import { realFile } from '../../../../os/index.ts';
import type { SecretBinding, Servers } from '../../../../stores/config/index.ts';
import { fitsCommand, type Vault } from '../../../../stores/vault/index.ts';
import type { Document } from '../../text/document.ts';
import type { FoundConfig } from '../configs.ts';
import type { Binding } from './bindings.ts';
import { type BoundProgram, boundProgram } from './bound-program.ts';
import { cutAll } from './cut.ts';
import type { Move } from './moved.ts';
import { secretNames } from './names.ts';
import { type Others, sharedBy } from './others.ts';
import { documentOf, type PlainSecret } from './plain.ts';
import { type BindWords, wordBinder } from './words.ts';

/** A config whose secrets are to move. */
export interface MovableFile {
  readonly found: FoundConfig;
  readonly secrets: readonly PlainSecret[];
  /** The config without our edits. */
  readonly baseText: string;
}

interface PlanningParts {
  /** What is bound already. */
  readonly servers: Servers;
  readonly others: Others;
  readonly vault: Vault | undefined;
  /** Of this terminal: where programs are found. */
  readonly env: { readonly [name: string]: string | undefined };
}

/** Gathers what is new: names that are taken by one file are taken for the next. */
export class Planning {
  readonly bindings: Binding[] = [];
  readonly secrets = new Map<string, () => string>();
  readonly warnings: string[] = [];
  readonly #parts: PlanningParts;
  readonly #names = new Map<string, string>();
  readonly #bindWords: BindWords = wordBinder();

  constructor(parts: PlanningParts) {
    this.#parts = parts;
    const { vault } = parts;
    for (const { name } of vault?.secrets ?? []) {
      const value = vault?.value(name);
      if (typeof value === 'string' && !this.#names.has(value)) this.#names.set(value, name);
    }
  }

  movesOf({ found, secrets, baseText }: MovableFile): readonly Move[] {
    const { file, client } = found;
    const document = documentOf({ ...found.config, text: baseText });
    const targets = secrets.flatMap((secret) => {
      const value = document?.valueAt(secret.path);
      return typeof value === 'string' ? [{ path: secret.path, value, secret }] : [];
    });
    const { left } = cutAll(baseText, { format: file.format, targets });
    return targets.flatMap((target): readonly Move[] => {
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
    document: Document | undefined,
    { path, project, command, bound }: PlainSecret & { readonly bound: readonly string[] },
  ): BoundProgram | string {
    if (document === undefined) return 'its config cannot be read';
    const { env } = this.#parts;
    return boundProgram({ found, document, path: path.slice(0, -2), project, command, bound, env });
  }

  #nameFor(asked: Asked): string | undefined {
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
  #boundTo({ server, variable, started, starts }: Asked): SecretBinding | Binding | undefined {
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
  #reused(bound: SecretBinding | Binding, { value, words, variable }: Asked): string | undefined {
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

  #newName(asked: Asked): string {
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

interface Asked {
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
