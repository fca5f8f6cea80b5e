import type { ApiRun, ApiRunSummary } from '@subluminal/contracts';
import type { ReactNode } from 'react';
import { Link } from '../../address/link.tsx';
import { countText, dollarsText, durationText } from '../../parts/amounts.ts';
import { plainLine } from '../../parts/plain-text.ts';
import {
  DegradedMark,
  RunDuration,
  RunStatus,
  refusedCount,
  runEndMs,
  runStartMs,
} from '../../parts/run-status.tsx';
import { Ago, Value } from '../../parts/texts.tsx';
import { toolDifferences } from './tool-differences.ts';

type Both<T> = readonly [T, T];

interface FactRow {
  readonly label: string;
  readonly show: (run: ApiRun) => ReactNode;
  /** Of a number: what differs is said. */
  readonly value?: (run: ApiRun) => number;
  readonly text?: (value: number) => string;
}

const FACTS: readonly FactRow[] = [
  { label: 'Agent', show: ({ agent_id }) => <Value text={agent_id ?? '–'} lengthMax={32} /> },
  {
    label: 'Status',
    show: (run) => (
      <>
        <RunStatus run={run} /> <DegradedMark run={run} />
      </>
    ),
  },
  {
    label: 'Person',
    show: ({ principal, client }) => plainLine(`${principal ?? '–'}, ${client ?? '–'}`),
  },
  { label: 'Policy', show: policyText },
  { label: 'Started', show: (run) => <Ago atMs={runStartMs(run)} /> },
  {
    label: 'Duration',
    show: (run) => <RunDuration run={run} />,
    value: (run) => (runEndMs(run) ?? run.last_at_ms) - runStartMs(run),
    text: durationText,
  },
  numberFact('Calls', ({ calls }) => calls.total),
  numberFact('Refused', refusedCount),
  numberFact('Hints', ({ hints }) => hints),
  numberFact('Errors', ({ calls }) => calls.errors),
  numberFact('Turns', ({ turns }) => turns),
  numberFact('Tokens', ({ tokens_in, tokens_out }) => tokens_in + tokens_out),
  numberFact('Cost', ({ cost_micros }) => cost_micros, dollarsText),
];

function numberFact(
  label: string,
  value: (run: ApiRun) => number,
  text: (value: number) => string = countText,
): FactRow {
  return { label, value, text, show: (run) => text(value(run)) };
}

function policyText({ policy_id, policy_version, policy_hash, mode }: ApiRun): ReactNode {
  if (policy_id === null) return '–';
  const title = policy_hash === null ? undefined : plainLine(policy_hash);
  return (
    <span title={title}>{plainLine(`${policy_id} ${policy_version ?? ''} ${mode ?? ''}`)}</span>
  );
}

export function FactDifferences({ runs }: { readonly runs: Both<ApiRun> }) {
  const hasOtherPolicy = runs[0].policy_hash !== runs[1].policy_hash;
  return (
    <table className="w-full max-w-[560px] table-fixed" aria-label="Facts of both runs">
      <thead>
        <tr className="h-8 text-left">
          <th scope="col" className="w-24 font-normal text-dim">
            Fact
          </th>
          {runs.map((run, at) => (
            <th key={at} scope="col" className="truncate font-normal">
              <span className="text-dim">{'AB'[at]} </span>
              <Link to={{ path: ['runs', run.run_id] }} className="text-accent hover:underline">
                <Value text={run.run_id} lengthMax={24} />
              </Link>
            </th>
          ))}
          <th scope="col" className="w-24 text-right font-normal text-dim">
            Difference
          </th>
        </tr>
      </thead>
      <tbody>
        {FACTS.map(({ label, show, value, text = countText }) => (
          <tr key={label} className="h-7 border-t border-line">
            <th scope="row" className="text-left font-normal text-dim">
              {label}
            </th>
            {runs.map((run, at) => (
              <td key={at} className="truncate pr-2">
                {show(run)}
              </td>
            ))}
            <td className="text-right">
              {value && <Change pair={[value(runs[0]), value(runs[1])]} text={text} />}
              {label === 'Policy' && hasOtherPolicy && 'another'}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How much more or less the second has. */
function Change({
  pair: [one, other],
  text,
}: {
  readonly pair: Both<number>;
  readonly text: (value: number) => string;
}) {
  if (one === other) return <span className="text-dim">=</span>;
  return `${other > one ? '+' : '−'}${text(Math.abs(other - one))}`;
}

const COUNTS = ['calls', 'refused', 'errors'] as const;

export function ToolTable({ summaries }: { readonly summaries: Both<ApiRunSummary> }) {
  const tools = toolDifferences(summaries[0].tools, summaries[1].tools);
  return (
    <table className="w-full max-w-[560px]" aria-label="Tools of both runs">
      <thead>
        <tr className="h-7 text-12 text-dim">
          <th scope="col" className="text-left font-normal">
            Tool
          </th>
          {COUNTS.map((name) => (
            <th key={name} scope="col" className="text-right font-normal">
              {name[0]?.toUpperCase() + name.slice(1)} A, B
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {tools.map((tool) => (
          <tr key={tool.name} className="h-7 border-t border-line">
            <th scope="row" className="text-left font-normal">
              <Value text={tool.name} lengthMax={48} />
            </th>
            {COUNTS.map((name) => (
              <td key={name} className="text-right whitespace-nowrap">
                {countText(tool[name][0])}, {countText(tool[name][1])}{' '}
                <span className="inline-block w-12">
                  <Change pair={tool[name]} text={countText} />
                </span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
