// The types of hooks: what stands in a client's settings, and what is put on its command line.
import type { Failure } from '@subluminal/contracts';
import type { LaunchFolder } from '../../run/options.ts';
import type { ClientId, ClientPlace, ConfigPart, Format, ValuePath } from '../types.ts';

/** How `sub hook` is started, whatever the environment of the client says. */
export interface HookCall {
  /** Absolute and free of links: the runtime, and the script of `sub`. */
  readonly program: readonly string[];
  /** HOME, and SUB_HOME where the user has set it; nothing for hooks of all users. */
  readonly homes: { readonly [name: string]: string };
  /** The file of the policy, where the user has named one. */
  readonly policy?: string;
}

/** One entry of an event, in the client's own form. */
export type HookItem = { readonly [key: string]: unknown };

export interface HookHandler {
  readonly command: string;
  /** From the entry to what goes with the command; empty where the entry is that itself. */
  readonly path: ValuePath;
}

/** How hooks stand in the settings of one client. */
export interface HookSettings {
  /** The entry of each event: it is added behind those that are there. */
  items(command: string): { readonly [event: string]: HookItem };
  /** The commands in one entry of an event, and where each stands in it. */
  handlersIn(item: unknown): readonly HookHandler[];
  /** What a file must hold beside its hooks. */
  readonly beside: { readonly [key: string]: unknown };
}

export interface HookFile {
  readonly client: ClientId;
  readonly path: string;
  readonly format: Format;
  /** Servers of the client stand there, too: the hooks have a record of their own. */
  readonly part?: ConfigPart;
}

/** What of a client is known about its hooks. */
export interface ClientHooks {
  readonly client: ClientId;
  readonly settings: HookSettings;
  /** False: only read in the documentation of the client, and never tried. */
  readonly isTried: boolean;
  /** The command that starts it. */
  readonly program: string;
  /** Its package on npm, whose version is that of the client. */
  readonly packageName: string;
  /** By which its settings can disable them one by one. */
  readonly hookName?: string;
  /** The first version that lets no tool run when a hook fails; none does without it. */
  readonly blocksSince?: string;
  /** Where the user's own hooks stand. */
  userFile(place: ClientPlace): HookFile;
  /** Where those stand that no user and no project can switch off. */
  managedFile?(place: ClientPlace): HookFile;
  /** What a managed file holds beside its hooks, and beside what every file holds. */
  readonly managedBeside?: { readonly [key: string]: unknown };
  /** What is put at the end of a managed file that is no JSON. */
  managedBlock?(command: string): string;
  /** The files of a project by which they can be switched off, relative to its folder. */
  readonly projectFiles: readonly string[];
  /** All files by which hooks can be switched off, or others be put beside them. */
  settingsFiles(place: ClientPlace): readonly string[];
  /** The first of these files that could answer in place of the user when the client asks. */
  answererIn?(paths: readonly string[]): string | undefined;
  /** What somebody who writes a project could do to hooks of the user's settings; whole sentences. */
  readonly limits: readonly string[];
  /** What managed hooks do not hold against either; whole sentences. */
  readonly lastingLimits?: readonly string[];
  /** Puts them on the command line; without it, the client takes none from there. */
  session?(start: HookedStart): HookedLine | Failure;
}

/** Where the hooks of one run are answered, and what is to be started. */
export interface HookedStart {
  readonly http: { readonly url: string; readonly token: string };
  /** The path of a socket, for hooks that are commands. */
  readonly socket: string;
  readonly call: HookCall;
  readonly command: readonly string[];
  /** Where it is started, and with which environment. */
  readonly place: ClientPlace;
  /** Of the client; undefined where nobody knows. */
  readonly version: string | undefined;
}

/** How the client is started with its hooks. */
export interface HookedLine {
  readonly command: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  /** Has to be there for as long as the client runs. */
  readonly folder?: LaunchFolder;
}
