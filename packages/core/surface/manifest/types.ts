// A manifest as compiled: ready to filter lists and to decide calls.
import type { NameTest } from '../../patterns/glob.ts';
import type { ParamPattern } from '../params.ts';
import type { Hours, Rate } from './quantities.ts';
import type { ManifestDocument, Tier } from './shape.ts';

export interface Limits {
  readonly rate: Rate | undefined;
  readonly hours: Hours | undefined;
  readonly cooldownMs: number | undefined;
}

export interface CompiledTool {
  /** As written; its counters are kept under it. */
  readonly name: string;
  readonly test: NameTest;
  /** Undefined when only the tiers' own lists say it. */
  readonly tier: Tier | undefined;
  readonly limits: Limits;
  readonly answerBytesMax: number | undefined;
}

/** How a person is asked. */
export interface Confirmation {
  readonly channel: string | undefined;
  readonly show: readonly string[];
  readonly timeoutMs: number | undefined;
}

export interface CompiledTier {
  readonly actions: readonly NameTest[];
  readonly limits: Limits;
  readonly confirmation: Confirmation;
}

export interface ParamLimit {
  readonly maximum?: number;
  readonly minimum?: number;
  readonly lengthMax?: number;
  readonly lengthMin?: number;
  readonly itemsMax?: number;
  readonly recipientsMax?: number;
  readonly bytesMax?: number;
  readonly values?: readonly (string | number | boolean)[];
  readonly pattern?: { readonly source: string; readonly test: NameTest };
}

export interface Constrained {
  readonly pattern: ParamPattern;
  readonly limit: ParamLimit;
}

export interface CompiledRewrite {
  readonly test: NameTest;
  readonly strips: readonly ParamPattern[];
  readonly constrained: readonly Constrained[];
}

export interface AllowEntry {
  readonly source: string;
  readonly test: NameTest;
  readonly exact: boolean;
  readonly allowed: boolean;
}

export interface BreakerSettings {
  readonly errorThreshold: number;
  readonly errorWindowMs: number;
  readonly latencyThresholdMs: number;
  readonly recoveryTimeoutMs: number;
  readonly recoveryProbes: number;
  readonly maxRecoveryBackoffMs: number;
}

export interface Manifest {
  readonly document: ManifestDocument;
  /** SHA-256 of the canonical document, its defaults written out. */
  readonly manifest_hash: string;
  readonly server: string;
  readonly transport: 'stdio' | 'http' | 'sse';
  /** For tools that are not listed; `forbidden` unless the manifest says otherwise. */
  readonly defaultTier: Tier;
  readonly exact: ReadonlyMap<string, CompiledTool>;
  readonly globs: readonly CompiledTool[];
  /** The names that stand in it as they are, by their variant without case and separators. */
  readonly variants: ReadonlyMap<string, readonly string[]>;
  readonly tiers: { readonly [T in Tier]: CompiledTier };
  readonly blocked: readonly ParamPattern[];
  readonly rewrites: readonly CompiledRewrite[];
  readonly prompts: readonly AllowEntry[];
  readonly resources: readonly AllowEntry[];
  readonly breaker: BreakerSettings;
  readonly answers: { readonly bytesMax: number; readonly onExcess: 'refuse' | 'truncate' };
}
