// What a person should know before a config is changed for good.

import type { SecretBinding, Servers } from '../../../stores/config/index.ts';
import { fitsCommand } from '../../../stores/vault/index.ts';
import {
  type Client,
  effectiveServers,
  type ReadConfig,
  type ServerEntry,
  type ShimCall,
  unresolved,
} from '../index.ts';
import type { FoundConfig } from '../inspect/find-configs.ts';
import { type OwnCall, startsThisSub } from '../inspect/own-program.ts';
import { hasComment } from '../inspect/redacted-diff.ts';
import { entryKey, flagIn } from '../inspect/server-view.ts';

import { configDocument, serverOf, variablesOf, wordsOf } from '../secrets/plain-secrets.ts';
import { readDocument } from '../text/document.ts';

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

export function notesOn(noting: NoteContext): readonly string[] {
  const { found, chosen, env } = noting;
  return [
    ...chosen.flatMap((entry) => unsetIn(entry, found.client, env)),
    ...loosenedIn(noting),
    ...commentedIn(noting),
    ...boundOver(noting),
    ...receivingIn(noting),
    ...tooMany(noting),
    ...lostIn(noting),
    ...barredIn(noting),
    ...envFilesOf(chosen),
    ...foreignIn(noting),
    ...(chosen.length === 0 ? [] : [...sharedFile(found), ...unknownFolder(noting)]),
  ];
}

function unsetIn(entry: ServerEntry, client: Client, env: NoteContext['env']): readonly string[] {
  const names = unresolved(entry, client, env);
  return names.length === 0
    ? []
    : [`${entry.name} needs ${names.join(', ')}, not set here: ${client.title} must have it.`];
}

/** What the shim of an entry was told by whoever wrote the config, and is told no more. */
function loosenedIn({ found, chosen, loose }: NoteContext): readonly string[] {
  return chosen.flatMap((entry) => {
    const flags = loose.get(entryKey(entry));
    if (flags === undefined) return [];
    return [
      `${entry.name} of ${found.file.path} starts sub shim with ${flags.join(', ')}, and no \`sub import\` here wrote that: it does not count as governed. It gets a shim without these options; if they are yours, give them to \`sub import\` (--policy, --profile) or to config.toml.`,
    ];
  });
}

/** A binding wins over the entry, which may be another's of the same name. */
function boundOver({ after, chosen, bound }: NoteContext): readonly string[] {
  const document = configDocument(after);
  if (document === undefined) return [];
  const keys = new Set(chosen.map(entryKey));
  return after.entries.flatMap((entry) => {
    const names = new Set(
      bindingsFor(entry, bound).ours.map(({ injectAs }) => injectAs.toUpperCase()),
    );
    const both = variablesOf(document, entry)
      .map(({ variable }) => variable)
      .filter((one) => names.has(one.toUpperCase()));
    if (both.length === 0 || !keys.has(entryKey(entry))) return [];
    return [
      `${entry.name} gets ${both.join(', ')} by its bindings in config.toml: what its env says is not used.`,
    ];
  });
}

interface BindingsFor {
  /** What the server gets by its name and its command. */
  readonly ours: readonly SecretBinding[];
  /** What a server of the same name gets that is started by another command. */
  readonly others: readonly SecretBinding[];
}

function bindingsFor(entry: ServerEntry, bound: Servers): BindingsFor {
  const all = bound.get(serverOf(entry))?.secretBindings ?? [];
  const isOurs = ({ command }: SecretBinding) =>
    command === undefined || fitsCommand(command, wordsOf(entry));
  const ours = all.filter(isOurs);
  const isGiven = ({ injectAs }: SecretBinding) => ours.some((one) => one.injectAs === injectAs);
  return { ours, others: all.filter((one) => !isOurs(one) && !isGiven(one)) };
}

/** A name is all it takes to be given what is bound to it, unless a command was bound too. */
function receivingIn({ found, chosen, bound }: NoteContext): readonly string[] {
  return chosen.flatMap((entry) => {
    const { name } = entry;
    const { ours, others } = bindingsFor(entry, bound);
    const notes: string[] = [];
    if (ours.length > 0) {
      notes.push(
        `${name} of ${found.file.path} gets ${namesOf(ours)} by the bindings of servers.${serverOf(entry)} in config.toml. If it is another server of that name, give it another one.`,
      );
    }
    if (others.length > 0) {
      notes.push(
        `${name} of ${found.file.path} does NOT get ${namesOf(others)}: the bindings of servers.${serverOf(entry)} in config.toml are for another command. Without a value of its own it will not start in production: give it another name, or correct \`command\` there.`,
      );
    }
    return notes;
  });
}

