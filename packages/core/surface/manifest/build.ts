// The parts of a manifest compiled one by one; what is wrong with them is collected on the way.
import type { NameTest } from '../../patterns/glob.ts';
import type { RegexResult } from '../../patterns/regex.ts';
import type { Path } from '../../source/problem.ts';
import {
  HOURS_FAULTS,
  type Rate,
  readDuration,
  readHours,
  readRate,
} from '../../text/quantities.ts';
import { quote } from '../../text/visible.ts';
import { readName } from '../names/name-patterns.ts';
import type { ManifestFinding } from './explain.ts';
import type { LimitFields, Tier, ToolEntry } from './shape.ts';
import type {
  AllowEntry,
  BreakerSettings,
  CompiledTier,
  CompiledTool,
  FullDocument,
  Limits,
} from './types.ts';

type CompileRegex = (source: string) => RegexResult;

/** Collects what is wrong with a manifest while its parts are compiled. */
export class Building {
  readonly findings: ManifestFinding[] = [];
  /** Undefined when no field of the manifest has an expression. */
  readonly regex: CompileRegex | undefined;

  constructor(regex: CompileRegex | undefined) {
    this.regex = regex;
  }

  wrong(path: Path, message: string, fix: string): void {
    this.findings.push({ code: 'SUB_MANIFEST_VALUE', path, message, fix });
  }

  conflict(path: Path, message: string, fix: string): void {
    this.findings.push({ code: 'SUB_MANIFEST_CONFLICT', path, message, fix });
  }
}

/** A number without its unit. */
const COUNT = /^[1-9]\d{0,5}$/;
const NEVER: NameTest = () => false;

export function nameAt(building: Building, written: string, path: Path) {
  const pattern = readName(written);
  if (pattern.kind !== 'wrong') return pattern;
  const fix = 'Correct the glob, or put a `\\` before each sign that is meant as it stands.';
  building.wrong(path, `${quote(written)} is no glob: ${pattern.message}`, fix);
  return { kind: 'glob', test: NEVER } as const;
}

function rateAt(building: Building, written: string | undefined, path: Path): Rate | undefined {
  const rate = written === undefined ? undefined : readRate(written);
  if (written === undefined || rate !== undefined) return rate;
  const like = COUNT.test(written) ? `${written}/minute` : '30/minute';
  const fix = `Write it like \`${like}\`, per second, minute, hour or day.`;
  building.wrong(path, `${quote(written)} is no rate`, fix);
  return undefined;
}

function durationAt(building: Building, written: string, path: Path): number {
  const duration = readDuration(written);
  if (duration !== undefined) return duration;
  const fix = COUNT.test(written)
    ? `Write \`${written}s\`, or with another unit.`
    : 'Write it like `30s`, `15m` or `2h`.';
  building.wrong(path, `${quote(written)} is no duration`, fix);
  return 1;
}

function limitsAt(building: Building, fields: LimitFields, path: Path): Limits {
  const { rate_limit, cooldown } = fields;
  const hours = fields.hours === undefined ? undefined : readHours(fields.hours);
  if (typeof hours === 'string') {
    const { message, fix } = HOURS_FAULTS[hours];
    building.wrong([...path, 'hours', hours], message, fix);
  }
  return {
    rate: rateAt(building, rate_limit, [...path, 'rate_limit']),
    hours: typeof hours === 'string' ? undefined : hours,
    cooldownMs:
      cooldown === undefined ? undefined : durationAt(building, cooldown, [...path, 'cooldown']),
  };
}

interface Tools {
  readonly exact: ReadonlyMap<string, CompiledTool>;
  readonly globs: readonly CompiledTool[];
}

