// The types of a client: where it keeps its servers, and how a change of them is planned.
import type { Client as EventClient, Failure } from '@subluminal/contracts';
import type { OwnLogin, ReadLogin } from './own-login.ts';
import type { SettingsRecord } from './text/change-settings.ts';
import type { Format, ValuePath } from './text/tree.ts';

export type { Edit, Format, ValuePath } from './text/tree.ts';

/** The id of a client in the registry. */
export type ClientId = string;

/** Where to look: one user, one project, one machine. */
export interface ClientPlace {
  readonly platform: NodeJS.Platform;
  /** An absolute path, from HOME. */
  readonly userHome: string;
  /** The folder of the project, absolute. */
  readonly project: string;
  readonly env: { readonly [name: string]: string | undefined };
}

export type ConfigScope = 'user' | 'project';

/** A file that a client reads its servers from, whether it exists or not. */
export interface ConfigFile {
  readonly client: ClientId;
  readonly scope: ConfigScope;
  /** As the client finds it; may be a link. */
  readonly path: string;
  readonly format: Format;
}

/** One server of a config file. Nothing of its environment is kept: that is where secrets are. */
export interface ServerEntry {
  readonly name: string;
  /** Claude Code keeps servers for single projects in the file of the user. */
  readonly project?: string;
  readonly path: ValuePath;
  readonly transport: 'stdio' | 'remote' | 'unknown';
  /** Why no shim can stand before it; with a command, the transport is unknown then. */
  readonly obstacle?: string;
  /** How it is reached; only where the transport is `remote`, and nothing stands in the way. */
  readonly remote?: RemoteServer;
  readonly isDisabled: boolean;
  /** Where the command and its arguments stand; `args` may not be there. */
  readonly at: { readonly command: ValuePath; readonly args: ValuePath };
  /** As written, nothing expanded; undefined where there is none. */
  readonly command: string | undefined;
  readonly args: readonly string[] | undefined;
  /** The command behind the shim, when the entry starts a shim of any `sub` already. */
  readonly governed: GovernedCommand | undefined;
  /** The client reads more of its environment from a file, which `sub` does not read. */
  readonly hasEnvFile?: true;
  /** It sets PATH: a bare name may be any program then. */
  readonly hasOwnPath?: true;
  /** The variables of its environment that would change the identity that a shim reports. */
  readonly serverOnly?: readonly string[];
  /** The references in its command, arguments, environment and folder. */
  readonly variables: readonly Variable[];
}

/** How a client writes a server with an address. */
export interface RemoteKeys {
  /** Any of them; the first is written. */
  readonly addresses: readonly string[];
  readonly headers: string;
  /** Headers by the names of variables. */
  readonly envHeaders?: string;
  /** The name of a variable with a bearer token. */
  readonly bearerEnv?: string;
  /** The names of variables that a command gets; such a client hands on no others. */
  readonly variables?: string;
  /** How the client logs in, where that can be taken over. */
  readonly login?: { readonly key: string; readonly read: ReadLogin };
  /** Properties that only the client can act on, and why the entry is left alone. */
  readonly refused: {
    readonly [key: string]: string | ((name: string, value: unknown) => string);
  };
  /** Of an entry with a command and an address, the client takes the address. */
  readonly winsOverCommand?: true;
  /** Why the client reaches no server by an address in its files. */
  readonly unread?: string;
}

/** A server with an address, as its entry describes it. Values of headers are not kept. */
export interface RemoteServer {
  /** As written, nothing expanded. */
  readonly url: string;
  /** The variable that its shim finds the address in, where that seems to hold a secret. */
  readonly urlVariable?: string;
  /** The properties that hold its address and its headers. */
  readonly addressKey: string;
  readonly headersKey: string;
  /** It has the transport of 2024-11-05 and no other. */
  readonly isSse: boolean;
  readonly headers: readonly RemoteHeader[];
  /** A variable of the client's environment that holds a bearer token. */
  readonly bearerEnv?: string;
  /** How its client would log in. */
  readonly login?: OwnLogin;
  /** The properties that a command takes the place of. */
  readonly replacedKeys: readonly string[];
  /** Where the entry names the variables that its command gets; other clients hand on all. */
  readonly variablesKey?: string;
}

