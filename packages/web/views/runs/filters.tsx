// What the scoreboard shows of all runs; the address holds it.
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { goTo, useAddress } from '../../address/address.ts';
import { asked } from '../../api/ledger.ts';
import { plainLine } from '../../parts/plain-text.ts';
import { isRunStatus, RUN_STATUSES } from '../../parts/run-status.tsx';
import { shellWord } from '../../parts/shell-word.ts';
import { SPANS } from '../../search/ranges.ts';
import type { RunsFilter } from './run-rows.ts';

/** How many of the newest runs give the names that one can choose from. */
const NAMES_FROM = 500;

const NAMES = ['status', 'agent', 'person', 'client', 'since'] as const;

export function useRunsFilter(): {
  readonly filter: RunsFilter;
  /** How far back; without it all time. */
  readonly spanMs: number | undefined;
  readonly isFiltered: boolean;
  /** The same as flags of `sub query --runs`. */
  readonly flags: string;
} {
  const { params } = useAddress();
  const { status = '', agent = '', person = '', client = '', since = '' } = params;
  const filter = useMemo(() => {
    return {
      ...(agent !== '' && { agent_id: agent }),
      ...(person !== '' && { principal: person }),
      ...(client !== '' && { client }),
      ...(isRunStatus(status) && { status }),
    };
  }, [status, agent, person, client]);
  const spanMs = SPANS.find(({ id }) => id === since)?.ms;
  const flags = Object.entries({ status, agent, principal: person, since })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => ` --${name} ${shellWord(value, name.toUpperCase())}`)
    .join('');
  return { filter, spanMs, isFiltered: NAMES.some((name) => (params[name] ?? '') !== ''), flags };
}

export function RunsFilters() {
  const { params } = useAddress();
  const { data } = useQuery({
    ...asked('runs', { query: { limit: NAMES_FROM } }),
    staleTime: 60_000,
  });
  const rows = data?.rows ?? [];
  const choices = {
    status: RUN_STATUSES,
    agent: named(rows.map(({ agent_id }) => agent_id)),
    person: named(rows.map(({ principal }) => principal)),
    client: named(rows.map(({ client }) => client)),
    since: SPANS.map(({ id, title }) => [id, title] as const),
  };
  return (
    <div className="flex flex-wrap items-center gap-2" role="group" aria-label="Filter runs">
      {NAMES.map((name) => (
        <Choice key={name} name={name} value={params[name] ?? ''} options={choices[name]} />
      ))}
    </div>
  );
}

type Option = readonly [value: string, word: string];

function named(values: readonly (string | null)[]): readonly Option[] {
  const known = new Set(values.filter((value) => value !== null));
  return [...known].toSorted().map((value) => [value, value]);
}

const ANY = {
  status: 'Any status',
  agent: 'Any agent',
  person: 'Anybody',
  client: 'Any client',
  since: 'All time',
} as const;

interface ChoiceProps {
  readonly name: (typeof NAMES)[number];
  readonly value: string;
  readonly options: readonly Option[];
}

function Choice({ name, value, options }: ChoiceProps) {
  const isListed = value === '' || options.some(([one]) => one === value);
  return (
    <select
      aria-label={name}
      value={value}
      onChange={({ target }) => goTo({ params: { [name]: target.value } })}
      className={`h-7 max-w-40 rounded-4 border border-line bg-page px-1 text-13 ${value === '' ? 'text-dim' : ''}`}
    >
      <option value="">{ANY[name]}</option>
      {!isListed && <option value={value}>{plainLine(value)}</option>}
      {options.map(([one, word]) => (
        <option key={one} value={one}>
          {plainLine(word)}
        </option>
      ))}
    </select>
  );
}
