// What the content section of a policy would do about what was found.
import {
  type FullContentSection,
  fullContent,
  type Mode,
  unscannedAction,
} from '@subluminal/contracts';
import {
  type Action,
  type Actions,
  applyActions,
  type Direction,
  type Finding,
  type Strictness,
  suppress,
  type Verdict,
} from '@subluminal/core/detect';
import type { Policy } from '../policy/load-policy.ts';

export type Way = Direction | 'definitions';

export interface Judge {
  readonly name: string;
  readonly mode: Mode;
  readonly section: FullContentSection | undefined;
}

/** The server and the tool that suppressions are for. */
export interface Place {
  readonly server: string;
  readonly tool: string;
}

export interface Judging {
  readonly judge: Judge;
  readonly place: Place | undefined;
  readonly as: Strictness;
  readonly nowMs: number;
}

export type Doings = Partial<Record<Way, Action>>;

export function judgeOf({ name, snapshot }: Policy): Judge {
  const { content, mode } = snapshot.document;
  return { name, mode, section: content === undefined ? undefined : fullContent(content) };
}

/** Whether the policy knows it for a false alarm. */
export function isSuppressed(finding: Finding, { judge, place, nowMs }: Judging): boolean {
  const { section } = judge;
  if (section === undefined || place === undefined) return false;
  const verdict = { ...NOTHING, findings: [finding] };
  return suppress(verdict, section.suppressions, { ...place, nowMs }).suppressed.length > 0;
}

/** What is done about one finding, each way it can travel. */
export function doneAbout(finding: Finding, judging: Judging): Doings {
  return doneWith({ ...NOTHING, findings: [finding] }, judging);
}

const NOTHING: Verdict = { findings: [], unscanned: [], scannedUnits: 0, steps: 0 };

/** What is done with all of it: the strongest action counts. */
export function doneWith(verdict: Verdict, { judge, place, as, nowMs }: Judging): Doings {
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
  const unscanned = unscannedAction(section, as === 'definition' ? 'definitions' : direction);
  return as === 'definition'
    ? { outbound: definitions, inbound: definitions, confidenceMin, unscanned }
    : { outbound, inbound, confidenceMin, unscanned };
}

/** Nobody is asked about what comes in. */
function firm(action: Action): Action {
  return action === 'ask' ? 'block' : action;
}
