// What a guard is made of. Everything that is absent costs nothing.
import type { ContentSection } from '@subluminal/contracts';
import type { Sha256 } from '../ports.ts';
import type { Guard } from '../session/guard.ts';
import type { Manifest, NewPins, OpenedPins } from '../surface/index.ts';
import type { TaintPolicy } from '../taint/index.ts';
import type { LeakFinder } from './leak-finder.ts';

/** Which gates are enforced; the others only note what they would have done. */
export interface Enforcement {
  /** The manifest and its circuit breaker. */
  readonly surface: boolean;
  readonly pins: boolean;
  /** Content, definitions and taint. Secrets that were injected are kept in any case. */
  readonly content: boolean;
  /** Whether a person can be asked; where not, what needs one is refused. */
  readonly asks: boolean;
}

export interface PinOptions {
  /** `on`: a tool that was never listed in this session passes. `strict`: it does not. */
  readonly mode: 'on' | 'strict';
  readonly opened: OpenedPins;
}

interface ProtectedName {
  readonly name: string;
  readonly what: string;
}

/** Keeps calls away from what governs them. */
export interface SelfProtection {
  /** False where a call is only noted. */
  readonly enforced: boolean;
  /** Names of protected files that have no sign of a path in them. */
  readonly baseNames: ReadonlySet<string>;
  /** Whether one of these names stands anywhere in JSON. */
  hasBaseName(json: Uint8Array): boolean;
  /** Whether the base name of anything protected stands in a text. */
  isMentioned(text: string): boolean;
  /** The first of these names that is protected, and as what: `the policy in force`. */
  find(names: readonly string[]): ProtectedName | undefined;
  /** The agent has sent its roots to the server: relative names may start there. */
  rootsTold(uris: readonly string[]): void;
}

export interface GuardOptions {
  readonly server: string;
  readonly enforces: Enforcement;
  readonly manifest?: Manifest | undefined;
  readonly pins?: PinOptions | undefined;
  readonly content?: ContentSection | undefined;
  /** Also absent when a hub keeps the taint of the run. */
  readonly taint?: TaintPolicy | undefined;
  /** Finds the secrets that were injected into the server. */
  readonly leaks?: LeakFinder | undefined;
  readonly selfProtection?: SelfProtection | undefined;
  readonly sha256: Sha256;
  /** A keyed hash, short and the same each time; suppressions name it. */
  readonly fingerprint: (text: string) => string;
  /** Takes secrets out of all words of a gate. */
  readonly redact: (text: string) => string;
  /** Beyond this size a message is never shown to a gate. */
  readonly inspectBytesMax?: number | undefined;
  /** A hub counts for the limits of the manifest, so that a new session of the server goes on with them. */
  readonly hubCounts?: boolean | undefined;
  /** Where the jitter of the circuit breaker starts. */
  readonly seed?: number | undefined;
}

/** A guard, with the pins that its owner must store. */
export interface ServerGuard extends Guard {
  /** Definitions that were seen for the first time since this was last asked, to be remembered. */
  pins(): NewPins | undefined;
  /** The same session by other options: counters, pins and taint go on. */
  renewed(options: GuardOptions): ServerGuard;
}
