// What a policy says that a client's own sandbox can enforce, and how it is said in the client's settings.
import type { JsonValue } from '@subluminal/contracts';

/** A folder or a glob, from one of the folders that rules know. */
export interface SandboxPath {
  readonly folder: 'project' | 'home' | 'tmp' | 'root';
  /** Below that folder, without a slash at its start; empty for the folder itself. */
  readonly rest: string;
  readonly isGlob: boolean;
}

/** `read`: neither read nor written. `write`: read, but not written. */
export type DeniedAccess = 'read' | 'write';

export interface DeniedPath extends SandboxPath {
  readonly access: DeniedAccess;
  readonly rule_id: string;
}

/** A tool or a host, and the rule that denies it. */
export interface DeniedName {
  readonly name: string;
  readonly rule_id: string;
}

/** The only folders that may be used, by these rules. */
export interface OnlyFolders {
  readonly folders: readonly SandboxPath[];
  readonly rules: readonly string[];
}

/** The only hosts that may be reached, by these rules. */
export interface OnlyHosts {
  readonly hosts: readonly string[];
  readonly rules: readonly string[];
}

/** A rule of the policy that is not in the sandbox, or not wholly. */
export interface LeftRule {
  readonly rule_id: string;
  /** Without a full stop: `it asks a person`. */
  readonly why: string;
}

/** What the rules say about one client's own tools, as far as it can be said once and for all. */
export interface SandboxPlan {
  readonly denied: readonly DeniedPath[];
  /** Where alone files may be written; undefined where the rules do not say. */
  readonly writeRoots: OnlyFolders | undefined;
  /** The same for reading by the tools for files. */
  readonly readRoots: OnlyFolders | undefined;
  /** Tools that are denied whatever they are called with. */
  readonly deniedTools: readonly DeniedName[];
  readonly deniedHosts: readonly DeniedName[];
  readonly onlyHosts: OnlyHosts | undefined;
  readonly left: readonly LeftRule[];
}

/** One change of a client's settings. What is there already and is stricter stays. */
export type SettingsChange =
  | { readonly path: readonly string[]; readonly set: JsonValue }
  /** Texts that a list must have. */
  | { readonly path: readonly string[]; readonly add: readonly string[] }
  | { readonly path: readonly string[]; readonly drop: true };

/** The settings of one file. */
export interface SandboxSettings {
  readonly changes: readonly SettingsChange[];
  /** What the client cannot say. */
  readonly left: readonly LeftRule[];
  /** What the user should know; whole sentences. */
  readonly notes: readonly string[];
}

export interface SandboxPlaces {
  readonly project: string;
  readonly home: string;
  readonly tmp: string;
}

/** How one client is told. */
export interface SandboxDialect {
  /** The client, and the server name of its own tools. */
  readonly client: string;
  /** The settings were tried with the real client; else they are from its documentation. */
  readonly isTried: boolean;
  readonly tools: SandboxTools;
  /** `current`: the settings as they are, empty where there are none. */
  settings(
    plan: SandboxPlan,
    current: { readonly [key: string]: unknown },
    places: SandboxPlaces,
  ): SandboxSettings;
}

/** The client's own tools by what they do, with the arguments that name a file. */
export interface SandboxTools {
  readonly read: { readonly [tool: string]: readonly string[] };
  readonly write: { readonly [tool: string]: readonly string[] };
  readonly shell: readonly string[];
}