export interface RemoteHeader {
  readonly name: string;
  /** The variable that its shim finds the value in. */
  readonly variable: string;
  /** Where its value stands in the config; none where the client's environment has it. */
  readonly path?: ValuePath;
}

/** A reference such as `${NAME}`, or `$NAME` (`bare`). What it stands for, and its default, are not kept. */
export interface Variable {
  readonly syntax: 'plain' | 'bare' | 'env' | 'input';
  readonly name: string;
  readonly hasDefault: boolean;
}

export interface GovernedCommand {
  /** The words before `shim`. They may start a `sub` that is not this one. */
  readonly program: readonly string[];
  readonly serverName: string | undefined;
  /** The words between `shim` and `--`. */
  readonly flags: readonly string[];
  /** The variables that it hands to the server alone. */
  readonly serverOnly?: readonly string[];
  /** The session of `sub wrap` that has put it there. */
  readonly wrapId: string | undefined;
  readonly command: readonly string[];
  /** In place of a command: the options that say how the server is reached, and its address. */
  readonly remote?: GovernedRemote;
}

export interface GovernedRemote {
  /** Undefined where it stands in a variable. */
  readonly url: string | undefined;
  readonly urlVariable: string | undefined;
  /** From `--url` to `--transport`. */
  readonly flags: readonly string[];
}

/** How an entry is made to start a shim. */
export interface ShimCall {
  /** Absolute and free of links: the runtime, and the script of `sub`. */
  readonly program: readonly string[];
  /** Behind `--server-name NAME`: `--policy`, `--profile`, `--wrap`. */
  readonly flags: readonly string[];
  /** In place of `flags`, where those of single entries differ. */
  readonly flagsFor?: (entry: ServerEntry) => readonly string[];
  /** It takes the place of a shim that an entry starts already: the server stays the same. */
  readonly replacesShim?: boolean;
  /** The headers of an entry whose values are in the store of secrets. */
  readonly storedHeaders?: (entry: ServerEntry) => readonly RemoteHeader[];
}

/** The change of one entry: enough to undo it in a file that others have changed since. */
export interface EntryChange {
  readonly name: string;
  readonly project?: string;
  readonly at: { readonly command: ValuePath; readonly args: ValuePath };
  /** Null where the entry had an address in place of a command. */
  readonly before: EntryValues | null;
  readonly after: EntryValues;
  /** The whole entry, where it had an address; its text as it was is in the backup. */
  readonly entry?: ReplacedEntry;
}

/** An entry that starts a shim in place of its address. */
export interface ReplacedEntry {
  readonly path: ValuePath;
  /** The properties that hold its address and its headers. */
  readonly address: string;
  readonly headers: string;
  /** All properties that a command takes the place of. */
  readonly replaced: readonly string[];
}

export interface EntryValues {
  readonly command: ValueText;
  /** Null where the entry had no arguments. */
  readonly args: ValueText | null;
}

/** A value, and how it was written. */
export interface ValueText {
  readonly value: string | readonly string[];
  readonly text: string;
}

/** The config of a client after a change, and how to undo it. */
export interface RewrittenConfig {
  readonly text: string;
  readonly changes: readonly EntryChange[];
  /** The config without our edits and without the secrets that moved; only where some did. */
  readonly base?: string;
  /** Every secret that is not in the base any more. */
  readonly moved?: readonly MovedSecret[];
  readonly hooks?: HookChange;
  /** Where settings are changed, and no entries. */
  readonly settings?: SettingsRecord;
}

/** A part of a config that comes and goes by itself, with a record of its own. */
export type ConfigPart = 'hooks' | 'sandbox';

