// The secrets that stand in plain text in the environments and headers of a config's entries: where, never what.
import { definedFields, isObject } from '@subluminal/contracts';
import { createRedactor, type Redactor } from '@subluminal/core/scan';
import { isReservedName } from '../../../stores/config/values.ts';
import { fitsCommand } from '../../../stores/vault/index.ts';
import {
  CLIENTS,
  type ConfigFailure,
  clientOf,
  type ReadConfig,
  type ServerEntry,
  type ValuePath,
  withBraces,
} from '../index.ts';
import { type AdoptionPlace, clientPlace, storeAt } from '../inspect/adoption-place.ts';
import { type FoundConfig, findConfigs, recordedConfigs } from '../inspect/find-configs.ts';
import { entryKey } from '../inspect/server-view.ts';
import { type ConfigDocument, readDocument } from '../text/document.ts';

export interface PlainSecret {
  /** The entry, and the server as the shim and the bindings know it. */
  readonly name: string;
  readonly project?: string;
  readonly server: string;
  readonly variable: string;
  readonly path: ValuePath;
  /** What starts the server behind its shim, or its address alone; variables have braces. */
  readonly command: readonly string[];
  /** The address of a server that is reached by one. */
  readonly url?: string;
  /** Why it is taken for a secret. */
  readonly looks: string;
}

const PER_FILE_MAX = 256;
/** What a binding takes as the name of a variable. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

interface PlainSecrets {
  readonly secrets: readonly PlainSecret[];
  /** How many more there are. */
  readonly more: number;
}

function plainSecrets(config: ReadConfig, entries: readonly ServerEntry[]): PlainSecrets {
  const document = configDocument(config);
  if (document === undefined) return { secrets: [], more: 0 };
  const client = clientOf(config.file.client);
  const found = entries.flatMap((entry) =>
    variablesOf(document, entry).flatMap(({ variable, path, value }): readonly PlainSecret[] => {
      const { name, project, remote } = entry;
      // A binding would name its address.
      if (remote?.urlVariable !== undefined) return [];
      const looksOf = remote === undefined ? secretLooks : headerLooks;
      const text = withBraces(value, client);
      const looks = VARIABLE.test(variable) ? looksOf(variable, text) : undefined;
      if (looks === undefined || isReservedName(variable)) return [];
      const url = remote?.url && withBraces(remote.url, client);
      const of = { name, ...definedFields({ project, url }), server: serverOf(entry) };
      const command = wordsOf(entry).map((word) => withBraces(word, client));
      return [{ ...of, variable, path, command, looks }];
    }),
  );
  return {
    secrets: found.slice(0, PER_FILE_MAX),
    more: Math.max(0, found.length - PER_FILE_MAX),
  };
}

/** Values of headers stand in the config without our edits; in the environment of the shim they are copies. */
export function plainSecretsIn(
  after: ReadConfig,
  governed: readonly ServerEntry[],
  base: ReadConfig | ConfigFailure,
): PlainSecrets {
  const keys = new Set(governed.map(entryKey));
  const remote =
    base.kind === 'failure'
      ? []
      : base.entries.filter((entry) => entry.remote !== undefined && keys.has(entryKey(entry)));
  const copied = new Set(remote.map(entryKey));
  const local = plainSecrets(
    after,
    governed.filter((entry) => !copied.has(entryKey(entry))),
  );
  if (base.kind === 'failure' || remote.length === 0) return local;
  const headers = plainSecrets(base, remote);
  return {
    secrets: [...local.secrets, ...headers.secrets],
    more: local.more + headers.more,
  };
}

/** The name that its shim has, and its bindings. */
export function serverOf({ name, governed }: ServerEntry): string {
  return governed?.serverName ?? name;
}

/** What starts the server itself; its address where it has one. */
export function wordsOf({ command, args = [], governed, remote }: ServerEntry): readonly string[] {
  const url = remote?.url ?? governed?.remote?.url;
  if (url !== undefined) return [url];
  return governed?.command ?? (command === undefined ? [] : [command, ...args]);
}

