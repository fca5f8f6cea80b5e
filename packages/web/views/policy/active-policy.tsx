// The text of the policy with what each rule did beside its line, and the rules as a list.
import type { ApiPolicyActive } from '@subluminal/contracts';
import { useEffect, useMemo, useRef } from 'react';
import { goTo, useAddress } from '../../address/address.ts';
import { countText } from '../../parts/amounts.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { DecisionMark, isShownDecision } from '../../parts/decision-mark.tsx';
import { plainLine } from '../../parts/plain-text.ts';
import { Ago, Value } from '../../parts/texts.tsx';

type PolicyRule = ApiPolicyActive['rules'][number];

const LINES_SHOWN = 5_000;

export function ActivePolicy({ active }: { readonly active: ApiPolicyActive }) {
  return (
    <div className="flex min-h-0 flex-1 max-md:flex-col">
      <PolicyText active={active} />
      <div className="flex w-[520px] shrink-0 flex-col border-l border-line max-xl:w-[380px] max-md:h-1/2 max-md:w-full max-md:border-t max-md:border-l-0">
        <RuleList active={active} />
        <p className="border-t border-line px-3 py-1 text-12 text-dim">
          Hits since <Ago atMs={active.hits_from_ms} />
        </p>
      </div>
    </div>
  );
}

function PolicyText({ active }: { readonly active: ApiPolicyActive }) {
  const { params } = useAddress();
  const lines = useMemo(() => (active.text ?? '').split('\n'), [active.text]);
  const byLine = new Map(active.rules.map((rule) => [rule.line, rule]));
  const chosen = active.rules.find(({ id }) => id === params['rule']);
  const element = useRef<HTMLLIElement>(null);
  const line = chosen?.line;
  useEffect(() => {
    if (line !== undefined) element.current?.scrollIntoView({ block: 'center' });
  }, [line]);
  if (active.text === null) {
    return (
      <p className="flex-1 px-4 py-12 text-center text-dim">
        The text of a compiled policy is not shown. Its rules are.
      </p>
    );
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- What scrolls must be reached by keys.
    <section aria-label="Policy text" tabIndex={0} className="min-h-0 min-w-0 flex-1 overflow-auto">
      <ol className="relative w-max min-w-full py-2 font-mono text-12 before:absolute before:inset-y-0 before:left-0 before:w-14 before:border-r before:border-line before:bg-raised">
        {lines.slice(0, LINES_SHOWN).map((text, at) => {
          const rule = byLine.get(at + 1);
          const isChosen = at + 1 === line;
          return (
            // oxlint-disable-next-line react/no-array-index-key -- A line is its number.
            <li
              key={at}
              ref={isChosen ? element : undefined}
              className={`flex h-5 items-center ${isChosen ? 'bg-selected' : ''}`}
            >
              <span className="sticky left-0 w-14 shrink-0 self-stretch border-r border-line bg-raised pr-2 text-right leading-5 text-dim select-none">
                {at + 1}
              </span>
              <code className="flex-1 pl-2 leading-5 whitespace-pre">{plainLine(text)}</code>
              {rule !== undefined && <Hits rule={rule} />}
            </li>
          );
        })}
      </ol>
      {lines.length > LINES_SHOWN && (
        <p className="px-3 text-dim">{lines.length - LINES_SHOWN} further lines are not shown.</p>
      )}
    </section>
  );
}

function Hits({ rule }: { readonly rule: PolicyRule }) {
  const { hits, would_hits, last_hit_ms } = rule;
  return (
    <span className="sticky right-3 ml-4 rounded-2 bg-raised px-2 font-sans text-dim">
      {hitWords(hits, would_hits)}
      {last_hit_ms !== null && (
        <>
          {', '}
          <Ago atMs={last_hit_ms} />
        </>
      )}
    </span>
  );
}

function hitWords(hits: number, wouldHits: number): string {
  const counted = `${countText(hits)} ${hits === 1 ? 'hit' : 'hits'}`;
  return wouldHits === 0 ? counted : `${counted}, ${countText(wouldHits)} if enforced`;
}

/** A decision as everywhere; of a tag, what it adds. */
function Effect({ effect }: { readonly effect: string }) {
  if (isShownDecision(effect)) return <DecisionMark decision={effect} />;
  return <span title={plainLine(effect)}>{plainLine(effect)}</span>;
}

const COLUMNS: readonly TableColumn<PolicyRule>[] = [
  {
    id: 'id',
    title: 'Rule',
    width: 'minmax(96px, 1fr)',
    cell: ({ id, enabled }) => (
      <span
        className={enabled ? '' : 'text-dim line-through'}
        title={enabled ? undefined : 'Not enabled'}
      >
        <Value text={id} lengthMax={40} />
      </span>
    ),
  },
  { id: 'kind', title: 'Kind', width: '72px', cell: ({ kind }) => plainLine(kind) },
  {
    id: 'effect',
    title: 'Effect',
    width: '88px',
    hiddenBelow: 1_280,
    cell: ({ effect }) => <Effect effect={effect} />,
  },
  {
    id: 'hits',
    title: 'Hits',
    width: '48px',
    align: 'right',
    cell: ({ hits, would_hits }) => (
      <span className={hits === 0 ? 'text-dim' : ''} title={hitWords(hits, would_hits)}>
        {countText(hits)}
      </span>
    ),
  },
  {
    id: 'last',
    title: 'Last',
    width: '80px',
    align: 'right',
    cell: ({ last_hit_ms }) => (last_hit_ms === null ? '' : <Ago atMs={last_hit_ms} />),
  },
];

function RuleList({ active }: { readonly active: ApiPolicyActive }) {
  const { params } = useAddress();
  return (
    <div className="min-h-0 flex-1">
      <DataTable
        label="Rules"
        columns={COLUMNS}
        rows={active.rules}
        rowKey={({ id }) => id}
        selected={params['rule']}
        onOpen={({ id }) => goTo({ params: { rule: id } }, 'replace')}
        empty={<p className="px-4 py-12 text-center text-dim">The policy has no rules.</p>}
      />
    </div>
  );
}