/** Hooks in the settings of a client; `block` where they are a text at the end of the file. */
export interface HookChange {
  readonly block?: string;
  /** Files of projects that could switch them off, relative to the folder of a project. */
  readonly guards?: readonly string[];
  /** The policy that they were put in with, where one was named. */
  readonly policy?: string;
  /** In the settings of the machine. */
  readonly isManaged?: true;
}

/** A secret that was taken out of the environment of an entry, into the store of secrets. */
export interface MovedSecret {
  /** The server, as the shim and the bindings know it. */
  readonly server: string;
  readonly path: ValuePath;
  /** The variable that its server is bound to, where the path does not end with it: that of a header. */
  readonly variable?: string;
  /** Its name in the store; its value is nowhere else. */
  readonly secret: string;
  /** When it went there; a value that is newer is another one. */
  readonly moved_at?: string;
  /** The digest of what its entry started then: an entry that starts something else does not get it back. */
  readonly started?: string;
  /** How it stood there, for as long as the base is what it was cut out of. */
  readonly cut?: CutText;
}

/** The text around a value that was cut out, at this offset, in place of so many characters. */
export interface CutText {
  readonly at: number;
  readonly length: number;
  readonly head: string;
  readonly tail: string;
  /** Between double quotes as JSON has it, or between single ones. */
  readonly form: 'quoted' | 'literal';
}

/** A failure that concerns one file. */
export interface ConfigFailure extends Failure {
  readonly path: string;
}

/** A config as it was read: the servers in it, and what they were read from. */
export interface ReadConfig {
  readonly kind: 'config';
  readonly file: ConfigFile;
  readonly text: string;
  readonly entries: readonly ServerEntry[];
  /** Servers of any file that this one switches off in single projects. */
  readonly switchedOff: readonly SwitchedOffServer[];
}

export interface SwitchedOffServer {
  readonly project: string;
  readonly name: string;
}

/** How an agent is started. */
export interface CommandLine {
  readonly place: ClientPlace;
  /** The configs that are rewritten. */
  readonly governed: readonly string[];
}

export interface Client {
  readonly id: ClientId;
  /** For people. */
  readonly title: string;
  /** Other words for it on the command line. */
  readonly aliases: readonly string[];
  /** The best known of the tools that it brings itself: no shim stands before them. */
  readonly builtInTools: readonly string[];
  /** It is started from a desktop, so the folder of its servers is unknown. */
  readonly hasWindow: boolean;
  /** The references to variables that it expands itself. */
  readonly expands: readonly Variable['syntax'][];
  /** How it writes servers with an address. */
  readonly remoteKeys: RemoteKeys;
  /** It replaces `${workspaceFolder}` by the folder that is open. */
  readonly expandsWorkspace: boolean;
  /** It merges its files value by value; other clients take each entry whole from one file. */
  readonly mergesFiles: boolean;
  /** The parts of its command line that bring servers which stand in none of its configs. */
  serversBeside(words: readonly string[], line: CommandLine): readonly string[];
  /** Whether a command line starts it (F-001). */
  isStartedBy(command: readonly string[]): boolean;
  /** Folders in which it keeps copies of its configs, and of files that it has changed. */
  copyFolders(place: ClientPlace): readonly string[];
  /** Its files in a project, relative to the folder of the project. */
  readonly projectFiles: readonly string[];
  /** What events call it; by its command where they have no word for it. */
  readonly eventName?: EventClient;
  /** Every file it may have, those that win last. */
  files(place: ClientPlace): readonly ConfigFile[];
  /** Whether there is a trace of it on this machine, a config or a folder of its own. */
  detect(place: ClientPlace): boolean;
  read(file: ConfigFile, text: string): ReadConfig | ConfigFailure;
  /** Makes the chosen entries start a shim; one that stands there already stays, or is replaced. */
  plan(config: ReadConfig, chosen: readonly ServerEntry[], call: ShimCall): RewrittenConfig;
}