function namesOf(bindings: readonly SecretBinding[]): string {
  return [...new Set(bindings.map(({ injectAs }) => injectAs))].join(', ');
}

function tooMany({ found, more }: NoteContext): readonly string[] {
  if (more === 0) return [];
  return [
    `${found.file.path} has ${more} more secrets in plain text than are moved at once: import again for the next ones.`,
  ];
}

/** They stand among the values that are replaced. */
function commentedIn({ found, baseText, chosen }: NoteContext): readonly string[] {
  const { format } = found.file;
  const read = readDocument(
    baseText,
    format,
    chosen.map(({ at }) => at.args),
  );
  if (read.kind === 'broken') return [];
  const { document } = read;
  const names = chosen.flatMap(({ name, at }) => {
    const span = document.spanAt(at.args);
    const isIn = span !== undefined && hasComment(baseText.slice(span.start, span.end), format);
    return isIn ? [name] : [];
  });
  if (names.length === 0) return [];
  return [
    `the comments among the arguments of ${names.join(', ')} are not in the file while it is governed: \`sub restore\` brings them back from its record.`,
  ];
}

/** What has a command and cannot be governed all the same. */
function barredIn({ after: { entries } }: NoteContext): readonly string[] {
  return entries
    .filter(({ transport, command }) => transport === 'unknown' && command !== undefined)
    .map(
      ({ name, obstacle = 'its arguments are not a list of words' }) =>
        `${name} is NOT governed: ${obstacle}.`,
    );
}

/** It may set what acts on the shim, and hold secrets. */
function envFilesOf(chosen: readonly ServerEntry[]): readonly string[] {
  const names = chosen.flatMap(({ name, hasEnvFile }) => (hasEnvFile ? [name] : []));
  if (names.length === 0) return [];
  return [`${names.join(', ')}: what the envFile sets is not looked at.`];
}

/** Anything may call itself `sub`; only ours is known to govern. */
function foreignIn({ after: { entries }, found, own, env }: NoteContext): readonly string[] {
  const { id } = found.client;
  return entries.flatMap((entry) => {
    const { name, governed } = entry;
    if (governed === undefined || startsThisSub(entry, { own, env })) return [];
    return [
      `${name} starts another sub, ${governed.program.join(' ')}: whether that governs it, this one cannot tell. To have this one govern it: \`sub restore ${id}\`, then \`sub import ${id}\`.`,
    ];
  });
}

/** A shim that was put there by hand, or whose record is lost, keeps the options that it has. */
function lostIn({ after, renewed, call, found }: NoteContext): readonly string[] {
  const names = after.entries
    .filter((entry) => renewed.has(entryKey(entry)) && !hasFlags(entry, call.flags))
    .map(({ name }) => name);
  if (names.length === 0) return [];
  return [
    `${names.join(', ')} of ${found.file.path}: no record of this shim is left, so its options stay as they are. Use \`sub restore\` first, then \`sub import\`.`,
  ];
}

function hasFlags({ governed }: ServerEntry, flags: readonly string[]): boolean {
  return flags.every(
    (word, at) => at % 2 === 1 || flagIn(governed?.flags ?? [], word.slice(2)) === flags[at + 1],
  );
}

function sharedFile({ file }: FoundConfig): readonly string[] {
  if (file.scope !== 'project') return [];
  return [
    `${file.path} belongs to the project: others who share it would start sub from this machine's path. --user-only leaves such files out.`,
  ];
}

/** Started from a desktop, a client has no folder of a project to find a policy from. */
function unknownFolder({ found: { client }, call }: NoteContext): readonly string[] {
  if (!client.hasWindow || call.flags.includes('--policy')) return [];
  return [
    `${client.title} starts its servers from a folder of its own choice: without --policy they may not find the policy of this project.`,
  ];
}

/** Codex puts the parts of an entry together from several files, and drops those of the shim. */
export function splitIn(found: readonly FoundConfig[], project: string): readonly string[] {
  const configs = found.map(({ config }) => config);
  return effectiveServers(configs, project)
    .filter(({ isSplit }) => isSplit)
    .map(({ entry, file, overridden }) => {
      const others = overridden.map(({ path }) => path).join(', ');
      return `${entry.name} is NOT governed: it has one part in ${file.path} and another in ${others}. Give it its command and its args in one file.`;
    });
}