/** Whether a binding of this server is for the one that these words start. */
export function fitsBinding(
  { command, url }: { readonly command?: readonly string[]; readonly url?: string },
  words: readonly string[],
): boolean {
  if (url !== undefined) return words.length === 1 && words[0] === url;
  return command === undefined || fitsCommand(command, words);
}

interface SetVariable {
  readonly variable: string;
  readonly path: ValuePath;
  readonly value: string;
}

/**
 * What an entry sets for its server; older settings of Zed have it beside the path of the command. Of a server
 * with an address, its headers, by the variables that its shim reads them from.
 */
export function variablesOf(
  document: ConfigDocument,
  { path, at, remote }: ServerEntry,
): readonly SetVariable[] {
  if (remote !== undefined) {
    return remote.headers.flatMap(({ variable, path: place = [] }) => {
      const value = document.valueAt(place);
      return typeof value === 'string' ? [{ variable, path: place, value }] : [];
    });
  }
  const places = new Map(
    [path, at.command.slice(0, -1)].map((holder) => [JSON.stringify(holder), [...holder, 'env']]),
  );
  return [...places.values()].flatMap((place) => {
    const env = document.valueAt(place);
    return Object.entries(isObject(env) ? env : {}).flatMap(([variable, value]) =>
      typeof value === 'string' ? [{ variable, path: [...place, variable], value }] : [],
    );
  });
}

export function configDocument({ text, file, entries }: ReadConfig): ConfigDocument | undefined {
  if (text.trim() === '') return undefined;
  const read = readDocument(
    text,
    file.format,
    entries.map(({ path }) => path),
  );
  return read.kind === 'document' ? read.document : undefined;
}

// Which values of an environment are secrets: those of a known form, and those that a name announces
// and that look random. A reference to a value elsewhere is no secret.

const LENGTH_MIN = 8;
/** What the store and the shim take. */
const BYTES_MAX = 65_536;
const REFERENCE = /\$\{|^\$[A-Za-z_]\w*$|^%\w+%$|^\{\{.*\}\}$|^<.*>$/;
const SECRET_NAME =
  /passw(?:or)?d|passphrase|secret|token|credential|(?:api|access|private|signing|encryption)_?key|(?:^|_)(?:key|pat|pwd|pass|auth)(?:_?\d{1,3})?$/i;
/** What belongs to a secret without being one. */
const BESIDE_NAME =
  /(?:^|_)(?:url|uri|file|path|dir|folder|name|id|host|port|user|username|region|limit|max|min|count|ttl|timeout|type|kind|mode|algorithm|issuer|audience|scopes?|expires?|expiry|enabled)$/i;
const STAND_IN =
  /change.?me|your[-_ ]|[-_]here$|^(?:x|\*|\.|0|1)+$|example|place.?holder|replace|dummy|^test[-_]?|insert/i;
const ELSEWHERE =
  /^(?:[.~]{0,2}\/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]*:\/\/)|\.(?:pem|key|json|txt|env)$/i;
const DISTINCT_MIN = 6;
const CLASSES = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/];

/** Why a value is taken for a secret; a word for people, never a part of the value. */
export function secretLooks(variable: string, value: string): string | undefined {
  if (!isStorable(value) || REFERENCE.test(value.trim())) return undefined;
  const [form] = knownForms(value);
  if (form !== undefined) return form;
  const isNamed = SECRET_NAME.test(variable) && !BESIDE_NAME.test(variable);
  return isNamed && isDrawn(value) ? 'named like a secret' : undefined;
}

const HEADER_SECRET = /auth|key|token|secret|cookie|credential|password/i;
const SCHEME = /^(?:bearer|basic|token|apikey|api-key)\s+/i;

