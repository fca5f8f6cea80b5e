// What another policy would have decided about a call that was made.
import type { ApiCallRecord, ApiPolicyActive, ApiPolicyExplained } from '@subluminal/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from '../../address/link.tsx';
import { asked, post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/buttons.tsx';
import { DecisionMark } from '../../parts/decision-mark.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainLine, plainText } from '../../parts/plain-text.ts';
import { keepDraft } from '../../parts/policy-draft.ts';
import { Value } from '../../parts/texts.tsx';
import { PanelSection } from './panel-section.tsx';

export function WhatIf({ record }: { readonly record: ApiCallRecord }) {
  const mayTry = useMay('owner');
  return (
    <PanelSection title="What if" isOpen={false} note="try another policy on this call">
      {mayTry ? (
        <PolicyTrial record={record} />
      ) : (
        <p className="text-dim">This page can only look: only an owner can try a policy.</p>
      )}
    </PanelSection>
  );
}

function PolicyTrial({ record }: { readonly record: ApiCallRecord }) {
  const { run_id, call_id } = record.call;
  const [file, setFile] = useState<string>();
  const question = { query: file === undefined ? {} : { path: file } };
  const active = useQuery({ ...asked('policyActive', question), staleTime: 60_000 });
  const [edited, setEdited] = useState<string>();
  const path = active.data?.path ?? undefined;
  const choose = (next: string) => {
    setFile(next);
    setEdited(undefined);
  };
  const text = edited ?? active.data?.text ?? '';
  const trial = useMutation({
    mutationFn: () => post('policyExplain', { text, run_id, call_id, ...(path && { path }) }),
  });
  const editing = edited === undefined ? {} : { tab: 'edit' };
  const keep = () => {
    if (edited === undefined || active.data === undefined) return;
    keepDraft(active.data.path, { text: edited, base: active.data.sha256 });
  };
  const submit = (event: { preventDefault(): void }) => {
    event.preventDefault();
    trial.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      {active.error !== null && <FailureText cause={active.error} />}
      {active.data !== undefined && (
        <PolicyChoice active={active.data} record={record} onChoose={choose} />
      )}
      <textarea
        aria-label="Policy to try"
        spellCheck={false}
        rows={12}
        value={text}
        onChange={({ target }) => setEdited(target.value)}
        className="w-full resize-y rounded-4 border border-line bg-page p-2 font-mono text-12"
      />
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" look="primary" disabled={trial.isPending || text === ''}>
          Try on this call
        </Button>
        <Button disabled={edited === undefined} onClick={() => setEdited(undefined)}>
          Reset
        </Button>
        <Link
          to={{ path: ['policy'], params: { ...policyParams(path, record), ...editing } }}
          onFollow={keep}
          className="ml-auto text-accent hover:underline"
        >
          Open in Policy
        </Link>
      </div>
      {trial.error !== null && <FailureText cause={trial.error} />}
      {trial.data !== undefined && <TrialResult record={record} explained={trial.data} />}
    </form>
  );
}

function policyParams(path: string | undefined, { call }: ApiCallRecord) {
  return { file: path ?? '', rule: call.rule_id ?? '' };
}

/** A call of a project was decided by the policy of the project, which may be another one. */
function PolicyChoice(props: {
  readonly active: ApiPolicyActive;
  readonly record: ApiCallRecord;
  readonly onChoose: (path: string) => void;
}) {
  const { path, policy_id, others } = props.active;
  const decided = props.record.decision?.policy;
  return (
    <>
      <select
        aria-label="Policy file"
        value={path ?? ''}
        onChange={({ target }) => props.onChoose(target.value)}
        className="h-7 min-w-0 rounded-4 border border-line bg-page px-1 font-mono text-12"
      >
        {others
          .filter((one) => one.exists || one.path === path)
          .map((one) => (
            <option key={one.path} value={one.path}>
              {plainLine(one.path)}
            </option>
          ))}
      </select>
      {decided !== undefined && decided.policy_id !== policy_id && (
        <p className="text-12 text-dim">
          The call was decided by another policy: <Value text={decided.policy_id} />.
        </p>
      )}
    </>
  );
}

const VERDICTS: { readonly [verdict in ApiPolicyExplained['verdict']]: string } = {
  same: 'The same decision.',
  stricter: 'Stricter than what was decided.',
  looser: 'Looser than what was decided.',
  different_rule: 'The same, but by another rule.',
  undetermined: 'It cannot be known: the arguments are not in the ledger as a whole.',
  unrecorded: 'No decision is on record to compare with.',
};

interface ResultProps {
  readonly record: ApiCallRecord;
  readonly explained: ApiPolicyExplained;
}

function TrialResult({ record, explained }: ResultProps) {
  const { recorded, decision, verdict, calls_before, not_evaluated } = explained;
  const isAsked = decision?.approval !== undefined;
  return (
    <section aria-label="Result of the trial" aria-live="polite" className="flex flex-col gap-2">
      <p>{VERDICTS[verdict]}</p>
      <dl className="grid grid-cols-2 gap-x-3 gap-y-1 border-y border-line py-1">
        <dt className="text-12 text-dim">Recorded</dt>
        <dt className="text-12 text-dim">With this policy</dt>
        <dd>
          <DecisionMark decision={recorded?.action ?? null} />{' '}
          <Value text={recorded?.rule_id ?? 'no rule'} lengthMax={24} />
        </dd>
        <dd>
          <DecisionMark decision={isAsked ? 'ASK' : (decision?.action ?? null)} />{' '}
          <Value text={decision?.rule_id ?? 'no rule'} lengthMax={24} />
        </dd>
      </dl>
      {decision !== null && <p>{plainText(decision.summary)}</p>}
      <ChangedRules record={record} explained={explained} />
      <p className="text-12 text-dim">
        {calls_before} calls of the run were counted before it.
        {not_evaluated.length > 0 && ` Not evaluated: ${plainLine(not_evaluated.join(', '))}.`}
      </p>
    </section>
  );
}

/** Rules that do something else than they did, and those that had to do with it now. */
function ChangedRules({ record, explained }: ResultProps) {
  const before = new Map((record.trace ?? []).map((rule) => [rule.rule_id, rule.outcome]));
  const now = new Map(explained.rules.map((rule) => [rule.rule_id, rule]));
  const changed = explained.rules.filter(({ rule_id, outcome }) => {
    const was = before.get(rule_id);
    return was === undefined ? !QUIET.has(outcome) : was !== outcome;
  });
  const gone = [...before.keys()].filter((rule) => !now.has(rule) && !rule.startsWith('gate:'));
  if (changed.length + gone.length === 0) return null;
  return (
    <ul aria-label="Rules that changed" className="flex flex-col gap-1 text-12">
      {changed.map(({ rule_id, outcome, why }) => (
        <li key={rule_id}>
          <Value text={rule_id} lengthMax={32} />{' '}
          <span className="text-dim">
            {before.get(rule_id) ?? 'no match'} → {plainLine(outcome).replaceAll('_', ' ')}
          </span>
          <br />
          {plainText(why)}
        </li>
      ))}
      {gone.map((rule) => (
        <li key={rule}>
          <Value text={rule} lengthMax={32} />{' '}
          <span className="text-dim">{before.get(rule)} → not in this policy</span>
        </li>
      ))}
    </ul>
  );
}

/** Outcomes of rules that had nothing to do with the call. */
const QUIET: ReadonlySet<string> = new Set(['no_match', 'disabled', 'not_reached']);
