// The notes for a person before a config is changed for good.

import { shellWord } from '@subluminal/core/visible';
import type { SecretBinding, Servers } from '../../../stores/config/index.ts';
import {
  effectiveServers,
  flagIn,
  type ReadConfig,
  type RemoteHeader,
  type ServerEntry,
  type ShimCall,
  unresolved,
} from '../index.ts';
import type { FoundConfig } from '../inspect/find-configs.ts';
import { type OwnCall, startsThisSub } from '../inspect/own-program.ts';
import { hasComment } from '../inspect/redacted-diff.ts';
import { entryKey } from '../inspect/server-view.ts';
import {
  configDocument,
  fitsBinding,
  serverOf,
  variablesOf,
  wordsOf,
} from '../secrets/plain-secrets.ts';
import { documentIn } from '../text/document.ts';
import { entryTextAt } from '../text/entry-text.ts';

interface NoteContext {
  readonly found: FoundConfig;
  /** The config without our edits. */
  readonly baseText: string;
  readonly after: ReadConfig;
  /** The entries that come under governance now. */
  readonly chosen: readonly ServerEntry[];
  /** By `entryKey`: the options that loosen an entry, as it stands in the config. */
  readonly loose: ReadonlyMap<string, readonly string[]>;
  /** Those that are to take over the options of the call. */
  readonly renewed: ReadonlySet<string>;
  readonly call: ShimCall;
  readonly own: OwnCall;
  readonly env: { readonly [name: string]: string | undefined };
  /** What config.toml binds. */
  readonly bound: Servers;
  /** How many secrets in plain text are too many for one look. */
  readonly more: number;
}

/** Whole sentences. */
export function* notesOn(noting: NoteContext): Generator<string> {
  yield* chosenNotes(noting);
  yield* bindingNotes(noting);
  yield* otherNotes(noting);
  yield* fileNotes(noting);
}

function* chosenNotes(noting: NoteContext): Generator<string> {
  const { found, chosen, loose, env } = noting;
  const { client, file } = found;
  for (const entry of chosen) {
    const names = unresolved(entry, client, env);
    if (names.length === 0) continue;
    yield `${entry.name} needs ${names.join(', ')}, not set here: ${client.title} must have it.`;
  }
  for (const entry of chosen) {
    const flags = loose.get(entryKey(entry));
    if (flags === undefined) continue;
    yield `${entry.name} of ${file.path} starts sub shim with ${flags.join(', ')}, and no \`sub import\` here wrote that: it does not count as governed. It gets a shim without these options; if they are yours, give them to \`sub import\` (--policy, --profile) or to config.toml.`;
  }
  yield* remoteNotes(noting);
  const commented = withComments(noting);
  if (commented.length > 0) {
    yield `the comments inside of ${commented.join(', ')} are not in the file while it is governed: \`sub restore\` brings them back from its record.`;
  }
}

/** The client hands its messages to the shim, and logs in nowhere any more. */
function* remoteNotes({ found: { client }, chosen }: NoteContext): Generator<string> {
  const remote = chosen.flatMap(({ name, remote: server }) => (server ? [{ name, server }] : []));
  const open = remote
    .filter(({ server }) => server.bearerEnv === undefined && !server.headers.some(isCredential))
    .map(({ name }) => name);
  if (open.length > 0) {
    const logins = open.map((name) => `\`sub auth login ${shellWord(name)}\``).join(', ');
    yield `${open.join(', ')}: ${client.title} logs in there no more. Where a server asks for a login, run: ${logins}.`;
  }
  const secret = remote.filter(({ server }) => server.urlVariable !== undefined);
  if (secret.length > 0) {
    const names = secret.map(({ name }) => name).join(', ');
    yield `${names}: the address seems to hold a secret. It stays in plain text, out of the arguments; --move-secrets takes secrets out of headers alone.`;
  }
}

function isCredential({ name }: RemoteHeader): boolean {
  return /auth|key|token|secret|cookie|credential/i.test(name);
}

/** The names of the entries that have comments among the values that are replaced. */
function withComments({ found, baseText, chosen }: NoteContext): readonly string[] {
  const { format } = found.file;
  const paths = chosen.map(({ at }) => at.args);
  const document = documentIn(baseText, format, paths);
  return chosen.flatMap(({ name, at, remote, path }) => {
    const whole = remote && document && entryTextAt(document, path)?.span;
    const span = whole ?? document?.spanAt(at.args);
    return span && hasComment(baseText.slice(span.start, span.end), format) ? [name] : [];
  });
}

/** A server gets what is bound to its name, unless the binding names another command. */
function* bindingNotes({ found, after, chosen, bound, more }: NoteContext): Generator<string> {
  const { path } = found.file;
  const document = configDocument(after);
  const keys = new Set(chosen.map(entryKey));
  for (const entry of after.entries) {
    if (document === undefined || !keys.has(entryKey(entry))) continue;
    const names = new Set(
      bindingsFor(entry, bound).ours.map(({ injectAs }) => injectAs.toUpperCase()),
    );
    const both = variablesOf(document, entry)
      .map(({ variable }) => variable)
      .filter((one) => names.has(one.toUpperCase()));
    if (both.length === 0) continue;
    yield `${entry.name} gets ${both.join(', ')} by its bindings in config.toml: what its env says is not used.`;
  }
  for (const entry of chosen) {
    const { ours, others } = bindingsFor(entry, bound);
    const table = `servers.${serverOf(entry)} in config.toml`;
    if (ours.length > 0) {
      yield `${entry.name} of ${path} gets ${namesOf(ours)} by the bindings of ${table}. If it is another server of that name, give it another one.`;
    }
    if (others.length > 0) {
      yield `${entry.name} of ${path} does NOT get ${namesOf(others)}: the bindings of ${table} are for another command or address. Without a value of its own it will not start in production: give it another name, or correct \`command\` or \`url\` there.`;
    }
  }
  if (more > 0) {
    yield `${path} has ${more} more secrets in plain text than are moved at once: import again for the next ones.`;
  }
}