export function toolsOf(building: Building, { allowed_tools: entries }: FullDocument): Tools {
  const exact = new Map<string, CompiledTool>();
  const globs: CompiledTool[] = [];
  for (const [index, entry] of entries.entries()) {
    const path = ['allowed_tools', index];
    const pattern = nameAt(building, entry.name, [...path, 'name']);
    const tool = {
      name: entry.name,
      test: pattern.test,
      tier: tierOf(building, entry, path),
      limits: limitsAt(building, entry, path),
      answerBytesMax: entry.max_answer_bytes,
    };
    if (pattern.kind === 'glob') globs.push(tool);
    else if (!exact.has(pattern.name)) exact.set(pattern.name, tool);
    else {
      const message = `the tool ${quote(entry.name)} is listed twice`;
      building.conflict([...path, 'name'], message, 'Remove one of the two.');
    }
  }
  return { exact, globs };
}

/** What an entry says by itself; two fields that contradict each other are an error. */
function tierOf(building: Building, entry: ToolEntry, path: Path): Tier | undefined {
  const { allowed, requires_approval, permission_tier: tier } = entry;
  const at = [...path, 'permission_tier'];
  if (allowed === false) {
    if (tier !== undefined && tier !== 'forbidden') {
      const message = `the tool is not allowed, but its tier is \`${tier}\``;
      building.conflict(at, message, 'Remove one of the two fields.');
    }
    return 'forbidden';
  }
  if (requires_approval === true && tier !== undefined && tier !== 'human_approval') {
    const message = `the tool requires approval, but its tier is \`${tier}\``;
    building.conflict(at, message, 'Write `human_approval`, or remove one of the two fields.');
  }
  if (tier === 'forbidden' && allowed === true) {
    const message = 'the tool is allowed, but its tier is `forbidden`';
    building.conflict(at, message, 'Remove one of the two fields.');
  }
  return tier ?? (requires_approval === true ? 'human_approval' : undefined);
}

export function tiersOf(building: Building, document: FullDocument): { [T in Tier]: CompiledTier } {
  return {
    auto_execute: tierRules(building, document, 'auto_execute'),
    log_and_execute: tierRules(building, document, 'log_and_execute'),
    human_approval: tierRules(building, document, 'human_approval'),
    forbidden: tierRules(building, document, 'forbidden'),
  };
}

function tierRules(building: Building, document: FullDocument, tier: Tier): CompiledTier {
  const rules = document.tiers[tier];
  const path = ['tiers', tier];
  const actions = (rules?.actions ?? []).map(
    (name, index) => nameAt(building, name, [...path, 'actions', index]).test,
  );
  const { channel, show = [], timeout } = rules?.confirmation ?? {};
  const timeoutPath = [...path, 'confirmation', 'timeout'];
  const timeoutMs = timeout === undefined ? undefined : durationAt(building, timeout, timeoutPath);
  return {
    actions,
    limits: limitsAt(building, rules?.constraints ?? {}, [...path, 'constraints']),
    confirmation: { channel, show, timeoutMs },
  };
}

export function entriesOf(
  building: Building,
  field: 'allowed_prompts' | 'allowed_resources',
  document: FullDocument,
): readonly AllowEntry[] {
  return document[field].map((entry, index) => {
    const part = 'uri' in entry ? 'uri' : 'name';
    const source = 'uri' in entry ? entry.uri : entry.name;
    const pattern = nameAt(building, source, [field, index, part]);
    return { source, test: pattern.test, exact: pattern.kind === 'exact', allowed: entry.allowed };
  });
}

export function breakerOf(building: Building, { circuit_breaker }: FullDocument): BreakerSettings {
  const { error_threshold, recovery_probes, ...durations } = circuit_breaker;
  const duration = (field: keyof typeof durations) =>
    durationAt(building, durations[field], ['circuit_breaker', field]);
  const settings = {
    errorThreshold: error_threshold,
    recoveryProbes: recovery_probes,
    recoveryTimeoutMs: duration('recovery_timeout'),
    maxRecoveryBackoffMs: duration('max_recovery_backoff'),
    errorWindowMs: duration('error_window'),
    latencyThresholdMs: duration('latency_threshold'),
  };
  if (settings.maxRecoveryBackoffMs < settings.recoveryTimeoutMs) {
    const message = '`max_recovery_backoff` is shorter than `recovery_timeout`';
    const path = ['circuit_breaker', 'max_recovery_backoff'];
    building.conflict(path, message, 'Make it at least as long.');
  }
  return settings;
}
