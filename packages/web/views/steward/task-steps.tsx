// The steps of a task as they happen, and what it cost.
import { Link } from '../../address/link.tsx';
import { panelAddress } from '../../address/panel-address.ts';
import { dollarsText } from '../../parts/amounts.ts';
import { DecisionMark } from '../../parts/decision-mark.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { foldedLine, plainText } from '../../parts/plain-text.ts';
import { Fact, FactList, Value } from '../../parts/texts.tsx';
import type { StewardStep, StewardTask } from './use-steward.ts';

const REASONING_SHOWN = 120;

const STATES: { readonly [state in StewardTask['state']]: string } = {
  waiting: 'waits for the task before it',
  running: 'running',
  done: 'done',
  stopped: 'stopped',
  failed: 'failed',
};

export function TaskSteps({ task }: { readonly task: StewardTask }) {
  const { steps, state, reason, cost_micros } = task;
  return (
    <section aria-label="Steps" className="flex flex-col border-l-2 border-line pl-3">
      {steps.map((step) => (
        <Step key={step.n} step={step} />
      ))}
      <p className="flex flex-wrap gap-x-3 text-12 text-dim">
        <span>
          {STATES[state]}
          {reason !== null && <>: {plainText(reason)}</>}
        </span>
        <span>
          {steps.length} {steps.length === 1 ? 'step' : 'steps'}
        </span>
        <span>{dollarsText(cost_micros)}</span>
      </p>
    </section>
  );
}

/** What the policy made of it, as far as it is known; the rest is said in words. */
const DECISIONS: { readonly [state in StewardStep['state']]: string | null } = {
  proposed: null,
  judged: null,
  sent: null,
  forwarded: 'ALLOW',
  done: 'ALLOW',
  refused: 'BLOCK',
  failed: null,
  unknown: null,
};
const WORDS: { readonly [state in StewardStep['state']]: string } = {
  proposed: 'proposed',
  judged: 'judged',
  sent: 'being decided',
  forwarded: 'running',
  done: 'done',
  refused: 'refused',
  failed: 'failed',
  unknown: 'nobody knows whether it took effect',
};

function Step({ step }: { readonly step: StewardStep }) {
  const { server, tool, reasoning, state, args, judgements, result, call_id, run_id } = step;
  return (
    <details className="border-b border-line">
      <summary className="flex min-h-7 cursor-pointer items-baseline gap-2 py-1 max-md:min-h-11">
        <DecisionMark decision={DECISIONS[state]} isWord={false} />
        <Value text={`${server}/${tool}`} lengthMax={40} />
        <span className="min-w-0 flex-1 truncate text-dim">
          {foldedLine(reasoning, REASONING_SHOWN)}
        </span>
        <span className="text-12 text-dim">{WORDS[state]}</span>
      </summary>
      <div className="flex flex-col gap-2 py-2">
        <FactList>
          <Fact label="Reasoning">{plainText(reasoning)}</Fact>
          {judgements.map(({ by, verdict, reason }, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- A judgement is its place in the record.
            <Fact key={at} label={`Judged by ${plainText(by)}`}>
              {plainText(verdict).replaceAll('_', ' ').toLowerCase()}: {plainText(reason)}
            </Fact>
          ))}
          {call_id !== null && run_id !== null && (
            <Fact label="Record">
              <Link to={{ params: panelAddress('call', run_id, call_id) }} className="text-accent">
                the call on record
              </Link>
            </Fact>
          )}
        </FactList>
        <JsonTree value={args} />
        {result !== null && (
          <pre
            // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- What scrolls must be reached by keys.
            tabIndex={0}
            aria-label="What the model was told"
            className="max-h-60 overflow-auto rounded-4 border border-line p-2 font-mono text-12 whitespace-pre-wrap"
          >
            {plainText(result)}
          </pre>
        )}
      </div>
    </details>
  );
}
