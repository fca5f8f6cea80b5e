// Which sections hold for an agent, and whether they are enforced, where one or two policies apply.
import type { FullContentSection, FullTaintSection, Mode } from '@subluminal/contracts';
import { policiesIn, type Snapshot } from '../compile/snapshot.ts';
import { stricterContent, stricterTaint } from '../compile/stricter-sections.ts';
import { selects } from '../match/match.ts';
import type { Identity } from '../model/call.ts';

export interface SectionsInForce {
  readonly content: FullContentSection | undefined;
  readonly taint: FullTaintSection | undefined;
  readonly mode: Mode;
}

interface Sectioned<S> {
  readonly section: S;
  readonly isEnforced: boolean;
}

/** From the mildest to the strictest: what `control` asks a person about, `guardrails` refuses. */
const MODES: readonly Mode[] = ['observe', 'control', 'guardrails'];

/** For one agent; without it, for any. */
export function sectionsFor(snapshot: Snapshot, identity?: Identity): SectionsInForce {
  const policies = policiesIn(snapshot).filter(
    ({ document }) => identity === undefined || selects(document.selectors, identity),
  );
  const mode = strictestMode(policies);
  const given = <S>(sectionOf: (policy: Snapshot) => S | undefined): readonly Sectioned<S>[] =>
    policies.flatMap((policy) => {
      const section = sectionOf(policy);
      const isEnforced = mode === 'observe' || policy.document.mode !== 'observe';
      return section === undefined ? [] : [{ section, isEnforced }];
    });
  return {
    content: inForce(
      given(({ document }) => document.content),
      stricterContent,
      observedContent,
    ),
    taint: inForce(
      given(({ document }) => document.taint),
      stricterTaint,
      observedTaint,
    ),
    mode,
  };
}

/** The mode of what stands beside the policies: manifests, pins, Cedar. */
export function strictestMode(policies: readonly Snapshot[]): Mode {
  const modes = new Set(policies.map(({ document }) => document.mode));
  return MODES.findLast((mode) => modes.has(mode)) ?? 'observe';
}

/** A section of a policy that only observes counts less than one that is enforced. */
function inForce<S>(
  given: readonly Sectioned<S>[],
  stricter: (user: S, project: S) => S,
  observed: (section: S) => S,
): S | undefined {
  const enforced = given.filter(({ isEnforced }) => isEnforced);
  const [first, second] = enforced.length > 0 ? enforced : given;
  if (first === undefined) return undefined;
  if (second !== undefined && second.isEnforced) return stricter(first.section, second.section);
  return first.isEnforced ? first.section : observed(first.section);
}

/** The section of a policy that only observes, beside one that is enforced: findings are tagged. */
function observedContent(section: FullContentSection): FullContentSection {
  const { outbound, inbound, definitions } = section;
  const observed = ({ secret, personal, injection, hidden_text }: typeof outbound) => ({
    secret: observedAction(secret),
    personal: observedAction(personal),
    injection: observedAction(injection),
    hidden_text: observedAction(hidden_text),
  });
  return {
    ...section,
    outbound: observed(outbound),
    inbound: observed(inbound),
    definitions: observed(definitions),
    unscanned: observedAction(section.unscanned),
    external_content: 'off',
    max_result_chars: Number.MAX_SAFE_INTEGER,
  };
}

function observedAction(action: string): 'allow' | 'tag' {
  return action === 'allow' ? 'allow' : 'tag';
}

function observedTaint(section: FullTaintSection): FullTaintSection {
  return { ...section, on_taint: 'tag', rule_of_two: { ...section.rule_of_two, mode: 'off' } };
}