interface BindingsFor {
  /** What the server gets by its name and its command. */
  readonly ours: readonly SecretBinding[];
  /** What a server of the same name gets that is started by another command. */
  readonly others: readonly SecretBinding[];
}

function bindingsFor(entry: ServerEntry, bound: Servers): BindingsFor {
  const all = bound.get(serverOf(entry))?.secretBindings ?? [];
  const isOurs = (one: SecretBinding) => fitsBinding(one, wordsOf(entry));
  const ours = all.filter(isOurs);
  const isGiven = ({ injectAs }: SecretBinding) => ours.some((one) => one.injectAs === injectAs);
  return { ours, others: all.filter((one) => !isOurs(one) && !isGiven(one)) };
}

function namesOf(bindings: readonly SecretBinding[]): string {
  return [...new Set(bindings.map(({ injectAs }) => injectAs))].join(', ');
}

/** About entries that are not chosen, or whose shim stays as it is. */
function* otherNotes(noting: NoteContext): Generator<string> {
  const { after, renewed, call, found, chosen, own, env } = noting;
  const { entries } = after;
  const { id } = found.client;
  const isStale = (entry: ServerEntry) =>
    renewed.has(entryKey(entry)) && !hasFlags(entry, call.flags);
  const stale = entries.filter(isStale).map(({ name }) => name);
  if (stale.length > 0) {
    yield `${stale.join(', ')} of ${found.file.path}: no record of this shim is left, so its options stay as they are. Use \`sub restore\` first, then \`sub import\`.`;
  }
  for (const { name, transport, command, obstacle } of entries) {
    const isBarred = transport === 'remote' ? obstacle : transport === 'unknown' && command;
    if (isBarred === undefined || isBarred === false) continue;
    yield `${name} is NOT governed: ${obstacle ?? 'its arguments are not a list of words'}.`;
  }
  const envFiles = chosen.flatMap(({ name, hasEnvFile }) => (hasEnvFile ? [name] : []));
  if (envFiles.length > 0) yield `${envFiles.join(', ')}: what the envFile sets is not looked at.`;
  for (const entry of entries) {
    const { name, governed } = entry;
    if (governed === undefined || startsThisSub(entry, { own, env })) continue;
    yield `${name} starts another sub, ${governed.program.join(' ')}: whether that governs it, this one cannot tell. To have this one govern it: \`sub restore ${id}\`, then \`sub import ${id}\`.`;
  }
}

function hasFlags({ governed }: ServerEntry, flags: readonly string[]): boolean {
  return flags.every(
    (word, at) => at % 2 === 1 || flagIn(governed?.flags ?? [], word.slice(2)) === flags[at + 1],
  );
}

function* fileNotes({ found: { client, file }, chosen, call }: NoteContext): Generator<string> {
  if (chosen.length === 0) return;
  if (file.scope === 'project') {
    yield `${file.path} belongs to the project: anybody else who has it would start sub from this machine's path. --user-only leaves such files out.`;
  }
  // Started from a desktop, a client has no folder of a project to find a policy from.
  if (client.hasWindow && !call.flags.includes('--policy')) {
    yield `${client.title} starts its servers from a folder of its own choice: without --policy they may not find the policy of this project.`;
  }
}

/** Codex puts the parts of an entry together from several files, and drops those of the shim. */
export function splitNotes(found: readonly FoundConfig[], project: string): readonly string[] {
  return splitServers(found, project).map(({ entry, file, overridden }) => {
    const others = overridden.map(({ path }) => path).join(', ');
    return `${entry.name} is NOT governed: it has one part in ${file.path} and another in ${others}. Write it in one file.`;
  });
}

/** With a command in one file and an address in another, Codex would not start at all. */
export function splitRemotes(found: readonly FoundConfig[], project: string): ReadonlySet<string> {
  const remote = new Set(
    found.flatMap(({ client, config }) =>
      config.entries.flatMap((entry) =>
        entry.transport === 'remote' ? [splitKey(client, entry)] : [],
      ),
    ),
  );
  const split = splitServers(found, project).map(({ entry, file }) =>
    splitKey({ id: file.client }, entry),
  );
  return new Set(split.filter((key) => remote.has(key)));
}

export function splitKey(
  { id }: Pick<FoundConfig['client'], 'id'>,
  { name }: Pick<ServerEntry, 'name'>,
): string {
  return JSON.stringify([id, name]);
}

function splitServers(found: readonly FoundConfig[], project: string) {
  const configs = found.map(({ config }) => config);
  return effectiveServers(configs, project).filter(({ isSplit }) => isSplit);
}
