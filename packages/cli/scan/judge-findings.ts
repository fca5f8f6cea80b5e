// What the content section of a policy does about findings, and the suppressions to propose.
import {
  type Failure,
  type FullContentSection,
  failure,
  fullContent,
  type Mode,
  unscannedAction,
} from '@subluminal/contracts';
import {
  type Action,
  type Actions,
  applyActions,
  type ContentFinding,
  type Direction,
  readSuppression,
  type ScanVerdict,
  type Strictness,
  type Suppression,
  suppress,
} from '@subluminal/core/detect';
import { harmlessJson } from '@subluminal/core/visible';
import type { Policy } from '../policy/load-policy.ts';

export type Way = Direction | 'definitions';

export interface Judge {
  readonly name: string;
  readonly mode: Mode;
  readonly section: FullContentSection | undefined;
}

/** The server and the tool that suppressions are for. */
export interface SuppressionTarget {
  readonly server: string;
  readonly tool: string;
}

export interface Judging {
  readonly judge: Judge;
  readonly place: SuppressionTarget | undefined;
  readonly as: Strictness;
  readonly nowMs: number;
}

export type WayActions = Partial<Record<Way, Action>>;

export function judgeOf({ name, snapshot }: Policy): Judge {
  const { content, mode } = snapshot.document;
  return { name, mode, section: content === undefined ? undefined : fullContent(content) };
}

/** Whether the policy knows it for a false alarm. */
export function isSuppressed(finding: ContentFinding, { judge, place, nowMs }: Judging): boolean {
  const { section } = judge;
  if (section === undefined || place === undefined) return false;
  const verdict = { ...NOTHING, findings: [finding] };
  return suppress(verdict, section.suppressions, { ...place, nowMs }).suppressed.length > 0;
}

/** The actions on one finding, for each direction. */
export function actionsOnFinding(finding: ContentFinding, judging: Judging): WayActions {
  return actionsOnVerdict({ ...NOTHING, findings: [finding] }, judging);
}

const NOTHING: ScanVerdict = { findings: [], unscanned: [], scannedUnits: 0, steps: 0 };

/** The strongest action on all findings of a text, for each direction. */
export function actionsOnVerdict(
  verdict: ScanVerdict,
  { judge, place, as, nowMs }: Judging,
): WayActions {
  const { section } = judge;
  if (section === undefined) return {};
  const left =
    place === undefined
      ? verdict
      : suppress(verdict, section.suppressions, { ...place, nowMs }).verdict;
  const doing = (direction: Direction): Action =>
    applyActions(null, left, { direction, actions: actionsOf(section, as, direction) }).action;
  return as === 'definition'
    ? { definitions: doing('inbound') }
    : { outbound: doing('outbound'), inbound: firm(doing('inbound')) };
}

function actionsOf(section: FullContentSection, as: Strictness, direction: Direction): Actions {
  const { outbound, inbound, definitions, confidence_min: confidenceMin } = section;
  const { block_confidence: blockConfidence } = section;
  const unscanned = unscannedAction(section, as === 'definition' ? 'definitions' : direction);
  return as === 'definition'
    ? {
        outbound: definitions,
        inbound: definitions,
        confidenceMin,
        blockConfidence: confidenceMin,
        unscanned,
      }
    : { outbound, inbound, confidenceMin, blockConfidence, unscanned };
}

/** Answers cannot wait for approval: they are held back instead. */
function firm(action: Action): Action {
  return action === 'ask' ? 'block' : action;
}

const DAY_MS = 86_400_000;
const DAYS = 90;

/** One for each value and rule, whatever the number of places. */
export function suppressionsFor(
  findings: readonly ContentFinding[],
  place: SuppressionTarget,
  nowMs: number,
): readonly Suppression[] {
  const expires = new Date(nowMs + DAYS * DAY_MS).toISOString().replace(/\.\d+Z$/, 'Z');
  const found = new Map<string, Suppression>();
  for (const { rule, fingerprint } of findings) {
    const { server, tool } = place;
    found.set(`${rule} ${fingerprint}`, { rule, server, tool, fingerprint, expires });
  }
  return [...found.values()];
}

/** Names that a suppression takes: whole ones. */
export function readPlace(options: {
  readonly server: string | undefined;
  readonly tool: string | undefined;
}): SuppressionTarget | Failure | undefined {
  const { server, tool } = options;
  if (server === undefined && tool === undefined) return undefined;
  if (server === undefined || tool === undefined) {
    const message = `--${server === undefined ? 'tool' : 'server'} is given without --${server === undefined ? 'server' : 'tool'}.`;
    return failure('SUB_USAGE', message, 'A suppression is for one tool of one server: name both.');
  }
  const read = readSuppression({ rule: 'odd-name', server, tool, ...ANY });
  if (read.kind === 'suppression') return { server, tool };
  const message = 'the names of the server and the tool cannot stand in a suppression.';
  return failure('SUB_USAGE', message, 'Give whole names, without `*` and `?`.');
}

const ANY = { fingerprint: '0', expires: '2030-01-01T00:00:00Z' } as const;

/** As a policy has it; JSON strings are YAML, whatever a name is made of. */
export function suppressionsYaml(suppressions: readonly Suppression[]): string {
  const lines = suppressions.map((one) => {
    const fields = Object.entries(one).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    return `    - { ${fields.join(', ')} }\n`;
  });
  return harmlessJson(`content:\n  suppressions:\n${lines.join('')}`);
}