/** The same for a header, by its variable: its value may begin with the name of a scheme. */
function headerLooks(variable: string, value: string): string | undefined {
  if (!isStorable(value) || REFERENCE.test(value.trim()) || value.includes('${')) return undefined;
  const [form] = knownForms(value);
  if (form !== undefined) return form;
  const isNamed = HEADER_SECRET.test(variable) && isDrawn(value.replace(SCHEME, ''));
  return isNamed ? 'named like a secret' : undefined;
}

let redactor: Redactor | undefined;

/** The known forms of secrets that a text holds. Made at first use: the known forms are many. */
export function knownForms(text: string): readonly string[] {
  redactor ??= createRedactor({});
  return redactor.redact(text).found;
}

function isStorable(value: string): boolean {
  if (value.trim().length < LENGTH_MIN || value.includes('\0')) return false;
  // Half a character comes back as another one.
  return Buffer.byteLength(value) <= BYTES_MAX && !/\p{Surrogate}/u.test(value);
}

/** Whether letters and digits are mixed, or signs of three kinds: nobody writes a word like that. */
function isDrawn(value: string): boolean {
  if (/\s/.test(value) || STAND_IN.test(value) || ELSEWHERE.test(value)) return false;
  if (new Set(value).size < DISTINCT_MIN) return false;
  const classes = CLASSES.filter((one) => one.test(value)).length;
  return classes >= 3 || (/[A-Za-z]/.test(value) && /\d/.test(value));
}

// Servers of one name and one command share their bindings, whichever client starts them. Collects the
// variables that the entries of each name set, in every config that is known here.

interface NamedServer {
  readonly path: string;
  /** What starts it. */
  readonly words: readonly string[];
  /** By the variable in upper case: bindings ignore case. */
  readonly set: ReadonlyMap<string, readonly string[]>;
}

export type ServersByName = ReadonlyMap<string, readonly NamedServer[]>;

export function serversByName(place: AdoptionPlace, more: readonly FoundConfig[]): ServersByName {
  const { found } = findConfigs({ place: clientPlace(place), clients: CLIENTS });
  const all = new Map([...found, ...more].map((one) => [one.target, one]));
  for (const one of recordedConfigs(storeAt(place.paths), new Set())) {
    if (one.kind === 'found' && !all.has(one.target)) all.set(one.target, one);
  }
  const others = new Map<string, NamedServer[]>();
  for (const { file, config } of all.values()) {
    const document = configDocument(config);
    for (const entry of document === undefined ? [] : config.entries) {
      if (document === undefined || wordsOf(entry).length === 0) continue;
      const name = serverOf(entry);
      const words = wordsOf(entry);
      const set = new Map<string, string[]>();
      for (const { variable, value } of variablesOf(document, entry)) {
        const key = variable.toUpperCase();
        set.set(key, [...(set.get(key) ?? []), value]);
      }
      others.set(name, [...(others.get(name) ?? []), { path: file.path, words, set }]);
    }
  }
  return others;
}

interface SharedSecret {
  readonly server: string;
  readonly variable: string;
  readonly value: string;
  /** As the binding would name it. */
  readonly command: readonly string[];
}

interface SharingServers {
  /** Another entry of that name and command would get this value in place of its own. */
  readonly clash: string | undefined;
  /** Entries of that name and command that have none, and get it too. */
  readonly also: readonly string[];
  /** Entries of that name that start something else: they get nothing. */
  readonly apart: readonly string[];
}

export function sharedBy(
  others: ServersByName,
  { server, variable, value, command }: SharedSecret,
): SharingServers {
  const isSame = ({ words }: NamedServer) => fitsBinding({ command }, words);
  const named = others.get(server) ?? [];
  const same = named.filter(isSame);
  const key = variable.toUpperCase();
  const clash = same.find(({ set }) => set.get(key)?.some((one) => one !== value) === true);
  const pathsOf = (some: readonly NamedServer[]) => [...new Set(some.map(({ path }) => path))];
  return {
    clash: clash?.path,
    also: pathsOf(same.filter(({ set }) => !set.has(key))),
    apart: pathsOf(named.filter((one) => !isSame(one) && !one.set.has(key))),
  };
}
