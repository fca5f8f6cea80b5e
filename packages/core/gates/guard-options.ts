// The options of a guard. An absent option costs nothing.
import type { ContentSection } from '@subluminal/contracts';
import type { WantedNames } from '../paths/named-paths.ts';
import type { Sha256 } from '../ports.ts';
import type { Guard } from '../session/guard.ts';
import type { CommandOutline } from '../shell/index.ts';
import type { Manifest, NewPins, OpenedPins } from '../surface/index.ts';
import type { TaintPolicy } from '../taint/index.ts';
import type { LeakFinder } from './leak-finder.ts';

/** Which gates are enforced; the others only record what they would have done. */
export interface Enforcement {
  /** The manifest and its circuit breaker. */
  readonly surface: boolean;
  readonly pins: boolean;
  /** Content, definitions and taint. Secrets that were injected are kept in any case. */
  readonly content: boolean;
  /** Whether a person can be asked; otherwise calls that need one are refused. */
  readonly asks: boolean;
}

export interface PinOptions {
  /** `on`: a tool that was never listed in this session passes. `strict`: it does not. */
  readonly mode: 'on' | 'strict';
  readonly opened: OpenedPins;
}

export interface ProtectedName {
  readonly name: string;
  readonly what: string;
}

/** Keeps calls away from the files that govern them. */
export interface SelfProtection extends WantedNames {
  /** False where a call is only noted. */
  readonly enforced: boolean;
  /** Whether one of these names stands anywhere in JSON. */
  hasBaseName(json: Uint8Array): boolean;
  /** The first of these names that is protected, and what it is, such as `the policy in force`. */
  find(names: readonly string[]): ProtectedName | undefined;
  /** What of the files that a command removes or overwrites is protected. */
  findChanged(
    changes: Pick<CommandOutline, 'removes' | 'puts' | 'writes'>,
  ): ProtectedName | undefined;
  /** Takes the roots that the agent sent to the server: relative names may start there. */
  useRoots(uris: readonly string[]): void;
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
  /** Larger messages are never shown to a gate. */
  readonly inspectBytesMax?: number | undefined;
  /** The hub counts for the limits of the manifest, so that a new session of the server continues the counts. */
  readonly hubCounts?: boolean | undefined;
  /** The seed of the jitter of the circuit breaker. */
  readonly seed?: number | undefined;
}

/** A guard, with the pins that its owner must store. */
export interface ServerGuard extends Guard {
  /** New definitions since the last call, to be saved. */
  pins(): NewPins | undefined;
  /** A guard with other options for the same session: counters, pins and taint are kept. */
  renewed(options: GuardOptions): ServerGuard;
}
