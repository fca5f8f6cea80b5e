// What the gateway itself makes of a turn. What the client says is a prior: it fills a gap and may raise the
// sensitivity, but never lowers it.
import type { Level, ModelEnvelope } from '@subluminal/contracts';
import type { Repo, ServerClass } from '../types.ts';
import type { TurnTags } from './tag-turn.ts';

/** Something that the gateway's own scan found. */
export interface ScanFinding {
  readonly class: 'secret' | 'personal' | 'injection' | 'hidden_text';
  readonly rule: string;
  readonly confidence: 'certain' | 'likely' | 'hint';
}

export interface ClassifiedTurn {
  /** The gateway's own, made from the body. */
  readonly tags: TurnTags;
  readonly findings: readonly ScanFinding[];
  readonly envelope?: ModelEnvelope;
  readonly repo?: Repo;
}

/** What policies call findings that several rules of the scan have. */
const FINDING_TYPES: ReadonlyMap<string, string> = new Map([
  ['aws-access-key', 'aws_key'],
  ['aws-secret-key', 'aws_key'],
  ['aws-presigned-url', 'aws_key'],
  ['gcp-service-account', 'gcp_key'],
  ['google-api-key', 'gcp_key'],
  ['google-oauth-token', 'gcp_key'],
]);
const FINDINGS_MAX = 256;
const LEVELS: readonly Level[] = ['unknown', 'low', 'medium', 'high'];
const PRIOR_CONFIDENCE_MIN = 0.5;

export function reclassify({ tags, findings, envelope, repo }: ClassifiedTurn): ServerClass {
  const { hints } = tags;
  const prior = envelope?.task_hints;
  const hasSecret = findings.some((finding) => isSure(finding, 'secret'));
  const hasPersonalData = findings.some((finding) => isSure(finding, 'personal'));
  const found: Level = hasSecret ? 'high' : hasPersonalData ? 'medium' : 'unknown';
  const claims = [found, hints.data_sensitivity, repo?.sensitivity, prior?.data_sensitivity];
  const languages = [...tags.languages, envelope?.context_signals.primary_language ?? ''];
  return {
    taskType: isGap(hints.task_type)
      ? sure(prior?.task_type, prior?.confidence.task_type)
      : hints.task_type,
    complexity: isGap(hints.complexity)
      ? sure(prior?.complexity, prior?.confidence.complexity)
      : hints.complexity,
    dataSensitivity: highest(claims),
    isAgenticLoop: hints.agentic_loop,
    hasSecretFinding: hasSecret,
    hasPersonalDataFinding: hasPersonalData,
    findings: distinctFindings(findings),
    languages: [...new Set(languages)].filter((language) => language !== ''),
  };
}

/** A mere hint is listed for policies that ask for it, and moves no turn by itself. */
function isSure(finding: ScanFinding, wanted: ScanFinding['class']): boolean {
  return finding.class === wanted && finding.confidence !== 'hint';
}

function isGap(value: string): boolean {
  return value === 'unknown';
}

function sure(value: string | undefined, confidence = 0): string {
  return value !== undefined && confidence >= PRIOR_CONFIDENCE_MIN ? value : 'unknown';
}

function highest(levels: readonly (Level | undefined)[]): Level {
  return LEVELS.findLast((level) => levels.includes(level)) ?? 'unknown';
}

/** Each kind once with each confidence, by the names that policies use. */
function distinctFindings(findings: readonly ScanFinding[]): ServerClass['findings'] {
  const found = new Map<string, ServerClass['findings'][number]>();
  for (const { rule, confidence } of findings) {
    if (found.size >= FINDINGS_MAX) break;
    const type = FINDING_TYPES.get(rule) ?? rule.replaceAll('-', '_');
    found.set(`${type} ${confidence}`, { type, confidence });
  }
  return [...found.values()];
}
